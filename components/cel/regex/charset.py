"""Sets of code points: ranges, the classes of Perl and POSIX, Unicode categories, and case folding."""

from __future__ import annotations

import unicodedata

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
CATEGORIES: Final = frozenset(
    [
        "C",
        "Cc",
        "Cf",
        "Co",
        "Cs",
        "L",
        "Ll",
        "Lm",
        "Lo",
        "Lt",
        "Lu",
        "M",
        "Mc",
        "Me",
        "Mn",
        "N",
        "Nd",
        "Nl",
        "No",
        "P",
        "Pc",
        "Pd",
        "Pe",
        "Pf",
        "Pi",
        "Po",
        "Ps",
        "S",
        "Sc",
        "Sk",
        "Sm",
        "So",
        "Z",
        "Zl",
        "Zp",
        "Zs",
    ]
)
_FOLD_PARTNERS: Final = {"k": "\u212a", "K": "\u212a", "s": "\u017f", "S": "\u017f"}
_WIDE_FOLD: Final = 4_096  # ranges wider than this are folded only where ASCII letters are concerned


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
        codes = range(low, high + 1) if high - low <= _WIDE_FOLD else (*range(65, 91), *range(97, 123), 0x17F, 0x212A)
        for code in codes:
            if low <= code <= high:
                found += [(partner, partner) for partner in orbit(chr(code))]
    return merged(tuple(found))


def orbit(char: str) -> set[int]:
    """Give the code points that differ from a character only in case, with its own."""
    forms = {char, char.lower(), char.upper()}
    forms |= {other for form in tuple(forms) for other in (form.lower(), form.upper(), _FOLD_PARTNERS.get(form, form))}
    return {ord(form) for form in forms if len(form) == 1}


class CharSet(Record):
    """A set of code points; ``categories`` are Unicode categories with a sign, added to the ranges."""

    __slots__ = ("categories", "inverted", "ranges")

    ranges: Ranges
    categories: tuple[tuple[str, bool], ...]
    inverted: bool

    def __init__(
        self, ranges: Ranges, categories: tuple[tuple[str, bool], ...] = (), *, inverted: bool = False
    ) -> None:
        put(self, "ranges", ranges)
        put(self, "categories", categories)
        put(self, "inverted", inverted)

    def has(self, char: str) -> bool:
        """Tell whether a character is in the set."""
        code = ord(char)
        found = any(low <= code <= high for low, high in self.ranges)
        if not found and self.categories:
            category = unicodedata.category(char)
            category = "" if category == "Cn" else category
            found = any((bool(category) and category.startswith(name)) is sign for name, sign in self.categories)
        return found is not self.inverted

    def source(self) -> str:
        """Write the set for the interpreter's own engine; only for sets without categories."""
        ranges = negated(self.ranges) if self.inverted else self.ranges
        if not ranges:
            return "(?!)"
        return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]"
