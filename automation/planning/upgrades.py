"""Other versions of Kubernetes than clusters have: which of them no cloud would take, and why.

A control plane goes up one minor at a time and never back, and its nodes may be a few minors behind it. What a manifest
asks against that would fail in the middle of a run, after minutes, on whatever the cloud was asked first; so it is
said before anything is applied. A version that cannot be read (a channel such as ``latest``) is judged by the cloud
alone, and so is a cluster that Berth did not make: nothing is planned for its version.
"""

from collections.abc import Iterator, Mapping

from automation.scheduling.existing import Existing
from automation.scheduling.snapshot import Version
from components.api.fleet import Fleet
from components.checks.versions import NODES_BEHIND, minor_words, minors_between, with_minor
from components.errors import Problem


def version_problems(fleet: Fleet, existing: Existing, seen: Mapping[str, Version]) -> Iterator[Problem]:
    """Yield what is wrong with the versions that manifests ask of clusters that exist.

    ``seen`` are versions of API servers that were observed; they count where they are newer than the state's.
    """
    for name, cluster in existing.clusters.items():
        if not cluster.kubernetes_version or not _is_planned(fleet, name, cluster.source):
            continue
        running, observed = Version(cluster.kubernetes_version), seen.get(name)
        if observed is not None and (minors_between(running.text, observed.text) or 0) > 0:
            running = observed
        yield from version_problems_of(fleet, name, running, cluster.pool_versions)


def version_problems_of(fleet: Fleet, name: str, running: Version, pools: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what is wrong with the version that the manifest of one cluster asks for.

    ``pools`` are the versions of the nodes of its pools.
    """
    manifest = fleet.clusters[name]
    wanted = manifest.kubernetes_version
    step = minors_between(running.text, wanted)
    if step is None or step == 0:
        return
    now, asked, newer = minor_words(running.text), minor_words(wanted), with_minor(running.text, 1)
    stands = f"cluster {name} runs Kubernetes {_words(running)}, and its manifest {manifest.version_verb} {asked}"
    if step < 0:
        back = Problem(
            "kubernetes-downgrade",
            f"{stands}: a control plane never goes back",
            allowed=f"{now} or {newer}",
            help=f'write `kubernetesVersion: "{now}"`; for an older one add a cluster under another name, and mark'
            f" {name} `removing: true` (apiVersion berth.dev/v1alpha1)",
        )
        yield fleet.at_cluster_field(name, manifest.version_path, back)
    elif step > 1:
        skipping = Problem(
            "kubernetes-skips-minor",
            f"{stands}: a control plane goes up one minor at a time",
            allowed=f"{now} or {newer}",
            help=f'write `kubernetesVersion: "{newer}"` and run `berth up`, then the next',
        )
        yield fleet.at_cluster_field(name, manifest.version_path, skipping)
    else:
        for behind in _left_behind(name, asked, pools):
            yield fleet.at_cluster_field(name, manifest.version_path, behind)


def _left_behind(name: str, asked: str, pools: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the pools whose nodes would be too old for a control plane of the version that is asked for."""
    for pool, version in pools.items():
        if (minors_between(version, asked) or 0) > NODES_BEHIND:
            yield Problem(
                "kubernetes-nodes-behind",
                f"cluster {name} cannot go to Kubernetes {asked}: the nodes of its pool {pool} have"
                f" {minor_words(version)}, and nodes may be {NODES_BEHIND} minors behind their control plane",
                allowed=f"{with_minor(version, NODES_BEHIND)} or older",
                help=f"nodes keep the version they were made with: add a pool under another name beside {pool}, take"
                f" {pool} out once its replicas have moved, then upgrade",
            )


def _is_planned(fleet: Fleet, name: str, source: str) -> bool:
    """Whether the manifest of a cluster that exists plans its version."""
    manifest = fleet.clusters.get(name)
    return manifest is not None and manifest.provisioned and not manifest.spec.lost and source in {"", manifest.source}


def _words(running: Version) -> str:
    return str(Version(minor_words(running.text), running.seen))
