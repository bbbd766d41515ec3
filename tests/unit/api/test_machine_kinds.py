"""The predecessor's machine-made kinds: read with all their rules, and left alone."""

import pytest
import yaml
from jsonschema import Draft202012Validator

from components.api.codes import Code
from components.api.kinds import ALL_KINDS, KINDS, MACHINE_KINDS
from components.api.load import LoadResult
from components.api.schema import schema
from components.errors import Severity
from tests.support.api_manifests import load
from tests.support.machine_manifests import SPECS, document


def read(text: str) -> LoadResult:
    """Load it beside the sample environment."""
    return load(**{"platform/made.yaml": text})


def test_all_fourteen_kinds_of_the_predecessor_are_known() -> None:
    """By the names and short names that its users type."""
    assert {kind: model.SHORT_NAME for kind, model in ALL_KINDS.items() if kind != "Environment"} == {
        "InferenceClass": "icl", "InferenceCluster": "ic", "InferenceGateway": "ig", "ModelCache": "mc",
        "ModelDeployment": "md", "ModelEndpoint": "me", "ModelReplica": "mr", "ModelService": "ms",
        "ServingStack": "ss", "EKSCluster": "eks", "GKECluster": "gke", "AKSCluster": "aks", "NebiusCluster": "mk8s",
        "VultrCluster": "vke",
    }  # fmt: skip
    assert {kind for kind, model in ALL_KINDS.items() if not model.NAMESPACED} == {
        "Environment", "InferenceClass", "InferenceCluster", "InferenceGateway",
    }  # fmt: skip
    assert set(SPECS) == set(MACHINE_KINDS)
    assert not set(KINDS) & set(MACHINE_KINDS)


@pytest.mark.parametrize("kind", SPECS)
def test_a_machine_s_document_is_read_and_left_alone(kind: str) -> None:
    """A dump of the predecessor's control plane does not stop a load, and is no part of the fleet."""
    result = read(document(kind))
    assert [(problem.code, problem.severity) for problem in result.problems] == [(Code.MACHINE_MADE, Severity.WARNING)]
    assert result.fleet is not None
    assert result.fleet.platform_digest() == load().raise_if_errors().platform_digest()


@pytest.mark.parametrize("kind", SPECS)
def test_a_machine_s_kind_has_a_schema(kind: str) -> None:
    """Valid itself, and its sample fits."""
    made = schema(kind)
    Draft202012Validator.check_schema(made)
    assert Draft202012Validator(made).is_valid(yaml.safe_load(document(kind)))


REQUESTS = """\
      deviceRequests:
      - {name: gpu, deviceClassName: gpu.nvidia.com, selectors: [{cel: 'true'}]}
"""
ROWS = [
    ("EKSCluster", "    gpu: {acceleratorType: h100}\n", "", Code.FIELD_MISSING, "spec.nodePools[1].role"),
    ("EKSCluster", "    zones: [us-east-1a]\n", "", Code.ZONE_INVALID, "spec.nodePools[1].role"),
    ("EKSCluster", "name: gpu", "name: system", Code.LIST_DUPLICATE, "spec.nodePools[1].name"),
    ("EKSCluster", "  nodePools:", "  networking: {subnetCidrs: [a]}\n  nodePools:", Code.VALUE_LENGTH,
     "spec.networking.subnetCidrs"),
    ("EKSCluster", "maxNodeCount: 2", "maxNodeCount: 1001", Code.VALUE_OUT_OF_RANGE, "spec.nodePools[0].maxNodeCount"),
    ("EKSCluster", "fabric: EFA", "fabric: {type: EFA}", Code.VALUE_NOT_ALLOWED, "spec.nodePools[1].fabric"),
    ("GKECluster", "acceleratorCount: 8", "acceleratorCount: 17", Code.VALUE_OUT_OF_RANGE,
     "spec.nodePools[0].gpu.acceleratorCount"),
    ("GKECluster", "    zones: [us-central1-a]\n", "", Code.ZONE_INVALID, "spec.nodePools[0].role"),
    ("AKSCluster", "name: gpu", "name: gpu-1", Code.VALUE_INVALID, "spec.nodePools[0].name"),
    ("NebiusCluster", "{type: InfiniBand, infiniband: {fabric: fabric-2}}", "{type: InfiniBand}", Code.BLOCK_MISSING,
     "spec.nodePools[0].fabric.type"),
    ("NebiusCluster", "type: InfiniBand, ", "", Code.FIELD_CONFLICT, "spec.nodePools[0].fabric.infiniband"),
    ("NebiusCluster", "    role: GPU\n", "    role: GPU\n    minNodeCount: 1\n", Code.FIELD_CONFLICT,
     "spec.nodePools[0].minNodeCount"),
    ("VultrCluster", "minNodeCount: 1", "minNodeCount: 0", Code.VALUE_OUT_OF_RANGE, "spec.nodePools[0].minNodeCount"),
    ("VultrCluster", ", maxNodeCount: 2", "", Code.FIELD_CONFLICT, "spec.nodePools[0].minNodeCount"),
    ("ServingStack", "type: Kubeconfig", "type: GoogleApplicationCredentials", Code.FIELD_MISSING, "spec.secrets"),
    ("ServingStack", "protocol: HTTP", "protocol: HTTPS", Code.VALUE_NOT_ALLOWED, "spec.gateway.listeners[0].protocol"),
    ("ServingStack", "[{name: http, port: 80, protocol: HTTP}]",
     "[{name: a, port: 1, protocol: TCP}, {name: a, port: 2, protocol: TCP}]", Code.LIST_DUPLICATE,
     "spec.gateway.listeners[1].name"),
    ("ModelReplica", REQUESTS, "", Code.SELECTOR_EMPTY, "spec.engines[0].members"),
    ("ModelReplica", "    - nodePoolName", "    - role: Worker\n      nodePoolName", Code.ENGINE_SHAPE,
     "spec.engines[0].members"),
    ("ModelReplica", "  - name: main", "  - name: main\n    phase: Decode", Code.ENGINE_SHAPE, "spec.engines[0].phase"),
    ("ModelReplica", "      template", "      worker: {nodes: 1}\n      template", Code.ENGINE_SHAPE,
     "spec.engines[0].members[0].worker"),
    ("ModelReplica", "      - {name: gpu, ", "      - {name: gpu, deviceClassName: a}\n      - {name: gpu, ",
     Code.LIST_DUPLICATE, "spec.engines[0].members[0].deviceRequests[1].name"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "old", "new", "code", "path"), ROWS)
def test_a_machine_s_kind_keeps_its_rules(kind: str, old: str, new: str, code: Code, path: str) -> None:
    """One edit, one problem, at the field."""
    result = read(document(kind, old, new))
    assert [(problem.code, problem.path) for problem in result.problems] == [(code, path)]


def test_the_predecessor_s_versions_are_the_defaults() -> None:
    """What a stack does not say is what the predecessor installs."""
    stack = ALL_KINDS["ServingStack"].model_validate(yaml.safe_load(document("ServingStack")))
    dumped = stack.model_dump(by_alias=True)["spec"]
    assert dumped["nvidiaDriverRoot"] == "/"
    assert dumped["versions"] == {
        "gatewayApi": "v1.5.1", "certManager": "v1.17.1", "envoyGateway": "v1.8.1", "prometheus": "72.6.2",
        "leaderWorkerSet": "v0.8.0", "nodeFeatureDiscovery": "0.18.3", "nvidiaDraDriver": "0.4.0",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "kind", "hint"),
    [
        ("infrastructure.modelplane.ai/v1alpha1", "EKSClusters", "did you mean `EKSCluster`?"),
        ("modelplane.ai/v1alpha1", "EKSCluster", "did you mean `infrastructure.modelplane.ai/v1alpha1`?"),
        ("berth.dev/v1alpha1", "ModelReplica", ""),
    ],
)
def test_a_machine_s_kind_under_another_group_is_told_so(version: str, kind: str, hint: str) -> None:
    """Groups and kinds go together."""
    (problem,) = read(f"apiVersion: {version}\nkind: {kind}\n").problems
    assert problem.code in (Code.KIND_UNKNOWN, Code.API_VERSION_UNKNOWN)
    assert problem.help == hint
