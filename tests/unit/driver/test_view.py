"""What a plan shows of a replica is what it takes, all of it; and of front doors, what changes for clients."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from automation.driver.view import closing_notes, front_door_views, placement_view, shrinking_text
from automation.scheduling.changes import Change, PlatformChanges
from automation.scheduling.existing import Existing, ExistingFrontDoor
from automation.scheduling.reason import Reason
from automation.scheduling.result import Placed, Schedule, Shrinking
from automation.scheduling.snapshot import PoolBefore
from components.lock import (
    Claim,
    EnginePlacement,
    EngineShape,
    MemberPlacement,
    MemberShape,
    ReplicaShape,
    RequestShape,
    shape_digest,
)
from components.naming import ReplicaId

if TYPE_CHECKING:
    from automation.driver.applier import Report
    from automation.driver.planner import Plan


def member(devices: int, *, pods: int = 1) -> MemberShape:
    """Return a member that asks for some devices for each of its pods."""
    request = RequestShape(name="gpu", count=devices, selectors=("true",))
    return MemberShape(role="Standalone", pods=pods, requests=(request,), template={})


@pytest.mark.parametrize(
    ("engines", "shown"),
    [
        ([(1, [member(1)])], ("l4: 1 x g",)),
        ([(1, [member(1)]), (1, [member(1)])], ("l4: 2 pods of 1 x g",)),
        ([(1, [member(4), member(4, pods=3)])], ("l4: 4 pods of 4 x g",)),
        ([(2, [member(1)]), (1, [member(2)])], ("l4: 2 pods of 1 x g", "l4: 2 x g")),
    ],
    ids=["one pod", "two engines alike", "leader and workers", "copies, and another size"],
)
def test_a_placement_counts_the_pods_of_every_engine(
    engines: list[tuple[int, list[MemberShape]]], shown: tuple[str, ...]
) -> None:
    """Two engines that ask the same take twice as much, and a reviewer must see that."""
    shape = ReplicaShape(
        engines=tuple(
            EngineShape(name=f"e{number}", copies=copies, members=tuple(members))
            for number, (copies, members) in enumerate(engines)
        )
    )
    there = MemberPlacement(pool="l4", claims=(Claim(request="gpu", device_class="g"),))
    placement = tuple(EnginePlacement(engine=each.name, members=(there,) * len(each.members)) for each in shape.engines)
    placed = Placed(
        id=ReplicaId("ml", "d", "a", 0),
        name="d-0",
        placement=placement,
        shape=shape,
        digest=shape_digest(shape),
        labels={},
        kept=False,
        reason=next(iter(Reason)),
    )
    plan = SimpleNamespace(situation=SimpleNamespace(existing=Existing()), snapshot=SimpleNamespace(clusters=()))
    assert placement_view(cast("Plan", plan), placed).devices == shown


@pytest.mark.parametrize(
    ("before", "leaving", "stranded", "keeps", "waits"),
    [
        (
            PoolBefore(2, "h100"),
            1,
            0,
            "2 nodes until 1 replica that 1 node cannot hold has left",
            "ml/d/a/0",
        ),
        (
            PoolBefore(2, "h200"),
            5,
            2,
            "2 nodes of h200 until 5 replicas that 1 node of h100 cannot hold have left",
            "ml/d/a/0, ml/d/a/1, ml/d/a/2 ...; 2 of 5 with nowhere to go",
        ),
    ],
    ids=["one that can leave", "another class, and some cannot"],
)
def test_a_pool_that_waits_with_its_edit_says_for_whom(
    before: PoolBefore, leaving: int, stranded: int, keeps: str, waits: str
) -> None:
    """In words, with the numbers."""
    excess = tuple(ReplicaId("ml", "d", "a", index) for index in range(leaving))
    pool = Shrinking("a", "gpus", before, 1, "h100", excess)
    assert shrinking_text(pool, excess[:stranded]) == f"pool a/gpus keeps its {keeps}: {waits}"


def front_doors(*wanted: str, **changes: Change) -> "Plan":
    """Return a plan of an environment whose front doors are ``a`` and ``b``."""
    existing = Existing(front_doors={name: ExistingFrontDoor(name, address=f"{name}.test") for name in ("a", "b")})
    platform = SimpleNamespace(front_doors=wanted)
    plan = SimpleNamespace(
        situation=SimpleNamespace(existing=existing),
        target=SimpleNamespace(platform=platform),
        changes=PlatformChanges(clusters=changes),
        schedule=Schedule(),
        moved=(),
    )
    return cast("Plan", plan)


def test_a_plan_says_which_public_addresses_change() -> None:
    """The old address stands in the state; the new one is not known yet; what stays is not said."""
    found = front_door_views(front_doors("b", "c", b=Change.UPDATE))
    assert [(each.cluster, each.change, each.address) for each in found] == [
        ("a", "leaving", "a.test"),
        ("c", "new", None),
    ]
    (rebuilt,) = front_door_views(front_doors("a", "b", b=Change.REPLACE))
    assert (rebuilt.cluster, rebuilt.change, rebuilt.address) == ("b", "rebuilt", "b.test")


def test_a_run_says_which_front_door_it_kept_and_why() -> None:
    """Somebody waits for the old address to go."""
    left = Existing(front_doors={"a": ExistingFrontDoor("a"), "b": ExistingFrontDoor("b", ready=False, failure="late")})
    report = cast("Report", SimpleNamespace(existing=left))
    assert list(closing_notes(front_doors("b"), report)) == [
        "the front door on a stays until another one serves (b: late)"
    ]
    assert list(closing_notes(front_doors("a", "b"), report)) == []
