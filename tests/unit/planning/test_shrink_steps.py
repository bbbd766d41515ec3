"""A pool that is edited to less than runs on it: the edit waits in every lock until those that do not fit have left."""

import pytest

from automation.planning.step import StepKind
from components.checks import check_lock
from components.lock import Lock
from tests.unit.planning.world import World, cluster, deployment, document, fleet, service, short

BUILD, SHIFT, RETIRE = StepKind.BUILD, StepKind.SHIFT, StepKind.RETIRE
CHAT = service("chat", (1, {"app": "d"}))
H100_4 = document(
    "InferenceClass",
    "h100-4",
    {
        "devices": [
            {
                "name": "gpu",
                "driver": "gpu.nvidia.com",
                "deviceClassName": "gpu.nvidia.com",
                "count": 4,
                "capacity": {"memory": {"value": "80Gi"}},
            }
        ]
    },
)


def halves(nodes: int) -> list[dict[str, object]]:
    """Return the pool with nodes of half as many devices."""
    return [{"name": "gpus", "className": "h100-4", "nodeCount": nodes}]


LESS = pytest.mark.parametrize(
    ("less", "count"),
    [(cluster("a", nodes=1), 8), (cluster("a", nodePools=halves(2)), 4), (cluster("a", nodePools=halves(4)), 8)],
    ids=["fewer nodes", "fewer devices on each", "devices too few for a pod"],
)


def running(*documents: dict[str, object]) -> World:
    """Return a world in which everything of some manifests serves; ``a`` is its front door."""
    world = World(fleet(H100_4, *documents, doors=["a"]))
    world.up()
    return world


def held(lock: Lock) -> dict[str, int]:
    """Return the pools that a lock holds as they are, with their nodes."""
    return {f"{entry.name}/{pool.pool}": pool.nodes for entry in lock.platform.clusters for pool in entry.held or ()}


@LESS
def test_a_pool_keeps_its_size_until_what_does_not_fit_has_left(less: dict[str, object], count: int) -> None:
    """Successors are built and serve while it stays, and it gets its new size with the step that retires the old."""
    replicas = 2 if count == 8 else 4
    world = running(cluster("a"), deployment("d", replicas, count=count), CHAT)
    elsewhere = cluster("b", nodes=4)
    world.fleet = fleet(H100_4, less, elsewhere, deployment("d", replicas, count=count), CHAT, doors=["a"])
    target = world.target()
    assert held(target) == {}
    for kind in (BUILD, SHIFT, RETIRE):
        step = world.step(kind, target)
        assert step is not None
        waits = kind is not RETIRE
        assert held(step.lock) == ({"a/gpus": 2} if waits else {})
        assert step.withheld == (("a/gpus",) if waits else ())
        assert check_lock(world.fleet, step.lock) == ()
        world.apply(step)
        assert world.target() == target
    assert world.up() == []


def test_only_as_many_leave_as_must() -> None:
    """Two of three fit what the pool becomes; they stay as they are."""
    world = running(cluster("a", nodes=3), deployment("d", 3), CHAT)
    world.fleet = fleet(H100_4, cluster("a"), cluster("b"), deployment("d", 3), CHAT, doors=["a"])
    assert [short(identity) for identity, _, _ in world.target().replicas()] == ["d@a/0", "d@a/1", "d@b/0"]
    assert world.up() == [BUILD, SHIFT, RETIRE]
    assert world.existing.pools["a", "gpus"].nodes == 2


@LESS
def test_a_pool_stays_whole_when_there_is_nowhere_to_go(less: dict[str, object], count: int) -> None:
    """The target says so itself, and breaks no rule by it: the program builds the pool that there is."""
    replicas = 2 if count == 8 else 4
    world = running(cluster("a"), deployment("d", replicas, count=count), CHAT)
    world.fleet = fleet(H100_4, less, deployment("d", replicas, count=count), CHAT, doors=["a"])
    target = world.target()
    assert held(target) == {"a/gpus": 2}
    assert check_lock(world.fleet, target) == ()
    assert len(list(target.replicas())) == replicas
    assert world.schedule().shortfalls[0].stranded > 0
    assert world.up() == []


def test_the_rest_of_the_fleet_goes_on_while_a_pool_waits() -> None:
    """Another deployment is built although a replica of the first has nowhere to go."""
    world = running(cluster("a"), deployment("d", 2), CHAT)
    other = cluster("b", labels={"for": "e"}, taints=["e=e:NoSchedule"])
    tolerant = deployment("e", tolerations=[{"key": "e", "operator": "Exists"}])
    world.fleet = fleet(H100_4, cluster("a", nodes=1), other, deployment("d", 2), tolerant, CHAT, doors=["a"])
    world.up()
    assert sorted(world.phases()) == ["d@a/0", "d@a/1", "e@b/0"]
    assert world.existing.pools["a", "gpus"].nodes == 2


def test_a_successor_that_fails_keeps_the_pool_as_it_is() -> None:
    """Its predecessor serves on, and so the pool waits in the retirement as well."""
    world = running(cluster("a"), deployment("d", 2), CHAT)
    world.fleet = fleet(H100_4, cluster("a", nodes=1), cluster("b"), deployment("d", 2), CHAT, doors=["a"])
    world.up(failing=["d@b/0"])
    assert "d@a/1" in world.phases()
    assert world.existing.pools["a", "gpus"].nodes == 2


def test_an_edit_under_which_all_fit_is_not_held() -> None:
    """A pool that loses what nobody uses changes at once."""
    world = running(cluster("a", nodes=3), deployment("d", 2), CHAT)
    world.fleet = fleet(H100_4, cluster("a"), cluster("b"), deployment("d", 2), CHAT, doors=["a"])
    assert world.schedule().shrinking == ()
    assert held(world.target()) == {}
