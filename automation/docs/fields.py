"""The fields of a kind, flat and in words: what a page, or a person who asks for one field, reads. PURE.

The models say what exists, the JSON Schema says type, default and bounds; both are read, so a page cannot promise what
the loader refuses. Fields whose work is not built are listed apart: writing one is an error.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.api.base import BERTH_VERSION, MODELPLANE, Model
from components.api.kinds import ALL_KINDS, api_versions
from components.api.schema import schema
from components.api.shape import FieldShape, shape

_SKIPPED = ("apiVersion", "kind")


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field. ``inside`` is the path of the object it holds, when it holds one."""

    name: str
    type: str
    default: str
    bounds: str
    meaning: str
    required: bool = False
    inside: str = ""


@dataclass(frozen=True, slots=True)
class ObjectFields:
    """One object of a kind: its path (``spec.nodePools[]``), what it is, its fields, and those refused for now.

    ``planned`` says that it stands in a field that is refused for now itself.
    """

    path: str
    meaning: str
    rows: tuple[FieldRow, ...]
    later: tuple[FieldRow, ...] = ()
    planned: bool = False


def objects(kind: str) -> tuple[ObjectFields, ...]:
    """Return every object of a kind that has fields, outermost first; raises KeyError when there is no such kind."""
    model = ALL_KINDS[kind]
    hidden = frozenset() if model.NAMESPACED else frozenset({"metadata.namespace"})
    walk = _Walk(schema(kind, later=True)["$defs"], portable=MODELPLANE in api_versions(kind), hidden=hidden)
    found: list[ObjectFields] = []
    for name, field in shape(model).items():
        if name not in _SKIPPED and field.model is not None:
            found += walk.of(name, field.model)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Walk:
    definitions: Mapping[str, Any]
    portable: bool
    """Whether the kind can also be written under the predecessor's apiVersion, so that Berth's own fields are told."""
    hidden: frozenset[str]
    """Paths that mean nothing for the kind."""

    def of(self, path: str, model: type[Model], *, planned: bool = False) -> Iterator[ObjectFields]:
        """Yield an object and, after it, the objects inside it."""
        definition = self.definitions[model.__name__]
        rows: list[FieldRow] = []
        later: list[FieldRow] = []
        inner: list[tuple[str, type[Model], bool]] = []
        for name, field in shape(model).items():
            if f"{path}.{name}" in self.hidden:
                continue
            where = _inside(path, field)
            required = name in definition.get("required", ())
            refused = field.own is not None and not field.own.supported
            row = self._row(definition["properties"][name], field, inside=where, required=required)
            (later if refused else rows).append(row)
            if field.model is not None:
                inner.append((where, field.model, planned or refused))
        yield ObjectFields(path, _first(model.__doc__), tuple(rows), tuple(later), planned)
        for where, each, refused in inner:
            yield from self.of(where, each, planned=refused)

    def _row(self, prop: Mapping[str, Any], field: FieldShape, *, inside: str, required: bool) -> FieldRow:
        own = field.own is not None and self.portable
        return FieldRow(
            name=field.name,
            type=_type(prop),
            default="required" if required else _default(prop),
            bounds=_bounds(prop),
            meaning=(field.info.description or "") + (f" Needs `{BERTH_VERSION}`." if own else ""),
            required=required,
            inside=inside,
        )


def _inside(path: str, field: FieldShape) -> str:
    if field.model is None:
        return ""
    return f"{path}.{field.name}" + {"list": "[]", "map": ".*"}.get(field.container, "")


def _first(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0]


def _plain(prop: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the alternative that is not null: an absent field is not written as ``null``."""
    options = [option for option in prop.get("anyOf", ()) if option.get("type") != "null"]
    return options[0] if options else prop


_WORDS = {"string": "text", "object": "object", "": "any"}


def _type(prop: Mapping[str, Any]) -> str:
    plain = _plain(prop)
    kind, values = plain.get("type", ""), plain.get("additionalProperties")
    if "$ref" in plain:
        return "object"
    if "enum" in plain:
        return "one of"
    if kind == "array":
        return f"list of {_plural(_type(plain.get('items', {})))}"
    if kind == "object" and isinstance(values, dict):
        return f"map of {_plural(_type(values))}"
    return "scalar" if isinstance(kind, list) else _WORDS.get(kind, kind)


def _plural(word: str) -> str:
    return word if word in {"any", "one of"} else f"{word}s"


def _default(prop: Mapping[str, Any]) -> str:
    value = prop.get("default")
    if value is None or value in ({}, []) or "$ref" in _plain(prop):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _bounds(prop: Mapping[str, Any]) -> str:
    plain = _plain(prop)
    items = plain.get("items", {}) if plain.get("type") == "array" else {}
    parts = [
        ", ".join(str(choice) for choice in plain.get("enum", ())),
        str(plain.get("const", "")),
        _span(plain, "minimum", "maximum", ""),
        _span(plain, "minLength", "maxLength", " characters"),
        _span(plain, "minItems", "maxItems", " items"),
        _span(plain, "minProperties", "maxProperties", " keys"),
        plain.get("pattern", ""),
        f"each: {_bounds(items)}" if items and _bounds(items) else "",
    ]
    return "; ".join(part for part in parts if part)


def _span(plain: Mapping[str, Any], low: str, high: str, unit: str) -> str:
    least, most = plain.get(low), plain.get(high)
    if least is None and most is None:
        return ""
    if most is None:
        return "not empty" if unit and least == 1 else f"at least {least}{unit}"
    if least == most:
        return f"exactly {most}{unit}"
    return f"{least} to {most}{unit}" if least is not None else f"at most {most}{unit}"
