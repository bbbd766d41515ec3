"""Shards: what each stack of an environment holds."""

import pytest

from components.api.fleet import Fleet
from components.errors import StackNotFound
from components.naming import StackName
from stacks.shard import Shard, Share, shards
from tests.support.samples import fleet_of, small_files


@pytest.fixture(scope="module")
def single() -> Fleet:
    """Return an environment with one stack."""
    return fleet_of(small_files())


@pytest.fixture(scope="module")
def split() -> Fleet:
    """Return an environment with a stack per cluster."""
    return fleet_of(small_files(layout="PerCluster"))


def test_single_layout_has_one_stack_that_holds_everything(single: Fleet) -> None:
    """Also a cluster that only the lock knows."""
    (shard,) = shards(single, clusters=["gone"])
    assert (str(shard.stack), shard.share, shard.routes) == ("dev", Share.EVERYTHING, True)
    assert all(shard.holds(name) for name in ("a", "b", "edge", "gone"))


def test_clusters_are_built_before_the_routes_that_lead_to_them(split: Fleet) -> None:
    """The front doors' stack reads the addresses that the others put out."""
    assert [str(shard.stack) for shard in shards(split, clusters=["gone", "a"])] == [
        "dev.a",
        "dev.b",
        "dev.gone",
        "dev",
    ]


def test_every_cluster_is_in_exactly_one_stack(split: Fleet) -> None:
    """Front doors are in the environment's own."""
    found = {name: [str(s.stack) for s in shards(split) if s.holds(name)] for name in ("a", "b", "edge")}
    assert found == {"a": ["dev.a"], "b": ["dev.b"], "edge": ["dev"]}
    assert [str(shard.stack) for shard in shards(split) if shard.routes] == ["dev"]


@pytest.mark.parametrize("stack", ["other", "dev.nowhere", "dev.edge", "other.a"])
def test_stack_that_the_environment_does_not_have_is_refused(split: Fleet, stack: str) -> None:
    """The error lists those it has."""
    with pytest.raises(StackNotFound, match=r"it has dev, dev\.a, dev\.b"):
        Shard.of(StackName.parse(stack), split)


def test_single_layout_has_no_stack_for_a_cluster(single: Fleet) -> None:
    """A shard of it would hold what the one stack holds already."""
    with pytest.raises(StackNotFound, match=r"has no stack dev\.a; it has dev"):
        Shard.of(StackName("dev", "a"), single)


def test_a_former_front_door_stays_with_the_others(split: Fleet) -> None:
    """It gets no stack of its own on its way out; a front door named twice is one."""
    found = shards(split, clusters=["old"], beside=["old", "edge"])
    assert [str(shard.stack) for shard in found if shard.holds("old")] == ["dev"]
    assert [str(shard.stack) for shard in found] == ["dev.a", "dev.b", "dev"]
    assert found[-1].beside == ("old",)
