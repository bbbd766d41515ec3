"""A pool that is gone from the manifests while something runs on it."""

from automation.planning.removed import pools_in_use
from tests.unit.planning.world import World, cluster, deployment, fleet

OTHER = [{"name": "other", "className": "h100"}]


def test_a_removed_pool_with_replicas_is_a_problem_that_names_them() -> None:
    """And one without is none."""
    world = World(fleet(cluster("a"), cluster("b"), deployment("d", 1)))
    world.up()
    assert pools_in_use(world.existing, world.fleet) == ()
    (problem,) = pools_in_use(world.existing, fleet(cluster("a", nodePools=OTHER), cluster("b"), deployment("d")))
    assert problem.code == "pool-in-use"
    assert "pool gpus is gone from the manifest of cluster a, and ml/d/a/0 is still on it" in problem.message
    assert pools_in_use(world.existing, fleet(cluster("a"), cluster("b", nodePools=OTHER), deployment("d"))) == ()


def test_many_replicas_are_cut_short() -> None:
    """Three names are enough."""
    world = World(fleet(cluster("a", nodes=4), deployment("d", 4)))
    world.up()
    (problem,) = pools_in_use(world.existing, fleet(cluster("a", nodePools=OTHER)))
    assert "ml/d/a/0, ml/d/a/1, ml/d/a/2 ... are still on it" in problem.message


def test_clusters_that_are_lost_or_gone_are_somebody_elses_question() -> None:
    """They are refused or forgotten as a whole."""
    world = World(fleet(cluster("a"), deployment("d")))
    world.up()
    assert pools_in_use(world.existing, fleet()) == ()
    assert pools_in_use(world.existing, fleet(cluster("a", nodePools=OTHER, lost=True))) == ()
