"""Address ranges of a VPC: derived where the manifest is silent, refused where the cloud would refuse."""

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.clusters.eks.subnets import plan_subnets
from components.errors import ConfigError


def test_the_default_is_the_predecessors_layout() -> None:
    """Three zones of a /16: public blocks first, private ones right after, as existing networks have them."""
    plan = plan_subnets("us-east-1")
    assert plan.vpc == "10.0.0.0/16"
    assert [(each.zone, each.public, each.private) for each in plan.zones] == [
        ("us-east-1a", "10.0.0.0/20", "10.0.48.0/20"),
        ("us-east-1b", "10.0.16.0/20", "10.0.64.0/20"),
        ("us-east-1c", "10.0.32.0/20", "10.0.80.0/20"),
    ]


def test_private_ranges_derived_for_a_high_third_octet_stay_valid() -> None:
    """The predecessor added 48 to the third octet and overflowed; here the next free blocks are taken."""
    plan = plan_subnets("us-east-1", vpc="10.9.0.0/16", public=("10.9.224.0/20", "10.9.240.0/20"))
    assert [each.private for each in plan.zones] == ["10.9.0.0/20", "10.9.16.0/20"]


def test_public_ranges_are_derived_from_private_ones() -> None:
    """Either list can be left out."""
    plan = plan_subnets("us-east-1", vpc="10.9.0.0/16", private=("10.9.0.0/20", "10.9.16.0/20"))
    assert [each.public for each in plan.zones] == ["10.9.32.0/20", "10.9.48.0/20"]


def test_a_vpc_of_its_own_moves_every_range() -> None:
    """With only the VPC written, the subnets follow it; the predecessor kept those of another network."""
    assert [each.private for each in plan_subnets("us-east-1", vpc="172.20.0.0/16").zones] == [
        "172.20.48.0/20",
        "172.20.64.0/20",
        "172.20.80.0/20",
    ]


@given(
    prefix=st.integers(16, 24),
    base=st.integers(0, 255),
    zones=st.integers(2, 6),
    public_first=st.booleans(),
)
def test_whatever_is_derived_lies_in_the_vpc_and_overlaps_nothing(
    prefix: int,
    base: int,
    zones: int,
    public_first: bool,
) -> None:
    """For every VPC with room for six zones, the derived ranges are ones that the cloud accepts."""
    vpc = IPv4Network((base << 24 | 10 << 16, prefix), strict=False)
    given_blocks = [str(block) for _, block in zip(range(zones), vpc.subnets(prefixlen_diff=4), strict=False)]
    chosen = {"public": given_blocks} if public_first else {"private": given_blocks}
    plan = plan_subnets("eu-west-1", vpc=str(vpc), **chosen)
    subnets = [IPv4Network(text) for each in plan.zones for text in (each.public, each.private)]
    assert len(plan.zones) == zones
    assert all(subnet.subnet_of(vpc) for subnet in subnets)
    assert sum(subnet.num_addresses for subnet in subnets) == 2 * zones * subnets[0].num_addresses
    assert not any(one.overlaps(other) for index, one in enumerate(subnets) for other in subnets[:index])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"vpc": "10.0.0.0/33"}, "is not an IPv4 range", id="not-a-range"),
        pytest.param({"vpc": "10.0.1.0/16"}, "is not an IPv4 range", id="host-bits"),
        pytest.param({"vpc": "10.0.0.0/8"}, "a size that a VPC cannot have", id="too-large"),
        pytest.param({"public": ("10.0.0.0/29", "10.0.1.0/28")}, "a size that a VPC cannot have", id="too-small"),
        pytest.param({"public": ("10.1.0.0/20", "10.0.16.0/20")}, "outside the VPC", id="outside"),
        pytest.param({"public": ("10.0.0.0/20", "10.0.0.0/24")}, "overlap", id="overlap"),
        pytest.param(
            {"public": ("10.0.0.0/20", "10.0.16.0/20"), "private": ("10.0.32.0/20",)}, "one of each", id="no-partner"
        ),
        pytest.param({"vpc": "10.0.0.0/16", "public": ("10.0.0.0/17", "10.0.128.0/17")}, "must fit", id="no-room"),
        pytest.param({"public": tuple(f"10.0.{i}.0/24" for i in range(7))}, "at most 6 zones", id="too-many-zones"),
    ],
)
def test_ranges_that_the_cloud_would_refuse_are_refused_with_a_reason(settings: dict, message: str) -> None:  # type: ignore[type-arg]
    """Each is found before anything is created, and says what is wrong."""
    with pytest.raises(ConfigError) as caught:
        plan_subnets("us-east-1", **settings)
    assert any(message in problem.message for problem in caught.value.problems)


def test_all_problems_come_at_once() -> None:
    """Two wrong ranges are two problems, each with its place."""
    with pytest.raises(ConfigError) as caught:
        plan_subnets("us-east-1", public=("x", "10.0.0.0/20"), private=("10.0.16.0/20", "y"))
    assert [problem.path for problem in caught.value.problems] == [
        "spec.cluster.eks.network.publicSubnetCidrs[0]",
        "spec.cluster.eks.network.privateSubnetCidrs[1]",
    ]


def test_pools_find_the_subnets_of_their_zones_in_the_plans_order() -> None:
    """The order of a pool's zones means nothing, so it changes nothing."""
    plan = plan_subnets("us-east-1")
    zones = ("us-east-1c", "us-east-1a")
    assert plan.in_zones(zones, where="x") == plan.in_zones(zones[::-1], where="x") == (plan.zones[0], plan.zones[2])
    assert plan.in_zones((), where="x") == plan.zones


def test_a_zone_without_a_subnet_is_refused_with_those_there_are() -> None:
    """The predecessor made a group in no subnet at all."""
    with pytest.raises(ConfigError) as caught:
        plan_subnets("us-east-1").in_zones(("us-east-1f",), where="spec.nodePools[0].zones")
    (problem,) = caught.value.problems
    assert problem.path == "spec.nodePools[0].zones"
    assert problem.allowed == "us-east-1a, us-east-1b, us-east-1c"
