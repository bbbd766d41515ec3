"""Whether caches can be staged: a StorageClass whose volumes many nodes can mount at the same time."""

from collections.abc import Mapping, Sequence
from typing import Final

from automation.engine.toolchain.finding import Check, Status
from automation.observe.api import Object
from automation.observe.preflight.wanted import Wanted
from automation.render.text import listed
from components.clusters.provisioners import ONE_NODE, SHARED

_CHECK: Final = "storage class"
_SHARED_ACCESS: Final = "ReadWriteMany"


def check_storage(wanted: Wanted, classes: Sequence[Object], *, built: bool) -> Check:
    """Look at the StorageClass that the manifest names. A class does not say its access modes; its provisioner does."""
    name = wanted.storage_class
    there = {str(each["metadata"]["name"]): str(each.get("provisioner") or "") for each in classes}
    if name is None:
        return _unnamed(wanted, there)
    if name not in there:
        return _missing(wanted, name, there, built=built)
    provisioner = there[name]
    if provisioner in ONE_NODE:
        fix = "name a class of a file system that many nodes mount (NFS, CephFS, the cloud's file service)"
        found = f"{name} makes volumes of {ONE_NODE[provisioner]}, which one node mounts"
        return Check(_CHECK, Status.PROBLEM, found, _SHARED_ACCESS, fix)
    if provisioner in SHARED:
        return Check(_CHECK, Status.OK, f"{name} ({SHARED[provisioner]})", _SHARED_ACCESS)
    found = f"{name} is made by {provisioner}, of which Berth does not know whether many nodes mount its volumes"
    fix = f"make a claim of {name} with ReadWriteMany once and see"
    return Check(_CHECK, Status.WARNING, found, _SHARED_ACCESS, fix)


def _unnamed(wanted: Wanted, there: Mapping[str, str]) -> Check:
    if not wanted.cached:
        return Check(_CHECK, Status.OK, "none is named, and no cache wants one")
    found = f"none, so nothing is staged here: {listed(wanted.cached)}"
    if wanted.provisioned:
        return Check(_CHECK, Status.WARNING, found, _SHARED_ACCESS, "its cloud has no shared storage: cache elsewhere")
    name = min((each for each, provisioner in there.items() if provisioner in SHARED), default="NAME")
    fix = f"cache: {{storageClassName: {name}}} under spec.cluster.existing of its manifest"
    return Check(_CHECK, Status.WARNING, found, _SHARED_ACCESS, fix)


def _missing(wanted: Wanted, name: str, there: Mapping[str, str], *, built: bool) -> Check:
    if wanted.provisioned and not built:
        return Check(_CHECK, Status.OK, f"{name} comes with the cluster")
    fix = f"it has: {', '.join(sorted(there)) or 'none'}; name a shared one in spec.cluster.existing.cache"
    if wanted.provisioned:
        fix = f"berth up -e {wanted.environment} restores it"
    return Check(_CHECK, Status.PROBLEM, f"there is no {name}", name, fix)
