"""Room for what found none: new replicas move, live ones never."""

import pytest

from automation.scheduling import augment
from automation.scheduling.reason import Reason
from automation.scheduling.snapshot import Cluster, Deployment, Strategy
from tests.unit.scheduling.builder import cluster, deployment, engine, live, member, plan, pool, where

WHOLE = engine("main", member(8))
ONLY_A, ONLY_B, ONLY_AB = {"a": "y"}, {"b": "y"}, {"ab": "y"}
A = cluster("a", labels={"a": "y", "ab": "y"})
B = cluster("b", labels={"b": "y", "ab": "y"})
C = cluster("c")


def test_a_new_replica_that_could_go_elsewhere_makes_room() -> None:
    """The one that runs anywhere was placed first, where the other has its only chance."""
    anywhere, only_a = deployment("d", 1, WHOLE), deployment("e", 1, WHOLE, selector=ONLY_A)
    made = plan([A, B], [anywhere, only_a])
    assert where(made) == ["d@b/0", "e@a/0"]
    assert not made.shortfalls


def test_a_chain_of_moves_makes_room() -> None:
    """The second makes room for the third, and the first for the second."""
    first = deployment("d", 1, WHOLE)
    second = deployment("e", 1, WHOLE, selector=ONLY_AB)
    third = deployment("f", 1, WHOLE, selector=ONLY_B)
    assert where(plan([A, B, C], [first, second, third])) == ["d@c/0", "e@a/0", "f@b/0"]


def test_several_move_for_one_that_is_larger() -> None:
    """Two small ones leave a node each to one that needs both."""
    small = [deployment(name, 1, WHOLE) for name in ("d", "e")]
    large = deployment("f", 1, engine("main", member(8), copies=2), selector=ONLY_A)
    two = cluster("a", pool(nodes=2), labels=ONLY_A)
    assert where(plan([two, B, C], [*small, large])) == ["d@c/0", "e@b/0", "f@a/0"]


def test_several_move_and_push_others_on() -> None:
    """Of the two that leave, one has a place only once a third has gone elsewhere."""
    only_a, a_or_b, b_or_d = {"a": "y"}, {"ab": "y"}, {"bd": "y"}
    clusters = [
        cluster("a", pool(nodes=2), labels={"a": "y", "ab": "y", "ac": "y"}),
        cluster("b", labels={"ab": "y", "bd": "y"}),
        cluster("c", labels={"ac": "y"}),
        cluster("d", labels={"bd": "y"}),
    ]
    small = [
        deployment("p", 1, WHOLE, selector={"ac": "y"}),
        deployment("q", 1, WHOLE, selector=a_or_b),
        deployment("r", 1, WHOLE, selector=b_or_d),
    ]
    large = deployment("s", 1, engine("main", member(8), copies=2), selector=only_a)
    assert where(plan(clusters, [*small, large])) == ["p@c/0", "q@b/0", "r@d/0", "s@a/0"]


def labelled(name: str, nodes: int, labels: str) -> Cluster:
    """Make a cluster of whole nodes with a label for each letter."""
    return cluster(name, pool(nodes=nodes), labels=dict.fromkeys(labels, "y"))


def whole(name: str, copies: int, label: str) -> Deployment:
    """Make a deployment of so many whole nodes, bound to a label if there is one."""
    return deployment(name, 1, engine("main", member(8), copies=copies), selector={label: "y"} if label else None)


def test_several_move_before_a_long_chain_does() -> None:
    """Both leave one cluster for free places; three that push each other on would do as well, and disturb more."""
    rows = [labelled("a", 3, "q"), labelled("b", 3, "pqr"), labelled("c", 1, "r"), labelled("d", 1, "pqr")]
    wanted = [whole("d", 1, "q"), whole("e", 1, ""), whole("f", 2, "q"), whole("g", 3, "q")]
    assert where(plan(rows, wanted)) == ["d@d/0", "e@b/0", "f@b/0", "g@a/0"]


def test_a_long_chain_moves_before_several_push_others_on() -> None:
    """What leaves together disturbs more clusters."""
    rows = [labelled("a", 1, "pqr"), labelled("b", 1, "pqr"), labelled("c", 2, "r"), labelled("d", 3, "pq")]
    wanted = [whole("d", 1, "p"), whole("e", 1, ""), whole("f", 2, "q"), whole("g", 1, "p"), whole("h", 1, "q")]
    assert where(plan(rows, wanted)) == ["d@b/0", "e@c/0", "f@d/0", "g@a/0", "h@d/0"]


def test_what_has_moved_may_move_again() -> None:
    """The first leaves for where it is in the way of the next."""
    clusters = [
        cluster("a", labels={"a": "y"}),
        cluster("p", pool(nodes=2), labels={"p": "y", "pq": "y"}),
        cluster("q", labels={"pq": "y"}),
        cluster("r"),
    ]
    small = [
        deployment("d", 1, WHOLE),
        deployment("e", 1, WHOLE, selector={"a": "y"}),
        deployment("y", 1, WHOLE, selector={"pq": "y"}),
    ]
    large = deployment("z", 1, engine("main", member(8), copies=2), selector={"p": "y"})
    assert where(plan(clusters, [*small, large])) == ["d@r/0", "e@a/0", "y@q/0", "z@p/0"]


def test_those_that_moved_together_may_move_again() -> None:
    """They make room for one that is larger, and then for one that is larger still where they have gone."""
    clusters = [
        cluster("a", pool(nodes=2), labels=ONLY_A),
        cluster("p", pool(nodes=3), labels={"p": "y", "pq": "y"}),
        cluster("q", labels={"pq": "y"}),
        cluster("r", pool(nodes=2)),
    ]
    small = [*(deployment(name, 1, WHOLE) for name in ("d", "e")), deployment("y", 1, WHOLE, selector={"pq": "y"})]
    large = deployment("f", 1, engine("main", member(8), copies=2), selector=ONLY_A)
    largest = deployment("g", 1, engine("main", member(8), copies=3), selector={"p": "y"})
    assert where(plan(clusters, [*small, large, largest])) == ["d@r/0", "e@r/0", "f@a/0", "g@p/0", "y@q/0"]


def test_nothing_moves_when_it_would_not_help() -> None:
    """Where the others cannot all go elsewhere, everything stays as it was placed."""
    small = [deployment(name, 1, WHOLE) for name in ("d", "e")]
    large = deployment("f", 1, engine("main", member(8), copies=2), selector=ONLY_A)
    two = cluster("a", pool(nodes=2), labels=ONLY_A)
    made = plan([two, B], [*small, large])
    assert where(made) == ["d@a/0", "e@a/0"]
    assert [each.deployment for each in made.shortfalls] == ["f"]


def test_a_live_replica_never_moves() -> None:
    """It was there first."""
    anywhere, only_a = deployment("d", 1, WHOLE), deployment("e", 1, WHOLE, selector=ONLY_A)
    made = plan([A, B], [anywhere, only_a], [live(anywhere, "a")])
    assert where(made) == ["d@a/0"]
    assert made.placements[0].reason is Reason.KEPT


def test_the_predecessors_strategy_never_looks_back() -> None:
    """One deployment at a time, first fit only."""
    anywhere, only_a = deployment("d", 1, WHOLE), deployment("e", 1, WHOLE, selector=ONLY_A)
    assert where(plan([A, B], [anywhere, only_a], strategy=Strategy.COMPATIBLE)) == ["d@a/0"]


def test_the_search_is_bounded_by_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any, or with too few, the greedy answer stands."""
    monkeypatch.setattr(augment, "BUDGET", 0)
    anywhere, only_a = deployment("d", 1, WHOLE), deployment("e", 1, WHOLE, selector=ONLY_A)
    assert where(plan([A, B], [anywhere, only_a])) == ["d@a/0"]
    small = [deployment(name, 1, WHOLE) for name in ("d", "e")]
    large = deployment("f", 1, engine("main", member(8), copies=2), selector=ONLY_A)
    clusters = [cluster("a", pool(nodes=2), labels=ONLY_A), B, C]
    for budget, places in ((1, ["d@a/0", "e@a/0"]), (9, ["d@c/0", "e@b/0", "f@a/0"])):
        monkeypatch.setattr(augment, "BUDGET", budget)
        assert where(plan(clusters, [*small, large])) == places


def test_at_most_a_few_move_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the fleet is left alone."""
    monkeypatch.setattr(augment, "MOST_MOVES", 1)
    small = [deployment(name, 1, WHOLE) for name in ("d", "e")]
    large = deployment("f", 1, engine("main", member(8), copies=2), selector=ONLY_A)
    two = cluster("a", pool(nodes=2), labels=ONLY_A)
    assert where(plan([two, B, C], [*small, large])) == ["d@a/0", "e@a/0"]
