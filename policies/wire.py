"""Properties as the engine sends them, decoded only where a rule looks.

A fleet is thousands of resources, and the rules look at a few fields of a few types: a bag decodes a property when it
is asked for it, once. What the engine does not know yet is ``UNKNOWN``; a secret is judged by its value, because a
program could otherwise hide a broken rule behind one.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from google.protobuf import struct_pb2


class Unknown(Enum):
    """The type of the one value that stands for what is not known during a preview."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN

_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 (a public constant of the protocol)
_OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_UNKNOWNS: Final = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # a boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # a number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # a string, and what has no type
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # an array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # an asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # an archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # an object
    }
)
"""How the protocol spells that a value of some type is not known."""


class Bag(Mapping[str, Any]):
    """The properties of one resource, read from the wire on demand."""

    __slots__ = ("_fields", "_read")

    def __init__(self, bag: struct_pb2.Struct) -> None:
        self._fields = bag.fields
        self._read: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._read:
            if key not in self._fields:  # asking the wire's own map would add the key
                raise KeyError(key)
            self._read[key] = decode(self._fields[key])
        return self._read[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def decode(value: struct_pb2.Value) -> Any:
    """Turn a value of the wire into plain Python; whole numbers become ``int``."""
    match value.WhichOneof("kind"):
        case "string_value":
            return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
        case "number_value":
            number: float = value.number_value
            return int(number) if number % 1 == 0 else number
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return _object({key: decode(each) for key, each in value.struct_value.fields.items()})
        case "list_value":
            return [decode(each) for each in value.list_value.values]
    return None


def _object(fields: dict[str, Any]) -> Any:
    match fields.get(_SIGNATURE):
        case str(signature) if signature == _SECRET:
            return fields.get("value")
        case str(signature) if signature == _OUTPUT:
            return fields.get("value", UNKNOWN)
    return fields
