"""Compile and run patterns: a thread list over the program, or the interpreter's engine where that cannot explode.

The work of one search is bounded by ``MAX_WORK`` visited instructions, that of all searches of one evaluation by
``MAX_TOTAL``; beyond it the search is reported as unsupported, never as a wrong answer. The interpreter's engine is
taken while an upper bound of its steps is small.
"""

# ruff: noqa: C901 - one branch per kind of node
# ruff: noqa: PLR0917 - inner functions of a hot path

from __future__ import annotations

import itertools
import re
from contextvars import ContextVar
from functools import lru_cache
from math import comb, prod

from components.cel.problem import EvaluationError
from components.cel.regex.charset import CharSet
from components.cel.regex.parser import MAX_CODE, Code, RegexParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, TypeAlias, TypeVar

    _T = TypeVar("_T")

MAX_WORK: Final = 2_000_000
MAX_TOTAL: Final = 20_000_000
_MAX_STEPS: Final = 1_000_000
_MAX_ALL_STEPS: Final = 100_000_000
_COMPILE: Final = 10  # what compiling an instruction costs, in visited ones
_TOO_MUCH: Final = "the regular expressions need too many steps"
_SHORT_TEXT: Final = 128
_MAX_LOOPS: Final = 2
_WORD: Final = "[0-9A-Za-z_]"
_EDGE: Final = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_EDGE: Final = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_ASSERTIONS: Final = {
    "start": r"\A", "end": r"\Z", "line-start": r"(?:\A|(?<=\n))", "line-end": r"(?=\n|\Z)",
    "word": _EDGE, "no-word": _NO_EDGE,
}  # fmt: skip
_CHAR, _SPLIT, _ASSERT, _JUMP, _MATCH = range(5)
Instruction: TypeAlias = "list[Any]"
Program: TypeAlias = "tuple[tuple[Any, ...], ...]"
Fragment: TypeAlias = tuple[int, list[tuple[int, int]], bool]


class _Meter:
    """What one evaluation may still spend: visited instructions, and steps of the interpreter's engine."""

    __slots__ = ("steps", "work")

    def __init__(self) -> None:
        self.work = MAX_TOTAL
        self.steps = _MAX_ALL_STEPS


_METER: Final[ContextVar[_Meter | None]] = ContextVar("meter", default=None)
"""Set while an evaluation runs, in the thread that runs it."""


def metered(work: Callable[[], _T]) -> _T:
    """Evaluate with one bound on all searches."""
    token = _METER.set(_Meter())
    try:
        return work()
    finally:
        _METER.reset(token)


class Pattern:
    """A compiled pattern; immutable."""

    __slots__ = ("_entry", "_native", "_program", "_unsupported", "size", "source")

    def __init__(self, source: str, code: Code, unsupported: str) -> None:
        self.source = source
        self.size = len(code)
        self._unsupported = unsupported
        self._native = None if unsupported else _native(code)
        self._program: Program = ()
        self._entry = 0
        if not unsupported:
            self._program, self._entry = _program(code)

    def search(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Find the leftmost match at or after ``start``, by preference among those that start there."""
        if self._unsupported:
            raise EvaluationError("unsupported", self._unsupported)
        meter = _METER.get() or _Meter()
        if self._native is not None and len(text) <= _SHORT_TEXT:
            steps = self._native.steps(len(text))
            if steps <= min(_MAX_STEPS, meter.steps):
                meter.steps -= steps
                found = self._native.regex.search(text, start)
                return found.span() if found else None
        return _run(self._program, self._entry, text, start, meter)

    def matches(self, text: str) -> bool:
        """Tell whether there is a match anywhere."""
        return self.search(text) is not None

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


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    """Compile a pattern, or raise ``RegexError`` when Go's parser refuses it."""
    parser = RegexParser(source)
    code = parser.parse()
    unsupported = parser.unsupported
    if not unsupported and len(code) > MAX_CODE:
        unsupported = "the pattern is too large"
    return Pattern(source, code, unsupported)


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
    """Compile a pattern that an evaluation made, and charge it for that."""
    meter = _METER.get() or _Meter()
    if meter.work <= 0:
        raise EvaluationError("unsupported", _TOO_MUCH)
    made = compile_pattern(source)
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


def _program(code: Code) -> tuple[Program, int]:
    program: list[Instruction] = []
    stack: list[Fragment] = []

    def emit(*parts: object) -> int:
        program.append([*parts])
        return len(program) - 1

    def patch(outs: list[tuple[int, int]], target: int) -> None:
        for index, slot in outs:
            program[index][slot] = target

    for op, value, flag in code:
        if op in {"set", "assert"}:
            index = emit(_CHAR if op == "set" else _ASSERT, value, -1)
            stack.append((index, [(index, 2)], op == "assert"))
        elif op == "cat":
            assert isinstance(value, int)
            parts = stack[len(stack) - value :]
            del stack[len(stack) - value :]
            if not parts:
                index = emit(_JUMP, None, -1)
                parts = [(index, [(index, 2)], True)]
            for before, after in itertools.pairwise(parts):
                patch(before[1], after[0])
            stack.append((parts[0][0], parts[-1][1], all(part[2] for part in parts)))
        elif op == "alt":
            assert isinstance(value, int)
            parts = stack[len(stack) - value :]
            del stack[len(stack) - value :]
            start = parts[-1][0]
            for part in reversed(parts[:-1]):
                start = emit(_SPLIT, part[0], start)
            stack.append((start, [out for part in parts for out in part[1]], any(part[2] for part in parts)))
        else:
            stack.append(_loop(op, stack.pop(), greedy=flag, emit=emit, patch=patch))
    end = emit(_MATCH, None, -1)
    patch(stack[0][1], end)
    return tuple(tuple(one) for one in program), stack[0][0]


def _loop(
    op: str, fragment: Fragment, *, greedy: bool, emit: Callable[..., int], patch: Callable[..., None]
) -> Fragment:
    start, outs, empty = fragment
    slot = 2 if greedy else 1
    if op == "quest" or (op == "star" and empty):
        if op == "star":
            start, outs, empty = _loop("plus", fragment, greedy=greedy, emit=emit, patch=patch)
        index = emit(_SPLIT, start if greedy else -1, -1 if greedy else start)
        return index, [*outs, (index, slot)], True
    index = emit(_SPLIT, start if greedy else -1, -1 if greedy else start)
    patch(outs, index)
    return (start if op == "plus" else index), [(index, slot)], empty or op == "star"


def _holds(kind: object, text: str, pos: int) -> bool:
    if kind == "start":
        return pos == 0
    if kind == "end":
        return pos == len(text)
    if kind == "line-start":
        return pos == 0 or text[pos - 1] == "\n"
    if kind == "line-end":
        return pos == len(text) or text[pos] == "\n"
    edge = (pos > 0 and _is_word(text[pos - 1])) != (pos < len(text) and _is_word(text[pos]))
    return edge if kind == "word" else not edge


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def _run(body: Program, entry: int, text: str, start: int, meter: _Meter) -> tuple[int, int] | None:
    """Simulate all threads in order of preference."""
    limit = min(MAX_WORK, meter.work)
    threads: list[tuple[int, int]] = []
    found: tuple[int, int] | None = None
    work = 0
    for pos in range(start, len(text) + 1):
        seen: set[int] = set()
        ready: list[tuple[int, int]] = []
        seeds = threads if found else [*threads, (entry, pos)]
        for seed, began in seeds:
            work += _close(body, seed, began, text, pos, seen, ready)
        if work > limit:
            meter.work -= work
            raise EvaluationError("unsupported", _TOO_MUCH)
        threads = []
        char = text[pos : pos + 1]
        for index, began in ready:
            kind, value, following = body[index]
            if kind == _MATCH:
                found = (began, pos)
                break
            if char and value.has(char):
                threads.append((following, began))
        if found and not threads:
            break
    meter.work -= work
    return found


def _close(
    body: Program,
    seed: int,
    began: int,
    text: str,
    pos: int,
    seen: set[int],
    ready: list[tuple[int, int]],
) -> int:
    """Follow jumps, splits and assertions from one instruction; give the number of instructions visited."""
    stack = [seed]
    work = 0
    while stack:
        index = stack.pop()
        if index in seen:
            continue
        seen.add(index)
        work += 1
        kind, first, second = body[index]
        if kind == _SPLIT:
            stack += [second, first]
        elif kind == _JUMP:
            stack.append(second)
        elif kind == _ASSERT:
            if _holds(first, text, pos):
                stack.append(second)
        else:
            ready.append((index, began))
    return work
