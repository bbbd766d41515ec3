"""Every identity and every derived name, in one place.

A name that Berth derives is an interface: clusters that the predecessor built carry the same names, Pulumi's state
finds resources by them, and people grep for them. So all of them are made here, are pinned by contract tests, and stay
within the 63 characters of a DNS label. What a name is put on (labels, tags) is not decided here.
"""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

NAME_LIMIT = 63
"""Characters of a DNS label (RFC 1123), the limit of most Kubernetes names."""

SYSTEM_NAMESPACE = "modelplane-system"
"""Namespace of gateways and kubeconfig secrets; the predecessor's, so that existing clusters fit."""

SECRETS_KEY = "berth:secrets"
"""Key of a stack's configuration under which its secrets lie."""
GATEWAYS_KEY = "berth:gateways"
"""The one for the addresses of other stacks' gateways."""
STAGED_KEY = "berth:staged"
"""The one for the caches that are staged."""

_HASH = 5
_LONG_HASH = 10


def short_hash(text: str, *, length: int = _HASH) -> str:
    """Return the first ``length`` hex digits of the SHA-256 of ``text``."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def child_name(*parts: str, length: int = _HASH) -> str:
    """Join ``parts`` with dashes and add a hash of the whole, within 63 characters.

    The predecessor's rule: hash the joined string, cut it to 57 characters, strip trailing dashes, append the hash.
    Two different joined strings may still meet (5 hex digits); whoever assigns names in bulk passes ``length=10``.
    """
    joined = "-".join(parts)
    stem = joined[: NAME_LIMIT - 1 - length].rstrip("-.")
    return f"{stem}-{short_hash(joined, length=length)}"


def bounded_name(name: str, *, limit: int = NAME_LIMIT) -> str:
    """Return ``name`` if it is short enough, else its beginning and a hash of the whole."""
    if len(name) <= limit:
        return name
    return f"{name[: limit - 1 - _LONG_HASH].rstrip('-')}-{short_hash(name, length=_LONG_HASH)}"


@dataclass(frozen=True, slots=True, order=True)
class ReplicaId:
    """Which replica: one copy of a deployment on one cluster.

    ``index`` counts from 0 per deployment and cluster; a free one is reused. Moving a replica is a new identity.
    """

    namespace: str
    deployment: str
    cluster: str
    index: int

    def __str__(self) -> str:
        """Return the logical name of the replica's component: ``<namespace>/<deployment>/<cluster>/<index>``."""
        return f"{self.namespace}/{self.deployment}/{self.cluster}/{self.index}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a logical name back; raises ValueError when it is not one."""
        namespace, deployment, cluster, index = text.split("/")
        return cls(namespace, deployment, cluster, int(index))


@dataclass(frozen=True, slots=True, order=True)
class CacheId:
    """Which staged copy of a cache: one per cluster, and one more per revision that is staged beside an older one."""

    namespace: str
    cache: str
    cluster: str
    index: int

    def __str__(self) -> str:
        """Return the logical name of the cache's component: ``<namespace>/<cache>/<cluster>/<index>``."""
        return f"{self.namespace}/{self.cache}/{self.cluster}/{self.index}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a logical name back; raises ValueError when it is not one."""
        namespace, cache, cluster, index = text.split("/")
        return cls(namespace, cache, cluster, int(index))


@dataclass(frozen=True, slots=True, order=True)
class StackName:
    """The name of a Pulumi stack: an environment, or one cluster's shard of it.

    ``cluster`` is empty for the stack that holds everything (``Single`` layout) or the front doors (``PerCluster``).
    """

    environment: str
    cluster: str = ""

    def __str__(self) -> str:
        """Return ``<environment>`` or ``<environment>.<cluster>``."""
        return f"{self.environment}.{self.cluster}" if self.cluster else self.environment

    @classmethod
    def parse(cls, text: str) -> Self:
        """Split at the first dot; environments and clusters are DNS labels, so neither holds one."""
        environment, _, cluster = text.partition(".")
        return cls(environment, cluster)


def replica_name(replica: ReplicaId, *, taken: Collection[str] = ()) -> str:
    """Return the name of a replica's objects on its cluster, as the predecessor derives it.

    The hash covers deployment, cluster and index but not the namespace. ``taken`` holds the names already in use in
    that namespace: a name that would meet one of them takes 10 hex digits instead of 5. A replica's name is assigned
    once, when it is placed, and kept in the lock, so that a later arrival never renames it.
    """
    identity = f"{replica.deployment}-{replica.cluster}-{replica.index}"
    for length in (_HASH, _LONG_HASH):
        stem = replica.deployment[: NAME_LIMIT - 1 - length].rstrip("-")
        name = f"{stem}-{short_hash(identity, length=length)}"
        if name not in taken:
            return name
    return child_name(replica.deployment, replica.cluster, str(replica.index), length=20)


def workload_name(replica: str, engine: str) -> str:
    """Return the name of an engine's Deployment or LeaderWorkerSet; never equal to the replica's own name."""
    return child_name(replica, engine)


def claim_template_name(replica: str, engine: str, role: str, content: str) -> str:
    """Return the name of a member's ResourceClaimTemplate; it is immutable, so ``content`` is hashed into the name."""
    return child_name(replica, engine, role.lower(), "devices", short_hash(content))


def pool_service_name(replica: str) -> str:
    """Return the name of a replica's InferencePool."""
    return bounded_name(f"{replica}-pool")


def picker_name(replica: str) -> str:
    """Return the name of a replica's endpoint picker and of everything that belongs to it."""
    return bounded_name(f"{replica}-epp")


def cache_claim_name(cache: CacheId) -> str:
    """Return the name of a cache's volume claim; index 0 has the predecessor's name."""
    extra = (str(cache.index),) if cache.index else ()
    return child_name("modelcache", cache.namespace, cache.cache, *extra)


def cache_job_name(cache: CacheId, content: str) -> str:
    """Return the name of a cache's hydration Job; Jobs are immutable, so ``content`` is hashed into it."""
    return child_name("modelcache", cache.namespace, cache.cache, "hydrate", short_hash(content))


def cache_secret_name(cache: CacheId) -> str:
    """Return the name of the Secret that holds a cache's download token while it is staged."""
    return child_name("modelcache", cache.namespace, cache.cache, "auth")


def cluster_name(cluster: str, environment: str) -> str:
    """Return the physical name of a provisioned cluster, unique in its account and region."""
    return child_name(environment, cluster)


_UNSAFE = re.compile(r"[^a-z0-9-]+")


def physical_name(*parts: str, limit: int = NAME_LIMIT, inputs: str = "") -> str:
    """Return a cloud resource's physical name from its logical parts.

    ``inputs`` is a canonical text of the inputs whose change makes the cloud replace the resource; it is hashed into
    the name, because create-before-delete would otherwise collide with its own name.
    """
    stem = _UNSAFE.sub("-", "-".join(parts).lower()).strip("-")
    tail = f"-{short_hash(inputs)}" if inputs else ""
    return bounded_name(stem, limit=limit - len(tail)) + tail
