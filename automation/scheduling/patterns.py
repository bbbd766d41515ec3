"""How many nodes a set of pods can block for one more pod, at worst: an exact search with a budget, then a safe bound.

A node is blocked for a pod when the other pods on it leave too little of some kind of device. The in-cluster scheduler
chooses who sits where, so the question is how many disjoint groups of the other pods fit on one node each and block it.
Only minimal groups matter (a group with a needless pod wastes it), and pods of equal demand are interchangeable, so the
search packs *patterns*: how many pods of each demand make a minimal blocking group. A linear relaxation bounds it from
above, with exact numbers; the integer search below it has a budget of nodes, never of time, so that every machine
gets the same answer. When a budget ends, the answer is a bound that is never too low.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Demand = tuple[int, ...]
"""What a pod takes of each kind on its node (devices, thousandths of a core, bytes), in the order of the kinds."""

PATTERN_BUDGET = 4_000
"""Partial groups looked at when patterns are listed. Four sizes on a node of eight take fewer than a hundred."""
SEARCH_BUDGET = 4_000
"""Partial packings looked at by the integer search."""
PIVOT_BUDGET = 200_000
"""Numbers worked out by the linear relaxation."""

NO_LIMIT = 1 << 30
"""Stands for a limit that does not hold."""

Pattern = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """What one node of a pool holds, in the dimensions of a demand.

    A pod is blocked when, in some dimension, what others take and what it needs exceed ``has``. A group of pods sits on
    one node only if no dimension exceeds ``room``. The two are equal where every request names one kind of device; a
    request that several kinds satisfy counts in full against each for blocking, and only in the sum for sitting.
    """

    has: Demand
    room: Demand

    def holds(self, demand: Demand) -> bool:
        """Whether one pod fits on an empty node."""
        return _within(demand, self.has) and _within(demand, self.room)


def most_blocked(node: Node, need: Demand, others: Sequence[tuple[Demand, int]]) -> int:
    """Return the largest number of nodes that ``others`` can block for a pod of demand ``need``; never too low.

    ``others`` are distinct demands with their numbers of pods; each fits on a node.
    """
    blocked = 0
    rest: list[tuple[Demand, int]] = []
    for demand, count in others:
        if _blocks(node.has, need, demand):
            blocked += count  # alone enough, so no minimal group holds it together with another pod
        elif any(taken and wanted for taken, wanted in zip(demand, need, strict=True)):
            rest.append((demand, count))
    if not rest:
        return blocked
    patterns = _patterns(node, need, rest)
    if patterns is None:
        return blocked + _crude(node.has, need, rest)
    if not patterns:
        return blocked
    return blocked + _pack(patterns, [count for _, count in rest], _crude(node.has, need, rest))


def _blocks(limits: Demand, need: Demand, taken: Demand) -> bool:
    return any(wanted and used + wanted > has for has, wanted, used in zip(limits, need, taken, strict=True))


def _within(demand: Demand, limits: Demand) -> bool:
    return all(map(int.__le__, demand, limits))


def _crude(limits: Demand, need: Demand, others: Sequence[tuple[Demand, int]]) -> int:
    """Bound by totals: a group that blocks in one kind holds at least ``has - need + 1`` of it."""
    bound = 0
    for kind, (has, wanted) in enumerate(zip(limits, need, strict=True)):
        if wanted:
            bound += sum(demand[kind] * count for demand, count in others) // (has - wanted + 1)
    return min(bound, sum(count for _, count in others))


def _patterns(node: Node, need: Demand, others: Sequence[tuple[Demand, int]]) -> list[Pattern] | None:
    """List every minimal group that fits on a node and blocks it; None when there are too many to list."""
    demands = [demand for demand, _ in others]
    found: list[Pattern] = []
    budget = PATTERN_BUDGET
    stack: list[tuple[int, Pattern, Demand]] = [(0, (), (0,) * len(need))]
    while stack:
        position, chosen, taken = stack.pop()
        if position == len(others):
            continue
        demand, count = others[position]
        for number in range(count + 1):
            if number:
                taken = tuple(map(int.__add__, taken, demand))
                if not _within(taken, node.room):
                    break
            group = (*chosen, number)
            if number and _blocks(node.has, need, taken):
                whole = group + (0,) * (len(others) - len(group))
                if _minimal(node.has, need, taken, whole, demands):
                    found.append(whole)
                break
            budget -= 1
            if budget < 0:
                return None
            stack.append((position + 1, group, taken))
    return sorted(found, reverse=True)


def _minimal(has: Demand, need: Demand, taken: Demand, group: Pattern, demands: Sequence[Demand]) -> bool:
    for number, demand in zip(group, demands, strict=True):
        if number and _blocks(has, need, tuple(map(int.__sub__, taken, demand))):
            return False
    return True


def _pack(patterns: Sequence[Pattern], counts: Sequence[int], crude: int) -> int:
    """Return the largest number of patterns that ``counts`` pods can form at once, or a bound above it."""
    if len(counts) == 1:
        return counts[0] // patterns[0][0]
    relaxed = _relaxed(patterns, counts)
    bound = crude if relaxed is None else min(crude, relaxed)
    best = 0
    budget = SEARCH_BUDGET
    stack = [(0, tuple(counts), 0, _most(patterns[0], counts))]
    while stack:
        position, left, packed, number = stack.pop()
        best = max(best, packed + number)
        if best >= bound:
            return bound
        if position + 1 == len(patterns):
            continue  # of the last pattern fewer are never better
        budget -= 1
        if budget < 0:
            return bound
        if number:
            stack.append((position, left, packed, number - 1))
        rest = tuple(have - number * use for have, use in zip(left, patterns[position], strict=True))
        stack.append((position + 1, rest, packed + number, _most(patterns[position + 1], rest)))
    return best


def _most(pattern: Pattern, counts: Sequence[int]) -> int:
    """Return how often a pattern can be formed."""
    return min(have // use for have, use in zip(counts, pattern, strict=True) if use)


def _relaxed(patterns: Sequence[Pattern], counts: Sequence[int]) -> int | None:
    """Solve the linear relaxation exactly and round down; None out of budget.

    A simplex over whole numbers: the table is that of fractions times their common denominator, which each pivot
    replaces, so every division is exact (Edmonds; Bareiss for determinants). The steepest column comes first.
    """
    rows, width = len(counts), len(patterns)
    table = [
        [*(pattern[row] for pattern in patterns), *(int(row == slack) for slack in range(rows)), counts[row]]
        for row in range(rows)
    ]
    goal = [-1] * width + [0] * (rows + 1)
    denominator = 1
    budget = PIVOT_BUDGET
    while (steepest := min(goal[:-1])) < 0:
        budget -= rows * len(goal)
        if budget < 0:
            return None
        column = goal.index(steepest)
        candidates = [row for row in range(rows) if table[row][column] > 0]
        pivot = min(candidates, key=lambda row: Fraction(table[row][-1], table[row][column]))
        lead, scale = table[pivot], table[pivot][column]
        for row in range(rows):
            if row != pivot:
                table[row] = _cleared(table[row], column, lead, denominator)
        goal = _cleared(goal, column, lead, denominator)
        denominator = scale
    return goal[-1] // denominator


def _cleared(values: Sequence[int], column: int, lead: Sequence[int], denominator: int) -> list[int]:
    """Take the leading row off another one so often that its ``column`` becomes zero."""
    factor, scale = values[column], lead[column]
    return [(value * scale - factor * base) // denominator for value, base in zip(values, lead, strict=True)]
