"""What ``berth status`` says of deployments: wanted, placed, serving, and in a line why not all."""

from dataclasses import dataclass, replace

import pytest

from automation.driver.deployments import deployment_views
from automation.render.views import DeploymentView
from automation.scheduling.existing import Existing
from components.lock import Phase
from tests.unit.planning.world import World, cache, cluster, deployment, fleet, with_field


def seen(
    world: World, *, unreachable: tuple[str, ...] = (), scheduled: bool = True
) -> dict[str, tuple[int, int, int, str]]:
    """Return the counts and the reason of every deployment."""
    views = deployment_views(
        world.fleet,
        world.existing,
        schedule=world.schedule() if scheduled else None,
        unreachable=dict.fromkeys(unreachable, "dial tcp: i/o timeout"),
    )
    return {view.deployment: (view.wanted, view.placed, view.serving, view.reason) for view in views}


@pytest.fixture
def world() -> World:
    """Return two clusters with a deployment of two replicas that is up."""
    made = World(fleet(cluster("a"), cluster("b"), deployment("d", 2)))
    made.up()
    return made


def test_a_deployment_that_has_all_needs_no_words(world: World) -> None:
    """Wanted, placed and serving are the same."""
    assert seen(world) == {"ml/d": (2, 2, 2, "")}


def test_a_plan_that_nobody_applied_is_named(world: World) -> None:
    """There is room: it is a matter of a run."""
    world.fleet = fleet(cluster("a"), cluster("b"), deployment("d", 2), deployment("e"))
    assert seen(world)["ml/e"] == (1, 0, 0, "berth up places 1")
    assert seen(world, scheduled=False)["ml/e"] == (1, 0, 0, "1 not placed")


def test_a_deployment_without_a_place_says_why(world: World) -> None:
    """In the words of the plan."""
    world.fleet = fleet(cluster("a"), cluster("b"), deployment("d", 2), deployment("big", 40))
    wanted, placed, serving, reason = seen(world)["ml/big"]
    assert (wanted, placed, serving) == (40, 0, 0)
    (shortfall,) = world.schedule().shortfalls
    assert reason == shortfall.message != ""


def test_a_failed_replica_is_named_with_its_first_line(world: World) -> None:
    """The rest stands beside it in the tree."""
    replicas = dict(world.existing.replicas)
    first = min(replicas)
    failure = 'Back-off pulling image "vllm:9"\nlast lines of its log'
    replicas[first] = replace(replicas[first], ready=False, failure=failure)
    world.existing = replace(world.existing, replicas=replicas)
    assert seen(world)["ml/d"] == (2, 2, 1, f'{first} failed: Back-off pulling image "vllm:9"')
    second = max(replicas)
    replicas[second] = replace(replicas[second], ready=False, failure=failure)
    world.existing = replace(world.existing, replicas=replicas)
    assert seen(world)["ml/d"][:3] == (2, 2, 0)
    assert seen(world)["ml/d"][3].startswith(f"{first} failed, and 1 more: ")


def test_a_replica_on_a_silent_cluster_does_not_serve(world: World) -> None:
    """The state cannot know; the cluster was asked."""
    assert seen(world, unreachable=("b",))["ml/d"][:3] == (2, 2, 1)
    assert "1 on b, which does not answer" in seen(world, unreachable=("b",))["ml/d"][3]


def test_a_replica_that_starts_is_placed_and_does_not_serve(world: World) -> None:
    """A run was cut off between its steps."""
    replicas = {
        identity: replace(each, entry=each.entry.model_copy(update={"phase": Phase.STARTING}))
        for identity, each in world.existing.replicas.items()
    }
    world.existing = replace(world.existing, replicas=replicas)
    assert seen(world) == {"ml/d": (2, 2, 0, "2 replicas not serving yet: berth up goes on with it")}


def test_replicas_that_are_too_many_are_named(world: World) -> None:
    """By a smaller number, or because the manifest is gone; one that drains does not count."""
    world.fleet = fleet(cluster("a"), cluster("b"), deployment("d", 1))
    assert seen(world) == {"ml/d": (1, 2, 2, "berth up retires 1")}
    world.fleet = fleet(cluster("a"), cluster("b"))
    assert seen(world) == {"ml/d": (0, 2, 2, "its manifest is gone: berth up retires 2")}


def test_nothing_wanted_and_nothing_there_is_nothing() -> None:
    """A parked deployment is healthy."""
    assert deployment_views(fleet(cluster("a")), Existing(), schedule=None, unreachable={}) == ()
    world = World(fleet(cluster("a"), deployment("parked", 0)))
    views = deployment_views(world.fleet, world.existing, schedule=world.schedule(), unreachable={})
    (view,) = views
    assert view.model_copy(update={"conditions": ()}) == DeploymentView(
        deployment="ml/parked", wanted=0, placed=0, serving=0
    )
    assert told(view) == {"ReplicasScheduled": "True ScaledToZero", "ReplicasReady": "True ScaledToZero"}


def told(view: DeploymentView) -> dict[str, str]:
    """Return status and reason of every condition, by type."""
    return {each.type: f"{each.status} {each.reason}" for each in view.conditions}


@dataclass(frozen=True)
class Case:
    """What is wanted, and the conditions before anything is applied and after."""

    name: str
    wanted: dict[str, object]
    before: str
    after: str
    ready: str
    failing: tuple[str, ...] = ()


CASES = [
    Case("all of it", deployment("d", 2), "False Scheduling", "True ReplicasCreated", "True AllReplicasReady"),
    Case(
        "not all of it has a place",
        deployment("d", 5),
        "False InsufficientCapacity",
        "False InsufficientCapacity",
        "False ModelStarting",
    ),
    Case(
        "no cluster matches",
        with_field(deployment("d"), "spec.template.spec.clusterSelector", {"matchLabels": {"tier": "gold"}}),
        "False NoClusters",
        "False NoClusters",
        "False NoReplicasScheduled",
    ),
    Case(
        "a selector fails everywhere",
        with_field(
            deployment("d"),
            "spec.template.spec.engines.0.members.0.nodeSelector.devices.0.selectors",
            [{"cel": "device.attributes['gpu.nvidia.com'].nope == 'x'"}],
        ),
        "False InvalidNodeSelector",
        "False InvalidNodeSelector",
        "False NoReplicasScheduled",
    ),
    Case(
        "one does not come up",
        deployment("d", 2),
        "False Scheduling",
        "True ReplicasCreated",
        "False ModelStarting",
        failing=("d@b/0",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_conditions_are_true_only_for_all_that_is_wanted(case: Case) -> None:
    """Not for what happens to be placed."""
    world = World(fleet(cluster("a"), cluster("b"), case.wanted))

    def now() -> dict[str, str]:
        (view,) = deployment_views(world.fleet, world.existing, schedule=world.schedule(), unreachable={})
        return told(view)

    assert now() == {"ReplicasScheduled": case.before, "ReplicasReady": "False NoReplicasScheduled"}
    world.up(failing=case.failing)
    assert now() == {"ReplicasScheduled": case.after, "ReplicasReady": case.ready}


def test_a_deployment_that_goes_is_not_as_wanted_until_it_has_gone(world: World) -> None:
    """Nothing is wanted and two are there."""
    world.fleet = fleet(cluster("a"), cluster("b"), deployment("d", 0))
    (view,) = deployment_views(world.fleet, world.existing, schedule=world.schedule(), unreachable={})
    assert told(view)["ReplicasScheduled"] == "False Scheduling"
    world.up()
    (view,) = deployment_views(world.fleet, world.existing, schedule=world.schedule(), unreachable={})
    assert told(view)["ReplicasScheduled"] == "True ScaledToZero"


def test_the_cache_of_a_deployment_is_a_condition_of_its_own(world: World) -> None:
    """Loading refuses one that is not there; should it come this far, it is said."""
    documents = (cluster("a", storage=True), cache("w"), deployment("d", cache="w"))
    for caches, want in ((None, "True ModelCacheResolved"), ({}, "False ModelCacheNotFound")):
        loaded = fleet(*documents)
        loaded = loaded if caches is None else replace(loaded, caches=caches)
        (view,) = deployment_views(loaded, Existing(), schedule=World(loaded).schedule(), unreachable={})
        assert told(view)["ModelCacheResolved"] == want
