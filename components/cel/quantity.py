"""Kubernetes resource quantities: exact values with the two internal forms that selectors can observe.

A quantity such as ``80Gi`` or ``1500m`` is a decimal number with at most nine fraction digits. Kubernetes keeps it
either as a 64-bit mantissa with a decimal scale (the *small* form) or as a big decimal (the *big* form). Which one it
picks depends on how the text was written, not only on the value, and ``isInteger()`` is false for every big one: so
``1Pi`` "is not an integer" for a selector while ``99Ti`` is. This module reproduces the choice.

Contract: values are immutable and compare by value; the form never takes part in equality or hashing. Parsing and
comparing take time proportional to the text, whatever the exponent says; only sums of numbers that are more than
``MAX_SPAN`` digits apart, and big numbers with an exponent beyond it, are refused as unsupported.

Not here: the change of form that a comparison does to its receiver during one evaluation (``components.cel.cells``).
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from enum import StrEnum

from components.cel.numbers import MAX_INT64, MIN_INT64, digits_of, fits_scaled, pow10, ten, to_float, to_int, to_text
from components.cel.record import Record, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MAX_SPAN: Final = 10_000

_NANO: Final = -9
_SMALL_DIGITS: Final = 18
_DIGITS: Final = frozenset("0123456789")
_SUFFIX_LETTERS: Final = frozenset("eEinumkKMGTP")
_DECIMAL: Final = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_BY_EXPONENT: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_BY_EXPONENT: Final = {exponent: suffix for suffix, exponent in _BINARY.items()} | {0: ""}


class QuantityError(ValueError):
    """The text is no quantity; ``unsupported`` when it is one that needs more digits than are computed here."""

    def __init__(self, message: str, *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.unsupported = unsupported


class Format(StrEnum):
    """How a quantity was written, which decides how it is printed."""

    DECIMAL_EXPONENT = "DecimalExponent"
    BINARY_SI = "BinarySI"
    DECIMAL_SI = "DecimalSI"


class Quantity(Record):
    """``mantissa * 10**scale``; ``big`` tells the internal form, ``text`` is kept where Kubernetes keeps it."""

    __slots__ = ("big", "format", "mantissa", "scale", "text")

    mantissa: int
    scale: int
    big: bool
    format: Format
    text: str

    def __init__(
        self,
        mantissa: int,
        scale: int = 0,
        *,
        big: bool = False,
        format: Format = Format.DECIMAL_SI,  # noqa: A002 - named as the attribute
        text: str = "",
    ) -> None:
        put(self, "mantissa", mantissa)
        put(self, "scale", scale)
        put(self, "big", big)
        put(self, "format", format)
        put(self, "text", text)

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Parse as the API server does: one sign, ASCII digits, one suffix, no spaces; see the table in the docs."""
        return _parse(text)

    @classmethod
    def of(cls, value: int) -> Quantity:
        """Make a small quantity of an int64, as ``add(int)`` does."""
        return cls(value, 0, big=False, format=Format.DECIMAL_EXPONENT)

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.mantissa > 0) - (self.mantissa < 0)

    @property
    def is_integer(self) -> bool:
        """Whether Kubernetes can give it as int64: never for the big form, whatever the value."""
        return not self.big and self.scale >= 0 and fits_scaled(self.mantissa, self.scale)

    def as_integer(self) -> int:
        """Give the int64 value, or raise when ``is_integer`` is false."""
        if not self.is_integer:
            raise QuantityError("cannot convert value to integer")
        return self.mantissa * ten(self.scale) if self.mantissa else 0

    def as_approximate_float(self) -> float:
        """Convert as Go does: float of the mantissa times a power of ten, so not always the nearest float."""
        base = to_float(self.mantissa)
        return base * pow10(self.scale) if self.scale else base

    def as_big(self) -> Quantity:
        """Give the same value in the big form."""
        return self if self.big else Quantity(self.mantissa, self.scale, big=True, format=self.format)

    def compare(self, other: Quantity) -> int:
        """Compare by value: -1, 0 or 1."""
        left, right = self.mantissa, other.mantissa
        if self.scale != other.scale:
            if self.sign != other.sign or not left:
                left, right = self.sign, other.sign
            else:
                left, right = _aligned(self, other)
        return (left > right) - (left < right)

    def add(self, other: Quantity | int) -> Quantity:
        """Add; small plus small stays small unless int64 overflows."""
        right = Quantity.of(other) if isinstance(other, int) else other
        return _sum(self, right, right.mantissa, right.mantissa)

    def sub(self, other: Quantity | int) -> Quantity:
        """Subtract; the form follows the same rule as ``add``."""
        right = Quantity.of(other) if isinstance(other, int) else other
        # The smallest int64 negates to itself in the small form, as in Go.
        return _sum(self, right, right.mantissa if right.mantissa == MIN_INT64 else -right.mantissa, -right.mantissa)

    def ceil(self) -> int:
        """Round away from zero to a whole number."""
        if self.scale >= 0:
            if self.scale > MAX_SPAN:
                raise QuantityError("number is too large", unsupported=True)
            return self.mantissa * ten(self.scale)
        whole, rest = divmod(abs(self.mantissa), ten(-self.scale))
        return self.sign * (whole + (1 if rest else 0))

    def __eq__(self, other: object) -> bool:
        return self.compare(other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self.compare(other) >= 0

    def __hash__(self) -> int:
        mantissa, scale = self.mantissa, self.scale
        if not mantissa:
            return hash((0, 0))
        while mantissa % 10 == 0:
            mantissa //= 10
            scale += 1
        return hash((mantissa, scale))

    def __str__(self) -> str:
        """Print in the canonical form of Kubernetes."""
        return self.text or _canonical(self)


def _parse(text: str) -> Quantity:
    if not text:
        raise QuantityError("quantities must not be empty")
    negative, whole, fraction, suffix = _split(text)
    exponent, form = _interpret(suffix)
    if form is Format.BINARY_SI:
        precision = -1
        if not fraction:
            precision = 15 - len(whole) - exponent * 3 // 10 - 1
        factor, scale = 1 << exponent, 0
    else:
        precision = _SMALL_DIGITS - len(whole) - len(fraction)
        factor, scale = 1, exponent - len(fraction)
    digits = whole + fraction
    if precision >= 0 and scale >= _NANO:
        value = int(digits)
        mantissa = value * factor  # the digits that precision leaves are fewer than those of an int64
        kept = _keeps_text(digits, value, scale, exponent, form)
        return Quantity(-mantissa if negative else mantissa, scale, format=form, text=text if kept else "")
    if not any(char in _DIGITS for char in text[: len(text) - len(suffix)]):
        raise QuantityError(f"unable to parse numeric part of quantity {_short(text)}")
    return _parse_big(digits, factor, exponent if factor == 1 else 0, len(fraction), form=form, negative=negative)


def _keeps_text(digits: str, value: int, scale: int, exponent: int, form: Format) -> bool:
    """Tell whether Kubernetes keeps the text as it is because it is (nearly) canonical."""
    if form is Format.BINARY_SI:
        return exponent % 10 == 0 and value & 7 != 0
    return scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _parse_big(digits: str, factor: int, exponent: int, places: int, *, form: Format, negative: bool) -> Quantity:
    unscaled = to_int(digits) * factor
    scale = exponent - places
    if unscaled == 0:
        return Quantity(0, scale, big=True, format=form)
    if scale > MAX_SPAN:
        raise QuantityError(
            f"exponents above {MAX_SPAN} are not supported for numbers of this length", unsupported=True
        )
    if scale >= _NANO:
        nanos = unscaled * 10 ** (scale - _NANO)
    elif _NANO - scale > len(digits) + 30:  # a factor adds at most 19 digits: nothing is left but the rounding
        nanos = 1
    else:
        nanos = -(-unscaled // 10 ** (_NANO - scale))
    if form is Format.BINARY_SI:
        nanos = min(nanos, MAX_INT64 * 10**9)
        if 0 < nanos < 10**9:
            form = Format.DECIMAL_SI
    return Quantity(-nanos if negative else nanos, _NANO, big=True, format=form)


def _split(text: str) -> tuple[bool, str, str, str]:
    """Split in sign, whole digits without leading zeros ("0" when none), fraction digits and suffix."""
    end = len(text)
    negative = text[0] == "-"
    pos = 1 if text[0] in "+-" else 0
    while pos < end and text[pos] == "0":
        pos += 1
    if pos == end:
        return negative, "0", "", ""
    start, pos = pos, _skip(text, pos, _DIGITS)
    whole, fraction = text[start:pos], ""
    if pos < end:
        whole = whole or "0"
        if text[pos] == ".":
            start, pos = pos + 1, _skip(text, pos + 1, _DIGITS)
            fraction = text[start:pos]
    start, pos = pos, _skip(text, pos, _SUFFIX_LETTERS)
    if pos < end and text[pos] in "+-":
        pos += 1
    if _skip(text, pos, _DIGITS) != end:
        raise QuantityError(f"{_short(text)} is no quantity: a number and one suffix such as m, k, G, Gi or e3")
    return negative, whole, fraction, text[start:]


def _skip(text: str, pos: int, allowed: frozenset[str]) -> int:
    while pos < len(text) and text[pos] in allowed:
        pos += 1
    return pos


def _interpret(suffix: str) -> tuple[int, Format]:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], Format.DECIMAL_SI
    if suffix in _BINARY:
        return _BINARY[suffix], Format.BINARY_SI
    if len(suffix) > 1 and suffix[0] in "eE":
        digits = suffix[2:] if suffix[1] in "+-" else suffix[1:]
        if digits and all(char in _DIGITS for char in digits):
            exponent = to_int(digits) * (-1 if suffix[1] == "-" else 1)
            if MIN_INT64 <= exponent <= MAX_INT64:
                return (exponent + 2**31) % 2**32 - 2**31, Format.DECIMAL_EXPONENT
    raise QuantityError(f"unable to parse quantity's suffix {_short(suffix)}")


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else repr(text[:40]) + "..."


def _aligned(left: Quantity, right: Quantity) -> tuple[int, int]:
    """Bring two numbers of one sign to one scale, without building digits when their sizes alone decide."""
    tall, short = digits_of(left.mantissa) + left.scale, digits_of(right.mantissa) + right.scale
    if abs(tall - short) > 2:
        larger = 1 if tall > short else -1
        return larger * left.sign, 0
    low = min(left.scale, right.scale)
    return left.mantissa * 10 ** (left.scale - low), right.mantissa * 10 ** (right.scale - low)


def _sum(left: Quantity, right: Quantity, small_mantissa: int, mantissa: int) -> Quantity:
    form = left.format if left.mantissa else right.format
    if not left.big and not right.big:
        if not small_mantissa:
            return Quantity(left.mantissa, left.scale, format=form)
        if not left.mantissa:
            return Quantity(small_mantissa, right.scale, format=form)
        small = _small_sum(left, small_mantissa, right.scale)
        if small is not None:
            return Quantity(*small, format=form)
    low = min(left.scale, right.scale)
    if max(left.scale, right.scale) - low > MAX_SPAN:
        raise QuantityError(f"numbers more than {MAX_SPAN} digits apart are not added", unsupported=True)
    total = left.mantissa * 10 ** (left.scale - low) + mantissa * 10 ** (right.scale - low)
    return Quantity(total, low, big=True, format=form)


def _small_sum(left: Quantity, mantissa: int, scale: int) -> tuple[int, int] | None:
    low = min(left.scale, scale)
    if not fits_scaled(left.mantissa, left.scale - low) or not fits_scaled(mantissa, scale - low):
        return None
    total = left.mantissa * 10 ** (left.scale - low) + mantissa * 10 ** (scale - low)
    return (total, low) if MIN_INT64 <= total <= MAX_INT64 else None


def _canonical(quantity: Quantity) -> str:
    if not quantity.mantissa:
        return "0"
    form = quantity.format
    if form is Format.BINARY_SI and (abs(quantity.compare(Quantity(0))) and _below_1024(quantity)):
        form = Format.DECIMAL_SI
    if form is Format.BINARY_SI:
        value, exponent = quantity.ceil(), 0
        if Quantity(value) != quantity:
            form = Format.DECIMAL_SI
        else:
            while value % 1024 == 0:
                value //= 1024
                exponent += 10
            suffix = _BINARY_BY_EXPONENT.get(exponent)
            return _signed(value) + (suffix if suffix is not None else "")
    value, exponent = quantity.mantissa, quantity.scale
    while value % 10 == 0:
        value //= 10
        exponent += 1
    value *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if form is Format.DECIMAL_EXPONENT:
        return _signed(value) + (f"e{exponent}" if exponent else "")
    return _signed(value) + _DECIMAL_BY_EXPONENT.get(exponent, "")


def _below_1024(quantity: Quantity) -> bool:
    return quantity.compare(Quantity(-1024)) > 0 and quantity.compare(Quantity(1024)) < 0


def _signed(value: int) -> str:
    return ("-" if value < 0 else "") + to_text(abs(value))
