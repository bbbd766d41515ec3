"""Fleets for tests of components: small, valid, and changed by keyword."""

from collections.abc import Iterable, Mapping
from typing import Any

from components.api.environment import Environment
from components.api.fleet import Fleet
from components.api.frozen import FrozenDict
from components.api.inference_class import InferenceClass
from components.api.inference_cluster import InferenceCluster

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: edge
contexts: [{name: edge, context: {cluster: edge, user: admin}}]
clusters: [{name: edge, cluster: {server: "https://edge.test:6443"}}]
users: [{name: admin, user: {token: sample-token-4711}}]
"""
"""A kubeconfig whose token must never be seen outside a secret."""

TOKEN = "sample-token-4711"

GPU = {
    "name": "gpu",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 8,
    "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}, "serial": {"int": 2**60}},
    "capacity": {"memory": {"value": "81559Mi"}},
}
NIC = {"name": "nic", "driver": "nic.nvidia.com", "claim": "Synthetic", "attributes": {"fast": {"bool": True}}}


def hardware(
    name: str = "h100",
    *,
    instance_type: str = "p5.48xlarge",
    disk: int = 200,
    devices: Iterable[Mapping[str, Any]] = (GPU,),
) -> InferenceClass:
    """Return a class of EKS nodes."""
    recipe = {
        "provider": "EKS",
        "eks": {"instanceType": instance_type, "diskSizeGb": disk, "accelerator": {"type": "H100", "count": 8}},
    }
    return InferenceClass.model_validate(
        {
            "apiVersion": "berth.dev/v1alpha1",
            "kind": "InferenceClass",
            "metadata": {"name": name},
            "spec": {"provisioning": recipe, "devices": list(devices)},
        }
    )


def pool(name: str = "gpu", **changes: Any) -> dict[str, Any]:
    """Return a node pool of two nodes in one zone; None drops a field."""
    spec = {"name": name, "className": "h100", "nodeCount": 2, "zones": ["us-east-1a"], **changes}
    return {key: value for key, value in spec.items() if value is not None}


def eks(
    name: str = "east",
    *,
    pools: Iterable[Mapping[str, Any]] | None = None,
    source: Mapping[str, Any] | None = None,
    **spec: Any,
) -> InferenceCluster:
    """Return an EKS cluster in us-east-1 with one pool."""
    return _cluster(
        name,
        {"source": "EKS", "eks": {"region": "us-east-1", **(source or {})}},
        [pool()] if pools is None else pools,
        spec,
    )


def existing(
    name: str = "edge",
    *,
    pools: Iterable[Mapping[str, Any]] = (),
    source: Mapping[str, Any] | None = None,
    **spec: Any,
) -> InferenceCluster:
    """Return an existing cluster without pools."""
    block = {"secretRef": {"name": name}, "region": "eu-west-1", "kubernetesVersion": "1.35", **(source or {})}
    return _cluster(name, {"source": "Existing", "existing": block}, pools, spec)


def fleet(
    *clusters: InferenceCluster, classes: Iterable[InferenceClass] | None = None, name: str = "dev", **environment: Any
) -> Fleet:
    """Return a fleet of these clusters; ``environment`` is the Environment's spec in camelCase."""
    known = [hardware()] if classes is None else classes
    return Fleet(
        environment=Environment.model_validate(
            {
                "apiVersion": "berth.dev/v1alpha1",
                "kind": "Environment",
                "metadata": {"name": name},
                "spec": environment,
            }
        ),
        classes=FrozenDict({each.name: each for each in sorted(known, key=lambda each: each.name)}),
        clusters=FrozenDict({each.name: each for each in sorted(clusters, key=lambda each: each.name)}),
    )


def _cluster(
    name: str, source: Mapping[str, Any], pools: Iterable[Mapping[str, Any]], spec: Mapping[str, Any]
) -> InferenceCluster:
    body: dict[str, Any] = {"cluster": dict(source), **spec}
    if pools := list(pools):
        body["nodePools"] = pools
    labels = {"tier": "prod", "zone": "a"}
    return InferenceCluster.model_validate(
        {
            "apiVersion": "berth.dev/v1alpha1",
            "kind": "InferenceCluster",
            "metadata": {"name": name, "labels": labels},
            "spec": body,
        }
    )
