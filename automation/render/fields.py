"""The fields of a kind, as a tree and in words: what a page, or a person who asks for one field, reads. PURE.

The models say what exists, the JSON Schema says type, default and bounds; both are read, so nothing is promised that
the loader refuses. Fields whose work is not built are told apart: writing one is an error.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.api.base import BERTH_VERSION, MODELPLANE, Model
from components.api.kinds import ALL_KINDS, api_versions
from components.api.schema import schema
from components.api.shape import FieldShape, shape

_HEAD = ("apiVersion", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """One field.

    ``path`` leads to it from the document (``spec.nodePools[].name``), ``inside`` to what it holds, when that has
    fields of its own: these are ``children``, and ``about`` says what they make up. ``versions`` are the apiVersions
    that have the field; none has one that is not built yet.
    """

    name: str
    path: str
    type: str = ""
    default: str = ""
    bounds: str = ""
    portable: str = ""
    """Narrower bounds under the predecessor's apiVersion."""
    choices: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    """The choices that only Berth's own apiVersion has."""
    later: tuple[str, ...] = ()
    """The choices that are refused for now."""
    meaning: str = ""
    required: bool = False
    versions: tuple[str, ...] = ()
    inside: str = ""
    about: str = ""
    children: tuple["FieldRow", ...] = ()
    own: bool = False
    """Whether the field itself is what asks for Berth's own apiVersion, though the kind has both."""
    refused: bool = False
    """Whether writing the field is refused for now."""

    @property
    def told(self) -> str:
        """The meaning, with the apiVersion that it needs."""
        return self.meaning + (f" Needs `{BERTH_VERSION}`." if self.own else "")


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


def root(kind: str) -> FieldRow:
    """Return a kind with all its fields; raises KeyError when there is no such kind."""
    model = ALL_KINDS[kind]
    hidden = frozenset() if model.NAMESPACED else frozenset({"metadata.namespace"})
    made = schema(kind, later=True)
    definitions = {**made["$defs"], model.__name__: made}
    versions = api_versions(kind)
    walk = _Walk(definitions, portable=MODELPLANE in versions, ours=BERTH_VERSION in versions, hidden=hidden)
    about = _paragraph(model.__doc__)
    children = tuple(walk.of("", model, versions))
    return FieldRow(name=kind, path="", type="object", meaning=about, about=about, versions=versions, children=children)


def objects(kind: str) -> tuple[ObjectFields, ...]:
    """Return every object of a kind that has fields, outermost first; raises KeyError when there is no such kind."""
    return tuple(each for top in root(kind).children if top.name not in _HEAD for each in _objects(top))


def _objects(row: FieldRow) -> Iterator[ObjectFields]:
    if row.children:
        rows = tuple(child for child in row.children if not child.refused)
        later = tuple(child for child in row.children if child.refused)
        yield ObjectFields(row.inside, row.about, rows, later, planned=not row.versions)
        for child in row.children:
            yield from _objects(child)


@dataclass(frozen=True, slots=True)
class _Walk:
    definitions: Mapping[str, Any]
    portable: bool
    """Whether the kind can also be written under the predecessor's apiVersion, so that Berth's own fields are told."""
    ours: bool
    """Whether the kind can be written under Berth's own apiVersion at all."""
    hidden: frozenset[str]
    """Paths that mean nothing for the kind."""

    def of(self, path: str, model: type[Model], versions: tuple[str, ...]) -> Iterator[FieldRow]:
        """Yield the fields of an object, each with what is inside it."""
        definition = self.definitions[model.__name__]
        for name, field in shape(model).items():
            here = f"{path}.{name}" if path else name
            if here in self.hidden or (field.own is not None and not self.ours):
                continue
            required = name in definition.get("required", ())
            yield self._row(definition["properties"][name], field, here, versions, required=required)

    def _row(
        self, prop: Mapping[str, Any], field: FieldShape, path: str, versions: tuple[str, ...], *, required: bool
    ) -> FieldRow:
        own = field.own is not None and self.portable
        refused = field.own is not None and not field.own.supported
        inner = () if refused or not versions else (BERTH_VERSION,) if own else versions
        inside = _inside(path, field)
        bounds = field.portable if self.portable else None
        values = tuple(sorted(field.values.values)) if field.values is not None else ()
        built = field.values is not None and field.values.supported
        return FieldRow(
            name=field.name,
            path=path,
            type=_type(prop),
            default="required" if required else _default(prop),
            bounds=_bounds(prop),
            portable=f"{bounds.low} to {bounds.high}" if bounds else "",
            choices=_choices(prop),
            ours=values if built else (),
            later=() if built else values,
            meaning=field.info.description or "",
            required=required,
            versions=inner,
            inside=inside,
            about=_first(field.model.__doc__) if field.model else "",
            children=tuple(self.of(inside, field.model, inner)) if field.model else (),
            own=own,
            refused=refused,
        )


def _inside(path: str, field: FieldShape) -> str:
    return path + {"list": "[]", "map": ".*"}.get(field.container, "") if field.model else ""


def _paragraph(docstring: str | None) -> str:
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())


def _first(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0]


def _plain(prop: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the alternative that is not null: an absent field is not written as ``null``."""
    options = [option for option in prop.get("anyOf", ()) if option.get("type") != "null"]
    plain = options[0] if options else prop
    types = plain.get("type")
    if not isinstance(types, list) or "null" not in types:
        return plain
    rest = [each for each in types if each != "null"]
    choices = {"enum": [each for each in plain["enum"] if each is not None]} if "enum" in plain else {}
    return {**plain, "type": rest[0] if len(rest) == 1 else rest, **choices}


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
    return "scalar" if isinstance(kind, list) else _WORDS.get(kind, str(kind))


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
        plain.get("patternErrorMessage", plain.get("pattern", "")),
        f"each: {_bounds(items)}" if items and _bounds(items) else "",
    ]
    return "; ".join(part for part in parts if part)


def _choices(prop: Mapping[str, Any]) -> tuple[str, ...]:
    plain = _plain(prop)
    items = plain.get("items", {}) if plain.get("type") == "array" else {}
    found = plain.get("enum") or items.get("enum") or ([plain["const"]] if "const" in plain else [])
    return tuple(str(choice) for choice in found)


def _span(plain: Mapping[str, Any], low: str, high: str, unit: str) -> str:
    least, most = plain.get(low), plain.get(high)
    if least is None and most is None:
        return ""
    if most is None:
        return "not empty" if unit and least == 1 else f"at least {least}{unit}"
    if least == most:
        return f"exactly {most}{unit}"
    return f"{least} to {most}{unit}" if least is not None else f"at most {most}{unit}"
