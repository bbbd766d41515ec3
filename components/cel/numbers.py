"""Whole numbers of any length, int64 and powers of ten, in the arithmetic of Go."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import math
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MAX_INT64: Final = 2**63 - 1
MIN_INT64: Final = -(2**63)
_SMALL_DIGITS: Final = 18
_CHUNK: Final = 4_000  # below the interpreter's own limit for converting decimal text


def to_int(digits: str) -> int:
    """Read digits of any number, past the interpreter's own limit."""
    value = 0
    for start in range(0, len(digits), _CHUNK):
        part = digits[start : start + _CHUNK]
        value = value * 10 ** len(part) + int(part)
    return value


def to_text(value: int) -> str:
    """Convert a number of any length, past the interpreter's own limit."""
    parts = []
    base = 10**_CHUNK
    while value >= base:
        value, rest = divmod(value, base)
        parts.append(str(rest).zfill(_CHUNK))
    parts.append(str(value))
    return "".join(reversed(parts))


def to_float(value: int) -> float:
    """Convert to the nearest float, or an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def pow10(exponent: int) -> float:
    """Give Go's power of ten: the nearest float, zero below -323, infinity above 308."""
    if exponent < -323:
        return 0.0
    return math.inf if exponent > 308 else _powers()[exponent + 323]


@cache
def _powers() -> tuple[float, ...]:
    """Rebuild Go's table: a product of one of 0..31 and a power of 32, or a quotient below zero."""
    low = [float(f"1e{exponent:02d}") for exponent in range(32)]
    up = [float(f"1e{exponent:03d}") for exponent in range(0, 309, 32)]
    down = [float(f"1e-{exponent:03d}") for exponent in range(0, 324, 32)]
    return tuple(
        up[exponent // 32] * low[exponent % 32] if exponent >= 0 else down[-exponent // 32] / low[-exponent % 32]
        for exponent in range(-323, 309)
    )


def ten(exponent: int) -> int:
    """Give a whole power of ten."""
    power: int = 10**exponent
    return power


def fits_scaled(mantissa: int, scale: int) -> bool:
    """Tell whether ``mantissa * 10**scale`` is reached in int64 arithmetic."""
    if not mantissa or not scale:
        return True
    if scale > _SMALL_DIGITS:
        return False
    value = mantissa * ten(scale)
    return MIN_INT64 <= value <= MAX_INT64


def digits_of(value: int) -> int:
    """Bound the number of decimal digits from above, at most one too many per 300."""
    return abs(value).bit_length() * 30103 // 100000 + 1
