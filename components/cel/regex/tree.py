"""Go's tree of a pattern, as far as its limits depend on it: how high it is, and how large.

A pattern that Go refuses must not match here, and what Go measures is the tree that its parser builds: literals joined
to strings, nested sequences and choices flattened, common beginnings of choices factored out. The source of each rule
is ``regexp/syntax/parse.go`` of Go 1.26.8, where the methods have the names given here in their docstrings; Go 1.24.6
and 1.25.0 gave the same answers for 3,180 random patterns, many of them at the limits.

Limit: the third one, ``maxRunes`` (2**25), is not counted. By an estimate a literal pattern of 10,240 bytes stays under
it: classes by name side by side make 5 million runes, and one large class in as many ``(?:`` as fit, which counts
anew at each parenthesis, some 25 million. A computed pattern that makes so many is over this engine's own limit.

Go looks at sizes only from a certain point on (``checkSize``), and from then on keeps the size that it computed for an
allocation, also when the node has become another: what a node inside another one counts for is what was remembered.

Limit: classes with Unicode categories count as equal only when they are written alike.
"""

# ruff: noqa: PLR2004 - two nodes of a stack, by the rules of the methods

from __future__ import annotations

from components.cel.regex.charset import CharSet, orbit
from components.cel.regex.node import (
    ALTERNATE,
    ASSERTION,
    BAR,
    CAPTURE,
    CLASS,
    CONCAT,
    EMPTY,
    FOLD,
    LITERAL,
    NO_CHARS,
    NO_FLAGS,
    PAREN,
    REPEAT,
    Node,
    chars_of,
    clean,
    first_part,
    leading_text,
    letter,
    merge,
    shared,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Final, TypeAlias

    Factoring: TypeAlias = Generator[list[Node], Node, Node]
    Factored: TypeAlias = Generator[list[Node], Node, list[Node]]

MAX_HEIGHT: Final = 1000  # maxHeight
MAX_SIZE: Final = (128 << 20) // 40  # maxSize: 128 MiB of instructions of 40 bytes
_MAX_WORK: Final = 250_000  # parts of choices looked at, and kilobytes of text copied


class TreeError(Exception):
    """The tree is over a limit; the argument says which, in Go's words."""


class UnmeasuredError(Exception):
    """Building the tree takes more work than a pattern may; Go's parser takes time that grows with the square."""


class Tree:
    """The stack of Go's parser: each method does what the parser does at one construct.

    Raises ``TreeError`` as soon as Go gives up, and ``UnmeasuredError`` when this engine does.
    """

    __slots__ = ("_free", "_made", "_repeats", "_sized", "_stack", "_work")

    def __init__(self) -> None:
        self._stack: list[Node] = []
        self._made = 0  # numRegexp
        self._free: list[int] = []  # the remembered size of each allocation that can be used again
        self._repeats = 1
        self._sized = False
        self._work = 0

    def literal(self, code: int, flags: frozenset[str]) -> None:
        """Push a character (``literal``)."""
        text = chr(code)
        self._new()
        self._push(Node(LITERAL, flags=flags, text=chr(min(orbit(text))) if "i" in flags else text), flags)

    def chars(self, chars: CharSet, flags: frozenset[str], op: int = CLASS) -> None:
        """Push a class, or a dot by its own ``op``."""
        self._new()
        self._push(Node(op, flags=flags, chars=chars_of(chars) if op == CLASS else NO_CHARS), flags)

    def assertion(self, flags: frozenset[str]) -> None:
        """Push what matches between characters."""
        self._new()
        self._push(Node(ASSERTION), flags)

    def repeat(self, op: int, bounds: tuple[int, int], flags: frozenset[str], *, greedy: bool) -> None:
        """Repeat the top of the stack (``repeat``)."""
        self._new()
        node = Node(op, [self._stack[-1]], flags=flags - {"U"} if greedy else flags | {"U"}, bounds=bounds)
        self._stack[-1] = node.measure()
        self._check(node)

    def open(self, flags: frozenset[str], *, capture: bool) -> None:
        """Push a parenthesis."""
        self._new()
        self._push(Node(PAREN, flags=flags, bounds=(int(capture), 0)), flags)

    def bar(self, flags: frozenset[str]) -> None:
        """End a branch (``parseVerticalBar``)."""
        self._concat(flags)
        if not self._swap():
            self._new()
            self._push(Node(BAR), flags)

    def close(self, flags: frozenset[str]) -> None:
        """End a group (``parseRightParen``), whose parenthesis is on the stack."""
        self.end(flags)
        inner, paren = self._stack.pop(), self._stack.pop()
        self._push(Node(CAPTURE, [inner]) if paren.bounds[0] else inner, paren.flags)

    def end(self, flags: frozenset[str]) -> None:
        """Join the branches above the last parenthesis."""
        self._concat(flags)
        if self._swap():
            self._stack.pop()
        subs = self._above()
        clean(subs[-1])
        self._push(self._collapse(subs, ALTERNATE), flags)

    def _new(self) -> int:
        """Count an allocation (``newRegexp``); gives the size that is remembered of it, or 0."""
        if self._free:
            return self._free.pop()
        self._made += 1
        return 0

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > _MAX_WORK:
            raise UnmeasuredError

    def _reuse(self, size: int) -> None:
        """Give an allocation back (``reuse``)."""
        self._free.append(size if self._sized else 0)

    def _inner(self, node: Node, remembered: int) -> Node:
        """Measure a node that Go does not check by itself."""
        node.measure()
        node.size = remembered or node.size
        return node

    def _push(self, node: Node, flags: frozenset[str]) -> None:
        """Push, with classes of one letter as literals (``push``)."""
        one = letter(node) if node.op == CLASS else None
        if one is None:
            self._join()
        else:
            char, fold = one
            kept = flags | FOLD if fold else flags - FOLD
            if self._join():
                self._free.pop()  # the joined one becomes the pushed one, and the class is not given back
                node = Node(LITERAL, flags=kept, text=char)
                self._stack.append(node.measure())
                return
            node.op, node.text, node.flags, node.chars = LITERAL, char, kept, NO_CHARS
        self._stack.append(node.measure())
        self._check(node)

    def _join(self) -> bool:
        """Append a literal to the one below it (``maybeConcat``)."""
        stack = self._stack
        if len(stack) < 2 or stack[-1].op != LITERAL or stack[-2].op != LITERAL:
            return False
        top, below = stack[-1], stack[-2]
        if ("i" in top.flags) != ("i" in below.flags):
            return False
        below.text += top.text
        self._spend(len(below.text) >> 10)
        if not self._sized:  # Go does not look again either
            below.measure()
        stack.pop()
        self._reuse(top.size)
        return True

    def _above(self) -> list[Node]:
        """Take what is above the last parenthesis or bar."""
        stack = self._stack
        start = len(stack)
        while start and stack[start - 1].op < PAREN:
            start -= 1
        subs = stack[start:]
        del stack[start:]
        return subs

    def _concat(self, flags: frozenset[str]) -> None:
        self._join()
        subs = self._above()
        if subs:
            self._push(self._collapse(subs, CONCAT), flags)
        else:
            self._new()
            self._push(Node(EMPTY), flags)

    def _swap(self) -> bool:
        """Move a finished branch below the bar, or into the class there (``swapVerticalBar``)."""
        stack = self._stack
        if len(stack) < 2 or stack[-2].op != BAR:
            return False
        if stack[-1].is_char() and stack[-3].is_char():
            stack[-3] = merge([stack[-3], stack[-1]])
            self._spend(len(stack[-3].chars[0]))
            stack.pop()
            self._reuse(1)
            return True
        clean(stack[-3])
        stack[-2:] = [stack[-1], stack[-2]]
        return True

    def _check(self, node: Node) -> None:
        """Hold a node to the limits (``checkLimits``)."""
        self._count(node)
        if self._sized and node.size > MAX_SIZE:
            raise TreeError("expression too large")
        if node.height > MAX_HEIGHT:
            raise TreeError("expression nests too deeply")

    def _count(self, node: Node) -> None:
        """Begin to compare sizes when nodes times repetitions are many (``checkSize``); before, Go does not look."""
        if self._sized:
            return
        if node.op == REPEAT:
            least, most = node.bounds
            self._repeats = min(self._repeats * max(least if most < 0 else most, 1), MAX_SIZE)
        if self._made >= MAX_SIZE // self._repeats:
            self._sized = True
            self._free = [0] * len(self._free)
            for each in self._stack:
                self._check(each)

    def _collapse(self, subs: list[Node], op: int) -> Node:
        """Join parts (``collapse``). Go recurses where parts share beginnings; each such step makes the tree higher."""
        running = [self._collapsing(subs, op)]
        made: Node | None = None
        while True:
            try:
                inner = next(running[-1]) if made is None else running[-1].send(made)
            except StopIteration as ended:
                running.pop()
                made = ended.value
                assert made is not None
                if not running:
                    return made
            else:
                running.append(self._collapsing(inner, ALTERNATE))
                made = None
                if len(running) > MAX_HEIGHT:
                    raise TreeError("expression nests too deeply")

    def _collapsing(self, subs: list[Node], op: int) -> Factoring:
        if len(subs) == 1:
            return subs[0]
        remembered = self._new()
        parts: list[Node] = []
        for sub in subs:
            if sub.op == op:
                parts += sub.subs
                self._reuse(sub.size)
            else:
                parts.append(sub)
        self._spend(len(parts))
        if op == ALTERNATE:
            parts = yield from self._strings(parts)
            parts = yield from self._prefixes(parts)
            parts = self._classes(parts)
            ops = [each.op for each in parts]
            parts = [each for at, each in enumerate(parts) if ops[at : at + 2] != [EMPTY, EMPTY]]
            if len(parts) == 1:
                self._reuse(remembered)
                return parts[0]
        return self._inner(Node(op, parts), remembered)

    def _strings(self, subs: list[Node]) -> Factored:
        """Factor out common strings (``factor``, round 1)."""
        out: list[Node] = []
        start, text, flags = 0, "", NO_FLAGS
        for at in range(len(subs) + 1):
            lead, lead_flags = leading_text(subs[at]) if at < len(subs) else ("", NO_FLAGS)
            same = shared(text, lead) if lead_flags == flags else 0
            if same:
                text = text[:same]
                continue
            if at > start + 1:
                prefix = self._inner(Node(LITERAL, text=text, flags=flags), self._new())
                rests = [self._checked(self._without(sub, text)) for sub in subs[start:at]]
                suffix = yield rests
                out.append(self._inner(Node(CONCAT, [prefix, suffix]), self._new()))
            else:
                out += subs[start:at]
            start, text, flags = at, lead, lead_flags
        return out

    def _prefixes(self, subs: list[Node]) -> Factored:
        """Factor out common classes (``factor``, round 2)."""
        out: list[Node] = []
        start, first = 0, None
        for at in range(len(subs) + 1):
            lead = first_part(subs[at]).prefix() if at < len(subs) else None
            if first is not None and first == lead:
                continue
            if at > start + 1:
                prefix = first_part(subs[start])
                rests = [self._checked(self._behind(sub, prefix)) for sub in subs[start:at]]
                suffix = yield rests
                out.append(self._inner(Node(CONCAT, [prefix, suffix]), self._new()))
            else:
                out += subs[start:at]
            start, first = at, lead
        return out

    def _checked(self, node: Node) -> Node:
        """Do what Go does with the rest of a branch; it is no higher or larger than the branch, which was checked."""
        self._count(node)
        if self._sized:
            node.measure()
        return node

    def _without(self, node: Node, text: str) -> Node:
        """Remove a string from the beginning (``removeLeadingString``)."""
        if node.op != CONCAT:
            rest = node.text[len(text) :]
            return self._rest(Node(LITERAL if rest else EMPTY, text=rest, flags=node.flags), node)
        first = self._without(node.subs[0], text)
        if first.op != EMPTY:
            return self._rest(Node(CONCAT, [first, *node.subs[1:]]), node)
        self._reuse(first.size)
        return self._tail(node)

    def _behind(self, node: Node, prefix: Node) -> Node:
        """Remove the first part (``removeLeadingRegexp``); that of the first branch is the prefix."""
        first = first_part(node)
        if first is not prefix:
            self._reuse(first.size)
        if node.op == CONCAT:
            return self._tail(node)
        self._new()
        return Node(EMPTY)

    def _tail(self, node: Node) -> Node:
        if len(node.subs) > 2:
            return self._rest(Node(CONCAT, node.subs[1:]), node)
        self._reuse(node.size)
        return node.subs[1]

    def _rest(self, rest: Node, node: Node) -> Node:
        """Remember the size of a node for what has become of it."""
        if self._sized:
            rest.height, rest.size = 1, node.size
        return rest

    def _classes(self, subs: list[Node]) -> list[Node]:
        """Merge single characters that follow each other (``factor``, round 3)."""
        out: list[Node] = []
        run: list[Node] = []
        for sub in [*subs, None]:
            if sub is not None and sub.is_char():
                run.append(sub)
                continue
            if len(run) > 1:
                for _ in run[1:]:
                    self._reuse(1)
                run = [merge(run)]
                clean(run[0])
            out += run
            run = []
            if sub is not None:
                out.append(sub)
        return out
