"""Property bags as the engine sends them, turned into plain Python and back.

A value is one of ``None``, ``bool``, ``int``, ``float``, ``str``, ``list``, ``dict``, ``Secret`` or ``UNKNOWN``. Whole
numbers become ``int``, so that text made from them reads as people wrote it. Assets, archives and resource references
stay the signed objects they are on the wire. What a cloud does with a value does not belong here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from google.protobuf import struct_pb2

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a public constant of the protocol
UNKNOWN_TEXT: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class Unknown:
    """A value that only the real run will know; there is one, ``UNKNOWN``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the engine marked as secret; its text form never shows it."""

    value: Any

    def __repr__(self) -> str:
        return "Secret([secret])"


def decode(bag: struct_pb2.Struct) -> dict[str, Any]:
    """Turn a wire bag into plain Python, keeping secrets and unknowns apart."""
    return {key: _decode(value) for key, value in bag.fields.items()}


def _decode(value: struct_pb2.Value) -> Any:  # noqa: PLR0911 - one return per kind of the wire format
    match value.WhichOneof("kind"):
        case "string_value":
            text = value.string_value
            return UNKNOWN if text == UNKNOWN_TEXT else text
        case "number_value":
            number: float = value.number_value
            return int(number) if number % 1 == 0 else number
        case "bool_value":
            return value.bool_value
        case "struct_value":
            fields = decode(value.struct_value)
            if fields.get(SIGNATURE) == SECRET_SIGNATURE:
                return Secret(fields.get("value"))
            return fields
        case "list_value":
            return [_decode(item) for item in value.list_value.values]
        case _:
            return None


def encode(bag: Mapping[str, Any]) -> struct_pb2.Struct:
    """Turn plain Python into a wire bag; keys are sorted so that equal bags are equal bytes."""
    result = struct_pb2.Struct()
    for key in sorted(bag):
        _encode(bag[key], result.fields[key])
    return result


def _encode(value: Any, target: struct_pb2.Value) -> None:  # noqa: C901 - one case per kind of the wire format
    match value:
        case None:
            target.null_value = struct_pb2.NULL_VALUE
        case bool():
            target.bool_value = value
        case int() | float():
            target.number_value = value
        case str():
            target.string_value = value
        case Unknown():
            target.string_value = UNKNOWN_TEXT
        case Secret():
            target.struct_value.fields[SIGNATURE].string_value = SECRET_SIGNATURE
            _encode(value.value, target.struct_value.fields["value"])
        case Mapping():
            target.struct_value.SetInParent()
            for key in sorted(value):
                _encode(value[key], target.struct_value.fields[key])
        case list() | tuple():
            target.list_value.SetInParent()
            for item in value:
                _encode(item, target.list_value.values.add())
        case _:
            raise TypeError(f"a value of type {type(value).__name__} has no wire form")


def plain(value: Any) -> Any:
    """Drop the secret marks, at every depth."""
    match value:
        case Secret():
            return plain(value.value)
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value


def has_unknown(value: Any) -> bool:
    """Say whether any part of the value is unknown."""
    match value:
        case Unknown():
            return True
        case Secret():
            return has_unknown(value.value)
        case dict():
            return any(has_unknown(item) for item in value.values())
        case list():
            return any(has_unknown(item) for item in value)
        case _:
            return False


def has_secret(value: Any) -> bool:
    """Say whether any part of the value is marked as secret."""
    match value:
        case Secret():
            return True
        case dict():
            return any(has_secret(item) for item in value.values())
        case list():
            return any(has_secret(item) for item in value)
        case _:
            return False


def mark_like(value: Any, pattern: Any) -> Any:
    """Mark as secret in ``value`` what is secret at the same place of ``pattern``; what is marked already stays so."""
    match pattern:
        case Secret():
            return value if isinstance(value, Secret) or value is None else Secret(plain(value))
        case dict() if isinstance(value, dict):
            return {key: mark_like(item, pattern.get(key)) for key, item in value.items()}
        case list() if isinstance(value, list):
            padded = [*pattern, *([None] * (len(value) - len(pattern)))]
            return [mark_like(item, mark) for item, mark in zip(value, padded, strict=False)]
        case _:
            return value


def without_nulls(value: Any) -> Any:
    """Drop object members that are null, as providers do: absent and null are one thing to a cloud."""
    match value:
        case Secret():
            return Secret(without_nulls(value.value))
        case dict():
            return {key: without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [without_nulls(item) for item in value]
        case _:
            return value


def merge(base: Any, over: Any) -> Any:
    """Lay ``over`` upon ``base``: objects member by member, the rest as a whole; null in ``over`` hides nothing."""
    if over is None:
        return base
    if isinstance(base, dict) and isinstance(over, dict):
        return {key: merge(base.get(key), over.get(key)) for key in {**base, **over}}
    return over


def lookup(value: Any, path: str) -> Any:
    """Follow a dotted path (``spec.ports.0.name``) through objects, lists and secrets; ``None`` when it ends early."""
    for part in path.split("."):
        value = value.value if isinstance(value, Secret) else value
        if isinstance(value, Unknown):
            return value
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit():
            value = value[int(part)] if int(part) < len(value) else None
        else:
            return None
    return value.value if isinstance(value, Secret) else value


class Changed(StrEnum):
    """What became of a property, in the words of the protocol."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


def changed_paths(old: Any, new: Any, *, prefix: str = "") -> Iterator[tuple[str, Changed]]:
    """Yield the property paths at which two bags differ, deepest first found, in a stable order, with what happened.

    Secret marks do not count: a value that becomes secret is the same value. An unknown differs from everything.
    """
    old = old.value if isinstance(old, Secret) else old
    new = new.value if isinstance(new, Secret) else new
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            step = f"{prefix}.{key}" if prefix else key
            if not key.replace("_", "").isalnum():
                step = f'{prefix}["{key}"]'
            yield from changed_paths(old.get(key), new.get(key), prefix=step)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            left = old[index] if index < len(old) else None
            right = new[index] if index < len(new) else None
            yield from changed_paths(left, right, prefix=f"{prefix}[{index}]")
    elif has_unknown(old) or has_unknown(new) or not _same(old, new):
        yield prefix, Changed.ADD if old is None else Changed.DELETE if new is None else Changed.UPDATE


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, bool) != isinstance(new, bool):
        return False
    return plain(old) == plain(new)
