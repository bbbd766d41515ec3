"""A cache's volume claim is as large as the cache."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.cel.quantity import Quantity, QuantityError
from components.checks.footprint import SIZE_RULE, volume_problem
from components.checks.violation import Violation
from components.labels import Label
from policies.facts import fleet_of
from policies.resources import CACHE, Resource, Stack
from policies.rule import Rule
from policies.volumes import volumes_of

_GIB: Final = 1 << 30


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Compare every cache's size with the volume claim under it."""
    del config
    fleet = fleet_of(stack)
    for claim in volumes_of(stack):
        owner = stack.owner(claim, CACHE)
        if owner is None:
            if Label.CACHE.value in (stack.read(claim, "metadata", "labels") or {}):
                yield Violation(SIZE_RULE, claim.name, "it is a cache's volume that no cache owns", RULE.remediation)
        elif owner.urn in fleet.caches:
            problem = _problem(stack, claim, fleet.caches[owner.urn].size_gib)
            if problem:
                yield Violation(SIZE_RULE, owner.name, problem, RULE.remediation)


def _problem(stack: Stack, claim: Resource, size_gib: int) -> str:
    path = ("spec", "resources", "requests", "storage")
    text = stack.read(claim, *path)
    if text is None:
        return "" if stack.has_deferred(claim) else f"its volume claim {claim.name} asks for no storage"
    try:
        return volume_problem(size_gib, Quantity.parse(str(text)).as_approximate_float() / _GIB)
    except QuantityError as error:
        return f"its volume claim {claim.name} asks for {text!r}: {error}"


RULE: Final = Rule(
    name=SIZE_RULE,
    description="A cache's volume claim is at least as large as the cache.",
    severity="medium",
    remediation="Raise the request of the volume claim to the cache's sizeGiB.",
    check=check,
)
