"""Sets of code points: ranges, the classes of Perl and POSIX, Unicode categories, and case folding."""

from __future__ import annotations

import unicodedata
from functools import cache

from components.cel.problem import EvaluationError
from components.cel.record import Record, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
MAX_RUNE: Final = 0x10FFFF

_DIGIT: Final[Ranges] = ((48, 57),)
_SPACE: Final[Ranges] = ((9, 10), (12, 13), (32, 32))
_WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
PERL: Final[dict[str, Ranges]] = {"d": _DIGIT, "s": _SPACE, "w": _WORD}
POSIX: Final[dict[str, Ranges]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGIT,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": _WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
# Where Unicode 15.0, which Go 1.24 to 1.26 have, knows upper and lower case beyond ASCII; interpreters may know more.
_CASED: Final = (
    (0xB5, 0x590), (0x10A0, 0x1100), (0x13A0, 0x1400), (0x1C80, 0x1C89), (0x1C90, 0x2E00), (0xA640, 0xA7CB),
    (0xA7D0, 0xA7D2), (0xA7D6, 0xA7DA), (0xA7F2, 0xABC0), (0xFF21, 0xFF5B), (0x10400, 0x105C0), (0x10C80, 0x10D00),
    (0x118A0, 0x118E0), (0x16E40, 0x16E80), (0x1E900, 0x1E944),
)  # fmt: skip
_ASCII: Final = 128
_NARROW: Final = 256  # code points of a range that are looked up one by one


def negated(ranges: Ranges) -> Ranges:
    """Give everything else."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in merged(ranges):
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= MAX_RUNE:
        found.append((start, MAX_RUNE))
    return tuple(found)


def merged(ranges: Ranges) -> Ranges:
    """Sort and join ranges."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def folded(ranges: Ranges) -> Ranges:
    """Add what differs only in case."""
    found = list(ranges)
    for low, high in ranges:
        near = high < _ASCII or high - low < _NARROW
        for code in range(low, high + 1) if near else _orbits():
            if low <= code <= high:
                found += [(partner, partner) for partner in orbit(chr(code))]
    return merged(tuple(found))


def orbit(char: str) -> frozenset[int]:
    """Give the code points that differ from a character only in case, with its own (``unicode.SimpleFold``)."""
    if char.isascii() and char not in "KkSs":
        return frozenset((ord(char), ord(char.swapcase())))
    return _orbits().get(ord(char)) or frozenset((ord(char),))


@cache
def _orbits() -> dict[int, frozenset[int]]:
    """Give every character that has others which differ only in case; some milliseconds, once."""
    groups: dict[str, set[int]] = {}
    for start, stop in ((0x41, 0x5B), (0x61, 0x7B), *_CASED):
        for code in range(start, stop):
            char = chr(code)
            groups.setdefault(_lower(char), set()).add(code)
    return {code: frozenset(group) for group in groups.values() if len(group) > 1 for code in group}


def _lower(char: str) -> str:
    """Fold the case of one character to one (``C`` and ``S`` of Unicode's CaseFolding.txt)."""
    for form in (char.casefold(), char.lower()):
        if len(form) == 1:
            return form
    return char


def _in_category(char: str, name: str) -> bool:
    """Tell whether a character is in a Unicode category.

    Raises ``EvaluationError`` for one that Unicode 3.2 did not know: the versions of interpreters and of Go differ.
    """
    category = unicodedata.category(char)
    if category == "Cn" or category != unicodedata.ucd_3_2_0.category(char):
        raise EvaluationError("unsupported", f"versions of Unicode differ in the category of U+{ord(char):04X}")
    return category.startswith(name)


class CharSet(Record):
    """A set of code points; ``categories`` are Unicode categories with a sign, added to the ranges.

    With ``fold``, a character is in a category when one that differs only in case is.
    """

    __slots__ = ("categories", "fold", "inverted", "ranges")

    ranges: Ranges
    categories: tuple[tuple[str, bool], ...]
    inverted: bool
    fold: bool

    def __init__(
        self,
        ranges: Ranges,
        categories: tuple[tuple[str, bool], ...] = (),
        *,
        inverted: bool = False,
        fold: bool = False,
    ) -> None:
        put(self, "ranges", ranges)
        put(self, "categories", categories)
        put(self, "inverted", inverted)
        put(self, "fold", fold)

    def has(self, char: str) -> bool:
        """Tell whether a character is in the set."""
        code = ord(char)
        found = any(low <= code <= high for low, high in self.ranges)
        if not found and self.categories:
            forms = [chr(form) for form in sorted(orbit(char))] if self.fold else [char]
            found = any(any(_in_category(form, name) for form in forms) is sign for name, sign in self.categories)
        return found is not self.inverted

    def source(self) -> str:
        """Write the set for the interpreter's own engine; only for sets without categories."""
        ranges = negated(self.ranges) if self.inverted else self.ranges
        if not ranges:
            return "(?!)"
        return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]"
