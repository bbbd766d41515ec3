"""Moments and spans of time as a snapshot document has them."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator

from components.api.codes import Code
from components.api.rules import Violation


def _zoned(moment: datetime) -> datetime:
    """Refuse a time that nobody can compare with another."""
    if moment.tzinfo is None:
        message = f"{moment.isoformat()} does not say its time zone"
        raise Violation(Code.VALUE_INVALID, message, hint=f"write `{moment.isoformat()}Z` for UTC").error()
    return moment


Moment = Annotated[datetime, AfterValidator(_zoned)]
"""A moment with its time zone."""


def _forward(span: timedelta) -> timedelta:
    """Refuse a span of less than no time."""
    if span < timedelta():
        message = f"must be at least 0 seconds, and is {span.total_seconds():g}"
        raise Violation(Code.VALUE_OUT_OF_RANGE, message).error()
    return span


Span = Annotated[timedelta, AfterValidator(_forward)]
"""A span of time."""
