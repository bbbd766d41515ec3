"""Volume claims, and which of them are caches."""

from collections.abc import Iterator, Mapping
from typing import Final

from policies.resources import CACHE, Resource, Stack

VOLUME_CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"


def volumes_of(stack: Stack) -> Iterator[Resource]:
    """Yield every volume claim."""
    return stack.of_type(VOLUME_CLAIM)


def staged(stack: Stack) -> Mapping[tuple[str, str, str], Resource]:
    """Return the cache behind every volume claim of one, by where it is: provider, namespace and name."""
    return stack.once(_staged)


def _staged(stack: Stack) -> Mapping[tuple[str, str, str], Resource]:
    found = {}
    for claim in volumes_of(stack):
        owner = stack.owner(claim, CACHE)
        if owner is not None:
            namespace, name = stack.read(claim, "metadata", "namespace"), stack.read(claim, "metadata", "name")
            found[claim.provider, str(namespace), str(name)] = owner
    return found
