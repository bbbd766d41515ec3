"""A cache's volume claim is as large as the cache."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.cel.quantity import Quantity
from components.checks.footprint import SIZE_RULE, volume_problem
from components.checks.violation import Violation
from components.labels import Label
from policies.resources import CACHE, Resource, Stack
from policies.rule import Rule

CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
_GIB: Final = 1 << 30


def check(stack: Stack, config: Mapping[str, Any]) -> Iterator[Violation]:
    """Compare every cache's size with the volume claim under it."""
    del config
    claims: dict[str, list[Resource]] = {}
    for claim in stack.of_type(CLAIM):
        owner = stack.owner(claim, CACHE)
        if owner is not None:
            claims.setdefault(owner.urn, []).append(claim)
        elif Label.CACHE.value in (stack.read(claim, "metadata", "labels") or {}):
            yield Violation(SIZE_RULE, claim.name, "it is a cache's volume that no cache owns", RULE.remediation)
    for cache in stack.of_type(CACHE):
        size = stack.read(cache, "shape", "sizeGiB")
        for claim in claims.get(cache.urn, ()):
            text = stack.read(claim, "spec", "resources", "requests", "storage")
            if size is None or text is None:
                continue
            problem = volume_problem(int(size), _gib(str(text)))
            if problem:
                yield Violation(SIZE_RULE, cache.name, problem, RULE.remediation)


def _gib(text: str) -> float:
    return Quantity.parse(text).as_approximate_float() / _GIB


RULE: Final = Rule(
    name=SIZE_RULE,
    description="A cache's volume claim is at least as large as the cache.",
    severity="medium",
    remediation="Raise the request of the volume claim to the cache's sizeGiB.",
    check=check,
)
