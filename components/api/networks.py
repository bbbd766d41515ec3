"""Rules of address ranges: what networks, their subnets and the ranges of pods and Services must be to each other."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, ip_address, ip_network
from itertools import combinations
from typing import Final

from components.api.codes import Code
from components.api.rules import Violation, shown

_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"

CIDR_PATTERN: Final = rf"^{_BYTE}(\.{_BYTE}){{3}}/([89]|1[0-9]|2[0-8])$"
"""How a range is written; whether it begins where its prefix says is more than a pattern knows."""

POOL_PATTERN: Final = r"^[0-9a-fA-F.:]+(/[0-9]{1,3}|[ ]*-[ ]*[0-9a-fA-F.:]+)$"
"""How addresses for load balancers are written."""

_WIDEST, _NARROWEST = 16, 28  # prefix lengths that AWS accepts for VPCs and subnets
_WIDEST_ELSEWHERE = 8


def subnet_violations(vpc: str, subnets: Mapping[str, Sequence[str]]) -> Iterator[Violation]:
    """Yield what is wrong with a VPC's range and the lists of subnets in it, by field name.

    The lists must have one length, because each zone takes one subnet of each.
    """
    outer, reason = _network(vpc)
    if reason:
        yield Violation(Code.NETWORK_INVALID, reason, ("vpcCidr",))
    ranges: list[tuple[str, int, IPv4Network]] = []
    for field, texts in subnets.items():
        for index, text in enumerate(texts):
            network, reason = _network(text)
            if network is None:
                yield Violation(Code.NETWORK_INVALID, reason, (field, index))
            elif outer is not None and not network.subnet_of(outer):
                yield Violation(Code.NETWORK_INVALID, f"{shown(text)} does not lie in the VPC, {vpc}", (field, index))
            else:
                ranges.append((field, index, network))
    for (_, _, first), (field, index, second) in combinations(ranges, 2):
        if first.overlaps(second):
            yield Violation(Code.NETWORK_INVALID, f"`{second}` overlaps `{first}`", (field, index))
            return
    if len({len(texts) for texts in subnets.values()}) > 1:
        counts = ", ".join(f"{field} has {len(texts)}" for field, texts in subnets.items())
        message = f"every zone takes one subnet of each list, so they have one length; {counts}"
        yield Violation(Code.NETWORK_INVALID, message, at_key=True)


def apart(ranges: Mapping[str, str], *, taken: Mapping[str, str] | None = None) -> Iterator[Violation]:
    """Yield what is wrong with ranges that may not overlap each other, nor those ``taken`` by name in words."""
    known: list[tuple[str, IPv4Network]] = [(what, IPv4Network(text)) for what, text in (taken or {}).items()]
    for field, text in ranges.items():
        network, reason = _network(text, widest=_WIDEST_ELSEWHERE)
        if network is None:
            yield Violation(Code.NETWORK_INVALID, reason, (field,))
            continue
        met = next((what for what, other in known if network.overlaps(other)), "")
        if met:
            yield Violation(Code.NETWORK_INVALID, f"{shown(text)} overlaps {met}", (field,))
        known.append((field, network))


def inside(field: str, text: str, outer: str) -> Iterator[Violation]:
    """Yield what is wrong with a range that must lie in another; a wrong outer one is reported by itself."""
    network, reason = _network(text, widest=_WIDEST_ELSEWHERE)
    around, _ = _network(outer, widest=_WIDEST_ELSEWHERE)
    if network is None:
        yield Violation(Code.NETWORK_INVALID, reason, (field,))
    elif around is not None and not network.subnet_of(around):
        yield Violation(Code.NETWORK_INVALID, f"{shown(text)} does not lie in {outer}", (field,))


def address_pool(text: str) -> str:
    """Check addresses for load balancers as MetalLB takes them; the answer follows "must", and is empty when right."""
    wanted = "be a range of addresses such as `10.0.0.240-10.0.0.250` or `10.0.0.240/28`"
    first, dash, last = (part.strip() for part in text.partition("-"))
    try:
        if not dash:
            return "" if "/" in text and ip_network(text, strict=False) else wanted
        low, high = ip_address(first), ip_address(last)
    except ValueError:
        return wanted
    return "" if low.version == high.version and int(low) <= int(high) else wanted


def _network(text: str, *, widest: int = _WIDEST) -> tuple[IPv4Network | None, str]:
    try:
        network = IPv4Network(text)
    except ValueError:
        return None, f"{shown(text)} is not an IPv4 range such as `10.0.0.0/16`"
    if not widest <= network.prefixlen <= _NARROWEST:
        return None, f"{shown(text)} must have a prefix from /{widest} to /{_NARROWEST}"
    return network, ""
