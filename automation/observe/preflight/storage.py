"""Whether caches can be staged: a StorageClass whose volumes many nodes can mount at the same time."""

from collections.abc import Mapping, Sequence
from typing import Final

from automation.engine.toolchain.finding import Check, Status
from automation.observe.api import Object
from automation.observe.preflight.wanted import Wanted
from automation.render.text import listed

_SHARED: Final[Mapping[str, str]] = {
    "csi.weka.io": "WEKA",
    "efs.csi.aws.com": "Amazon EFS",
    "file.csi.azure.com": "Azure Files",
    "filestore.csi.storage.gke.io": "Filestore",
    "fsx.csi.aws.com": "FSx for Lustre",
    "lustre.csi.storage.gke.io": "Managed Lustre",
    "nfs.csi.k8s.io": "NFS",
    "cephfs.csi.ceph.com": "CephFS",
    "rook-ceph.cephfs.csi.ceph.com": "CephFS",
}
"""Provisioners of file systems that many nodes mount, by the name that their CSI drivers register (their own
documentation, 2026-11). Azure Files is that by SMB and NFS."""

_ONE_NODE: Final[Mapping[str, str]] = {
    "block.csi.vultr.com": "Vultr block storage",
    "disk.csi.azure.com": "Azure Disk",
    "ebs.csi.aws.com": "Amazon EBS",
    "ebs.csi.eks.amazonaws.com": "Amazon EBS",
    "kubernetes.io/aws-ebs": "Amazon EBS",
    "pd.csi.storage.gke.io": "Compute Engine disks",
    "rancher.io/local-path": "local disks",
    "rbd.csi.ceph.com": "Ceph block devices",
    "rook-ceph.rbd.csi.ceph.com": "Ceph block devices",
}
"""Provisioners of disks, which one node mounts for writing."""

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
    if provisioner in _ONE_NODE:
        fix = "name a class of a file system that many nodes mount (NFS, CephFS, the cloud's file service)"
        found = f"{name} makes volumes of {_ONE_NODE[provisioner]}, which one node mounts"
        return Check(_CHECK, Status.PROBLEM, found, _SHARED_ACCESS, fix)
    if provisioner in _SHARED:
        return Check(_CHECK, Status.OK, f"{name} ({_SHARED[provisioner]})", _SHARED_ACCESS)
    found = f"{name} is made by {provisioner}, of which Berth does not know whether many nodes mount its volumes"
    fix = f"make a claim of {name} with ReadWriteMany once and see"
    return Check(_CHECK, Status.WARNING, found, _SHARED_ACCESS, fix)


def _unnamed(wanted: Wanted, there: Mapping[str, str]) -> Check:
    if not wanted.cached:
        return Check(_CHECK, Status.OK, "none is named, and no cache wants one")
    found = f"none, so nothing is staged here: {listed(wanted.cached)}"
    if wanted.provisioned:
        return Check(_CHECK, Status.WARNING, found, _SHARED_ACCESS, "its cloud has no shared storage: cache elsewhere")
    name = min((each for each, provisioner in there.items() if provisioner in _SHARED), default="NAME")
    fix = f"cache: {{storageClassName: {name}}} under spec.cluster.existing of its manifest"
    return Check(_CHECK, Status.WARNING, found, _SHARED_ACCESS, fix)


def _missing(wanted: Wanted, name: str, there: Mapping[str, str], *, built: bool) -> Check:
    if wanted.provisioned and not built:
        return Check(_CHECK, Status.OK, f"{name} comes with the cluster")
    fix = f"it has: {', '.join(sorted(there)) or 'none'}; name a shared one in spec.cluster.existing.cache"
    if wanted.provisioned:
        fix = f"berth up -e {wanted.environment} restores it"
    return Check(_CHECK, Status.PROBLEM, f"there is no {name}", name, fix)
