"""Which StorageClass of a cluster many nodes can mount, by the cluster's source: where caches can be staged."""

from components.api.inference_cluster import InferenceCluster

SHARED_CLASSES = {
    "EKS": "modelplane-rwx-efs",
    "GKE": "modelplane-rwx",
    "AKS": "modelplane-rwx-fs",
    "Nebius": "modelplane-rwx-fs",
}
"""The classes that Berth makes; the predecessor's names. Vultr has no shared storage."""


def storage_class(cluster: InferenceCluster) -> str | None:
    """Return the name of a cluster's shared StorageClass, known before it exists; None when there is none."""
    existing = cluster.spec.cluster.existing
    if cluster.source == "Existing" and existing is not None and existing.cache is not None:
        return existing.cache.storage_class_name
    return SHARED_CLASSES.get(cluster.source)
