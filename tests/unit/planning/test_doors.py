"""Front doors that come and go: clients always have one that serves, and nothing goes before its successor is ready."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from automation.planning.standing import standing_lock
from automation.planning.step import Step, StepKind
from automation.planning.steps import steps
from components.api.fleet import Fleet
from components.checks import check_lock
from components.lock import Phase, dump_lock
from tests.unit.planning.world import World, cluster, deployment, external, fleet, service

BUILD, SHIFT, RETIRE = StepKind.BUILD, StepKind.SHIFT, StepKind.RETIRE
C = cluster("c")
CHAT = service("chat", (1, {"app": "d"}), (1, {"far": "yes"}))


def doors(*names: str, image: str = "vllm:1", removing: str = "") -> Fleet:
    """Return a fleet with front doors on clusters of these names; the replica is on ``c``."""
    clusters = [cluster(name, nodes=0, removing=name == removing) for name in ("a", "b")]
    return fleet(*clusters, C, deployment("d", image=image), CHAT, external("far", far="yes"), doors=names)


def running(*names: str) -> World:
    """Return a world in which everything serves."""
    world = World(doors(*names))
    world.up()
    return world


def must(world: World, kind: StepKind) -> Step:
    """Return a step that has to be there."""
    step = world.step(kind)
    assert step is not None
    return step


def on(step: Step, door: str) -> bool:
    """Whether a step's lock has everything on a door: its gateway and the namespace of the routes."""
    return door in step.lock.platform.front_doors and door in {
        entry.cluster for entry in step.lock.namespaces["ml"].namespaces
    }


def routes(step: Step) -> tuple[object, ...]:
    """Return the routes of a step's lock."""
    part = step.lock.namespaces["ml"]
    return part.services, part.endpoints


def test_a_moved_front_door_is_built_beside_and_retired_last() -> None:
    """Both serve the same routes until the retirement, and only that takes the old one away."""
    world = running("a")
    world.fleet = doors("b")
    build = must(world, BUILD)
    assert on(build, "a")
    assert on(build, "b")
    assert (build.summary.front_doors_added, build.summary.front_doors_removed) == (1, 0)
    assert build.lock.namespaces["ml"].services == tuple(each.entry for each in world.existing.services.values())
    assert check_lock(world.fleet, build.lock) == ()
    world.apply(build)
    assert world.step(SHIFT) is None
    retire = must(world, RETIRE)
    assert not on(retire, "a")
    assert on(retire, "b")
    assert routes(retire) == routes(build)
    assert (retire.summary.front_doors_added, retire.summary.front_doors_removed) == (0, 1)
    world.apply(retire)
    assert set(world.existing.front_doors) == {"b"}
    assert steps(world.existing, world.target(), world.fleet) == ()
    assert dump_lock(standing_lock(world.existing, world.fleet, berth="1.0")) == dump_lock(world.target())


def test_a_shift_changes_the_routes_of_both() -> None:
    """Clients that still come by the old address follow the replicas too."""
    world = running("a")
    world.fleet = doors("b", image="vllm:2")
    world.apply(world.step(BUILD))
    shift = must(world, SHIFT)
    assert on(shift, "a")
    assert on(shift, "b")
    world.apply(shift)
    assert world.backends() == {"d@c/1": 1, "far": 1}
    assert set(world.existing.front_doors) == {"a", "b"}
    assert all(dict(door.services) == dict(world.existing.services) for door in world.existing.front_doors.values())


@pytest.mark.parametrize(
    "trouble",
    [{"ready": False}, {"answers": False}, {"services": {}}, {"endpoints": {}}],
    ids=["it has no address", "its cluster does not answer", "it has no services", "it has no endpoints"],
)
def test_a_door_stays_while_none_that_is_wanted_serves(trouble: dict[str, object]) -> None:
    """The old one is kept back, with all that is on it, and the step says so."""
    world = running("a")
    world.fleet = doors("b", image="vllm:2")
    world.apply(world.step(BUILD))
    world.apply(world.step(SHIFT))
    found = dict(world.existing.front_doors)
    world.existing = replace(world.existing, front_doors={**found, "b": replace(found["b"], **trouble)})
    retire = must(world, RETIRE)
    assert on(retire, "a")
    assert (retire.summary.front_doors_removed, retire.summary.front_doors_kept_back) == (0, 1)
    assert retire.summary.retired == 1


def test_a_door_that_failed_is_tried_again_until_it_serves() -> None:
    """Without an address nothing is taken away, run after run; then the move ends."""
    world = running("a")
    world.fleet = doors("b")
    for _ in range(2):
        assert world.up(shut=["b"]) == [BUILD]
        assert set(world.existing.front_doors) == {"a", "b"}
    again = must(world, BUILD)
    assert again.summary.retried == 1
    assert world.up() == [BUILD, RETIRE]
    assert set(world.existing.front_doors) == {"b"}


def test_one_of_two_doors_goes_at_once() -> None:
    """The other one serves already, so there is only the retirement."""
    world = running("a", "b")
    world.fleet = doors("a")
    assert world.up() == [RETIRE]
    assert set(world.existing.front_doors) == {"a"}


def test_the_last_door_goes_when_no_door_is_wanted() -> None:
    """Asked for is asked for; nothing routes any more, and the fleet comes to rest."""
    world = running("a")
    world.fleet = doors()
    assert world.up() == [RETIRE]
    assert world.existing.front_doors == {}
    assert world.up() == []


def test_a_cluster_that_leaves_stays_as_long_as_its_door() -> None:
    """It has no replicas and nobody wants it; yet it goes only when the other door serves."""
    world = running("a")
    world.fleet = doors("b", removing="a")
    world.up(shut=["b"])
    assert set(world.existing.clusters) == {"a", "b", "c"}
    assert set(world.existing.front_doors) == {"a", "b"}
    world.up()
    assert set(world.existing.clusters) == {"b", "c"}
    assert set(world.existing.front_doors) == {"b"}


def routes_of(world: World, door: str, **changes: object) -> None:
    """Change what one door has."""
    found = dict(world.existing.front_doors)
    world.existing = replace(world.existing, front_doors={**found, door: replace(found[door], **changes)})


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_what_a_silent_door_leads_to_is_not_retired(names: list[str]) -> None:
    """Its cluster's API does not answer, so its routes stay as they are, and requests may still come through it."""
    world = running(*names)
    world.fleet = doors(*names, image="vllm:2")
    world.apply(world.step(BUILD))
    world.apply(world.step(SHIFT), silent=["a"])
    assert world.phases() == {"d@c/0": Phase.DRAINING, "d@c/1": Phase.SERVING}
    retire = must(world, RETIRE)
    assert retire.summary.kept_back == 1
    assert {entry.index for entry in retire.lock.namespaces["ml"].replicas} == {0, 1}
    world.apply(retire, silent=["a"])
    assert world.up()[-1] is RETIRE, "the door answers again"
    assert world.phases() == {"d@c/1": Phase.SERVING}


def test_a_service_that_goes_holds_nothing() -> None:
    """Nobody wants what it leads to."""
    world = running("a")
    world.fleet = fleet(*[cluster(name, nodes=0) for name in ("a", "b")], C, doors=["a"])
    world.apply(world.step(SHIFT), silent=["a"])
    world.apply(world.step(RETIRE), silent=["a"])
    assert world.phases() == {}


@pytest.mark.parametrize("lacking", ["services", "endpoints"])
@pytest.mark.parametrize("door", ["a", "b"])
def test_a_door_that_lags_behind_another_one_is_a_difference(door: str, lacking: str) -> None:
    """A run that was cut short left one of two doors behind: the other one being right does not hide it."""
    world = running("a", "b")
    assert steps(world.existing, world.target(), world.fleet) == ()
    routes_of(world, door, **{lacking: {}})
    build = must(world, BUILD)
    assert on(build, "a")
    assert on(build, "b")
    world.apply(build)
    assert steps(world.existing, world.target(), world.fleet) == ()


def test_a_retirement_that_was_cut_short_makes_nothing_again() -> None:
    """Half of the old door's routes are gone; the next run takes the rest."""
    world = running("a")
    world.fleet = doors("b")
    world.apply(world.step(BUILD))
    routes_of(world, "a", services={})
    assert world.up() == [RETIRE]


def kinds(found: Iterable[Step]) -> list[StepKind]:
    """Return the kinds of steps."""
    return [step.kind for step in found]


def test_a_lost_door_is_replaced_without_waiting_for_it() -> None:
    """Nothing can be kept on a cluster that is given up."""
    world = running("a")
    found = fleet(
        cluster("a", nodes=0, lost=True),
        cluster("b", nodes=0),
        C,
        deployment("d"),
        CHAT,
        external("far", far="yes"),
        doors=["b"],
    )
    world.fleet = found
    build = must(world, BUILD)
    assert build.lock.platform.front_doors == ("b",)
    assert kinds(steps(world.existing, world.target(), world.fleet)) == [BUILD]


def test_a_namespace_does_not_stay_where_nothing_of_it_is() -> None:
    """Routes of a namespace keep it on the front doors and not on every cluster it once was on."""
    a, b = cluster("a", nodes=1), cluster("b", nodes=1)
    world = World(fleet(a, b, deployment("d", 2), CHAT, external("far", far="yes"), doors=["a"]))
    world.up()
    world.fleet = fleet(a, b, deployment("d"), CHAT, external("far", far="yes"), doors=["a"])
    world.up()
    assert [identity.cluster for identity in world.existing.replicas] == ["a"]
    assert set(world.existing.namespaces) == {("ml", "a")}
    assert steps(world.existing, world.target(), world.fleet) == ()
