"""Turns pydantic's errors into problems in our own words, each at its place.

Pydantic's wording names Python types and never reaches a person. Every error type that the models can give has its
own sentence here; one that is not known (a new pydantic) gets a general one, and a test goes through pydantic's whole
list.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from math import isfinite
from typing import Any, Final

from pydantic_core import PydanticCustomError

from components.api import slips
from components.api.base import MODELPLANE, Model
from components.api.codes import Code
from components.api.composed import MAX_PROBLEMS
from components.api.doubts import template
from components.api.near import did_you_mean, near, near_field
from components.api.nodes import MappingNode, Node, PathPart, ScalarNode, SequenceNode, find, kind_of
from components.api.predecessor import field_of_another_version
from components.api.rules import shown
from components.api.shape import FieldShape, checks, homes, model_at, names, shape
from components.api.source import Source

_TIME: Final = "a time (2026-01-31T08:00:00Z)"
_SPAN: Final = "a length of time (PT10M)"
_WANTED: Final = {
    "string_type": "text",
    "string_sub_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), _TIME),
    **dict.fromkeys(("time_delta_type", "time_delta_parsing"), _SPAN),
    "tuple_type": "a list",
    "list_type": "a list",
    "iterable_type": "a list",
    "mapping_type": "a mapping",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_LOW: Final = ("greater_than_equal", "greater_than")
_HIGH: Final = ("less_than_equal", "less_than")
_YES: Final = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
_MOST_ALLOWED = 40  # names that a message lists
_MOST_KEYS = 200  # keys of one mapping that are compared with what is missing
_MOST_SHOWN = 100  # characters of a value that an advice repeats
_GROUPED: Final = re.compile(r"-?[0-9]{1,3}(?:[_,][0-9]{3})+")
_TRAILED: Final = re.compile(r"(-?[0-9]+)\s*[;,%A-Za-z]+")


def translate(source: Source, errors: Iterable[Mapping[str, Any]]) -> None:
    """Record the errors of a document's validation with ``source``; after a hundred, more would help nobody."""
    for error in errors:
        if len(source.problems) >= MAX_PROBLEMS:
            return
        if error["type"] == "default_factory_not_called":
            continue  # the field that this default depends on is wrong, and has a problem of its own
        path = tuple(part for part in error["loc"] if part != "[key]")
        node = find(source.node, path)
        value = node.value
        if isinstance(value, ScalarNode) and node.depth == len(path):
            if value.broken:
                continue  # the composer has said what is wrong here
            if _template(source, path, value):
                continue
        _one(source, error["type"], path, error.get("ctx") or {}, value)


def _template(source: Source, path: tuple[PathPart, ...], node: ScalarNode) -> bool:
    """Report a value that another tool must fill in, once for a document; false when it is none."""
    found = template(node.text)
    if found is None:
        return False
    if not any(problem.code == Code.TEMPLATE_FILE for problem in source.problems):
        source.add(Code.TEMPLATE_FILE, found.message, path, hint=found.help)
    return True


def _one(source: Source, kind: str, path: tuple[PathPart, ...], ctx: Mapping[str, Any], node: Node | None) -> None:
    field = str(path[-1]) if path else "the document"
    if kind == "violation":
        code = Code(ctx["code"])
        source.add(code, ctx["message"], path, allowed=ctx["allowed"], hint=ctx["hint"], at_key=ctx["at_key"])
    elif kind == "missing":
        _missing(source, path)
    elif kind == "extra_forbidden":
        _unknown(source, path)
    elif kind in _WANTED and node is not None:
        _type(source, _WANTED[kind], path, node)
    elif kind == "literal_error":
        _not_allowed(source, path, ctx, node)
    elif kind in _LOW or kind in _HIGH:
        bound = ctx.get("ge", ctx.get("gt", ctx.get("le", ctx.get("lt"))))
        text = node.text if isinstance(node, ScalarNode) else ""
        side = "at least" if kind in _LOW else "at most"
        source.add(Code.VALUE_OUT_OF_RANGE, f"{field} must be {side} {bound}, and is {text}", path)
    elif kind in ("too_short", "too_long"):
        _size(source, kind, path, ctx, node)
    elif kind in ("string_too_short", "string_too_long"):
        _length(source, kind, path, ctx, node)
    elif kind == "string_pattern_mismatch":
        source.add(Code.VALUE_INVALID, f"{field} must match {ctx.get('pattern', '')}", path)
    else:
        source.add(Code.VALUE_INVALID, f"the value of {field} is not valid here", path)


def _type(source: Source, wanted: str, path: tuple[PathPart, ...], node: Node) -> None:
    message = f"{_owner(path)} must be {wanted}, and is {kind_of(node)}"
    holder = model_at(source.model, path)
    if wanted == "a list" and isinstance(node, MappingNode) and node.entries:
        source.add(Code.TYPE_WRONG, message, path, hint=_items_hint(source, path, node), at=_first_key(node))
        return
    hint = ""
    if wanted == "a mapping" and isinstance(node, ScalarNode):
        hint = _mapping_hint(source, path, node, holder)
    hint = hint or _type_hint(wanted, node)
    if hint and wanted == "text" and isinstance(node, ScalarNode):
        refusal = _refusal(source, path, node.text)
        hint = f"put it in quotes; {refusal}" if refusal else hint
    source.add(Code.TYPE_WRONG, message, path, hint=hint)


def _first_key(node: MappingNode) -> Node:
    return next(iter(node.entries.values()))[0]


def _items_hint(source: Source, path: tuple[PathPart, ...], node: MappingNode) -> str:
    """Say how the mapping that stands in the place of a list becomes an item, or several."""
    first = next(iter(node.entries))
    item = model_at(source.model, (*path, 0))
    if item is not None and first not in shape(item) and "name" in shape(item):
        return f"write each as an item with its name: `- name: {first}`"
    key = _first_key(node)
    written = source.composed.line(key.line)[key.column - 1 :].strip()
    return f"begin each item with `- `: `- {written}`" if len(written) < _MOST_SHOWN else "begin each item with `- `"


def _mapping_hint(source: Source, path: tuple[PathPart, ...], node: ScalarNode, holder: type[Model] | None) -> str:
    """Say how a text that stands in the place of a mapping becomes one."""
    fields = shape(holder) if holder else {}
    if node.style or not node.text:
        written = ""
    else:
        written = source.composed.line(node.line)[node.column - 1 :].strip()
        said = slips.look_alike(written) or slips.bare(written)
        if said is not None and (
            said.message in (slips.NO_SPACE, slips.EQUALS) or written.split()[0] in fields or not written.isascii()
        ):
            return f"{said.message}; {said.help}"
    needed = [field.name for field in fields.values() if field.info.is_required()] or _typed(fields, node)
    if not needed or len(written) > _MOST_SHOWN:
        return ""
    if len(needed) > 1:
        return f"write its fields below it: {', '.join(needed)}"
    text = written or node.text
    return f"write `{needed[0]}: {text}` in it" if isinstance(path[-1], int) else f"write `{{{needed[0]}: {text}}}`"


def _typed(fields: Mapping[str, FieldShape], node: ScalarNode) -> list[str]:
    """Return the field that is named after the value's own type, where a mapping has one for each."""
    name = {bool: "bool", int: "int", str: "string"}.get(type(node.value), "")
    return [name] if name in fields else []


def _refusal(source: Source, path: tuple[PathPart, ...], text: str) -> str:
    """Return what would be wrong with a text that was written as something else; empty when nothing would."""
    holder = model_at(source.model, path[:-1])
    field = shape(holder).get(str(path[-1])) if holder is not None and path else None
    for check in checks(field.info) if field is not None else ():
        try:
            check(text)
        except PydanticCustomError as error:
            return str((error.context or {}).get("message", ""))
    return ""


def _missing(source: Source, path: tuple[PathPart, ...]) -> None:
    parent, field = path[:-1], str(path[-1])
    found = find(source.node, parent)
    doc = _doc(source, path)
    if isinstance(found.value, MappingNode) and field in found.value.entries:
        key = found.value.entries[field][0]
        hint = comment_hint(source, key) or doc
        source.add(Code.FIELD_MISSING, f"{_owner(path)} is required and has no value", path, hint=hint, at_key=True)
        return
    holder = model_at(source.model, parent)
    assert holder is not None
    assert isinstance(found.value, MappingNode)
    inside = shape(holder)[field].model
    for written in islice(found.value.entries, _MOST_KEYS):
        if written not in shape(holder) and (
            _meant(written, (field,)) or (inside is not None and any(homes(inside, written)))
        ):
            return  # that key is reported where it stands, with this field as what was meant or where it belongs
    where = f" in {_name(parent)}" if parent else ""
    source.add(Code.FIELD_MISSING, f"`{field}` is missing{where}", parent, hint=doc)


def comment_hint(source: Source, key: ScalarNode) -> str:
    """Say that the value of a key is a comment, where one follows it; else nothing."""
    written = source.composed.line(key.line)[key.column - 1 + len(key.text) :]
    found = re.match(r"['\"]?:\s+(#.*)", written)
    return f'a `#` begins a comment; put the value in quotes: "{found[1].strip()}"' if found else ""


def _doc(source: Source, path: tuple[PathPart, ...]) -> str:
    """Say what a missing field is for, from the model's own documentation."""
    holder = model_at(source.model, path[:-1])
    field = shape(holder).get(str(path[-1])) if holder is not None else None
    text = (field.info.description or "") if field else ""
    return f"{path[-1]}: {text.split('. ')[0].rstrip('.').replace(chr(10), ' ')}" if text else ""


def _unknown(source: Source, path: tuple[PathPart, ...]) -> None:
    key = str(path[-1])
    holder = model_at(source.model, path[:-1])
    message = f"{shown(key)} is not a field of {_name(path[:-1]) or 'a ' + source.model.__name__}"
    allowed = _list(names(holder)) if holder else ""
    hint = _unknown_hint(source, path, holder)
    source.add(Code.FIELD_UNKNOWN, message, path, allowed=allowed, hint=hint, at_key=True)


def _unknown_hint(source: Source, path: tuple[PathPart, ...], holder: type[Model] | None) -> str:
    """Say what was meant: a field of this name elsewhere above or below, one of nearly this name here."""
    key = str(path[-1])
    fields = shape(holder) if holder else {}
    hint = _spelling_hint(key)
    if holder is not None and issubclass(holder, Model):  # a part of a lock is none
        hint = hint or holder.ELSEWHERE.get(key, "") or field_of_another_version(holder.__name__, key)
    if hint:
        return hint
    parent = tuple(part for part in path[:-1] if isinstance(part, str))
    found = sorted(homes(source.model, key), key=len)
    alone = len(found) == 1
    kin = [home for home in found if _related(parent, home[:-1]) or (alone and home[:-1][-1:] == parent[-1:])]
    meant = _meant(key, fields)
    if kin and (not meant or len(kin) == 1):
        return f"`{key}` belongs to {'.'.join(kin[0][:-1]) or 'the document itself'}"
    later = fields[meant].own if meant else None
    if later is not None and not later.supported:
        return f"did you mean `{meant}`? It is not supported yet"
    return f"did you mean `{meant}`?" if meant else ""


def _spelling_hint(key: str) -> str:
    """Say what is wrong with the text of a key: a space that is missing in it, a sign that only looks like another."""
    said = slips.look_alike(key)
    tight = slips.bare(key) if ":" in key else None
    if said is None and tight is not None and tight.message == slips.NO_SPACE:
        said = tight
    if said is not None:
        return f"{said.message}; {said.help}"
    return f"a space is missing after the `-`; write `- {key[1:]}: ...`" if key.startswith("-") else ""


def _related(here: tuple[PathPart, ...], there: tuple[str, ...]) -> bool:
    """Whether one place is inside the other, so that a line has only slipped a level or more."""
    shorter = min(len(here), len(there))
    return here[:shorter] == there[:shorter]


def _meant(key: str, fields: Collection[str]) -> str:
    """Return the field that a key stands for: a near match, or its beginning where a space or a `- ` went missing."""
    head = key.removeprefix("-").partition(":")[0]
    return head if head != key and head in fields else near_field(key, fields)


def _not_allowed(source: Source, path: tuple[PathPart, ...], ctx: Mapping[str, Any], node: Node | None) -> None:
    hidden = _hidden(source, path)
    allowed = [each for each in re.findall(r"'([^']*)'", str(ctx.get("expected", ""))) if each not in hidden]
    text = node.text if isinstance(node, ScalarNode) else ""
    said = shown(text) if isinstance(node, ScalarNode) and text else kind_of(node) if node else "nothing"
    message = f"{said} is not allowed for {_owner(path)}"
    hint = did_you_mean(text, allowed)
    if not hint and (later := near(text, sorted(hidden))):
        hint = f"`{later}` is not supported yet"
    source.add(Code.VALUE_NOT_ALLOWED, message, path, allowed=_list(allowed), hint=hint)


def _hidden(source: Source, path: tuple[PathPart, ...]) -> frozenset[str]:
    """Return the values that nobody may write here for now: not built, or not the predecessor's."""
    holder = model_at(source.model, path[:-1])
    field = shape(holder).get(str(path[-1])) if holder is not None else None
    if field is None or field.values is None:
        return frozenset()
    portable = source.node.text("apiVersion") == MODELPLANE
    return field.values.values if portable or not field.values.supported else frozenset()


def _length(source: Source, kind: str, path: tuple[PathPart, ...], ctx: Mapping[str, Any], node: Node | None) -> None:
    field = _owner(path)
    if kind == "string_too_short":
        least = ctx.get("min_length", 1)
        message = f"{field} must not be empty" if least == 1 else f"{field} must have at least {least} characters"
    else:
        length = len(node.text) if isinstance(node, ScalarNode) else 0
        message = f"{field} must have at most {ctx.get('max_length')} characters, and has {length}"
    source.add(Code.VALUE_LENGTH, message, path)


def _size(source: Source, kind: str, path: tuple[PathPart, ...], ctx: Mapping[str, Any], node: Node | None) -> None:
    if isinstance(node, ScalarNode):
        # A bound beside a type that checks the text itself: pydantic takes it for a size.
        _length(source, f"string_{kind}", path, ctx, node)
        return
    size = (
        len(node.items) if isinstance(node, SequenceNode) else len(node.entries) if isinstance(node, MappingNode) else 0
    )
    limit = int(ctx.get("min_length" if kind == "too_short" else "max_length") or 0)
    if kind == "too_short" and size >= limit:
        return  # pydantic counts only the items that are right, and the others are reported by themselves
    unit = "key" if isinstance(node, MappingNode) else "item"
    side = "at least" if kind == "too_short" else "at most"
    message = f"{_owner(path)} must have {side} {limit} {unit}{'' if limit == 1 else 's'}, and has {size}"
    source.add(Code.VALUE_LENGTH, message, path)


def _type_hint(wanted: str, node: Node) -> str:
    if isinstance(node, MappingNode):
        (key, (_, value)) = next(iter(node.entries.items()), ("", (None, None)))
        if wanted == "text" and len(node.entries) == 1 and isinstance(value, ScalarNode):
            return f'put it in quotes: "{key}: {value.text}"'
        return "begin each item with `- `" if wanted == "a list" else ""
    if isinstance(node, SequenceNode):
        (only,) = node.items if len(node.items) == 1 else (None,)
        if isinstance(only, ScalarNode) and wanted != "a mapping":
            return f"write it alone: {only.text}"
        return "remove the `- `" if wanted == "a mapping" else ""
    assert isinstance(node, ScalarNode)
    text = node.text
    if "number" in wanted:
        return _number_hint(wanted, node)
    hints = {
        "text": f'put it in quotes: "{text}"' if node.value is not None else "",
        "true or false": f"write it without quotes: {_YES[text.lower()]}" if text.lower() in _YES else "",
        "a list": _item_hint(text) if node.value is not None and len(text) < _MOST_SHOWN else "",
    }
    return hints.get(wanted, "")


def _item_hint(text: str) -> str:
    """Return a text as an item of a list, or its words as several."""
    words = [word for word in re.split(r"[,\s]+", text) if word]
    plain = len(words) > 1 and not any(sign in text for sign in "\"'[]{}#:")
    return f"write it as a list: `[{', '.join(words)}]`" if plain else f"write it as an item: `- {text}`"


def _number_hint(wanted: str, node: ScalarNode) -> str:
    """Return the number that was meant, where one was."""
    text, value = node.text, node.value
    if isinstance(value, float):
        return f"write it without a fraction: {int(value)}" if isfinite(value) and value == int(value) else ""
    if not isinstance(value, str) or len(text) > _MOST_SHOWN:
        return ""
    plain = text.replace("_", "").replace(",", "") if _GROUPED.fullmatch(text) else text
    if re.fullmatch(r"-?[0-9]+" if "whole" in wanted else r"-?[0-9]+(\.[0-9]+)?", plain):
        how = "quotes" if plain == text else "the signs between its digits"
        return f"write it without {how}: {plain}"
    trailed = _TRAILED.fullmatch(text)
    return f"write the number alone: {trailed[1]}" if trailed else ""


def _owner(path: tuple[PathPart, ...]) -> str:
    """Name a value: its key, or which item of what it is."""
    if not path:
        return "the document"
    if isinstance(path[-1], int):
        return f"item {path[-1]} of {_name(path[:-1])}"
    return path[-1]


def _name(path: tuple[PathPart, ...]) -> str:
    """Name a mapping by the last two parts of its path."""
    if not path:
        return ""
    if isinstance(path[-1], int):
        return f"item {path[-1]} of {_name(path[:-1])}"
    return str(path[-1])


def _list(texts: Iterable[str]) -> str:
    found = list(texts)
    more = "" if len(found) <= _MOST_ALLOWED else f", and {len(found) - _MOST_ALLOWED} more"
    return ", ".join(found[:_MOST_ALLOWED]) + more
