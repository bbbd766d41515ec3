"""One JSON Schema for every manifest, for editors: a file may hold documents of several kinds. PURE.

It chooses by ``kind``, so that a mistake is told against that kind alone and not against all of them.
"""

from typing import Any

from components.api.kinds import ALL_KINDS
from components.api.schema import DIALECT, schema

_REFERENCE = "#/$defs/"


def manifest_schema() -> dict[str, Any]:
    """Return the schema of any document that is read: every kind, a ``List`` of them, and a list of one kind."""
    definitions: dict[str, Any] = {}
    lists = ["List", *(f"{kind}List" for kind in ALL_KINDS)]
    items = {"properties": {"items": {"items": {"$ref": "#"}}}}
    choices: list[dict[str, Any]] = [_choice(each, items) for each in lists]
    for kind in ALL_KINDS:
        made = schema(kind)
        made.pop("$schema")
        inner = made.pop("$defs")
        definitions |= {f"{kind}.{name}": _renamed(each, kind) for name, each in inner.items()}
        definitions[kind] = _renamed(made, kind)
        choices.append(_choice(kind, {"$ref": f"{_REFERENCE}{kind}"}))
    return {
        "$schema": DIALECT,
        "title": "Berth manifest",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": {"type": "string", "description": "The group and version that the kind is written under."},
            "kind": {"type": "string", "description": "The kind.", "enum": [*ALL_KINDS, *lists]},
        },
        "allOf": choices,
        "$defs": definitions,
    }


def _choice(kind: str, then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": then}


def _renamed(value: Any, kind: str) -> Any:
    """Lead references to the definitions of their kind."""
    if isinstance(value, dict):
        return {
            key: each.replace(_REFERENCE, f"{_REFERENCE}{kind}.")
            if key == "$ref" and isinstance(each, str)
            else _renamed(each, kind)
            for key, each in value.items()
        }
    return [_renamed(item, kind) for item in value] if isinstance(value, list) else value
