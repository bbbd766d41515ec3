"""Weights: how a service's traffic is divided over the endpoints of its groups.

A group's weight is the share of the whole group, however many endpoints it has. The gateway knows only whole numbers
per endpoint, so the shares are scaled until nobody rounds to nothing, divided evenly inside each group, and reduced.
"""

from collections.abc import Sequence
from math import gcd

LIMIT = 1_000_000
"""The largest weight of a Gateway API backend."""


def weights(groups: Sequence[tuple[int, Sequence[str]]]) -> list[tuple[str, int]]:
    """Return every endpoint with its weight, in the order given; the remainder of a group goes to its first ones.

    A group without endpoints drops out, and its share spreads over the others. An endpoint of several groups belongs
    to the first. The proportions of groups are exact unless the largest weight would pass the limit.
    """
    seen: set[str] = set()
    filled: list[tuple[int, list[str]]] = []
    for weight, endpoints in groups:
        own = [endpoint for endpoint in dict.fromkeys(endpoints) if endpoint not in seen]
        seen.update(own)
        if own:
            filled.append((weight, own))
    if not filled:
        return []
    scale = max(-(-len(endpoints) // weight) for weight, endpoints in filled)
    shares: list[tuple[str, int]] = []
    for weight, endpoints in filled:
        each, extra = divmod(weight * scale, len(endpoints))
        shares.extend((endpoint, each + (position < extra)) for position, endpoint in enumerate(endpoints))
    divisor = gcd(*(share for _, share in shares))
    return _capped([(endpoint, share // divisor) for endpoint, share in shares])


def _capped(shares: list[tuple[str, int]]) -> list[tuple[str, int]]:
    largest = max(share for _, share in shares)
    if largest <= LIMIT:
        return shares
    return [(endpoint, max(1, share * LIMIT // largest)) for endpoint, share in shares]
