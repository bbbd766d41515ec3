"""Capacity: what a pool is sure to hold, by each of the three ways to count."""

from dataclasses import dataclass

import pytest

from automation.scheduling import patterns
from automation.scheduling.capacity import Capacity
from automation.scheduling.hardware import make_hardware
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.patterns import Demand, Node, most_blocked
from automation.scheduling.snapshot import Accounting
from tests.unit.scheduling.builder import cluster, deployment, engine, gpu, member, nic, offering, plan, pool

EIGHT = Node((8,), (8,))
NODE = Node((8, 32), (8, 32))


@dataclass(frozen=True)
class Case:
    """A set of pods on a pool, and which accountings take it."""

    name: str
    node: Node
    nodes: int
    pods: dict[Demand, int]
    device: bool
    by_node: bool
    best_fit: bool


CASES = [
    Case("nothing fits anywhere", EIGHT, 0, {}, device=True, by_node=True, best_fit=True),
    Case("a pod without a node", EIGHT, 0, {(1,): 1}, device=False, by_node=False, best_fit=False),
    Case("eight small pods on one node", EIGHT, 1, {(1,): 8}, device=True, by_node=False, best_fit=True),
    Case("a ninth", EIGHT, 1, {(1,): 9}, device=False, by_node=False, best_fit=False),
    Case("a pod larger than a node", EIGHT, 9, {(9,): 1}, device=False, by_node=False, best_fit=False),
    Case("a large pod and nine small ones on ten nodes", EIGHT, 10, {(8,): 1, (1,): 9}, True, True, True),
    Case("and a tenth could strand the large one", EIGHT, 10, {(8,): 1, (1,): 10}, False, False, True),
    Case("three fours on two nodes", EIGHT, 2, {(4,): 3}, device=True, by_node=False, best_fit=True),
    Case("three fours and an eight on three", EIGHT, 3, {(4,): 3, (8,): 1}, False, False, True),
    Case("4+1 on both nodes strands a four", EIGHT, 2, {(4,): 3, (1,): 2}, False, False, True),
    Case("threes leave two of eight unused", EIGHT, 2, {(3,): 4}, device=True, by_node=False, best_fit=True),
    Case("more devices than there are", EIGHT, 2, {(3,): 5, (1,): 2}, False, False, False),
    Case("four whole nodes of two kinds", NODE, 4, {(8, 32): 4}, device=True, by_node=True, best_fit=True),
    Case("halves in both kinds", NODE, 2, {(4, 16): 4}, device=True, by_node=False, best_fit=True),
    Case("the second kind blocks", NODE, 1, {(1, 32): 1, (1, 1): 1}, False, False, False),
    Case("as many as the scarcer kind takes", NODE, 2, {(1, 8): 8}, device=True, by_node=False, best_fit=True),
    Case("and one more", NODE, 2, {(1, 8): 9}, device=False, by_node=False, best_fit=False),
    Case("kinds that do not meet", NODE, 1, {(8, 0): 1, (0, 32): 1}, device=True, by_node=False, best_fit=True),
    Case("best fit fills the tightest gap first", EIGHT, 2, {(5,): 1, (3,): 1, (2,): 4}, False, False, True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_set_of_pods_fits(case: Case) -> None:
    """Each accounting answers as the table says, whatever order the pods are named in."""
    wanted = {
        Accounting.DEVICE: case.device,
        Accounting.NODE: case.by_node,
        Accounting.BEST_FIT: case.best_fit,
    }
    for accounting, answer in wanted.items():
        backwards = dict(reversed(case.pods.items()))
        assert Capacity(accounting).fits(case.node, case.nodes, case.pods) is answer, accounting
        assert Capacity(accounting).fits(case.node, case.nodes, backwards) is answer, accounting


def test_the_victim_is_the_largest_pod_that_could_be_stranded() -> None:
    """A refusal can name whom it protects."""
    assert Capacity().victim(EIGHT, 10, {(8,): 1, (1,): 10}) == (8,)
    assert Capacity().victim(EIGHT, 10, {(8,): 1, (1,): 9}) is None
    assert Capacity().victim(EIGHT, 2, {(5,): 1, (4,): 3}) == (5,)
    assert Capacity().victim(EIGHT, 2, {(4,): 3, (5,): 1}) == (5,)
    assert Capacity(Accounting.BEST_FIT).victim(EIGHT, 10, {(8,): 1, (1,): 10}) is None


BLOCKED: list[tuple[Demand, dict[Demand, int], tuple[int, int, int]]] = [
    ((1,), {(3,): 3, (2,): 4}, (1, 2, 2)),
    ((1,), {(7,): 2, (5,): 6, (1,): 6}, (3, 3, 6)),
    ((2,), {(3,): 7, (4,): 2, (6,): 5, (1,): 4}, (6, 6, 9)),
    ((1,), {(4,): 5, (7,): 4, (5,): 7, (3,): 5}, (7, 7, 12)),
    ((4,), {(2,): 2, (3,): 5, (4,): 4}, (5, 5, 7)),
    ((2,), {(3,): 6, (6,): 3, (7,): 4, (4,): 4}, (8, 8, 11)),
]
"""A pod on nodes of eight, the others, and how many nodes they block: exactly, by the relaxation, and by totals."""


@pytest.mark.parametrize(("need", "others", "most"), BLOCKED, ids=[str(each[1]) for each in BLOCKED])
def test_nodes_that_are_blocked_at_worst(
    need: Demand, others: dict[Demand, int], most: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by search; where searching, relaxing or listing is cut short the answer is a bound, and never too low."""
    exact, relaxed, crude = most
    assert most_blocked(EIGHT, need, list(others.items())) == exact
    for name, bound in (("SEARCH_BUDGET", relaxed), ("PIVOT_BUDGET", crude), ("PATTERN_BUDGET", crude)):
        monkeypatch.setattr(patterns, name, 0)
        assert most_blocked(EIGHT, need, list(others.items())) == bound


def test_a_group_with_a_needless_pod_is_no_step_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three nodes are blocked for a five, by two of 3 + 1 and one of 3 + 3; a few steps find it, and no 3 + 3 + 1."""
    monkeypatch.setattr(patterns, "PIVOT_BUDGET", 0)
    monkeypatch.setattr(patterns, "SEARCH_BUDGET", 3)
    assert most_blocked(EIGHT, (5,), [((1,), 2), ((3,), 5)]) == 3


def test_pods_that_share_no_kind_never_block() -> None:
    """A pod without GPUs cannot take a GPU pod's node."""
    assert most_blocked(NODE, (8, 0), [((0, 32), 7)]) == 0


def test_kinds_of_one_device_class_are_laid_out_for_both_questions() -> None:
    """A request that two kinds satisfy counts in full against each for blocking, and once in the sum for sitting."""
    hardware = make_hardware(0, (gpu("a", 2), gpu("b", 1), nic("efa", 4)))
    assert hardware.node.has[:3] == (2, 1, 4)
    assert hardware.node.room[2:] == (4, 2, 1, 3)
    assert hardware.demand([(2, frozenset({0, 1}))]) == (2, 1, 0, 0, 0, 2)
    assert hardware.demand([(1, frozenset({1})), (4, frozenset({2}))]) == (0, 1, 4, 0, 1, 1)


def test_a_foreign_pod_may_hold_any_kind_under_a_name_that_is_not_known() -> None:
    """Devices of other names count against each kind, and no more than a node has of it; none hold nothing."""
    hardware = make_hardware(0, (gpu("h100"), nic("efa")))
    assert hardware.foreign({"h100": 2, "other": 1}) == (3, 1)
    assert hardware.foreign({"other": 20}) == (8, 20)
    assert hardware.foreign({}) is None


def test_a_foreign_pod_holds_no_more_than_its_node() -> None:
    """A class that now has fewer of a kind, or less CPU, blocks that node, and not the pool for ever."""
    hardware = make_hardware(0, (gpu("h100"), nic("efa")), offering(cpu="8"))
    assert hardware.foreign({"h100": 12}, offering(cpu="16")) == (8, 0, *hardware.node.has[2:])
    seen = PoolObservation(2, 0, (ForeignPod((("h100", 12),)),))
    made = plan([cluster("a", pool(nodes=2, observed=seen))], [deployment("d", 2, engine("main", member(8)))])
    assert (len(made.placements), made.overfull) == (1, ())
