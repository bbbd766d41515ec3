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
# What Unicode 15.1 to 18.0 added or gave another category; between the ends of a range 15.0 knows no character either.
_YOUNGER: Final = (
    (0x295, 0x295), (0x558, 0x558), (0x58B, 0x58C), (0x5C8, 0x5C9), (0x88F, 0x88F), (0x897, 0x897),
    (0xB53, 0xB54), (0xC5C, 0xC5C), (0xCDC, 0xCDC), (0x1ACF, 0x1AF0), (0x1B4E, 0x1B4F), (0x1B7F, 0x1B7F),
    (0x1C89, 0x1C8A), (0x208F, 0x208F), (0x209D, 0x209F), (0x20C1, 0x20C4), (0x2427, 0x2429), (0x2B96, 0x2B96),
    (0x2E60, 0x2E63), (0x2FFC, 0x2FFF), (0x31E4, 0x31EF), (0xA7CB, 0xA7CF), (0xA7D2, 0xA7D2), (0xA7D4, 0xA7D4),
    (0xA7DA, 0xA7F1), (0xAB6C, 0xAB6D), (0xFBC3, 0xFBD2), (0xFD90, 0xFD91), (0xFDC8, 0xFDCE),
    (0x105C0, 0x105F3), (0x107BB, 0x107BF), (0x10940, 0x10959), (0x10D40, 0x10D8F), (0x10EC2, 0x10EFC),
    (0x11380, 0x113E2), (0x116D0, 0x116E3), (0x1171E, 0x1171E), (0x11B0A, 0x11BF9), (0x11DB0, 0x11DF1),
    (0x11F5A, 0x11F5A), (0x1246F, 0x1246F), (0x12475, 0x1247F), (0x12550, 0x12686), (0x13460, 0x143FA),
    (0x16100, 0x16139), (0x16D40, 0x16D79), (0x16EA0, 0x16ED3), (0x16FF2, 0x16FF6), (0x187F8, 0x187FF),
    (0x18CD6, 0x18CFF), (0x18D09, 0x191D2), (0x1B123, 0x1B128), (0x1B168, 0x1B168), (0x1CC00, 0x1CEFD),
    (0x1D127, 0x1D128), (0x1D1EB, 0x1D1FF), (0x1D250, 0x1D281), (0x1D6A6, 0x1D6A6), (0x1DB00, 0x1DB1C),
    (0x1DF1F, 0x1DF24), (0x1DF2B, 0x1DFFF), (0x1E5D0, 0x1E6FF), (0x1F1AE, 0x1F1AE), (0x1F6D8, 0x1F6D9),
    (0x1F777, 0x1F77A), (0x1F7DA, 0x1F7DB), (0x1F7F1, 0x1F7FF), (0x1F8B2, 0x1F8D8), (0x1FA54, 0x1FA57),
    (0x1FA89, 0x1FA8F), (0x1FABE, 0x1FABE), (0x1FAC6, 0x1FACD), (0x1FADC, 0x1FADF), (0x1FAE9, 0x1FAEF),
    (0x1FAF9, 0x1FAFA), (0x1FBCB, 0x1FBEF), (0x1FBFA, 0x1FBFA), (0x2B73A, 0x2B73F), (0x2B81E, 0x2B81E),
    (0x2CEA2, 0x2CEAD), (0x2EBF0, 0x2EE5D), (0x323B0, 0x3FC3F),
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
    """Tell whether a character is in a Unicode category of version 15.0, which Go has.

    Raises ``EvaluationError`` for one that it or the interpreter does not know: versions and minors differ in those.
    """
    code, category = ord(char), unicodedata.category(char)
    if category == "Cn" or (code >= _ASCII and any(low <= code <= high for low, high in _YOUNGER)):
        raise EvaluationError("unsupported", f"versions of Unicode differ in the category of U+{code:04X}")
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
