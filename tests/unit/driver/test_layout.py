"""A cluster stays in the stack that it was built in; whatever would build it in another one is refused."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from automation.driver.layout import beside_front_doors, refuse_other_layout
from automation.driver.leftover import remove_leftovers
from automation.engine.checkpoint import Checkpoint
from components.api.fleet import Fleet
from components.errors import ConfigError, Problem
from components.naming import StackName
from tests.unit.engine.samples import checkpoint, entry, stack_entry
from tests.unit.planning.world import cluster, fleet

if TYPE_CHECKING:
    from automation.driver.reading import Situation
    from automation.driver.session import Session

DEV, DEV_B = StackName("dev"), StackName("dev", "b")


def states(**clusters: tuple[str, ...]) -> dict[StackName, Checkpoint]:
    """Return states that hold clusters: ``dev`` and ``dev_b``."""
    stacks = {StackName("dev", key.partition("_")[2]): names for key, names in clusters.items()}
    return {
        stack: checkpoint(stack_entry(), *(entry("berth:index:ExistingCluster", name) for name in names), stack=stack)
        for stack, names in stacks.items()
    }


def manifests(*doors: str, layout: str = "PerCluster", removing: str = "", lost: str = "") -> Fleet:
    """Return clusters ``a``, ``b`` and ``c`` with front doors."""
    made = [cluster(name, removing=name == removing, lost=name == lost) for name in ("a", "b", "c")]
    return fleet(*made, doors=doors, layout=layout)


def refused(found: Fleet, **clusters: tuple[str, ...]) -> tuple[Problem, ...]:
    """Return the problems of states that do not fit the manifests."""
    with pytest.raises(ConfigError) as caught:
        refuse_other_layout(found, states(**clusters))
    return caught.value.problems


def test_a_cluster_with_a_stack_of_its_own_cannot_become_a_front_door() -> None:
    """It would be built a second time among the front doors, and the first one would be nobody's."""
    (problem,) = refused(manifests("a", "b"), dev=("a",), dev_b=("b",))
    assert problem.code == "layout-changed"
    assert problem.where.startswith("environment.yaml:")
    assert problem.path == "spec.frontDoors"
    assert "cluster b is named as a front door, and it lies in a stack of its own, dev.b" in problem.message
    assert "take b out of `frontDoors`" in problem.help


def test_a_front_door_that_stays_as_a_cluster_cannot_stop_being_one() -> None:
    """The environment's stack would delete it, and another stack would make it."""
    (problem,) = refused(manifests("c"), dev=("a", "c"))
    assert problem.where.startswith("environment.yaml:")
    assert "stack dev holds the front doors and cluster a, which is none" in problem.message
    assert "name a in `frontDoors` again, or mark it `removing: true`" in problem.help


def test_a_swap_names_both_clusters() -> None:
    """All problems are given at once."""
    assert len(refused(manifests("b"), dev=("a",), dev_b=("b",))) == 2


def test_another_layout_is_refused() -> None:
    """One stack cannot take over what several have, nor the reverse."""
    (problem,) = refused(manifests("a", layout="Single"), dev=("a",), dev_b=("b",))
    assert problem.path == "spec.layout"
    assert len(refused(manifests("a"), dev=("a", "b", "c"))) == 2


@pytest.mark.parametrize(
    ("found", "beside"),
    [
        (manifests("a"), ()),
        (manifests("c", removing="a"), ("a",)),
        (manifests("c", lost="a"), ("a",)),
        (fleet(cluster("b"), cluster("c"), doors=["c"], layout="PerCluster"), ("a",)),
        (manifests("c", layout="Single"), ()),
    ],
    ids=["a front door", "one that leaves", "one that is lost", "one without a manifest", "one stack for all"],
)
def test_a_cluster_that_leaves_does_so_from_where_it_is(found: Fleet, beside: tuple[str, ...]) -> None:
    """A former front door is still the environment's own stack's, until it is gone."""
    refuse_other_layout(found, states(dev=("a",)))
    assert beside_front_doors(found, states(dev=("a",))) == beside


@pytest.mark.parametrize(
    ("found", "gone"),
    [(manifests("a", "b"), (DEV_B,)), (manifests("a", removing="b"), (DEV_B,)), (manifests("a"), ())],
    ids=["it became a front door before it was built", "it left", "it is yet to be built"],
)
def test_an_empty_stack_that_nobody_fills_is_removed(found: Fleet, gone: tuple[StackName, ...]) -> None:
    """A cluster that was never built may become a front door; nothing is left of its own stack."""
    removed: list[StackName] = []
    runner = SimpleNamespace(remove_stack=lambda stack, *, force: removed.append(stack) if force else None)
    situation = cast("Situation", SimpleNamespace(fleet=found, checkpoints=states(dev=(), dev_b=())))
    assert remove_leftovers(cast("Session", SimpleNamespace(runner=runner)), situation) == gone
    assert tuple(removed) == gone
