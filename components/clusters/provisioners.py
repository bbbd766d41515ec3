"""Which StorageClasses make volumes that many nodes can write at once, by their provisioner. PURE.

A class does not say its access modes; the driver that it names does.
"""

from collections.abc import Mapping
from typing import Final

SHARED: Final[Mapping[str, str]] = {
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

ONE_NODE: Final[Mapping[str, str]] = {
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

NONE: Final = "kubernetes.io/no-provisioner"
"""The name of no provisioner: volumes of such a class are made by hand."""
