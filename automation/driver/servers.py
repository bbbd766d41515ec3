"""Which API server each existing cluster's kubeconfig leads to, held against the state and against each other.

A kubeconfig is a secret, so only a program sees it, and its engine would take another server for the same cluster:
everything would be made anew there, and what runs on the old one would be forgotten. So every program of the driver
asks here first, before it registers anything. What differs in a kubeconfig beside the server (a rotated credential,
another context) is nobody's business here. No message quotes more of a kubeconfig than the server's address.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from automation.scheduling.existing import Existing
from components.api.codes import Code
from components.api.fleet import Fleet
from components.api.inference_cluster import InferenceCluster
from components.clusters.kubeconfig import Kubeconfig, parse_kubeconfig, server_address
from components.errors import ConfigError, Problem
from components.lock import Lock
from stacks.shard import Shard

_PATH: Final = "spec.cluster.existing.secretRef"


@dataclass(frozen=True, slots=True)
class Servers:
    """What one run knows about the servers of an environment's clusters.

    ``known`` are the servers in the state, by cluster. ``made`` names those of them that Berth made itself: they have
    no kubeconfig that somebody could exchange. Programs of several stacks meet here, one after the other.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    _seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The server and the proxy in each kubeconfig that was looked at, by cluster."""

    @classmethod
    def of(cls, existing: Existing) -> "Servers":
        """Return what the state says."""
        return cls(
            {name: server_address(each.endpoint) for name, each in existing.clusters.items() if each.endpoint},
            frozenset(name for name, each in existing.clusters.items() if each.source not in {"", "Existing"}),
        )

    def require(
        self, fleet: Fleet, lock: Lock, shard: Shard, secrets: Mapping[str, Mapping[str, Any]], *, simulated: bool
    ) -> None:
        """Look at every kubeconfig that the program of ``shard`` uses.

        Raises ConfigError when one leads to another server than the state has for its cluster, or where another
        cluster is; and KubeconfigError when one cannot be read. One that is missing is reported by the program.
        """
        problems: list[Problem] = []
        for entry in lock.platform.clusters:
            manifest = fleet.clusters.get(entry.name)
            if not shard.holds(entry.name) or manifest is None or manifest.spec.lost:
                continue
            found = _kubeconfig(fleet, entry.name, secrets, simulated=simulated)
            if found is None:
                continue
            before = self.known.get(entry.name)
            other = self._other(entry.name, found)
            if before is not None and before != found.server and entry.name not in self.made:
                problems.append(_changed(fleet, entry.name, before, found.server))
            elif other is not None:
                problems.append(_twice(fleet, entry.name, other, found.server))
            self._seen[entry.name] = (found.server, found.proxy)
        if problems:
            raise ConfigError(problems)

    def _other(self, name: str, found: Kubeconfig) -> str | None:
        """Return another cluster that is the same server."""
        same = [each for each, server in self._seen.items() if server == (found.server, found.proxy)]
        same += [each for each in self.made if self.known.get(each) == found.server]
        return next((each for each in same if each != name), None)


def _kubeconfig(
    fleet: Fleet, name: str, secrets: Mapping[str, Mapping[str, Any]], *, simulated: bool
) -> Kubeconfig | None:
    # Late, because most commands run no program, and these bring the SDK.
    from components.clusters.existing.args import ExistingClusterArgs  # noqa: PLC0415 (brings the SDK along)
    from stacks.rehearsal import simulated_server  # noqa: PLC0415 (only in rehearsals)

    if fleet.clusters[name].source != "Existing":
        return None
    secret, key = ExistingClusterArgs.secret_of(fleet, name)
    text = secrets.get(secret, {}).get(key)
    if text is None:
        return Kubeconfig("simulated", simulated_server(name)) if simulated else None
    return parse_kubeconfig(text, where=f"secret {secret}, key {key}")


def _changed(fleet: Fleet, name: str, before: str, now: str) -> Problem:
    place = fleet.place(InferenceCluster.__name__, name)
    return Problem(
        "server-changed",
        f"cluster {name} is at {before}, and its kubeconfig leads to {now} now: that is another cluster",
        place.file,
        place.line,
        path=_PATH,
        help=f"put a kubeconfig for {before} back; add the other cluster under a name of its own, and mark {name}"
        " `removing: true`, or `lost: true` if it is gone for good (apiVersion berth.dev/v1alpha1)",
    )


def _twice(fleet: Fleet, name: str, other: str, server: str) -> Problem:
    place, before = (fleet.place(InferenceCluster.__name__, each) for each in (name, other))
    return Problem(
        Code.CLUSTER_TWICE,
        f"the clusters {other} ({before.file}:{before.line}) and {name} are one: both lead to {server}",
        place.file,
        place.line,
        path=_PATH,
        help="give each its own kubeconfig, or remove one of the two manifests",
    )
