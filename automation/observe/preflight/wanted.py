"""What a fleet needs of one cluster, by its manifests alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from automation.scheduling.storage import storage_class
from components.api.fleet import Fleet
from components.checks.check_lock import footprint
from components.clusters.pool_facts import PoolFacts
from components.serving.catalogue import load_release
from components.serving.release import VersionRange

_DRIVERS: Final = {"gpu.nvidia.com": "nvidia-dra-driver"}
"""By DRA driver, the component of a release that installs it."""


@dataclass(frozen=True, slots=True)
class WantedPool:
    """One pool; ``nodes`` are those that must be there without anything scaling up."""

    facts: PoolFacts
    nodes: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one cluster must have."""

    cluster: str
    environment: str
    provisioned: bool
    """Whether Berth makes the cluster; then it also makes what is missing."""
    kubernetes: VersionRange
    version: str
    """What the manifest says that it runs; empty when it does not say."""
    pools: tuple[WantedPool, ...]
    groups: Mapping[str, str]
    """By API group, the component of the release that brings its definitions."""
    drivers: Mapping[str, str]
    """By DRA driver, the component of the release that installs it."""
    storage_class: str | None
    cached: tuple[str, ...]
    """The caches that may be staged here."""

    @classmethod
    def of(cls, fleet: Fleet, name: str) -> Self:
        """Read it from the manifests. Raises ConfigError for a release that there is not."""
        manifest = fleet.clusters[name]
        release = load_release(manifest.spec.release or fleet.environment.spec.release)
        parts = release.parts_for(pools=bool(manifest.spec.node_pools))
        pools = tuple(
            WantedPool(facts, facts.min_nodes if manifest.provisioned else pool.node_count)
            for pool, facts in zip(manifest.spec.node_pools, PoolFacts.of_cluster(fleet, name), strict=True)
        )
        covered = [
            f"{namespace}/{cache.name}"
            for (namespace, _), cache in sorted(fleet.caches.items())
            for clusters in [footprint(fleet, cache)]
            if clusters is None or name in clusters
        ]
        installed = {part.name for part in parts}
        return cls(
            cluster=name,
            environment=fleet.name,
            provisioned=manifest.provisioned,
            kubernetes=release.constraints.kubernetes,
            version=manifest.kubernetes_version,
            pools=pools,
            groups={group: part.name for part in parts for group in part.provides},
            drivers={driver: part for driver, part in _DRIVERS.items() if part in installed},
            storage_class=storage_class(manifest),
            cached=tuple(covered) if pools else (),
        )

    def brought(self, groups: Collection[str]) -> Self:
        """Want definitions of these API groups only: of a backed run, whose charts are played and bring no others."""
        return replace(self, groups={group: part for group, part in self.groups.items() if group in groups})
