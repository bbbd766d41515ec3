"""Law L1, at its root: a set of pods that fits would fit whatever legal packing the in-cluster scheduler chose.

The adversary here is exhaustive: it tries every way to put any of the other pods on nodes, and for requests that
several kinds satisfy every way to take devices, and looks for one that leaves a pod without a node.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from automation.scheduling.capacity import Capacity
from automation.scheduling.hardware import make_hardware
from automation.scheduling.patterns import Demand, Node
from automation.scheduling.snapshot import Accounting, Device
from tests.support.effort import law

LAW = law()
KINDS = st.sampled_from([1, 2, 4, 8])


@st.composite
def pools(draw: st.DrawFn, kinds: int) -> tuple[Demand, int, list[Demand]]:
    """Draw what a node has, how many nodes there are, and pods that each fit on an empty node."""
    has = tuple(draw(KINDS) for _ in range(kinds))
    demands = st.tuples(*(st.integers(0, number) for number in has)).filter(any)
    return has, draw(st.integers(1, 3)), draw(st.lists(demands, min_size=1, max_size=6))


def strandable(has: Demand, nodes: int, pods: Iterable[Demand]) -> bool:
    """Whether some legal packing of the others leaves one of ``pods`` without a node."""
    pods = sorted(pods)

    @cache
    def blockable(need: Demand, others: tuple[Demand, ...], used: tuple[Demand, ...]) -> bool:
        if all(any(n and u + n > h for u, n, h in zip(node, need, has, strict=True)) for node in used):
            return True
        if not others:
            return False
        first, rest = others[0], others[1:]
        if blockable(need, rest, used):
            return True
        for number, node in enumerate(used):
            taken = tuple(map(int.__add__, node, first))
            if all(t <= h for t, h in zip(taken, has, strict=True)):
                after = tuple(sorted((*used[:number], taken, *used[number + 1 :])))
                if blockable(need, rest, after):
                    return True
        return False

    empty = tuple(tuple(0 for _ in has) for _ in range(nodes))
    for need in dict.fromkeys(pods):
        others = list(pods)
        others.remove(need)
        if blockable(need, tuple(others), empty):
            return True
    return False


@LAW
@given(pools(kinds=1))
def test_one_kind_is_counted_exactly(pool: tuple[Demand, int, list[Demand]]) -> None:
    """With one kind of device a set fits exactly when no packing strands a pod."""
    has, nodes, pods = pool
    assert Capacity().fits(Node(has, has), nodes, Counter(pods)) is not strandable(has, nodes, pods)


@LAW
@given(pools(kinds=2))
@example(((8, 32), 4, [(8, 32)] * 4))
def test_two_kinds_are_counted_jointly_and_exactly(pool: tuple[Demand, int, list[Demand]]) -> None:
    """With two kinds a group of pods sits on a node in both and blocks in one: four whole-node pods take four nodes."""
    has, nodes, pods = pool
    assert Capacity().fits(Node(has, has), nodes, Counter(pods)) is not strandable(has, nodes, pods)


@LAW
@given(pools(kinds=2), st.tuples(st.sampled_from([1, 1000, 2**30]), st.sampled_from([1, 1000, 2**40])))
def test_amounts_may_be_large(pool: tuple[Demand, int, list[Demand]], units: Demand) -> None:
    """Thousandths of a core and bytes are counted as exactly as devices."""
    has, nodes, pods = pool

    def scaled(demand: Demand) -> Demand:
        return tuple(map(int.__mul__, demand, units))

    fits = Capacity().fits(Node(scaled(has), scaled(has)), nodes, Counter(map(scaled, pods)))
    assert fits is not strandable(has, nodes, pods)


@LAW
@given(pools(kinds=3))
@example(((8, 2, 4), 2, [(4, 1, 1), (4, 1, 2), (2, 0, 1), (2, 0, 0), (0, 0, 1)]))
def test_kinds_that_cannot_decide_are_left_out_and_nothing_else_is(pool: tuple[Demand, int, list[Demand]]) -> None:
    """With three kinds of which some never run out first, a set fits exactly when no packing strands a pod."""
    has, nodes, pods = pool
    assert Capacity().fits(Node(has, has), nodes, Counter(pods)) is not strandable(has, nodes, pods)


@LAW
@given(pools(kinds=2), st.integers(0, 5))
def test_fitting_is_monotone(pool: tuple[Demand, int, list[Demand]], gone: int) -> None:
    """Taking a pod away or adding a node never makes a set unfit."""
    has, nodes, pods = pool
    node, capacity = Node(has, has), Capacity()
    if capacity.fits(node, nodes, Counter(pods)):
        fewer = pods[: gone % len(pods)] + pods[gone % len(pods) + 1 :]
        assert capacity.fits(node, nodes, Counter(fewer))
        assert capacity.fits(node, nodes + 1, Counter(pods))


@LAW
@given(pools(kinds=2))
def test_whatever_the_predecessor_accepts_fits(pool: tuple[Demand, int, list[Demand]]) -> None:
    """A node for each pod is always enough."""
    has, nodes, pods = pool
    node, counts = Node(has, has), Counter(pods)
    if Capacity(Accounting.NODE).fits(node, nodes, counts):
        assert Capacity().fits(node, nodes, counts)


@LAW
@given(KINDS, st.integers(1, 8), st.integers(1, 40), st.integers(1, 8))
def test_equal_sizes_fill_every_node(has: int, nodes: int, pods: int, size: int) -> None:
    """Pods of one size take as many as the nodes hold, no fewer."""
    size = min(size, has)
    fits = Capacity().fits(Node((has,), (has,)), nodes, {(size,): pods})
    assert fits is (pods <= nodes * (has // size))


@st.composite
def shared_pools(draw: st.DrawFn) -> tuple[tuple[int, int], int, list[tuple[int, frozenset[int]]]]:
    """Draw a node of two kinds that share a DeviceClass, and pods whose one request may take of either or both."""
    has = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    pods = []
    for _ in range(draw(st.integers(1, 4))):
        kinds = draw(st.sampled_from([frozenset({0}), frozenset({1}), frozenset({0, 1})]))
        pods.append((draw(st.integers(1, max(has[kind] for kind in kinds))), kinds))
    return has, draw(st.integers(1, 2)), pods


def takings(count: int, kinds: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield every way to take ``count`` devices of two kinds."""
    for first, second in product(range(count + 1), repeat=2):
        if first + second == count and (not first or 0 in kinds) and (not second or 1 in kinds):
            yield first, second


def can_be_stranded(has: tuple[int, int], nodes: int, pods: list[tuple[int, frozenset[int]]]) -> bool:
    """Whether some packing, and some choice of devices by the allocator, leaves a pod without a node."""

    def fits(node: tuple[int, int], pod: tuple[int, frozenset[int]]) -> bool:
        return any(node[0] + a <= has[0] and node[1] + b <= has[1] for a, b in takings(*pod))

    def search(
        pod: tuple[int, frozenset[int]], others: list[tuple[int, frozenset[int]]], used: list[tuple[int, int]]
    ) -> bool:
        if not any(fits(node, pod) for node in used):
            return True
        if not others:
            return False
        if search(pod, others[1:], used):
            return True
        for number, node in enumerate(used):
            for a, b in takings(*others[0]):
                if node[0] + a <= has[0] and node[1] + b <= has[1]:
                    after = [*used[:number], (node[0] + a, node[1] + b), *used[number + 1 :]]
                    if search(pod, others[1:], after):
                        return True
        return False

    return any(search(pod, pods[:number] + pods[number + 1 :], [(0, 0)] * nodes) for number, pod in enumerate(pods))


@LAW
@given(shared_pools())
def test_a_request_that_several_kinds_satisfy_never_breaks_the_promise(
    pool: tuple[tuple[int, int], int, list[tuple[int, frozenset[int]]]],
) -> None:
    """Whichever of the matching kinds the allocator takes, a set that fits strands nobody."""
    has, nodes, pods = pool
    devices = tuple(Device(f"kind-{number}", "gpu", count, "gpu") for number, count in enumerate(has))
    hardware = make_hardware(0, devices)
    counts = Counter(hardware.demand([pod]) for pod in pods)
    if Capacity().fits(hardware.node, nodes, counts):
        assert not can_be_stranded(has, nodes, pods)
