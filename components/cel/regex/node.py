"""The nodes of Go's tree of a pattern (``components.cel.regex.tree``), and what is made of single characters.

The names of Go's functions are given in the docstrings.
"""

# ruff: noqa: PLR2004 - numbers of the rules, named by the text beside them

from __future__ import annotations

from components.cel.regex.charset import MAX_RUNE, CharSet, Ranges, folded, merged, negated, orbit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

    Chars: TypeAlias = tuple[Ranges, frozenset[CharSet]]  # code points, and classes with Unicode categories

# In the order of Go's ``Op`` as far as characters are compared by it; a question mark counts as ``PLUS``.
EMPTY, LITERAL, CLASS, NOT_NEWLINE, ANY, ASSERTION, CAPTURE, STAR, PLUS, REPEAT, CONCAT, ALTERNATE, PAREN, BAR = range(
    14
)
NO_FLAGS: Final[frozenset[str]] = frozenset()
FOLD: Final = frozenset("i")
NO_CHARS: Final[Chars] = ((), frozenset())
_ALL: Final[Ranges] = ((0, MAX_RUNE),)
_BUT_NEWLINE: Final = negated(((10, 10),))


class Node:
    """One node: ``text`` of a literal, ``chars`` of a class, ``bounds`` of a repetition (-1: without end)."""

    __slots__ = ("bounds", "chars", "flags", "height", "op", "size", "subs", "text")

    def __init__(
        self,
        op: int,
        subs: list[Node] | None = None,
        *,
        flags: frozenset[str] = NO_FLAGS,
        text: str = "",
        chars: Chars = NO_CHARS,
        bounds: tuple[int, int] = (0, 0),
    ) -> None:
        self.op = op
        self.subs = subs or []
        self.flags = flags
        self.text = text
        self.chars = chars
        self.bounds = bounds
        self.height = 0
        self.size = 0

    def measure(self) -> Node:
        """Set height (``calcHeight``) and size (``calcSize``) from those of the parts."""
        subs = self.subs
        for sub in subs:
            if not sub.height:
                sub.measure()  # what ``factor`` made shorter; its own parts are measured
        self.height = 1 + max((sub.height for sub in subs), default=0)
        size = sum(sub.size for sub in subs)
        if self.op == LITERAL:
            size = len(self.text)
        elif self.op in {CAPTURE, STAR}:
            size += 2
        elif self.op == PLUS:
            size += 1
        elif self.op == ALTERNATE:
            size += len(subs) - 1
        elif self.op == REPEAT:
            least, most = self.bounds
            size = most * size + most - least if most >= 0 else 1 + least * size if least else 2 + size
        self.size = max(1, size)
        return self

    def is_char(self) -> bool:
        """Tell whether it stands for one character (``isCharClass``)."""
        return CLASS <= self.op <= ANY or (self.op == LITERAL and len(self.text) == 1)

    def ranges(self) -> Chars:
        """Give the characters of a class or of a literal of one."""
        if self.op == LITERAL:
            code = ord(self.text)
            return (folded(((code, code),)) if "i" in self.flags else ((code, code),)), frozenset()
        return self.chars

    def prefix(self) -> object:
        """Give what tells equal beginnings that may be factored out (``factor``, round 2), or nothing."""
        if self.is_char():
            return self.op, self.text, self.chars, self.op in {LITERAL, CLASS} and "i" in self.flags
        if self.op == REPEAT and self.bounds[0] == self.bounds[1] and self.subs[0].is_char():
            return self.bounds, "U" in self.flags, self.subs[0].prefix()
        return None


def chars_of(chars: CharSet) -> Chars:
    """Give the characters of a parsed class."""
    if chars.categories:
        return (), frozenset((chars,))
    return (negated(chars.ranges) if chars.inverted else merged(chars.ranges)), frozenset()


def letter(node: Node) -> tuple[str, bool] | None:
    """Give the letter that a class stands for, and whether in both cases; nothing for another class."""
    ranges, others = node.chars
    if others or not 0 < sum(high - low + 1 for low, high in ranges) <= 2:
        return None
    codes = {code for each in ranges for code in each}
    char = chr(ranges[0][0])
    if len(codes) == 1:
        return char, False
    return (char, True) if orbit(char) == codes else None


def merge(nodes: list[Node]) -> Node:
    """Merge characters and classes (``mergeCharClass``)."""
    most = max(nodes, key=lambda node: (node.op, len(node.chars[0])))
    if most.op == ANY:
        return most
    if most.op == LITERAL and all((node.text, node.flags) == (most.text, most.flags) for node in nodes):
        return most
    parts = [node.ranges() for node in nodes if node.op in {LITERAL, CLASS}]
    ranges = merged(tuple(each for part, _ in parts for each in part))
    if most.op == NOT_NEWLINE:
        newline = any(low <= 10 <= high for low, high in ranges)
        return Node(ANY if newline else NOT_NEWLINE).measure()
    others = frozenset(other for _, part in parts for other in part)
    return Node(CLASS, chars=(ranges, others), flags=most.flags).measure()


def clean(node: Node) -> None:
    """Turn a class of everything into a dot (``cleanAlt``)."""
    if node.op == CLASS and node.chars[0] in {_ALL, _BUT_NEWLINE}:
        node.op = ANY if node.chars[0] == _ALL else NOT_NEWLINE
        node.chars = NO_CHARS


def first_part(node: Node) -> Node:
    """Give what a sequence begins with, or the node."""
    return node.subs[0] if node.op == CONCAT else node


def leading_text(node: Node) -> tuple[str, frozenset[str]]:
    """Give the string that a node begins with (``leadingString``)."""
    first = first_part(node)
    return (first.text, first.flags & FOLD) if first.op == LITERAL else ("", NO_FLAGS)


def shared(one: str, other: str) -> int:
    """Count the characters that both begin with."""
    same = 0
    while same < len(one) and same < len(other) and one[same] == other[same]:
        same += 1
    return same
