"""Timestamps and durations: parsing and printing as Go does, and the getters of their parts.

Limit: a named time zone other than UTC (``getHours("Europe/Berlin")``) is an error of class ``unsupported``, because
the package reads no files; offsets such as ``+02:00`` work.
"""

# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import re
from datetime import date

from components.cel.arithmetic import timestamp
from components.cel.problem import EvaluationError
from components.cel.values import Duration, Timestamp, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_BILLION: Final = 10**9
_DAY: Final = 86_400
_EPOCH: Final = date(1970, 1, 1).toordinal()
_MAX: Final = 2**63
_UNITS: Final = {
    "ns": 1, "us": 1_000, "\u00b5s": 1_000, "\u03bcs": 1_000, "ms": 10**6, "s": _BILLION, "m": 60 * _BILLION,
    "h": 3600 * _BILLION,
}  # fmt: skip
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)
_OFFSET_SECONDS: Final = 24 * 3600
_MONTHS: Final = 12


def parse_duration(text: str) -> Duration | None:
    """Parse a Go duration such as ``1h30m`` or ``-1.5s``; nothing when it is none."""
    negative = text[:1] == "-"
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total, pos = 0, 0
    while pos < len(rest):
        found = _PART.match(rest, pos)
        if found is None or not (found[1] or found[2]):
            return None
        amount = _amount(found[1], found[2] or "", _UNITS[found[3]])
        if amount is None:
            return None
        total += amount
        if total > _MAX:
            return None
        pos = found.end()
    if total == _MAX and not negative:
        return None
    return Duration(-total if negative else total)


def _amount(whole: str, fraction: str, unit: int) -> int | None:
    """Give whole nanoseconds; the fraction is cut where Go's float arithmetic cuts it."""
    digits = whole.lstrip("0")
    if len(digits) > 19:
        return None
    value = int(digits or "0")
    if value > _MAX // unit:
        return None
    part, scale = 0, 1.0
    for char in fraction:
        following = part * 10 + int(char)
        if part > (_MAX - 1) // 10 or following > _MAX:
            break
        part, scale = following, scale * 10
    total = value * unit + (int(float(part) * (float(unit) / scale)) if part else 0)
    return total if total <= _MAX else None


def parse_timestamp(text: str) -> Timestamp | None:
    """Parse RFC 3339 as Go does; nothing when it is none, an error when the year is out of range."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(found[group]) for group in range(1, 7))
    if not 1 <= month <= _MONTHS or hour > 23 or minute > 59 or second > 59:
        return None
    days = _days(year, month, day)
    if days is None:
        return None
    offset = 0
    if found[8] != "Z":
        hours, minutes = int(found[8][1:3]), int(found[8][4:6])
        if hours > 24 or minutes > 60:  # as Go has it
            return None
        offset = (hours * 3600 + minutes * 60) * (-1 if found[8][0] == "-" else 1)
    nanos = int((found[7] or "0")[:9].ljust(9, "0"))
    seconds = days * _DAY + hour * 3600 + minute * 60 + second - offset
    return timestamp(seconds * _BILLION + nanos, offset)


def _days(year: int, month: int, day: int) -> int | None:
    """Count days since the epoch; the year 0 is the one before the calendar starts."""
    try:
        if year == 0:
            return date(400, month, day).toordinal() - _EPOCH - 146_097
        return date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None


def seconds_text(value: Duration) -> str:
    """Print a duration as its seconds in the shortest decimal form."""
    whole, rest = divmod(abs(value.nanos), _BILLION)
    seconds = float(whole) + float(rest) / 1e9
    return plain(-seconds if value.nanos < 0 else seconds) + "s"


def plain(number: float) -> str:
    """Print a float below 1e16, as the seconds of a duration are, without an exponent, in the fewest digits."""
    text = repr(number)
    if "e" not in text:
        return text.removesuffix(".0")
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits, point = whole + fraction, len(whole) + int(exponent)
    return f"{sign}0.{'0' * -point}{digits}".rstrip("0")


def timestamp_text(value: Timestamp) -> str:
    """Print RFC 3339 with as many fraction digits as needed, in the zone it was written with."""
    seconds, nanos = divmod(value.nanos, _BILLION)
    local = seconds + value.offset
    days, clock = divmod(local, _DAY)
    year, month, day = _civil(days)
    text = f"{year:04d}-{month:02d}-{day:02d}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    if nanos:
        text += f".{nanos:09d}".rstrip("0")
    if not value.offset:
        return text + "Z"
    minutes = abs(value.offset) // 60
    return text + f"{'-' if value.offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"


def _civil(days: int) -> tuple[int, int, int]:
    ordinal = days + _EPOCH
    if ordinal < 1:
        found = date.fromordinal(ordinal + 146_097)
        return found.year - 400, found.month, found.day
    if ordinal > date.max.toordinal():
        found = date.fromordinal(ordinal - 146_097)
        return found.year + 400, found.month, found.day
    found = date.fromordinal(ordinal)
    return found.year, found.month, found.day


def _zone(name: str) -> int:
    """Give the offset of a time zone in seconds."""
    if ":" not in name:
        if name in {"", "UTC"}:
            return 0
        raise EvaluationError("unsupported", f"time zone {name[:40]!r} is not supported here; write it as +HH:MM")
    hours, _, minutes = name.partition(":")
    try:
        if not re.fullmatch(r"[+-]?[0-9]{1,6}", hours) or not re.fullmatch(r"[+-]?[0-9]{1,6}", minutes):
            raise ValueError  # noqa: TRY301 - caught right here with the others
        hour, minute = int(hours), int(minutes)
    except ValueError as error:
        raise EvaluationError("invalid-argument", f"invalid time zone {name[:40]!r}") from error
    return (hour * 60 - minute if name.startswith("-") else hour * 60 + minute) * 60


def _parts(value: Timestamp, zone: str | None) -> tuple[int, int, int, int, int, int]:
    """Give year, month, day, day of the year, weekday and second of the day, in UTC without a zone."""
    seconds = value.nanos // _BILLION + (0 if zone is None else _zone(zone))
    days, clock = divmod(seconds, _DAY)
    year, month, day = _civil(days)
    first = _days(year, 1, 1) if year >= 0 else None
    return year, month, day, days - (first if first is not None else days), (days + 4) % 7, clock


_GETTERS: Final[dict[str, Callable[[tuple[int, int, int, int, int, int]], int]]] = {
    "year": lambda parts: parts[0],
    "month": lambda parts: parts[1] - 1,
    "day_of_month": lambda parts: parts[2] - 1,
    "day_of_month_1_based": lambda parts: parts[2],
    "day_of_year": lambda parts: parts[3],
    "day_of_week": lambda parts: parts[4],
    "hours": lambda parts: parts[5] // 3600,
    "minutes": lambda parts: parts[5] // 60 % 60,
    "seconds": lambda parts: parts[5] % 60,
}


def _getter(name: str) -> Callable[..., Value]:
    take = _GETTERS[name]
    return lambda value, zone=None: take(_parts(value, zone))


def _milliseconds(value: Timestamp, zone: str | None = None) -> int:
    if zone is not None:
        _zone(zone)
    return value.nanos % _BILLION // 10**6


def _towards_zero(nanos: int, unit: int) -> int:
    return nanos // unit if nanos >= 0 else -(-nanos // unit)


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    **{f"timestamp_to_{name}": _getter(name) for name in _GETTERS},
    **{f"timestamp_to_{name}_with_tz": _getter(name) for name in _GETTERS},
    "timestamp_to_seconds_tz": _getter("seconds"),
    "timestamp_to_milliseconds": _milliseconds,
    "timestamp_to_milliseconds_with_tz": _milliseconds,
    "duration_to_hours": lambda value: _towards_zero(value.nanos, 3600 * _BILLION),
    "duration_to_minutes": lambda value: _towards_zero(value.nanos, 60 * _BILLION),
    "duration_to_seconds": lambda value: _towards_zero(value.nanos, _BILLION),
    "duration_to_milliseconds": lambda value: _towards_zero(value.nanos, 10**6),
}
