"""The values that several kinds have: durations, days, money, names of secrets, and whatever another program reads.

Each is a type with its own check and its own wording; what a value means is said by the field that has it.
"""

from math import isfinite
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field

from components.api import syntax
from components.api.codes import Code
from components.api.frozen import FrozenDict
from components.api.rules import Violation, checked

MAX_USD: Final = 10_000_000
"""Most US dollars per hour; more than any fleet costs, so a number above it is a slip of the pen."""

MAX_INT32: Final = 2**31 - 1
"""Largest number that Kubernetes takes where it takes 32 bits."""

Duration = Annotated[str, checked(syntax.duration, Code.VALUE_INVALID)]
"""Hours, minutes and seconds: `1h30m`."""

Day = Annotated[str, checked(syntax.date, Code.VALUE_INVALID)]
"""A day of the calendar: `2027-03-31`."""

UsdPerHour = Annotated[float, Field(ge=0, le=MAX_USD)]
"""US dollars per hour."""

SecretName = Annotated[str, checked(syntax.secret_name, Code.NAME_INVALID)]
"""A secret across namespaces: `namespace/name`."""

Key = Annotated[str, Field(min_length=1, max_length=253), checked(syntax.secret_key, Code.NAME_INVALID)]
"""A key in a Secret or ConfigMap."""


def _as_text(value: Any) -> Any:
    """Write a number as the text it is short for; Kubernetes takes both where it types a quantity."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return value
    return str(int(value)) if value == int(value) and abs(value) < MAX_EXACT else str(value)


MAX_EXACT: Final = 2**53
"""From here on a number that YAML reads with a fraction has lost digits."""

Amount = Annotated[
    str,
    Field(min_length=1, max_length=32, json_schema_extra={"type": ["string", "number"], "minimum": 0}),
    BeforeValidator(_as_text),
    checked(syntax.cpu_or_memory, Code.QUANTITY_INVALID),
]
"""A Kubernetes quantity that is not negative: `500m`, `64Gi`, or a number without a unit."""


def _frozen(value: Any) -> Any:
    """Freeze a free value, and refuse the one thing that YAML can say and JSON cannot."""
    if isinstance(value, dict):
        return FrozenDict({key: _frozen(inner) for key, inner in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, float) and not isfinite(value):
        raise Violation(Code.VALUE_INVALID, "a number must be finite").error()
    return value


def _scalar(value: Any) -> Any:
    if isinstance(value, (dict, list, tuple)) or value is None:
        raise Violation(Code.TYPE_WRONG, "the value must be text, a number, true or false").error()
    return _frozen(value)


Json = Annotated[Any, AfterValidator(_frozen)]
"""Whatever another program reads; kept as it was written."""

Scalar = Annotated[Any, Field(json_schema_extra={"type": ["string", "number", "boolean"]}), AfterValidator(_scalar)]
"""Text, a number, true or false."""
