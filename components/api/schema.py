"""JSON Schemas of the kinds, made from the models: for editors, for other tools, and to pin what is accepted.

A schema says all that JSON Schema can say of one document: types, bounds, patterns, and the rules between fields that
are ``CONDITIONS`` of a model. What it cannot say (two values compared, a name that another item has) and what documents
say together is the loader's. An absent value may be written as ``null``, as the API server has it, and what a server
writes is accepted. Fields that are not supported yet are left out, so that an editor marks them.
"""

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from components.api.base import BERTH_VERSION, MODELPLANE, Model, Ruled
from components.api.conditions import NOTHING
from components.api.document import SERVER_METADATA
from components.api.frozen import FrozenDict
from components.api.kinds import ALL_KINDS, api_versions
from components.api.shape import FieldShape, shape

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_REFERENCE: Final = "#/$defs/"

_BY_SERVER: Final = "Written by a server; it has no effect."


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, which does not know our mapping."""

    def encode_default(self, dft: Any) -> Any:
        """Write an empty mapping as one."""
        return super().encode_default(dict(dft) if isinstance(dft, FrozenDict) else dft)


def schema(kind: str, *, later: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a kind; raises KeyError when there is no such kind.

    With ``later`` it has the fields that are not supported yet too: what they will take, for who reads ahead. The
    schema is the caller's own, to change.
    """
    return copy.deepcopy(_made(kind, later=later))


@cache
def _made(kind: str, *, later: bool) -> dict[str, Any]:
    """Make a schema, once: pydantic takes its time."""
    model = ALL_KINDS[kind]
    made = model.model_json_schema(by_alias=True, schema_generator=_Generator)
    definitions = made.setdefault("$defs", {})
    _finish(made, model, later=later)
    for definition, inner in dict(_models(model)).items():
        _finish(definitions[definition], inner, later=later)
    made["properties"]["status"] = {"description": _BY_SERVER}
    made["properties"]["apiVersion"]["enum"] = list(api_versions(kind))
    made["properties"]["apiVersion"].pop("const", None)
    metadata = shape(model)["metadata"].model
    assert metadata is not None
    properties = definitions[metadata.__name__]["properties"]
    properties["namespace"].pop("default", None)
    if not model.NAMESPACED:
        properties["namespace"] = {"description": "This kind has no namespace; the line has no effect."}
    properties |= {name: {"description": _BY_SERVER} for name in SERVER_METADATA}
    _by_version(made, model, kind)
    used = set(_used(made, definitions))
    made["$defs"] = {name: each for name, each in definitions.items() if name in used}
    return {"$schema": DIALECT, "title": kind, **_sorted(made)}


def _by_version(made: dict[str, Any], model: type[Model], kind: str) -> None:
    """Say what the predecessor's apiVersion forbids, and the one thing that only it may have."""
    if MODELPLANE not in api_versions(kind):
        return
    spec = made["$defs"][made["properties"]["spec"]["$ref"].removeprefix(_REFERENCE)]
    spec["properties"]["crossplane"] = {"description": "Settings of the predecessor's machinery; they have no effect."}
    made["if"] = {"properties": {"apiVersion": {"const": MODELPLANE}}}
    made["then"] = _portable(model)
    made["else"] = {"properties": {"spec": {"properties": {"crossplane": NOTHING}}}}


def _models(model: type[Model]) -> Iterator[tuple[str, type[Model]]]:
    """Yield every model inside a model with the name of its definition."""
    for field in shape(model).values():
        if field.model is not None:
            yield field.model.__name__, field.model
            yield from _models(field.model)


def _used(part: Any, definitions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the definitions that a part of a schema refers to, and those that they refer to."""
    if isinstance(part, dict):
        name = str(part.get("$ref", "")).removeprefix(_REFERENCE)
        if name:
            yield name
            yield from _used(definitions[name], definitions)
        for key, inner in part.items():
            if key != "$defs":
                yield from _used(inner, definitions)
    elif isinstance(part, list):
        for inner in part:
            yield from _used(inner, definitions)


def _finish(made: dict[str, Any], model: type[Model], *, later: bool) -> None:
    """Leave out what is not supported and pydantic's titles, which only repeat names; add the rules between fields."""
    made.pop("title", None)
    for name, field in shape(model).items():
        _finish_field(made, name, field, later=later)
        if name in made["properties"] and name not in made.get("required", ()):
            made["properties"][name] = _nullable(made["properties"][name])
    rules = [each for each in _conditions(model) if set(_named(each)) <= set(made["properties"])]
    if rules:
        made["allOf"] = rules


def _finish_field(made: dict[str, Any], name: str, field: FieldShape, *, later: bool) -> None:
    prop = made["properties"][name]
    prop.pop("title", None)
    prop.setdefault("description", field.info.description)
    if "default" in prop:
        prop["default"] = _without_nothing(prop["default"])
    if field.values is not None and not field.values.supported and not later:
        prop["enum"] = [value for value in prop["enum"] if value not in field.values.values]
    if field.container == "map" and not field.free:
        holder = next((each for each in prop.get("anyOf", ()) if "additionalProperties" in each), prop)
        holder["additionalProperties"] = _nullable(holder["additionalProperties"])
    if field.own is not None and not field.own.supported:
        if later:
            prop["description"] = f"{prop['description']} Not supported yet."
        else:
            del made["properties"][name]
    elif field.own is not None:
        prop["description"] = f"{prop.get('description', '')} Needs apiVersion {BERTH_VERSION}.".strip()


def _conditions(model: type[Model]) -> Iterator[dict[str, Any]]:
    """Yield the rules between a model's fields that JSON Schema can say."""
    if issubclass(model, Ruled):
        for condition in model.CONDITIONS:
            yield from condition.schemas(model)


def _named(rule: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields that a rule is about; one that is left out takes its rules along."""
    yield from rule.get("required", ())
    yield from rule.get("properties", ())
    for key in {"if", "then", "else", "not"} & set(rule):
        yield from _named(rule[key])
    for key in ("oneOf", "anyOf"):
        for each in rule.get(key, ()):
            yield from _named(each)


def _nullable(prop: dict[str, Any]) -> dict[str, Any]:
    """Say that a value may be ``null``, which is the same as none."""
    if "$ref" in prop:
        rest = {key: value for key, value in prop.items() if key != "$ref"}
        return {"anyOf": [{"$ref": prop["$ref"]}, dict(NOTHING)], **rest}
    if "type" in prop and prop["type"] != "null":
        types = prop["type"] if isinstance(prop["type"], list) else [prop["type"]]
        prop["type"] = [*types, "null"]
        if "enum" in prop:
            prop["enum"] = [*prop["enum"], None]
        if "const" in prop:
            prop["enum"] = [prop.pop("const"), None]
    return prop


def _portable(model: type[Model]) -> dict[str, Any]:
    """Return what the predecessor's apiVersion forbids: Berth's own fields, and numbers beyond its bounds."""
    properties: dict[str, Any] = {}
    for name, field in shape(model).items():
        if field.own is not None:
            if field.own.supported:
                properties[name] = False
        elif field.values is not None and field.values.supported:
            properties[name] = {"not": {"enum": sorted(field.values.values)}}
        elif field.portable is not None:
            properties[name] = {"minimum": field.portable.low, "maximum": field.portable.high}
        elif field.model is not None:
            inner = _portable(field.model)
            if inner:
                wrap = {"list": {"items": inner}, "map": {"additionalProperties": inner}}
                properties[name] = wrap.get(field.container, inner)
    return {"properties": properties} if properties else {}


def _without_nothing(value: Any) -> Any:
    """Leave absent fields out of a default."""
    if isinstance(value, dict):
        return {key: _without_nothing(inner) for key, inner in value.items() if inner is not None}
    return value


def _sorted(value: Any) -> Any:
    """Sort keys at every level, so that a schema's text depends on its meaning alone."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
