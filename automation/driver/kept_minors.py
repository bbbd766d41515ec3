"""Refuses versions of Kubernetes that no control plane on this machine would have, before anything is made.

The cloud of a backed run is simulated and would give a cluster any version; the API server behind it is real, and
judges selectors by its own. The keeper starts the minor that a manifest says, if its programs are there, and a control
plane that runs stays what it is.
"""

from collections.abc import Collection, Iterator

from automation.driver.session import Session
from automation.rehearsal.backing.door import RECORD, Door, KeeperRefused, NotKept
from automation.rehearsal.backing.minors import lacking, remedy
from automation.scheduling.existing import Existing
from components.api.fleet import Fleet
from components.api.inference_cluster import InferenceCluster
from components.checks.versions import minor_words
from components.errors import ConfigError, Problem, UsageError

_BACKED_SOURCE = "EKS"
"""The source of clusters that have a control plane on this machine in backed runs."""


def refuse_minors(session: Session, fleet: Fleet, existing: Existing) -> None:
    """Raise ConfigError when a backed run could not give a cluster the version that its manifest says.

    Raises UsageError when nobody keeps control planes.
    """
    if not _is_asked(session, fleet):
        return
    problems = tuple(minor_problems(fleet, existing, _kept(session)))
    if problems:
        raise ConfigError(problems)


def minor_problems(fleet: Fleet, existing: Existing, kept: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with versions of clusters, when the programs of the minors ``kept`` are at hand."""
    for name, manifest in fleet.clusters.items():
        wanted = minor_words(manifest.kubernetes_version)
        if not wanted or not _is_backed(manifest):
            continue
        known = existing.clusters.get(name)
        running = minor_words(known.kubernetes_version) if known else ""
        stands = f"the manifest of cluster {name} {manifest.version_verb} Kubernetes {wanted}"
        problem = None
        if running and running != wanted:
            problem = Problem(
                "backed-kubernetes-upgrade",
                f"{stands}, and the control plane behind it has {running}: in a backed run it stays what it is",
                allowed=running,
                help=f'write `kubernetesVersion: "{running}"`; to try {wanted}, add a cluster under another name, or'
                " `berth destroy --backed` and begin again",
            )
        elif not running and wanted not in kept:
            problem = Problem(
                "backed-kubernetes-missing",
                f"{stands}, {lacking(wanted)}: in a backed run it would be a control plane on this machine",
                allowed=", ".join(kept),
                help=remedy(wanted, kept),
            )
        if problem:
            yield fleet.at_cluster_field(name, manifest.version_path, problem)


def _is_asked(session: Session, fleet: Fleet) -> bool:
    return session.workspace.backed and any(map(_is_backed, fleet.clusters.values()))


def _is_backed(manifest: InferenceCluster) -> bool:
    return manifest.source == _BACKED_SOURCE and not manifest.spec.lost


def _kept(session: Session) -> Collection[str]:
    try:
        return list(Door(session.workspace.layout.simulated / RECORD).ask("minors")["minors"])
    except (NotKept, KeeperRefused) as error:
        raise UsageError(
            f"the keeper of control planes does not say which Kubernetes it can start: {error}",
            consequence="Nothing was changed.",
            help="end `berth backing` where it runs (Ctrl-C), and start it again",
        ) from error
