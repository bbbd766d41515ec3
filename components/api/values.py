"""The values that several kinds have: durations, days, money, names of secrets, and whatever another program reads.

Each is a type with its own check and its own wording; what a value means is said by the field that has it.
"""

from math import isfinite
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from components.api import syntax
from components.api.codes import Code
from components.api.frozen import FrozenDict
from components.api.rules import Violation, checked

MAX_USD: Final = 10_000_000
"""Most US dollars per hour; more than any fleet costs, so a number above it is a slip of the pen."""

MAX_INT32: Final = 2**31 - 1
"""Largest number that Kubernetes takes where it takes 32 bits."""

Duration = Annotated[
    str, Field(json_schema_extra={"pattern": syntax.DURATION_PATTERN}), checked(syntax.duration, Code.VALUE_INVALID)
]
"""Hours, minutes and seconds: `1h30m`."""

Day = Annotated[
    str,
    Field(json_schema_extra={"format": "date"}),
    checked(syntax.date, Code.VALUE_INVALID),
]
"""A day of the calendar: `2027-03-31`."""

UsdPerHour = Annotated[float, Field(ge=0, le=MAX_USD)]
"""US dollars per hour."""

SecretName = Annotated[str, checked(syntax.secret_name, Code.NAME_INVALID)]
"""A secret across namespaces: `namespace/name`."""

Key = Annotated[str, Field(min_length=1, max_length=253)]
"""A key in a secret."""


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
