"""The program of a pattern, and a search that runs all its threads at once, in order of preference.

A search gives the place of the match. Its work is what it visits of the program, and is bounded.
"""

# ruff: noqa: C901 - one branch per kind of node
# ruff: noqa: PLR0917 - inner functions of a hot path

from __future__ import annotations

import itertools

from components.cel.problem import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, TypeAlias

    from components.cel.meter import Meter
    from components.cel.regex.code import Code

MAX_SEARCH: Final = 2_000_000
TOO_MUCH: Final = "the regular expressions need too many steps"
CHAR, SPLIT, ASSERT, JUMP, MATCH = range(5)
Instruction: TypeAlias = "list[Any]"
Program: TypeAlias = "tuple[tuple[Any, ...], ...]"
Fragment: TypeAlias = tuple[int, list[tuple[int, int]], bool]


def program_of(code: Code) -> tuple[Program, int]:
    """Make the program of a pattern; the number is where it begins."""
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
            index = emit(CHAR if op == "set" else ASSERT, value, -1)
            stack.append((index, [(index, 2)], op == "assert"))
        elif op == "cat":
            assert isinstance(value, int)
            parts = stack[len(stack) - value :]
            del stack[len(stack) - value :]
            if not parts:
                index = emit(JUMP, None, -1)
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
                start = emit(SPLIT, part[0], start)
            stack.append((start, [out for part in parts for out in part[1]], any(part[2] for part in parts)))
        else:
            stack.append(_loop(op, stack.pop(), greedy=flag, emit=emit, patch=patch))
    end = emit(MATCH, None, -1)
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
        index = emit(SPLIT, start if greedy else -1, -1 if greedy else start)
        return index, [*outs, (index, slot)], True
    index = emit(SPLIT, start if greedy else -1, -1 if greedy else start)
    patch(outs, index)
    return (start if op == "plus" else index), [(index, slot)], empty or op == "star"


def holds(kind: object, before: str, after: str) -> bool:
    """Tell whether an assertion holds between two characters, each absent at an end of the text."""
    if kind == "start":
        return not before
    if kind == "end":
        return not after
    if kind == "line-start":
        return before in {"", "\n"}
    if kind == "line-end":
        return after in {"", "\n"}
    return (_is_word(before) != _is_word(after)) is (kind == "word")


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def run(body: Program, entry: int, text: str, start: int, meter: Meter) -> tuple[int, int] | None:
    """Simulate all threads in order of preference."""
    limit = min(MAX_SEARCH, meter.work)
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
            raise EvaluationError("unsupported", TOO_MUCH)
        threads = []
        char = text[pos : pos + 1]
        for index, began in ready:
            kind, value, following = body[index]
            if kind == MATCH:
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
        if kind == SPLIT:
            stack += [second, first]
        elif kind == JUMP:
            stack.append(second)
        elif kind == ASSERT:
            if holds(first, text[pos - 1 : pos] if pos else "", text[pos : pos + 1]):
                stack.append(second)
        else:
            ready.append((index, began))
    return work
