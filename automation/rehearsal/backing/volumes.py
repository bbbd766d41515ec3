"""Stand-in for the drivers of volumes: a claim gets a volume where the driver of its StorageClass would make one.

The volume is a name and nothing more, and goes with its claim. A claim that no driver would serve waits, as on a real
cluster, and an Event says why: ours, or Kubernetes' own where the class is not there. Limit: of a driver that is not in
``components.clusters.provisioners`` nobody here knows whether its volumes are shared, so a claim that wants one waits.
"""

import hashlib
from datetime import UTC, datetime
from typing import Final

from automation.rehearsal.backing import charts
from automation.rehearsal.kubernetes.api import Api, ApiError
from automation.rehearsal.kubernetes.nodes import Object
from components.clusters.provisioners import NONE, ONE_NODE, SHARED

_CLAIMS: Final = "/api/v1/persistentvolumeclaims"
_CLASSES: Final = "/apis/storage.k8s.io/v1/storageclasses"
_VOLUMES: Final = "/api/v1/persistentvolumes"
_VOLUME: Final = "stand-in-"
_MANY_NODES: Final = "ReadWriteMany"
_ON_FIRST_USE: Final = "WaitForFirstConsumer"
_CHOSEN_NODE: Final = "volume.kubernetes.io/selected-node"
"""What the scheduler writes on a claim whose volume is made for its first pod."""


def provision(api: Api) -> None:
    """Give volumes to the claims that drivers would give some, and take those whose claims are gone."""
    waiting = [each for each in api.items(_CLAIMS, cached=True) if _waits(each)]
    classes = {each["metadata"]["name"]: each for each in api.items(_CLASSES, cached=True)} if waiting else {}
    for claim in waiting:
        # Kubernetes' own controller says that a class is not there, or that none is named.
        found = classes.get(claim["spec"].get("storageClassName", ""))
        if found and found["provisioner"] != NONE:
            _serve(api, claim, found)
    for each in api.items(_VOLUMES, cached=True):
        name = each["metadata"]["name"]
        if name.startswith(_VOLUME) and each["status"].get("phase") == "Released":
            api.delete(f"{_VOLUMES}/{name}")


def _waits(claim: Object) -> bool:
    bound = claim["status"].get("phase") == "Bound" or claim["spec"].get("volumeName")
    return not bound and "deletionTimestamp" not in claim["metadata"]


def _serve(api: Api, claim: Object, storage_class: Object) -> None:
    why = _refusal(claim, storage_class["provisioner"])
    annotations = claim["metadata"].get("annotations", {})
    if why:
        _complain(api, claim, why)
    elif storage_class.get("volumeBindingMode") != _ON_FIRST_USE or _CHOSEN_NODE in annotations:
        charts.ensure(api, _VOLUMES, _volume(claim))


def _refusal(claim: Object, provisioner: str) -> str:
    """Say why a driver gives no volume of the access modes that a claim wants; empty when it does."""
    if _MANY_NODES not in claim["spec"]["accessModes"] or provisioner in SHARED:
        return ""
    name = claim["spec"]["storageClassName"]
    if provisioner in ONE_NODE:
        return f"{name} makes volumes of {ONE_NODE[provisioner]} ({provisioner}), which do not support {_MANY_NODES}"
    return f"{name} is made by {provisioner}, of which the stand-in does not know whether it supports {_MANY_NODES}"


def _volume(claim: Object) -> Object:
    metadata, spec = claim["metadata"], claim["spec"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{_VOLUME}{metadata['uid']}"},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "storageClassName": spec["storageClassName"],
            "hostPath": {"path": "/nonexistent"},
            "claimRef": _reference(claim),
        },
    }


def _complain(api: Api, claim: Object, why: str) -> None:
    """Write the Event that a driver's provisioner would, once."""
    metadata, now = claim["metadata"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = hashlib.sha256(f"{metadata['uid']}/{why}".encode()).hexdigest()[:16]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{digest}", "namespace": metadata["namespace"]},
        "involvedObject": _reference(claim),
        "type": "Warning",
        "reason": "ProvisioningFailed",
        "message": f"failed to provision volume: {why}",
        "source": {"component": "berth-stand-in"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    try:
        charts.ensure(api, f"/api/v1/namespaces/{metadata['namespace']}/events", event)
    except ApiError as error:
        if not error.status:
            raise
        # Its namespace goes, and takes no events.


def _reference(claim: Object) -> Object:
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
