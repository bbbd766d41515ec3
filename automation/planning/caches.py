"""Caches: where each one is staged, and in which revision.

A cache is staged on every cluster that its selector covers, that has shared storage and that stays. Another revision is
another shape: it is staged beside the old copy under the next index, and the old one stays while a replica reads it.
"""

from collections.abc import Iterable, Iterator
from itertools import count

from automation.planning.shapes import cache_shape
from automation.scheduling.existing import Existing
from automation.scheduling.result import Placed
from automation.scheduling.storage import storage_class
from components.api.fleet import Fleet
from components.lock import CacheEntry, CacheShape, ReplicaShape, shape_digest
from components.naming import CacheId, ReplicaId

Copy = tuple[CacheId, tuple[CacheEntry, CacheShape]]


def wanted_caches(
    fleet: Fleet, existing: Existing, placements: Iterable[Placed]
) -> dict[CacheId, tuple[CacheEntry, CacheShape]]:
    """Return every copy that the target has: what the manifests ask for, and what placed replicas still read."""
    wanted = dict(_of_manifests(fleet, existing))
    wanted.update(copies_in_use(existing, {each.id: each.shape for each in placements}))
    return wanted


def copies_in_use(existing: Existing, replicas: dict[ReplicaId, ReplicaShape]) -> Iterator[Copy]:
    """Yield the staged copies that given replicas read."""
    read = {
        (identity.namespace, shape.cache.name, identity.cluster, shape.cache.shape)
        for identity, shape in replicas.items()
        if shape.cache
    }
    for identity, each in sorted(existing.caches.items()):
        if (identity.namespace, identity.cache, identity.cluster, each.entry.shape) in read:
            yield identity, (each.entry, each.shape)


def _of_manifests(fleet: Fleet, existing: Existing) -> Iterator[Copy]:
    for (namespace, name), manifest in sorted(fleet.caches.items()):
        shape = cache_shape(manifest)
        digest = shape_digest(shape)
        selector = manifest.spec.cluster_selector
        for cluster, each in sorted(fleet.clusters.items()):
            stays = not each.spec.removing and not each.spec.lost
            if stays and storage_class(each) and (selector is None or selector.matches(each.metadata.labels)):
                identity = CacheId(namespace, name, cluster, _index(existing, namespace, name, cluster, digest))
                yield identity, (CacheEntry(cache=name, cluster=cluster, index=identity.index, shape=digest), shape)


def _index(existing: Existing, namespace: str, name: str, cluster: str, digest: str) -> int:
    """Return the index of the copy that has the shape already, else the lowest that is free."""
    copies = {
        identity.index: each.entry.shape
        for identity, each in existing.caches.items()
        if (identity.namespace, identity.cache, identity.cluster) == (namespace, name, cluster)
    }
    same = [index for index, shape in sorted(copies.items()) if shape == digest]
    return same[0] if same else next(index for index in count() if index not in copies)
