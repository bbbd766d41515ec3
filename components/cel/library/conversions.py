"""Conversions between types: ``int``, ``uint``, ``double``, ``bool``, ``bytes``, ``string``, times and ``type``."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import math
import re

from components.cel.arithmetic import MAX_INT, MAX_UINT, MIN_INT, timestamp
from components.cel.library.network import address_text, block_text
from components.cel.library.times import parse_duration, parse_timestamp, seconds_text, timestamp_text
from components.cel.problem import EvaluationError
from components.cel.values import Duration, UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, NoReturn

_INT: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UINT: Final = re.compile(r"[0-9]+", re.ASCII)
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_HEX_DOUBLE: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+", re.ASCII)
_UNDERSCORED: Final = re.compile(r"(?<=[0-9])_(?=[0-9])|(?<=0[xX])_(?=[0-9a-fA-F])")
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_MAX_DIGITS: Final = 400
_MAX_EXPONENT: Final = 6
_MIN_SECONDS: Final = -62135596800
_MAX_SECONDS: Final = 253402300799


def _fail(source: str, target: str) -> NoReturn:
    raise EvaluationError("conversion", f"type conversion error from '{source}' to '{target}'")


def _overflow() -> EvaluationError:
    return EvaluationError("overflow", "integer overflow")


def _text_to_int(text: str) -> int:
    if _INT.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0")
        if len(digits) <= 19:
            value = int(digits or "0") * (-1 if text[0] == "-" else 1)
            if MIN_INT <= value <= MAX_INT:
                return value
    _fail("string", "int")


def _text_to_uint(text: str) -> UInt:
    if _UINT.fullmatch(text):
        digits = text.lstrip("0")
        if len(digits) <= 20 and int(digits or "0") <= MAX_UINT:
            return UInt(digits or "0")
    _fail("string", "uint")


def _text_to_double(text: str) -> float:
    lowered = text.lower().lstrip("+-") if text[:1] in {"+", "-"} else text.lower()
    if lowered in {"inf", "infinity"} and not text[1:2].startswith(("+", "-")):
        return -math.inf if text[0] == "-" else math.inf
    if text.lower() == "nan":
        return math.nan
    value = math.inf
    text = _UNDERSCORED.sub("", text)
    if _DOUBLE.fullmatch(text):
        value = float(text)
    elif _HEX_DOUBLE.fullmatch(text):
        try:
            value = float.fromhex(text)
        except OverflowError:
            value = math.inf
    if math.isinf(value):
        _fail("string", "double")
    return value


def _text_to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    _fail("string", "bool")


def _text_to_duration(text: str) -> Duration:
    found = parse_duration(text)
    return found if found is not None else _fail("string", "google.protobuf.Duration")


def _text_to_timestamp(text: str) -> Value:
    found = parse_timestamp(text)
    return found if found is not None else _fail("string", "google.protobuf.Timestamp")


def _double_to_int(number: float) -> int:
    if math.isinf(number) or math.isnan(number) or not -(2.0**63) < number < 2.0**63:
        raise _overflow()
    return int(number)


def _double_to_uint(number: float) -> UInt:
    if math.isinf(number) or math.isnan(number) or not 0 <= number < 2.0**64:
        raise EvaluationError("overflow", "unsigned integer overflow")
    return UInt(int(number))


def _uint_to_int(number: UInt) -> int:
    if number > MAX_INT:
        raise _overflow()
    return int(number)


def _int_to_uint(number: int) -> UInt:
    if number < 0:
        raise EvaluationError("overflow", "unsigned integer overflow")
    return UInt(number)


def _int_to_timestamp(seconds: int) -> Value:
    if not _MIN_SECONDS <= seconds <= _MAX_SECONDS:
        raise EvaluationError("overflow", "timestamp overflow")
    return timestamp(seconds * 10**9)


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EvaluationError("conversion", "invalid UTF-8 in bytes, cannot convert to string") from error


def _double_text(number: float) -> str:
    """Print as Go's ``%g`` does: the shortest digits, an exponent below 1e-4 and from 1e6 on."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    raw = (whole + fraction).lstrip("0")
    point = (len(whole) if whole.strip("0") else -(len(fraction) - len(fraction.lstrip("0")))) + int(exponent or "0")
    digits = raw.rstrip("0")
    if not digits:
        return sign + "0"
    power = point - 1
    if power < -4 or power >= 6:
        tail = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    digits = digits.ljust(point, "0")
    return sign + digits[:point] + ("." + digits[point:] if digits[point:] else "")


def _identity(value: Value) -> Value:
    return value


_SAME: Final = (
    "bool_to_bool", "bytes_to_bytes", "double_to_double", "duration_to_duration", "int64_to_int64",
    "string_to_string", "timestamp_to_timestamp", "uint64_to_uint64",
)  # fmt: skip
OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(_SAME, _identity),
    "string_to_bool": _text_to_bool,
    "string_to_bytes": lambda text: text.encode("utf-8", "surrogatepass"),
    "int64_to_double": float,
    "string_to_double": _text_to_double,
    "uint64_to_double": float,
    "int64_to_duration": lambda number: _fail("int", "google.protobuf.Duration"),  # noqa: ARG005 - the signature of the table
    "string_to_duration": _text_to_duration,
    "double_to_int64": _double_to_int,
    "duration_to_int64": lambda value: value.nanos,
    "string_to_int64": _text_to_int,
    "timestamp_to_int64": lambda value: value.nanos // 10**9,
    "uint64_to_int64": _uint_to_int,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _bytes_to_text,
    "double_to_string": _double_text,
    "duration_to_string": seconds_text,
    "int64_to_string": str,
    "timestamp_to_string": timestamp_text,
    "uint64_to_string": lambda value: str(int(value)),
    "ip_to_string": address_text,
    "cidr_to_string": block_text,
    "int64_to_timestamp": _int_to_timestamp,
    "string_to_timestamp": _text_to_timestamp,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": _int_to_uint,
    "string_to_uint64": _text_to_uint,
}
