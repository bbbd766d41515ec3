"""The wrapper messages of protobuf, such as ``google.protobuf.Int64Value{value: 1}``: their values and defaults."""

from __future__ import annotations

from components.cel.problem import EvaluationError
from components.cel.values import NOTHING, Opt, UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

WRAPPER_DEFAULTS: Final[dict[str, Value]] = {
    "Bool": False, "Bytes": b"", "Double": 0.0, "Float": 0.0, "Int32": 0, "Int64": 0, "String": "",
    "UInt32": UInt(0), "UInt64": UInt(0),
}  # fmt: skip


def wrapped(kind: str, value: Value, *, optional: bool, pos: int) -> Value:
    """Make the value of a wrapper message; an optional value is unwrapped, and may be absent."""
    default = WRAPPER_DEFAULTS[kind]
    if optional:
        if value is NOTHING:
            return default
        if type(value) is not Opt:
            raise EvaluationError("invalid-argument", "an optional entry must have an optional value", offset=pos)
        value = value.value
    if type(value) is not type(default):
        raise EvaluationError("unsupported-conversion", f"the value does not fit a field of {kind}Value", offset=pos)
    limits = {"Int32": (-(2**31), 2**31), "UInt32": (0, 2**32)}
    if kind in limits and not limits[kind][0] <= value < limits[kind][1]:
        raise EvaluationError("overflow", "integer overflow", offset=pos)
    return value
