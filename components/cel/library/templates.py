"""``string.format``: the clauses ``%s %d %f %e %b %x %X %o`` as upstream's first version prints them.

Its quirks are kept: ``%f`` groups thousands, ``%e`` writes a power of ten with raised digits and always six decimals.
The same walk over the template serves the compile-time check of constant templates.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import math

from components.cel.library.conversions import OVERLOADS as CONVERSIONS
from components.cel.library.text import ESCAPES, bound_text
from components.cel.meter import spend_parts
from components.cel.problem import EvaluationError
from components.cel.values import CelMap, Duration, Timestamp, TypeValue, UInt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, NoReturn

MAX_PRECISION: Final = 1_000
_DEFAULT: Final = 6
_RAISED: Final = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class TemplateError(ValueError):
    """A template is malformed, or a clause does not take its argument."""


def clauses(template: str, count: int, clause: Callable[[str, int, int | None], str]) -> str:
    """Walk a template: ``clause(letter, argument index, precision)`` gives the text of each clause."""
    parts: list[str] = []
    pos, argument = 0, 0
    while True:
        mark = template.find("%", pos)
        if mark < 0:
            parts.append(template[pos:])
            return "".join(parts)
        parts.append(template[pos:mark])
        if template.startswith("%%", mark):
            parts.append("%")
            pos = mark + 2
            continue
        if argument >= count:
            raise TemplateError(f"index {argument} out of range")
        letter, precision, pos = _clause(template, mark + 1)
        parts.append(clause(letter, argument, precision))
        argument += 1


def _clause(template: str, pos: int) -> tuple[str, int | None, int]:
    if pos >= len(template):
        raise TemplateError("unexpected end of string")
    precision = None
    if template[pos] == ".":
        end = pos + 1
        while end < len(template) and template[end] in "0123456789":
            end += 1
        if end >= len(template):
            raise TemplateError("could not find end of precision specifier")
        digits = template[pos + 1 : end]
        if not digits or len(digits) > 18:
            raise TemplateError("error while converting precision to integer")
        precision, pos = int(digits), end
    letter = template[pos]
    if letter not in "sdfebxXo":
        raise TemplateError(f"could not parse formatting clause: unrecognized formatting clause {letter!r}")
    return letter, precision, pos + 1


def render(template: Value, arguments: Value) -> str:
    """Fill a template."""
    assert isinstance(template, str)
    assert isinstance(arguments, list)
    values = arguments
    size = 0

    def clause(letter: str, index: int, precision: int | None) -> str:
        nonlocal size
        text = _FORMATS[letter](values[index], precision)
        size += len(text)
        bound_text(size)
        return text

    try:
        return clauses(template, len(values), clause)
    except TemplateError as error:
        raise EvaluationError("format", f"error during formatting: {error}") from error


def _refuse(what: str, value: Value) -> NoReturn:
    raise TemplateError(f"{what}, was given {type(value).__name__}")


def _string(value: Value, _precision: int | None = None) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, list | CelMap):
        spend_parts(len(value))
    if isinstance(value, list):
        return "[" + ", ".join(_nested(element) for element in value) + "]"
    if isinstance(value, CelMap):
        return _mapping(value)
    if isinstance(value, TypeValue):
        return value.name
    name = _TO_STRING.get(type(value))
    if name is None:
        _refuse("string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists and times", value)
    text = CONVERSIONS[name](value)
    assert isinstance(text, str)
    return text


_TO_STRING: Final = {
    bool: "bool_to_string", bytes: "bytes_to_string", float: "double_to_string", Duration: "duration_to_string",
    int: "int64_to_string", Timestamp: "timestamp_to_string", UInt: "uint64_to_string",
}  # fmt: skip


def _nested(value: Value) -> str:
    """Print an element of a list or map: strings are quoted, doubles have six decimals, times say what they are."""
    if isinstance(value, float):
        text = _fixed_plain(value)
        return _quoted(text) if math.isnan(value) or math.isinf(value) else text
    text = _string(value)
    if isinstance(value, str):
        return _quoted(text)
    if isinstance(value, bytes):
        return "b" + _quoted(text)
    if isinstance(value, Timestamp):
        return f"timestamp({_quoted(text)})"
    return f"duration({_quoted(text)})" if isinstance(value, Duration) else text


def _mapping(value: CelMap) -> str:
    pairs = []
    for key, entry in value.values():
        if type(key) not in {str, bool, int, UInt}:
            _refuse("no formatting function for map key", key)
        pairs.append((_nested(key), _nested(entry)))
    return "{" + ", ".join(f"{key}:{entry}" for key, entry in sorted(pairs, key=lambda pair: pair[0])) + "}"


def _fixed_plain(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return ("+Inf" if number > 0 else "-Inf") if math.isinf(number) else f"{number:.6f}"


def _quoted(text: str) -> str:
    parts = []
    for char in text:
        code = ord(char)
        if char in ESCAPES:
            parts.append(ESCAPES[char])
        elif char.isprintable():
            parts.append(char)
        else:
            parts.append(f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return '"' + "".join(parts) + '"'


def _decimal(value: Value, _precision: int | None) -> str:
    if type(value) is int or type(value) is UInt:
        return str(int(value))
    _refuse("decimal clause can only be used on integers", value)


def _number(value: Value, what: str) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    _refuse(f"{what} clause can only be used on doubles", value)


def _not_finite(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "\u221e" if number > 0 else "-\u221e"


def _fixed(value: Value, precision: int | None) -> str:
    number = _number(value, "fixed-point")
    if not math.isfinite(number):
        return _not_finite(number)
    places = _DEFAULT if precision is None else precision
    if places > MAX_PRECISION:
        raise EvaluationError("unsupported", f"a precision above {MAX_PRECISION} is not printed")
    return f"{number + 0.0:,.{places}f}"  # no sign of zero


def _scientific(value: Value, precision: int | None) -> str:
    number = _number(value, "scientific")
    width = _DEFAULT if precision is None else precision
    if width > MAX_PRECISION:
        raise EvaluationError("unsupported", f"a width above {MAX_PRECISION} is not printed")
    if not math.isfinite(number):
        return _not_finite(number).rjust(width)
    mantissa, _, exponent = f"{number + 0.0:.6e}".partition("e")
    return f"{mantissa}\u00d710{exponent.lstrip('+').translate(_RAISED)}".rjust(width)


def _binary(value: Value, _precision: int | None) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) is int or type(value) is UInt:
        return f"{int(value):b}"
    _refuse("only integers and bools can be formatted as binary", value)


def _hexadecimal(value: Value, _precision: int | None) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, bytes):
        return value.hex()
    if type(value) is int or type(value) is UInt:
        return f"{int(value):x}"
    _refuse("only integers, byte buffers, and strings can be formatted as hex", value)


def _octal(value: Value, _precision: int | None) -> str:
    if type(value) is int or type(value) is UInt:
        return f"{int(value):o}"
    _refuse("octal clause can only be used on integers", value)


_FORMATS: Final[dict[str, Callable[[Value, int | None], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
    "o": _octal,
}

OVERLOADS: Final[dict[str, Callable[..., Any]]] = {"string_format": render}
