"""ServingStack: a release as resources on a cluster, in order, and the gateway that goes first."""

from functools import cache
from typing import Any

import pytest

from components.api.fleet import Fleet
from components.clusters.eks.args import EksClusterArgs
from components.clusters.eks.cluster import EksCluster
from components.clusters.eks.identity import aws_provider
from components.clusters.existing.args import ExistingClusterArgs
from components.clusters.existing.cluster import ExistingCluster
from components.serving.catalogue import load_release
from components.serving.gateway import first_address
from components.serving.registry import NO_RULES, Mirror, Registry
from components.serving.stack import ServingStack, ServingStackArgs, StackOutputs
from tests.support.mini_engine import UNKNOWN, ProgramFailed, Recorded, run_program
from tests.support.platforms import KUBECONFIG, eks, existing, fleet, pool

RELEASE = "kubernetes:helm.sh/v3:Release"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"


def _run(
    known: Fleet, *, dry_run: bool = False, registry: Registry = NO_RULES
) -> tuple[Recorded, dict[str, StackOutputs]]:
    built: dict[str, StackOutputs] = {}

    def program() -> None:
        for name, cluster in known.clusters.items():
            if cluster.source == "EKS":
                args = EksClusterArgs.from_spec(known, name, release="default", stack="dev")
                outputs = EksCluster(args, provider=aws_provider(args.identity)).cluster_outputs
            else:
                there = ExistingClusterArgs.from_spec(
                    known, name, release="default", stack="dev", kubeconfig=KUBECONFIG
                )
                outputs = ExistingCluster(there).cluster_outputs
            stack = ServingStackArgs.of_cluster(
                outputs, environment=known.name, release=load_release("default"), registry=registry
            )
            built[name] = ServingStack(stack, cluster=outputs).stack_outputs

    return run_program(program, dry_run=dry_run), built


@cache
def _usual() -> tuple[Recorded, dict[str, StackOutputs]]:
    return _run(fleet(eks(), existing()))


def _stack(name: str = "east") -> list[Any]:
    return [each for each in _usual()[0].resources if each.name.startswith(f"{name}/serving-")]


def test_the_component_is_pinned_and_describes_every_chart() -> None:
    """Token, logical name and the fields that the state keeps are interfaces."""
    recorded, _ = _usual()
    stack = recorded.named("east/serving")
    assert (stack.type, stack.parent) == ("berth:index:ServingStack", recorded.root.urn)
    assert set(stack.inputs) == {"cluster", "release", "components"}
    assert (stack.inputs["cluster"], stack.inputs["release"]) == ("east", "default")
    assert {tuple(sorted(part)) for part in stack.inputs["components"]} == {
        ("chart", "name", "namespace", "repository", "version")
    }
    assert stack.outputs == {**stack.inputs, "gatewayAddress": "east-serving-gateway.lb.test"}


def test_every_chart_of_the_release_is_a_helm_release_with_a_fixed_name() -> None:
    """A generated suffix would overflow labels, and Helm could not find its release again."""
    recorded, _ = _usual()
    for part in load_release("default").components:
        inputs = recorded.named(f"east/serving-{part.name}").inputs
        assert inputs["name"] == f"mp-{part.chart}"
        assert (inputs["version"], inputs["namespace"]) == (part.version, part.namespace)
        if part.repository.startswith("oci://"):
            assert inputs["chart"] == f"{part.repository}/{part.chart}"
            assert "repositoryOpts" not in inputs
        else:
            assert (inputs["chart"], inputs["repositoryOpts"]) == (part.chart, {"repo": part.repository})


def test_a_front_door_gets_no_gpu_parts_and_no_gateway_of_its_own() -> None:
    """No replica can be there, so a second load balancer would only cost money."""
    recorded, built = _usual()
    assert [each.name for each in _stack("edge") if each.type == RELEASE] == [
        "edge/serving-cert-manager",
        "edge/serving-envoy-gateway",
        "edge/serving-prometheus",
    ]
    assert not [each for each in _stack("edge") if "Gateway" in each.type or "CustomResourceDefinition" in each.type]
    assert built["edge"].gateway_address is None
    assert "gatewayAddress" not in (recorded.named("edge/serving").outputs or {})
    assert recorded.named("edge/serving-system-namespace").inputs["metadata"]["name"] == "modelplane-system"


def test_everything_is_put_there_by_the_clusters_provider_and_names_its_owner() -> None:
    """Objects carry owner and environment, so an orphan can be traced."""
    recorded, _ = _usual()
    provider = recorded.named("east-kubernetes").urn
    for each in _stack():
        assert each.provider == provider, each.name
        assert each.parent == recorded.named("east/serving").urn
        if each.type != RELEASE:
            assert each.inputs["metadata"]["labels"]["berth.dev/environment"] == "dev"
            assert each.inputs["metadata"]["annotations"]["berth.dev/owner"] == "east/serving"


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("envoy-gateway", "inference-pools"),
        ("envoy-gateway", "envoy-gateway-namespace"),
        ("ai-gateway", "ai-gateway-definitions"),
        ("ai-gateway", "cert-manager"),
        ("ai-gateway-definitions", "envoy-gateway"),
        ("nvidia-dra-driver", "node-feature-discovery"),
        ("nvidia-dra-driver", "nvidia-dra-driver-quota"),
        ("gateway-class", "envoy-gateway"),
        ("gateway-class", "proxy"),
        ("gateway", "gateway-class"),
        ("gateway", "ai-gateway"),
        ("gateway", "system-namespace"),
    ],
)
def test_what_comes_first_and_so_goes_last(later: str, earlier: str) -> None:
    """A controller reads definitions when it starts; a gateway goes before what would take its load balancer down."""
    recorded, _ = _usual()
    needed = recorded.requires(recorded.named(f"east/serving-{later}"))
    assert recorded.named(f"east/serving-{earlier}").urn in needed


def test_the_gateway_and_its_load_balancer_go_before_the_cluster_and_the_rest_with_it() -> None:
    """The cloud's load balancer blocks the network's deletion: its namespace is awaited, not left to the cluster."""
    recorded, _ = _usual()
    cluster = recorded.named("east-cluster").urn
    explicit = {each.name.removeprefix("east/serving-") for each in _stack() if not each.options.deleted_with}
    assert explicit == {"envoy-gateway", "envoy-gateway-namespace", "gateway", "gateway-class"}
    assert {each.options.deleted_with for each in _stack()} == {"", cluster}
    assert not [each.name for each in _stack("edge") if each.options.deleted_with]


def test_the_gateway_takes_routes_from_every_namespace_and_waits_for_its_address() -> None:
    """Replicas live in their deployments' namespaces, and nothing can use a gateway without an address."""
    recorded, _ = _usual()
    gateway = recorded.one(GATEWAY).inputs
    assert (gateway["metadata"]["name"], gateway["metadata"]["namespace"]) == ("inference-gateway", "modelplane-system")
    assert gateway["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Programmed"
    assert gateway["spec"]["gatewayClassName"] == "envoy"
    assert gateway["spec"]["listeners"] == [
        {"name": "http", "protocol": "HTTP", "port": 80, "allowedRoutes": {"namespaces": {"from": "All"}}}
    ]
    proxy = recorded.named("east/serving-proxy").inputs["spec"]["provider"]["kubernetes"]["envoyService"]
    assert proxy == {"type": "LoadBalancer", "externalTrafficPolicy": "Cluster"}


def test_the_address_is_unknown_in_a_preview_and_then_the_gateways_own() -> None:
    """It comes from the object's status, never from a guess."""
    preview, _ = _run(fleet(eks()), dry_run=True)
    assert (preview.named("east/serving").outputs or {})["gatewayAddress"] is UNKNOWN
    assert first_address({"addresses": [{"value": "1.2.3.4"}, {"value": "5.6.7.8"}]}) == "1.2.3.4"
    assert first_address({"addresses": []}) == first_address(None) == ""


def test_critical_pods_are_allowed_where_the_driver_runs() -> None:
    """Some clouds refuse such pods outside kube-system without a quota, and no GPU would ever be published."""
    recorded, _ = _usual()
    quota = recorded.named("east/serving-nvidia-dra-driver-quota").inputs
    assert (quota["metadata"]["name"], quota["metadata"]["namespace"]) == (
        "allow-critical-pods",
        "dra-driver-nvidia-gpu",
    )
    assert quota["spec"]["hard"] == {"pods": "1000"}
    assert quota["spec"]["scopeSelector"]["matchExpressions"][0]["values"] == [
        "system-node-critical",
        "system-cluster-critical",
    ]


def test_helm_makes_a_namespace_only_where_berth_does_not_own_it() -> None:
    """Two makers of one namespace would each delete it under the other."""
    recorded, _ = _usual()
    owned = {each.inputs["metadata"]["name"] for each in _stack() if each.type == "kubernetes:core/v1:Namespace"}
    assert owned == {"modelplane-system", "envoy-gateway-system", "dra-driver-nvidia-gpu"}
    for each in recorded.of_type(RELEASE):
        if each.name.startswith("east/serving-"):
            assert each.inputs["createNamespace"] is (each.inputs["namespace"] not in owned)


def test_models_do_not_wait_for_the_monitor() -> None:
    """A metrics chart that fails must not keep a replica from being created."""
    names = {each.pulumi_resource_name for each in _usual()[1]["east"].ready}
    assert "east/serving-prometheus" not in names
    assert {"east/serving-gateway", "east/serving-nvidia-dra-driver", "east/serving-inference-pools"} <= names


def test_mirrors_move_charts_and_images_in_resources_and_description() -> None:
    """What the state says is what is fetched."""
    registry = Registry((Mirror("registry.k8s.io", "mirror.test/k8s"), Mirror("charts.jetstack.io", "mirror.test/jet")))
    recorded, _ = _run(fleet(eks()), registry=registry)
    lws = recorded.named("east/serving-leader-worker-set").inputs
    assert lws["chart"] == "oci://mirror.test/k8s/lws/charts/lws"
    assert lws["values"]["image"]["manager"]["repository"] == "mirror.test/k8s/lws/lws"
    described = {part["name"]: part["repository"] for part in recorded.named("east/serving").inputs["components"]}
    assert described["cert-manager"] == "https://mirror.test/jet"


def test_a_cluster_too_old_for_the_release_is_refused_and_a_newer_one_is_warned_about() -> None:
    """Below the minimum something would not work; above the maximum nobody has looked."""
    with pytest.raises(ProgramFailed, match="problem") as caught:
        _run(fleet(eks(source={"kubernetesVersion": "1.33"})))
    assert "ConfigError" in str(caught.value)
    recorded, _ = _run(fleet(eks(source={"kubernetesVersion": "1.37"}, pools=[pool()])))
    assert [line for line in recorded.logs if line.startswith("warning: release default was put together")]
