"""What an edit does to live replicas: in place, by surge, or not yet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.snapshot import Cluster, Deployment
from components.lock import Phase
from tests.unit.scheduling.builder import (
    after,
    cluster,
    deployment,
    engine,
    gpu,
    live,
    member,
    plan,
    pool,
    where,
)

WHOLE = engine("main", member(8))
"""An engine that takes a node of eight."""


def reasons(made: Schedule) -> dict[str, Reason]:
    """Return why each replica of the target is there, by cluster and index."""
    return {f"{each.id.cluster}/{each.id.index}": each.reason for each in made.placements}


def leaving(made: Schedule) -> dict[str, str | None]:
    """Return each replica that goes, with its successor."""
    return {
        f"{each.id.cluster}/{each.id.index}": f"{each.successor.cluster}/{each.successor.index}"
        if each.successor
        else None
        for each in made.leaving
    }


@dataclass(frozen=True)
class Case:
    """An edit, and what it does."""

    name: str
    clusters: Sequence[Cluster]
    wanted: Deployment
    replicas: Sequence[ExistingReplica]
    target: dict[str, Reason]
    going: dict[str, str | None]
    outdated: int = 0


OLD = deployment("d", 1, WHOLE)
NEW = deployment("d", 1, WHOLE, version="v2")
TWO = replace(NEW, replicas=2)
STARTING: dict[str, Any] = {"phase": Phase.STARTING, "ready": False, "failure": "image not found"}

CASES = [
    Case(
        "labels change in place",
        [cluster("a")],
        replace(OLD, labels={"app": "x"}),
        [live(OLD, "a")],
        {"a/0": Reason.RELABELLED},
        {},
    ),
    Case(
        "what scales down frees room, so nothing changes in place in the same move",
        [cluster("a", pool(nodes=3))],
        TWO,
        [live(OLD, "a", 0), live(OLD, "a", 1), live(OLD, "a", 2)],
        {"a/0": Reason.EDIT_WAITS, "a/1": Reason.EDIT_WAITS},
        {"a/2": None},
        outdated=2,
    ),
    Case(
        "each is replaced by the one on its own cluster",
        [cluster("a", pool(nodes=2)), cluster("b", pool(nodes=2))],
        TWO,
        [live(OLD, "a"), live(OLD, "b"), live(TWO, "a", 1), live(TWO, "b", 1)],
        {"a/1": Reason.KEPT, "b/1": Reason.KEPT},
        {"a/0": "a/1", "b/0": "b/1"},
    ),
    Case(
        "one that drains already goes on to go",
        [cluster("a"), cluster("b", pool(nodes=2))],
        TWO,
        [live(OLD, "a", phase=Phase.DRAINING), live(OLD, "b"), live(TWO, "b", 1)],
        {"b/0": Reason.EDIT_WAITS, "b/1": Reason.KEPT},
        {"a/0": "b/1"},
        outdated=1,
    ),
    Case(
        "its successor is beside it although another cluster would come first",
        [cluster("a", pool(nodes=2)), cluster("b", pool(nodes=2))],
        NEW,
        [live(OLD, "b")],
        {"b/1": Reason.EDITED},
        {"b/0": "b/1"},
    ),
    Case(
        "an image is surged beside the old one",
        [cluster("a", pool(nodes=2)), cluster("b")],
        NEW,
        [live(OLD, "a")],
        {"a/1": Reason.EDITED},
        {"a/0": "a/1"},
    ),
    Case(
        "a surge goes elsewhere when its own cluster is full",
        [cluster("a"), cluster("b")],
        NEW,
        [live(OLD, "a")],
        {"b/0": Reason.EDITED},
        {"a/0": "b/0"},
    ),
    Case(
        "a lone replica without room keeps its shape",
        [cluster("a")],
        NEW,
        [live(OLD, "a")],
        {"a/0": Reason.EDIT_WAITS},
        {},
        outdated=1,
    ),
    Case(
        "a lone replica without room changes in place where a gap is allowed",
        [cluster("a")],
        replace(NEW, allow_gap=True),
        [live(OLD, "a")],
        {"a/0": Reason.EDITED_IN_PLACE},
        {},
    ),
    Case(
        "without room one replica changes in place while the other serves",
        [cluster("a"), cluster("b")],
        TWO,
        [live(OLD, "a"), live(OLD, "b")],
        {"a/0": Reason.EDITED_IN_PLACE, "b/0": Reason.EDIT_WAITS},
        {},
        outdated=1,
    ),
    Case(
        "nothing changes in place while the other one does not serve",
        [cluster("a"), cluster("b")],
        TWO,
        [live(OLD, "a"), live(OLD, "b", phase=Phase.STARTING)],
        {"a/0": Reason.EDIT_WAITS, "b/0": Reason.EDITED_IN_PLACE},
        {},
        outdated=1,
    ),
    Case(
        "nothing changes in place while another change is under way",
        [cluster("a"), cluster("b"), cluster("c")],
        replace(NEW, replicas=3),
        [live(NEW, "a", phase=Phase.DRAINING), live(OLD, "b"), live(OLD, "c")],
        {"a/0": Reason.KEPT, "b/0": Reason.EDIT_WAITS, "c/0": Reason.EDIT_WAITS},
        {},
        outdated=2,
    ),
    Case(
        "the next one changes in place once the first serves",
        [cluster("a"), cluster("b")],
        TWO,
        [live(NEW, "a"), live(OLD, "b")],
        {"a/0": Reason.KEPT, "b/0": Reason.EDITED_IN_PLACE},
        {},
    ),
    Case(
        "with room for one successor the others wait for the next move",
        [cluster("a", pool(nodes=2)), cluster("b")],
        TWO,
        [live(OLD, "a"), live(OLD, "b")],
        {"a/1": Reason.EDITED, "b/0": Reason.EDIT_WAITS},
        {"a/0": "a/1"},
        outdated=1,
    ),
    Case(
        "a successor that is not ready is not replaced, and nothing else changes",
        [cluster("a", pool(nodes=2)), cluster("b", pool(nodes=2))],
        NEW,
        [live(OLD, "a"), live(NEW, "a", 1, **STARTING)],
        {"a/1": Reason.KEPT},
        {"a/0": "a/1"},
    ),
    Case(
        "a broken image that never served is repaired in place, room or not",
        [cluster("a", pool(nodes=2))],
        deployment("d", 1, WHOLE, version="v3"),
        [live(OLD, "a"), live(OLD, "a", 1, version="v2", **STARTING)],
        {"a/1": Reason.EDITED_UNSERVED},
        {"a/0": "a/1"},
    ),
    Case(
        "a first image that never served is repaired in place",
        [cluster("a")],
        NEW,
        [live(OLD, "a", **STARTING)],
        {"a/0": Reason.EDITED_UNSERVED},
        {},
    ),
    Case(
        "a larger one that never served waits where it has no room, and elsewhere has none",
        [cluster("a")],
        replace(NEW, replicas=2),
        [
            live(deployment("d", 1, engine("main", member(4))), "a", 0),
            live(deployment("d", 1, engine("main", member(4))), "a", 1, **STARTING),
        ],
        {"a/0": Reason.EDIT_WAITS, "a/1": Reason.EDIT_WAITS},
        {},
        outdated=2,
    ),
    Case(
        "an edit taken back lets the successor go and keeps what serves",
        [cluster("a", pool(nodes=2))],
        OLD,
        [live(OLD, "a"), live(OLD, "a", 1, version="v2", **STARTING)],
        {"a/0": Reason.KEPT},
        {"a/1": None},
    ),
    Case(
        "fewer replicas go from the fullest cluster, then the last name, then the highest index",
        [cluster("a", pool(nodes=3)), cluster("b", pool(nodes=3))],
        replace(OLD, replicas=2),
        [live(OLD, "a"), live(OLD, "a", 1), live(OLD, "b"), live(OLD, "b", 1)],
        {"a/0": Reason.KEPT, "b/0": Reason.KEPT},
        {"b/1": None, "a/1": None},
    ),
    Case(
        "none wanted, none kept",
        [cluster("a")],
        replace(OLD, replicas=0),
        [live(OLD, "a")],
        {},
        {"a/0": None},
    ),
    Case(
        "a smaller edited deployment surges what is left of it",
        [cluster("a", pool(nodes=3))],
        NEW,
        [live(OLD, "a"), live(OLD, "a", 1)],
        {"a/2": Reason.EDITED},
        {"a/0": "a/2", "a/1": None},
    ),
    Case(
        "a cluster with a problem surges elsewhere",
        [cluster("a", pool(nodes=2), state="not ready"), cluster("b")],
        NEW,
        [live(OLD, "a")],
        {"b/0": Reason.EDITED},
        {"a/0": "b/0"},
    ),
    Case(
        "another size is surged to a pool where it fits",
        [cluster("a", pool("small", gpu("l4", 1)), pool("gpus"))],
        deployment("d", 1, engine("main", member(4))),
        [live(deployment("d", 1, engine("main", member(1))), "a", pools="small")],
        {"a/1": Reason.EDITED},
        {"a/0": "a/1"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_edit_does(case: Case) -> None:
    """Every live replica ends where the table says, with its reason and its successor."""
    made = plan(case.clusters, [case.wanted], case.replicas)
    assert reasons(made) == case.target
    assert leaving(made) == case.going
    assert sum(each.outdated for each in made.shortfalls) == case.outdated


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planning_again_changes_nothing(case: Case) -> None:
    """While the move is under way, ready or not, the target is the same."""
    made = plan(case.clusters, [case.wanted], case.replicas)
    for ready in (True, False):
        again = plan(case.clusters, [case.wanted], after(made, case.replicas, ready=ready))
        assert where(again) == where(made)
        assert {each.digest for each in again.placements} == {each.digest for each in made.placements}


def test_a_successor_names_its_predecessor_also_when_it_exists_already() -> None:
    """The link is found again while both live."""
    clusters = [cluster("a", pool(nodes=2))]
    first = plan(clusters, [NEW], [live(OLD, "a")])
    again = plan(clusters, [NEW], after(first, [live(OLD, "a")], ready=False))
    for made in (first, again):
        assert [str(each.predecessor) for each in made.placements] == ["ml/d/a/0"]


def test_a_lone_replica_without_room_is_reported_with_the_way_out() -> None:
    """The shortfall names the replica and both ways."""
    (short,) = plan([cluster("a")], [NEW], [live(OLD, "a")]).shortfalls
    assert (short.placed, short.outdated) == (1, 1)
    assert "ml/d/a/0 keeps its old shape" in short.message
    assert "surge.allowGap" in short.message


@dataclass(frozen=True)
class Kept:
    """A lone replica on cluster ``a`` whose edit waits, and why."""

    name: str
    clusters: Sequence[Cluster]
    wanted: Deployment
    words: str
    gap: bool = False


def edited_to(count: int = 8, selector: str = "any", **other: Any) -> Deployment:
    """Return the deployment with another request."""
    return deployment("d", 1, engine("main", member(count, selector)), version="v2", **other)


SILENT = cluster("a", state="not ready", why="it did not answer at noon")
KEPT = [
    Kept(
        "no device matches", [cluster("a")], edited_to(selector="none"), "suits no pool of cluster a: request gpu: h100"
    ),
    Kept(
        "the selector fails",
        [cluster("a")],
        edited_to(selector="boom"),
        "boom cannot be evaluated on h100: no such key: x",
    ),
    Kept("larger than a node", [cluster("a")], edited_to(16), "request gpu wants 16 devices, a node has 8 of h100"),
    Kept("its cluster is silent", [SILENT], edited_to(), "nothing new is put on cluster a: it did not answer at noon"),
    Kept(
        "its cluster is silent and the other full",
        [SILENT, cluster("b", pool(nodes=0))],
        edited_to(),
        "it did not answer at noon; there is no room elsewhere",
    ),
    Kept("no room beside it", [cluster("a")], edited_to(), "there is no room beside it and no other", gap=True),
    Kept(
        "tainted since, and no room elsewhere",
        [cluster("a", taints=["k=v:NoSchedule"])],
        edited_to(),
        "nothing new is put on cluster a: the cluster has the taint k=v:NoSchedule",
        gap=True,
    ),
    Kept(
        "a gap is allowed and would not help",
        [cluster("a", pool("gpus"), pool("more", nodes=0))],
        deployment("d", 1, WHOLE, engine("more", member(8)), version="v2", allow_gap=True),
        "there is no room beside it, nor in its place; make room",
    ),
    Kept(
        "a gap is not allowed and would not help",
        [cluster("a")],
        deployment("d", 1, WHOLE, engine("more", member(8)), version="v2"),
        "there is no room beside it, nor in its place; make room",
    ),
]


@pytest.mark.parametrize("case", KEPT, ids=lambda case: case.name)
def test_a_kept_shape_is_explained_by_the_verdict(case: Kept) -> None:
    """The headline says what is in the way, and offers a gap only where a gap would do."""
    (short,) = plan(case.clusters, [case.wanted], [live(OLD, "a")]).shortfalls
    assert short.outdated == 1
    assert short.message.startswith("ml/d/a/0 keeps its old shape: ")
    assert case.words in short.message
    assert ("surge.allowGap" in short.message) is case.gap


def test_replicas_that_wait_for_one_reason_are_said_together() -> None:
    """Two on the cluster that does not answer, one on another where the new shape suits no pool."""
    clusters = [SILENT, cluster("b", pool("gpus", gpu(count=4)))]
    replicas = [live(OLD, "a"), live(OLD, "a", 1), live(OLD, "b")]
    (short,) = plan(clusters, [replace(edited_to(), replicas=3)], replicas).shortfalls
    first, second = short.message.split("; ")
    assert first.startswith("2 keep the old shape: nothing new is put on cluster a")
    assert second.startswith(
        "ml/d/b/0 keeps its old shape: the new one suits no pool of cluster b: request gpu wants 8"
    )


def test_a_cluster_that_gets_no_more_says_why() -> None:
    """Where a replica is already, the verdict names what refuses the next one, not that the cluster is well."""
    made = plan([cluster("a")], [edited_to(selector="boom")], [live(OLD, "a")])
    message = made.trace["ml", "d"].verdict("a").message
    assert (
        message
        == "holds 1 of its replicas; gets no more: request gpu: boom cannot be evaluated on h100: no such key: x"
    )


def test_other_claims_of_the_same_shape_are_surged() -> None:
    """A class that names another DeviceClass makes a successor: claim templates cannot change."""
    renamed = pool("gpus", gpu(device_class="gpu.example.com"), nodes=2)
    made = plan([cluster("a", renamed)], [OLD], [live(OLD, "a")])
    assert reasons(made) == {"a/1": Reason.RECLAIMED}
    assert made.placements[0].placement[0].members[0].claims[0].device_class == "gpu.example.com"


def test_names_are_kept_and_new_ones_do_not_collide() -> None:
    """A live replica keeps whatever name it has; a new one takes ten digits where five are taken."""
    old = live(OLD, "a")
    squatter = live(deployment("e", 1, WHOLE), "b")
    taken = plan([cluster("c")], [deployment("d", 1, WHOLE)]).placements[0].name
    squatter = replace(squatter, entry=squatter.entry.model_copy(update={"name": taken}))
    clusters = [cluster("a"), cluster("b"), cluster("c")]
    made = plan(clusters, [replace(OLD, replicas=2), deployment("e", 1, WHOLE)], [old, squatter])
    names = {str(each.id): each.name for each in made.placements}
    assert names["ml/d/a/0"] == old.entry.name
    assert names["ml/e/b/0"] == taken
    assert names["ml/d/c/0"].startswith(taken)
    assert len(names["ml/d/c/0"]) == len(taken) + 5


@pytest.mark.parametrize("first", [True, False], ids=["of the first cluster", "of another"])
def test_room_that_a_change_in_place_frees_is_given_in_the_same_plan(*, first: bool) -> None:
    """To one that found its cluster full before."""
    old, new = deployment("d", 2, engine("e", member(4))), deployment("d", 2, engine("e", member(2)))
    other = deployment("z", 1, engine("e", member(2)))
    clusters = [cluster("m"), cluster("n" if first else "b", pool(nodes=0))]
    made = plan(clusters, [new, other], [live(old, "m", 0), live(old, "m", 1)])
    assert where(made) == ["d@m/0", "d@m/1", "z@m/0"]
    assert sorted(each.reason for each in made.placements) == [Reason.EDIT_WAITS, Reason.EDITED_IN_PLACE, Reason.PLACED]
