"""Documents generated from the models of the kinds, and changes of them in one place.

A document is put together field by field as the model says: a required field always, another by chance, each with a
value that some sample has there. Where the rules between fields forbid the mixture, a sample of that object takes its
place, so every document is right. The changes come from the models' JSON Schemas: another type, a key too many or too
few, a bound, a length, a choice, a pattern.
"""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from hypothesis import strategies as st
from pydantic import ValidationError

from components.api.base import BERTH_VERSION, Model
from components.api.codes import Code
from components.api.kinds import ALL_KINDS, KINDS, api_versions
from components.api.nodes import PathPart
from components.api.schema import schema
from components.api.shape import FieldShape, shape
from tests.support.api_manifests import FILES
from tests.support.full_manifests import EXTRA
from tests.support.machine_manifests import SPECS, document
from tests.support.own_fields import LATER_FIELDS, OWN_FIELDS

Path = tuple[PathPart, ...]


def samples() -> Iterator[Any]:
    """Yield plain documents, each right, that together have every field of the predecessor's."""
    for text in (*FILES.values(), EXTRA, *(document(kind) for kind in SPECS)):
        yield from json.loads(json.dumps(list(yaml.safe_load_all(text))))  # no part of one is part of another


Values = dict[type[Model], dict[str, list[Any]]]


def _harvest() -> tuple[Values, dict[type[Model], list[Any]]]:
    """Return every field's values and every object, by model."""
    values: Values = {}
    objects: dict[type[Model], list[Any]] = {}

    def walk(model: type[Model], found: Any) -> None:
        objects.setdefault(model, []).append(found)
        for name, value in found.items():
            field = shape(model)[name]
            values.setdefault(model, {}).setdefault(name, []).append(value)
            for inner in _inner(field, value):
                walk(field.model or model, inner)

    own = (row.document(BERTH_VERSION) for row in (*LATER_FIELDS, *OWN_FIELDS))
    for sample in (*samples(), *own):
        walk(ALL_KINDS[sample["kind"]], sample)
    return values, objects


def _inner(field: FieldShape, value: Any) -> list[Any]:
    """Return the objects that a field holds."""
    if field.model is None:
        return []
    if field.container == "list":
        return list(value)
    return list(value.values()) if field.container == "map" else [value]


VALUES, OBJECTS = _harvest()


def right(model: type[Model], value: Any) -> bool:
    """Whether a plain value is right for a model."""
    try:
        model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


@st.composite
def objects(draw: st.DrawFn, model: type[Model], *, own: bool, later: bool) -> Any:
    """Generate a right object of a model; ``own`` and ``later`` say whether it may have fields of Berth's own."""
    made: dict[str, Any] = {}
    for name, field in shape(model).items():
        known = VALUES.get(model, {}).get(name)
        allowed = field.own is None or (own and (later or field.own.supported))
        if known is None or not allowed or not (field.info.is_required() or draw(st.booleans())):
            continue
        if field.model is None:
            made[name] = draw(st.sampled_from(known))
            continue
        inner = objects(field.model, own=own, later=later)
        if field.container == "list":
            made[name] = draw(st.lists(inner, min_size=1, max_size=2))
        elif field.container == "map":
            keys = sorted({key for value in known for key in value})
            made[name] = draw(st.dictionaries(st.sampled_from(keys), inner, min_size=1, max_size=2))
        else:
            made[name] = draw(inner)
    if right(model, made):
        return copy.deepcopy(made)
    fitting = [each for each in OBJECTS[model] if _may(model, each, own=own, later=later)]
    return copy.deepcopy(draw(st.sampled_from(fitting)))


def _may(model: type[Model], value: Any, *, own: bool, later: bool) -> bool:
    """Whether a sample has no field that it may not have."""
    for name, each in value.items():
        field = shape(model)[name]
        if field.own is not None and not (own and (later or field.own.supported)):
            return False
        hidden = field.values.values if field.values and not later else frozenset()
        if isinstance(each, str) and each in hidden:
            return False
        if not all(_may(field.model or model, inner, own=own, later=later) for inner in _inner(field, each)):
            return False
    return right(model, value)


@st.composite
def documents(draw: st.DrawFn, *, later: bool = True) -> Any:
    """Generate a document of any kind under any of its apiVersions."""
    kind = draw(st.sampled_from(sorted(ALL_KINDS)))
    version = draw(st.sampled_from(api_versions(kind)))
    own = version == BERTH_VERSION
    made = draw(objects(ALL_KINDS[kind], own=own, later=later))
    made |= {"apiVersion": version, "kind": kind}
    return made


@dataclass(frozen=True)
class Mutation:
    """A change in one place: the document after it, and the path that the one problem must have."""

    what: str
    document: Any
    path: Path
    code: Code | None = None


def mutations(made: Any) -> Iterator[Mutation]:
    """Yield every change of a right document that makes it wrong in one place."""
    kind = made["kind"]
    whole = schema(kind, later=True)
    yield from _Mutations(made, whole).of_object(made, ALL_KINDS[kind], whole, ())


@dataclass(frozen=True)
class _Mutations:
    """A walk through a document, its models and its schema."""

    made: Any
    whole: Any

    def of_object(self, value: Any, model: type[Model], part: Any, path: Path) -> Iterator[Mutation]:
        """Yield the changes of an object and of everything inside it."""
        part = _plain(part, self.whole)
        yield Mutation("unknown key", _with(self.made, (*path, "zzzz"), 1), (*path, "zzzz"), Code.FIELD_UNKNOWN)
        for name, field in shape(model).items():
            if name not in value:
                continue
            here = (*path, name)
            if field.info.is_required():
                yield Mutation("missing", _without(self.made, here), path, Code.FIELD_MISSING)
            if not self._free(here):
                prop = part["properties"][name]
                yield from self._of_value(value[name], prop, here)
                yield from self._inside(value[name], field, prop, here)

    def _free(self, path: Path) -> bool:
        """Whether a change there makes nothing wrong: somebody else's document, or a line that has no effect."""
        if path == ("apiVersion",):
            return self.made["kind"] not in KINDS
        return path == ("metadata", "namespace") and not ALL_KINDS[self.made["kind"]].NAMESPACED

    def _inside(self, value: Any, field: FieldShape, part: Any, path: Path) -> Iterator[Mutation]:
        part = _plain(part, self.whole)
        model = field.model
        if field.free:
            return
        if model is not None and not field.container:
            yield from self.of_object(value, model, part, path)
            return
        inner = part.get("items") if isinstance(value, list) else part.get("additionalProperties")
        entries: Any = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        for key, each in entries:
            here = (*path, key)
            yield from self._of_value(each, inner, here)
            if model is not None:
                yield from self.of_object(each, model, inner, here)

    def _of_value(self, value: Any, part: Any, path: Path) -> Iterator[Mutation]:
        part = _plain(part, self.whole)
        other = ["x"] if isinstance(value, (str, dict)) else "three"
        for what, each in {"another type": other, **_beyond(part), **_crowded(part, value)}.items():
            yield Mutation(what, _with(self.made, path, each), path)


def _beyond(part: Any) -> dict[str, Any]:
    """Return values that a single value's bounds, choices and pattern refuse."""
    wrong: dict[str, Any] = {}
    if "minimum" in part:
        wrong["too small"] = part["minimum"] - 1
    if "maximum" in part:
        wrong["too large"] = part["maximum"] + 1
    if "enum" in part or "const" in part:
        wrong["no choice"] = "zzzz"
    if part.get("minLength"):
        wrong["too short"] = "a" * (part["minLength"] - 1)
    if "maxLength" in part:
        wrong["too long"] = "a" * (part["maxLength"] + 1)
    if "pattern" in part:
        size = max(part.get("minLength", 1), 1)
        tried = (sign * size for sign in ("!", " ", "-", "/", "="))
        wrong["no match"] = next(text for text in tried if not re.search(part["pattern"], text))
    return wrong


def _crowded(part: Any, value: Any) -> dict[str, Any]:
    """Return lists and maps with too few or too many entries."""
    wrong: dict[str, Any] = {}
    if part.get("minItems"):
        wrong["too few items"] = value[: part["minItems"] - 1]
    if "maxItems" in part and value:
        wrong["too many items"] = [value[0]] * (part["maxItems"] + 1)
    if "maxProperties" in part and value:
        first = next(iter(value.values()))
        wrong["too many keys"] = {f"k{number}": first for number in range(part["maxProperties"] + 1)}
    return wrong


def _plain(part: Any, whole: Any) -> Any:
    """Follow references, and take the alternative that is not null."""
    while isinstance(part, dict) and ("$ref" in part or "anyOf" in part):
        if "$ref" in part:
            part = whole["$defs"][part["$ref"].removeprefix("#/$defs/")]
        else:
            rest = {key: each for key, each in part.items() if key != "anyOf"}
            part = {**next(each for each in part["anyOf"] if each.get("type") != "null"), **rest}
    return part if isinstance(part, dict) else {}


def _with(made: Any, path: Path, value: Any) -> Any:
    changed = copy.deepcopy(made)
    holder = changed
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return changed


def _without(made: Any, path: Path) -> Any:
    changed = copy.deepcopy(made)
    holder = changed
    for part in path[:-1]:
        holder = holder[part]
    del holder[path[-1]]
    return changed
