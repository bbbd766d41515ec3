"""Compile patterns, and search with them: by the program, by its states, or by the interpreter's engine.

The interpreter's engine is taken while an upper bound of its steps is small, because it backtracks. All work is charged
to the evaluation (``components.cel.meter``); beyond its bounds a search is reported as unsupported, never as a wrong
answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import comb, prod

from components.cel.meter import METER, Meter
from components.cel.problem import EvaluationError
from components.cel.regex.automaton import Automaton
from components.cel.regex.charset import CharSet
from components.cel.regex.code import MAX_CODE, Code, RegexError
from components.cel.regex.names import release_of
from components.cel.regex.parser import RegexParser
from components.cel.regex.program import TOO_MUCH, Program, program_of, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MAX_STEPS: Final = 1_000_000
_COMPILE: Final = 10  # what compiling an instruction costs, in visited ones
_SHORT_TEXT: Final = 128
_MAX_LOOPS: Final = 2
_WORD: Final = "[0-9A-Za-z_]"
_EDGE: Final = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_EDGE: Final = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_ASSERTIONS: Final = {
    "start": r"\A", "end": r"\Z", "line-start": r"(?:\A|(?<=\n))", "line-end": r"(?=\n|\Z)",
    "word": _EDGE, "no-word": _NO_EDGE,
}  # fmt: skip


class Pattern:
    """A compiled pattern; immutable to its users: what a search needs is made when one needs it."""

    __slots__ = ("_code", "_native", "_program", "_unsupported", "releases", "size", "source")

    def __init__(self, source: str, code: Code, releases: frozenset[str], unsupported: str) -> None:
        self.source = source
        self.releases = releases
        self.size = len(code)
        self._code = code
        self._unsupported = unsupported
        self._native: _Native | bool | None = None
        self._program: tuple[Program, int] | None = None

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Find the leftmost match at or after ``start``, by preference among those that start there."""
        meter = self._meter()
        native = self._quick(text, meter)
        if native is not None:
            found = native.search(text, start)
            return found.span() if found else None
        return run(*self._made(meter), text, start, meter)

    def matches(self, text: str) -> bool:
        """Tell whether there is a match anywhere."""
        meter = self._meter()
        native = self._quick(text, meter)
        if native is not None:
            return native.search(text) is not None
        automaton = meter.automata.get(self)
        if automaton is None:
            automaton = meter.automata[self] = Automaton(*self._made(meter))
        assert isinstance(automaton, Automaton)
        return automaton.matches(text, meter)

    def _meter(self) -> Meter:
        if self._unsupported:
            raise EvaluationError("unsupported", self._unsupported)
        return METER.get() or Meter()

    def _quick(self, text: str, meter: Meter) -> re.Pattern[str] | None:
        """Give the interpreter's own pattern where it takes few steps on a text, and charge them."""
        if len(text) > _SHORT_TEXT:
            return None
        if self._native is None:
            self._native = _native(self._code) or False
        if isinstance(self._native, bool):
            return None
        steps = self._native.steps(len(text))
        if steps > min(_MAX_STEPS, meter.steps):
            return None
        meter.steps -= steps
        return self._native.regex

    def _made(self, meter: Meter) -> tuple[Program, int]:
        if self._program is None:
            meter.work -= self.size
            self._program = program_of(self._code)
        return self._program

    def find_all(self, text: str, limit: int = -1) -> list[str]:
        """Give the matches that do not overlap; an empty one right behind a match does not count."""
        found: list[str] = []
        pos, previous = 0, -1
        while pos <= len(text) and (limit < 0 or len(found) < limit):
            span = self.search(text, pos)
            if span is None:
                break
            start, end = span
            if start != end or start != previous:
                found.append(text[start:end])
            previous = end
            pos = end if end > pos else end + 1
            if start == end:
                pos = end + 1
        return found


def compile_pattern(source: str, minor: str) -> Pattern:
    """Compile a constant pattern, or raise ``RegexError`` when the parser of Go that the minor has refuses it."""
    made = _compiled(source)
    if release_of(minor) not in made.releases:
        raise RegexError.of("invalid character class range", source)
    return made


@lru_cache(maxsize=256)
def _compiled(source: str) -> Pattern:
    parser = RegexParser(source)
    code = parser.parse()
    unsupported = parser.unsupported
    if not unsupported and len(code) > MAX_CODE:
        unsupported = "the pattern is too large"
    return Pattern(source, code, parser.releases, unsupported)


class _Native:
    """A pattern for the interpreter's engine, and what bounds the paths through it."""

    __slots__ = ("_loops", "_sets", "_ways", "regex")

    def __init__(self, source: str, loops: int, ways: int, sets: int) -> None:
        self.regex = re.compile(source)
        self._loops = loops
        self._ways = ways
        self._sets = sets

    def steps(self, size: int) -> int:
        """Bound the steps on a text: where it starts and where each loop ends, times choices, times what is walked."""
        return comb(size + self._loops + 1, self._loops + 1) * self._ways * (1 + min(size, self._sets))


def computed_pattern(source: str) -> Pattern:
    """Compile a pattern that an evaluation made, and charge it for that; where minors differ, it is unsupported."""
    meter = METER.get() or Meter()
    if meter.work <= 0:
        raise EvaluationError("unsupported", TOO_MUCH)
    made = _compiled(source)
    meter.work -= _COMPILE * made.size
    return made


def _native(code: Code) -> _Native | None:
    """Translate for the interpreter's engine when at most two single characters are repeated without bound."""
    stack: list[tuple[str, bool, int]] = []
    loops = sets = 0
    for op, value, flag in code:
        if op == "set":
            assert isinstance(value, CharSet)
            if value.categories:
                return None
            sets += 1
            stack.append((value.source(), True, 1))
        elif op == "assert":
            stack.append((_ASSERTIONS[str(value)], False, 1))
        elif op in {"cat", "alt"}:
            assert isinstance(value, int)
            parts = stack[len(stack) - value :]
            del stack[len(stack) - value :]
            text = ("" if op == "cat" else "|").join(part for part, _, _ in parts)
            ways = prod(ways for _, _, ways in parts) if op == "cat" else sum(ways for _, _, ways in parts)
            single = value == 1 and op == "cat" and parts[0][1]
            stack.append((text if op == "cat" else f"(?:{text})", single, ways))
        else:
            text, single, ways = stack.pop()
            if op != "quest":
                loops += 1
                if not single or loops > _MAX_LOOPS:
                    return None
            else:
                ways += 1
            mark = {"star": "*", "plus": "+", "quest": "?"}[op]
            stack.append((f"(?:{text}){mark}{'' if flag else '?'}", False, ways))
        if stack[-1][2] > _MAX_STEPS:
            return None
    text, _, ways = stack[0]
    return _Native(text, loops, ways, sets)
