"""Tell whether a pattern matches, by states that are computed once: a step through one costs a look-up.

A state is the set of instructions that wait for the next character, and what stood before it. States live as long as
one evaluation, so nothing is kept between them, and every state's making is charged to the evaluation.
"""

# ruff: noqa: C901 - one branch per kind of instruction

from __future__ import annotations

from components.cel.problem import EvaluationError
from components.cel.regex.program import ASSERT, JUMP, MATCH, SPLIT, TOO_MUCH, Program, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from components.cel.meter import Meter

_CACHED: Final = 8  # steps through known states that cost as much as one instruction


class _State:
    """Instructions that wait, and the character before (none at the start)."""

    __slots__ = ("before", "following", "seeds")

    def __init__(self, seeds: frozenset[int], before: str) -> None:
        self.seeds = seeds
        self.before = before
        self.following: dict[str, _State | bool] = {}


class Automaton:
    """The states of one program that one evaluation has met."""

    __slots__ = ("_entry", "_program", "_start", "_states")

    def __init__(self, program: Program, entry: int) -> None:
        self._program = program
        self._entry = entry
        self._start = _State(frozenset(), "")
        self._states: dict[tuple[frozenset[int], str], _State] = {}

    def matches(self, text: str, meter: Meter) -> bool:
        """Tell whether there is a match anywhere."""
        meter.work -= len(text) // _CACHED + 1
        state = self._start
        for char in text:
            following = state.following.get(char)
            if following is None:
                following = self._step(state, char, meter)
            if following is True:
                return True
            assert isinstance(following, _State)
            state = following
        last = state.following.get("")
        return (self._step(state, "", meter) if last is None else last) is True

    def _step(self, state: _State, char: str, meter: Meter) -> _State | bool:
        """Compute where a character, or the end, leads from a state."""
        if meter.work <= 0:
            raise EvaluationError("unsupported", TOO_MUCH)
        waiting: set[int] = set()
        seen: set[int] = set()
        stack = [self._entry, *state.seeds]
        found: _State | bool = False
        while stack:
            index = stack.pop()
            if index in seen:
                continue
            seen.add(index)
            kind, first, second = self._program[index]
            if kind == SPLIT:
                stack += (first, second)
            elif kind == JUMP:
                stack.append(second)
            elif kind == ASSERT:
                if holds(first, state.before, char):
                    stack.append(second)
            elif kind == MATCH:
                found = True
                break
            elif char and first.has(char):
                waiting.add(second)
        meter.work -= len(seen)
        if char and not found:
            key = (frozenset(waiting), _mark(char))
            found = self._states.get(key) or self._states.setdefault(key, _State(*key))
        state.following[char] = found
        return found


def _mark(char: str) -> str:
    """Stand for all characters that assertions do not tell apart."""
    if char == "\n":
        return char
    return "a" if char == "_" or (char.isascii() and char.isalnum()) else " "
