"""Selection and indexing of values, plain, optional and as presence tests, with upstream's detours.

A chain such as ``device.attributes["d"].?x.y`` is one attribute: once a step is optional, all later ones are, and the
result is an optional. An attribute that starts at an optional looks into it. Upstream moves the content of such an
optional through Go's native types, which turns a quantity or a version in it into an error, a type into its name, and
an optional in an optional into its content; that is kept.
"""

from __future__ import annotations

from components.cel.kinds import type_name
from components.cel.problem import EvaluationError
from components.cel.semver import Semver
from components.cel.values import (
    NOTHING,
    Cell,
    CelMap,
    Cidr,
    IpAddress,
    Opt,
    TypeValue,
    UInt,
    Url,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_NO_NATIVE: Final = frozenset({Cell, Semver, IpAddress, Cidr, Url})
ABSENT: Final = object()
"""What an optional step finds where nothing is; an absent optional that a list or a map holds is a value."""
KEYS: Final = frozenset({str, int, UInt, bool, float})


def through_native(value: Value) -> Value:
    """Move the content of an optional through native types; a failure is content of its own."""
    kind = type(value)
    if kind in _NO_NATIVE:
        return EvaluationError("unsupported-conversion", "unsupported conversion of the value of an optional variable")
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, Opt):
        return through_native(value.value)
    return None if value is NOTHING else value


def missing(key: Value) -> EvaluationError:
    """Report a key that is not there."""
    return EvaluationError("no-such-key", f"no such key: {str(key)[:100]}", key=key)


def check_key(key: Value) -> None:
    """Refuse values that cannot be keys or indices."""
    if type(key) not in KEYS:
        raise EvaluationError("invalid-index", f"a value of type {type_name(key)} is no key or index")


def index_of(key: Value) -> int:
    """Read a list index."""
    kind = type(key)
    if kind is int:
        return int(key)
    if kind is float and key.is_integer() and -(2.0**63) < key < 2.0**63:
        return int(key)
    if kind is UInt and key < 2**63:
        return int(key)
    if kind is float or kind is UInt:
        raise EvaluationError("index", f"{key} is no index of a list")
    raise EvaluationError("index", f"a value of type {type_name(key)} is no index of a list")


def get(value: Value, key: Value) -> Value:
    """Select or index; what is not there is an error."""
    if isinstance(value, CelMap):
        found = value.find(key)
        if found is None:
            raise missing(key)
        return found[1]
    if isinstance(value, list):
        index = index_of(key)
        if 0 <= index < len(value):
            return value[index]
        raise EvaluationError("index", f"index out of bounds: {key}")
    raise missing(key)


def get_optional(value: Value, key: Value) -> Value:
    """Select or index; ``ABSENT`` for what is not there, and for values without fields.

    What could not be moved through native types fails.
    """
    if isinstance(value, CelMap):
        found = value.find(key)
        return ABSENT if found is None else found[1]
    if isinstance(value, list):
        index = index_of(key)
        return value[index] if 0 <= index < len(value) else ABSENT
    if isinstance(value, EvaluationError):
        raise value.again()
    return ABSENT


def is_present(value: Value, key: Value) -> bool:
    """Test for a field."""
    return get_optional(value, key) is not ABSENT
