"""A program made of suspects: clusters, pools, caches and replicas that keep the policies, break them, or lie.

Each is a tiny component with the fleet's type token and description, and the raw resources that a policy compares it
with. What is not said is in order; a test says what is not. ``Scene`` is used inside a program, and registers at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
from pulumi_kubernetes.apps.v1 import Deployment
from pulumi_kubernetes.core.v1 import Namespace, PersistentVolumeClaim
from pulumi_kubernetes.helm.v3 import Release
from pulumi_kubernetes.resource.v1 import ResourceClaimTemplate
from pulumi_kubernetes.storage.v1 import StorageClass

from tests.support.simulated import kubeconfig

GPU = "gpu.nvidia.com"
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
RAW_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
TOLERATION: Any = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
DIGEST = "sha256:c"


class Scene:
    """One run of the program. Every cluster is an EKS cluster, so nothing about it is known before it is made."""

    def __init__(self) -> None:
        """Register what all clusters share: a network and a role."""
        self._cloud = aws.Provider("aws", region="us-east-1")
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=self._on_aws())
        self._subnets = [
            aws.ec2.Subnet(
                f"subnet-{zone}",
                vpc_id=vpc.id,
                cidr_block=f"10.0.{16 * index}.0/20",
                availability_zone=f"us-east-1{zone}",
                opts=self._on_aws(),
            ).id
            for index, zone in enumerate("ab")
        ]
        self._shared_role = self._role("role")
        self._laters = 0
        self._providers: dict[str, k8s.Provider] = {}
        self._clusters: dict[str, aws.eks.Cluster] = {}
        self._ready: dict[str, list[pulumi.Resource]] = {}

    def _on_aws(self, parent: pulumi.Resource | None = None) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(provider=self._cloud, parent=parent)

    def _role(self, name: str) -> aws.iam.Role:
        return aws.iam.Role(name, name=name, assume_role_policy="{}", opts=self._on_aws())

    def later(self, value: Any) -> pulumi.Output[Any]:
        """Return a value that nobody knows before the update: it depends on something new."""
        self._laters += 1
        return self._role(f"later-{self._laters}").unique_id.apply(lambda _: value)

    def _on(self, cluster: str, parent: pulumi.Resource | None = None) -> pulumi.ResourceOptions:
        ready = self._ready.get(cluster)
        return pulumi.ResourceOptions(provider=self._providers[cluster], parent=parent, depends_on=ready)

    def cluster(self, name: str, *, taints: Sequence[Mapping[str, str]] = (), driver: bool = True) -> None:
        """Register a cluster, with the DRA driver."""
        component = _component("EksCluster", name, {"cluster": name, "taints": list(taints)})
        made = aws.eks.Cluster(
            f"{name}-cluster",
            name=name,
            role_arn=self._shared_role.arn,
            vpc_config={"subnet_ids": self._subnets},
            opts=self._on_aws(component),
        )
        self._clusters[name] = made
        self._providers[name] = k8s.Provider(
            f"{name}-kubernetes",
            kubeconfig=pulumi.Output.secret(made.endpoint.apply(kubeconfig)),
            cluster_identifier=name,
            opts=pulumi.ResourceOptions(parent=component),
        )
        namespace = Namespace(f"{name}-ml", metadata={"name": "ml"}, opts=self._on(name))
        StorageClass(f"{name}-efs", metadata={"name": "efs"}, provisioner="efs.csi.aws.com", opts=self._on(name))
        self._ready[name] = [namespace]
        if driver:
            self.chart(f"{name}-driver", name, "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu")

    def chart(self, name: str, cluster: str, chart: str, values: Mapping[str, Any] | None = None) -> None:
        """Install a chart."""
        Release(name, name=name, chart=chart, values=dict(values or {}), namespace="default", opts=self._on(cluster))

    def pool(
        self,
        name: str,
        *,
        cluster: str = "eks",
        nodes: int = 2,
        most: int | None = None,
        taints: Sequence[Mapping[str, str]] = (TAINT,),
        real_taints: Any = (RAW_TAINT,),
        says: Mapping[str, Any] | None = None,
        made: bool = True,
    ) -> None:
        """Register a pool of nodes with four devices each, and its node group unless it is not ``made``."""
        devices = [{"name": "gpu", "deviceClass": GPU, "claim": "DRA", "count": 4}]
        props = {"cluster": cluster, "pool": name, "nodes": nodes, "provisioned": True, "devices": devices}
        component = _component("Pool", f"{cluster}/{name}", {**props, "taints": list(taints)}, says=says)
        if made:
            where = {"cluster": cluster, "pool": name, "parent": component}
            self.nodes(f"{cluster}/{name}-nodes", most=most or nodes, taints=real_taints, **where)

    def nodes(
        self,
        name: str,
        *,
        cluster: str = "eks",
        pool: str,
        most: int = 1,
        taints: Any = (),
        parent: pulumi.Resource | None = None,
    ) -> None:
        """Register a node group of GPU nodes."""
        aws.eks.NodeGroup(
            name,
            cluster_name=self._clusters[cluster].name,
            node_group_name=name.replace("/", "-"),
            node_role_arn=self._shared_role.arn,
            subnet_ids=self._subnets,
            instance_types=["g6.12xlarge"],
            labels={"modelplane.ai/pool": pool, "modelplane.ai/gpu": "l4"},
            taints=list(taints) if isinstance(taints, tuple) else taints,
            scaling_config={"min_size": 1, "desired_size": 1, "max_size": most},
            opts=self._on_aws(parent),
        )

    def cache(
        self, name: str, *, cluster: str = "eks", size: int = 10, storage: Any = "10Gi", staged: bool = True
    ) -> None:
        """Register a staged cache, and its volume claim unless it is not ``staged``."""
        props = {"namespace": "ml", "cache": name, "cluster": cluster, "index": 0, "shapeDigest": DIGEST}
        component = _component("Cache", f"ml/{name}/{cluster}/0", {**props, "shape": {"sizeGiB": size}})
        if staged:
            self.volume(f"ml/{name}/{cluster}/0-volume", name, cluster=cluster, storage=storage, parent=component)

    def volume(
        self,
        name: str,
        cache: str,
        *,
        cluster: str = "eks",
        storage: Any = "10Gi",
        parent: pulumi.Resource | None = None,
    ) -> None:
        """Register a cache's volume claim."""
        PersistentVolumeClaim(
            name,
            metadata={"name": cache, "namespace": "ml", "labels": {"modelplane.ai/modelcache": cache}},
            spec={
                "access_modes": ["ReadWriteMany"],
                "storage_class_name": "efs",
                "resources": {"requests": {"storage": storage}},
            },
            opts=self._on(cluster, parent),
        )

    def replica(
        self,
        name: str,
        pool: str,
        *,
        cluster: str = "eks",
        pods: int = 1,
        devices: int = 1,
        real_devices: Any = None,
        real_cluster: str = "",
        cache: str = "",
        reads: str | None = None,
        pod: Mapping[str, Any] | None = None,
        owned: bool = True,
        **props: Any,
    ) -> None:
        """Register a replica of one engine, its claim template and its workload.

        ``reads`` is the cache that its pods mount, ``pod`` is added to their specification; the rest are properties.
        """
        identity = f"ml/{name}/{cluster}/0"
        description = {
            "namespace": "ml",
            "deployment": name,
            "cluster": cluster,
            "index": 0,
            "phase": "Serving",
            "shape": _shape(pods, devices, cache),
            "placement": _placement(pool),
            "tolerations": [],
            "cacheFootprint": None,
            **props,
        }
        component = _component("Replica", identity, description)
        where = self._on(real_cluster or cluster, component if owned else None)
        request: Any = {"device_class_name": GPU, "count": devices if real_devices is None else real_devices}
        ResourceClaimTemplate(
            f"{identity}-claims",
            metadata={"name": f"{name}-claims", "namespace": "ml"},
            spec={"spec": {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}},
            opts=where,
        )
        mounted = cache if reads is None else reads
        volumes: Any = [{"name": "cache", "persistent_volume_claim": {"claim_name": mounted}}] if mounted else []
        Deployment(
            f"{identity}-workload",
            metadata={"name": name, "namespace": "ml"},
            spec={
                "replicas": pods,
                "selector": {"match_labels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {
                        "containers": [{"name": "engine", "image": "vllm:1"}],
                        "node_selector": {"modelplane.ai/pool": pool},
                        "tolerations": [TOLERATION],
                        "resource_claims": [{"name": "devices", "resource_claim_template_name": f"{name}-claims"}],
                        "volumes": volumes,
                        **(pod or {}),
                    },
                },
            },
            opts=where,
        )


def _component(
    kind: str, name: str, props: Mapping[str, Any], *, says: Mapping[str, Any] | None = None
) -> pulumi.ComponentResource:
    """Register a component that publishes its description, or ``says`` something else at the end."""
    made = pulumi.ComponentResource(f"berth:index:{kind}", name, dict(props))
    made.register_outputs({**props, **(says or {})})
    return made


def _shape(pods: int, devices: int, cache: str) -> dict[str, Any]:
    member = {
        "role": "Standalone",
        "requests": [{"name": "gpu", "count": devices, "selectors": ["true"]}],
        "template": {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}},
    }
    shape: dict[str, Any] = {"kind": "Replica", "engines": [{"name": "main", "copies": pods, "members": [member]}]}
    return {**shape, "cache": {"name": cache, "shape": DIGEST}} if cache else shape


def _placement(pool: str) -> list[dict[str, Any]]:
    return [{"engine": "main", "members": [{"pool": pool, "claims": [{"request": "gpu", "deviceClass": GPU}]}]}]
