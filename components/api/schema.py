"""JSON Schemas of the kinds, made from the models: for editors, for other tools, and to pin what is accepted.

A schema accepts what one document may hold by itself, server-written fields too; rules between fields and documents
are the loader's. Fields that are not supported yet are left out, so that an editor marks them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from components.api.base import BERTH_VERSION, MODELPLANE, Model
from components.api.document import SERVER_METADATA
from components.api.frozen import FrozenDict
from components.api.kinds import ALL_KINDS, api_versions
from components.api.shape import shape

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_BY_SERVER: Final = "Written by a server; it has no effect."


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, which does not know our mapping."""

    def encode_default(self, dft: Any) -> Any:
        """Write an empty mapping as one."""
        return super().encode_default(dict(dft) if isinstance(dft, FrozenDict) else dft)


def schema(kind: str, *, later: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a kind; raises KeyError when there is no such kind.

    With ``later`` it has the fields that are not supported yet too: what they will take, for who reads ahead.
    """
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
    properties |= {name: {"description": _BY_SERVER} for name in SERVER_METADATA}
    portable = _portable(model)
    if portable and MODELPLANE in api_versions(kind):
        made["if"] = {"properties": {"apiVersion": {"const": MODELPLANE}}}
        made["then"] = portable
    used = set(_used(made, definitions))
    made["$defs"] = {name: each for name, each in definitions.items() if name in used}
    return {"$schema": DIALECT, "title": kind, **_sorted(made)}


def _models(model: type[Model]) -> Iterator[tuple[str, type[Model]]]:
    """Yield every model inside a model with the name of its definition."""
    for field in shape(model).values():
        if field.model is not None:
            yield field.model.__name__, field.model
            yield from _models(field.model)


def _used(part: Any, definitions: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the definitions that a part of a schema refers to, and those that they refer to."""
    if isinstance(part, dict):
        name = str(part.get("$ref", "")).removeprefix("#/$defs/")
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
    """Leave out what is not supported, and pydantic's titles, which only repeat names."""
    made.pop("title", None)
    for name, field in shape(model).items():
        prop = made["properties"][name]
        prop.pop("title", None)
        prop.setdefault("description", field.info.description)
        if "default" in prop:
            prop["default"] = _without_nothing(prop["default"])
        if field.values is not None and not field.values.supported and not later:
            prop["enum"] = [value for value in prop["enum"] if value not in field.values.values]
        if field.own is not None and not field.own.supported:
            if later:
                prop["description"] = f"{prop['description']} Not supported yet."
            else:
                del made["properties"][name]
        elif field.own is not None:
            prop["description"] = f"{prop.get('description', '')} Needs apiVersion {BERTH_VERSION}.".strip()


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
