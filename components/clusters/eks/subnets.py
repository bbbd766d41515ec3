"""Which address ranges the zones of a VPC get. PURE.

Ranges that the manifest leaves out are derived from those that it gives: equal blocks, in order, the public ones first.
Every range is checked before anything is created, since the cloud would only say so halfway through.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations

from components.api.cluster_source import EksSource
from components.clusters.eks.facts import NETWORK_MAX_PREFIX, NETWORK_MIN_PREFIX, default_zones
from components.errors import ConfigError, Problem

DEFAULT_VPC = "10.0.0.0/16"
_DEFAULT_ZONES, _MOST_ZONES = 3, 6
_SPLIT = 4
"""A VPC is cut into 2**4 blocks: room for six public and six private subnets."""
_PATH = "spec.cluster.eks.network"


@dataclass(frozen=True, slots=True)
class ZoneSubnets:
    """The two subnets of one zone."""

    zone: str
    public: str
    private: str


@dataclass(frozen=True, slots=True)
class SubnetPlan:
    """A VPC and its subnets, one public and one private per zone."""

    vpc: str
    zones: tuple[ZoneSubnets, ...]

    def in_zones(self, names: Sequence[str], *, where: str) -> tuple[ZoneSubnets, ...]:
        """Return the subnets of the named zones, in the plan's order; of all zones when none is named.

        Raises ConfigError for a zone that has no subnet; ``where`` is the place of the list in the manifest.
        """
        known = {subnets.zone for subnets in self.zones}
        missing = [name for name in names if name not in known]
        if missing:
            raise ConfigError(
                [
                    _problem(f"zone {name} has no subnet in this cluster's network", where, sorted(known))
                    for name in missing
                ]
            )
        return tuple(subnets for subnets in self.zones if not names or subnets.zone in names)


def subnets_of(source: EksSource) -> SubnetPlan:
    """Lay out a cluster's subnets; what its manifest does not write is derived, whatever the model's defaults say.

    Raises ConfigError like ``plan_subnets``.
    """
    network = source.network
    written = network.model_fields_set
    return plan_subnets(
        source.region,
        vpc=network.vpc_cidr,
        public=network.public_subnet_cidrs if "public_subnet_cidrs" in written else (),
        private=network.private_subnet_cidrs if "private_subnet_cidrs" in written else (),
    )


def plan_subnets(
    region: str, *, vpc: str = DEFAULT_VPC, public: Sequence[str] = (), private: Sequence[str] = ()
) -> SubnetPlan:
    """Lay out a VPC's subnets over the first zones of ``region``.

    Raises ConfigError, with every problem found, for a range that is not one, lies outside the VPC, overlaps another,
    has a size that the cloud does not allow, or has no partner in its zone.
    """
    problems: list[Problem] = []
    network = _network(vpc, f"{_PATH}.vpcCidr", problems)
    given = {
        name: [_network(text, f"{_PATH}.{name}[{index}]", problems) for index, text in enumerate(texts)]
        for name, texts in (("publicSubnetCidrs", public), ("privateSubnetCidrs", private))
    }
    if problems or network is None:
        raise ConfigError(problems)
    outer = [subnet for subnet in given["publicSubnetCidrs"] if subnet]
    inner = [subnet for subnet in given["privateSubnetCidrs"] if subnet]
    count = len(outer) or len(inner) or _DEFAULT_ZONES
    outer = outer or _free(network, inner, count)
    inner = inner or _free(network, outer, count)
    _check(network, outer, inner, problems)
    if problems:
        raise ConfigError(problems)
    zones = default_zones(region, count)
    return SubnetPlan(
        str(network),
        tuple(ZoneSubnets(zone, str(one), str(other)) for zone, one, other in zip(zones, outer, inner, strict=True)),
    )


def _network(text: str, path: str, problems: list[Problem]) -> IPv4Network | None:
    try:
        network = IPv4Network(text)
    except ValueError as error:
        problems.append(_problem(f"{text!r} is not an IPv4 range: {error}", path))
        return None
    if not NETWORK_MIN_PREFIX <= network.prefixlen <= NETWORK_MAX_PREFIX:
        problems.append(
            _problem(
                f"{text} has a size that a VPC cannot have", path, [f"/{NETWORK_MIN_PREFIX} to /{NETWORK_MAX_PREFIX}"]
            )
        )
        return None
    return network


def _free(network: IPv4Network, taken: Sequence[IPv4Network], count: int) -> list[IPv4Network]:
    """Return the first ``count`` blocks of the VPC that touch nothing taken; fewer when there is no room."""
    prefix = taken[0].prefixlen if taken else min(network.prefixlen + _SPLIT, NETWORK_MAX_PREFIX)
    blocks = network.subnets(new_prefix=max(prefix, network.prefixlen))
    free = (block for block in blocks if not any(block.overlaps(other) for other in taken))
    return [block for block, _ in zip(free, range(count), strict=False)]


def _check(
    network: IPv4Network, public: Sequence[IPv4Network], private: Sequence[IPv4Network], problems: list[Problem]
) -> None:
    if len(public) != len(private):
        problems.append(
            _problem(
                f"{len(public)} public and {len(private)} private subnets: every zone needs one of each, "
                "and they must fit into the VPC",
                _PATH,
            )
        )
    if len(public) > _MOST_ZONES:
        problems.append(_problem(f"{len(public)} zones; a cluster has at most {_MOST_ZONES} zones", _PATH))
    subnets = [*public, *private]
    problems.extend(
        _problem(f"subnet {subnet} lies outside the VPC {network}", _PATH)
        for subnet in subnets
        if not subnet.subnet_of(network)
    )
    problems.extend(
        _problem(f"subnets {one} and {other} overlap", _PATH)
        for one, other in combinations(subnets, 2)
        if one.overlaps(other)
    )


def _problem(message: str, path: str, allowed: Sequence[str] = ()) -> Problem:
    return Problem("eks-network", message, path=path, allowed=", ".join(allowed))
