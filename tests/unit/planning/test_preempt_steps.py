"""Giving way to a higher priority, step by step: traffic leaves first, and nobody comes before the room is free."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from automation.planning.step import StepKind
from automation.scheduling.build import build_snapshot
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from components.api.fleet import Fleet
from components.checks import check_lock
from components.lock import Phase
from tests.unit.planning.world import World, cluster, deployment, fleet, phases_of, service, with_field

BUILD, SHIFT, RETIRE = StepKind.BUILD, StepKind.SHIFT, StepKind.RETIRE


@dataclass
class Preempting(World):
    """A world in which a higher priority may have others go."""

    def schedule(self) -> Schedule:
        """Schedule what exists."""
        now = datetime(2026, 1, 1, tzinfo=UTC)
        made = build_snapshot(self.fleet, self.existing, changes=self.changes, observation=None, now=now)
        return schedule(replace(made, options=replace(made.options, preemption=True)))


def crowded(*more: dict[str, object]) -> Fleet:
    """Return two nodes that two replicas of a low priority fill, and their service."""
    return fleet(cluster("a", nodes=2), deployment("low", 2), service("chat", (1, {"app": "low"})), *more, doors=["a"])


IMPORTANT = with_field(deployment("high", 1), "spec.priority", 10)


def test_who_gives_way_loses_its_traffic_first_and_who_comes_is_built_in_the_next_run() -> None:
    """No lock on the way promises the same devices twice."""
    world = Preempting(crowded())
    world.up()
    world.fleet = crowded(IMPORTANT)
    target = world.target()
    assert world.step(BUILD, target) is None
    shift = world.step(SHIFT, target)
    assert shift is not None
    assert phases_of(shift) == {"low@a/0": Phase.SERVING, "low@a/1": Phase.DRAINING}
    assert check_lock(world.fleet, shift.lock) == ()
    world.apply(shift)
    assert world.backends() == {"low@a/0": 1}
    assert world.target() == target
    world.apply(world.step(RETIRE, target))
    assert world.phases() == {"low@a/0": Phase.SERVING}
    assert world.up() == [BUILD, SHIFT]
    assert world.phases() == {"high@a/0": Phase.SERVING, "low@a/0": Phase.SERVING}
    assert world.up() == []


def test_a_run_that_is_cut_short_goes_on_where_it_was() -> None:
    """The same replica gives way, whatever has happened of it."""
    world = Preempting(crowded())
    world.up()
    world.fleet = crowded(IMPORTANT)
    world.apply(world.step(SHIFT))
    assert world.up() == [RETIRE]
    assert world.up() == [BUILD, SHIFT]
