"""One verdict from `berth validate` and from the JSON Schemas: on right documents, on mistakes, on their combinations.

A law compares every model with its schema on generated objects; here whole documents are compared, mistake by mistake,
and what JSON Schema cannot say is listed with the reason.
"""

from dataclasses import dataclass
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from automation.render.manifest_schema import manifest_schema
from components.api.kinds import ALL_KINDS
from components.api.load import load_fleet
from components.api.schema import schema
from components.labels import SYSTEM_POOL
from tests.support.api_manifests import OWN, Edit, files
from tests.support.machine_manifests import SPECS, document
from tests.support.model_documents import samples

VALIDATORS: Final = {kind: Draft202012Validator(schema(kind)) for kind in ALL_KINDS}
WHOLE: Final = Draft202012Validator(manifest_schema())

SIMPLE: Final = '"Ada Lovelace"'
IN: Final = "- name: engine\n                "


def fits(found: dict[str, bytes]) -> bool:
    """Whether every document fits its kind's schema, and the one of all manifests."""
    documents = [each for content in found.values() for each in yaml.safe_load_all(content)]
    alone = all(VALIDATORS[each["kind"]].is_valid(each) for each in documents)
    assert alone == all(WHOLE.is_valid(each) for each in documents)
    return alone


def loads(found: dict[str, bytes]) -> bool:
    """Whether `berth validate` finds no error in the documents, each for itself."""
    return not load_fleet(found.items(), name="dev", complete=False).errors


@dataclass(frozen=True)
class Row:
    """Edits of the sample environment, named by what they make of it."""

    name: str
    edits: tuple[Edit, ...]


def row(name: str, file: str, old: str, new: str, *more: Edit) -> Row:
    """Make a row of one edit, or of several."""
    return Row(name, (Edit(file, old, new), *more))


RIGHT: Final = (
    Row("nothing changed", ()),
    row("nothing for a list", "east", "  taints:\n  - {key: reserved, value: search, effect: NoSchedule}\n",
        "  taints:\n"),
    row("nothing for a number", "east", "nodeCount: 2", "nodeCount: null"),
    row("nothing for a block", "qwen", "      serving:\n        mode: Unified", "      serving:"),
    row("nothing for a label", "east", "tier: prod", "tier: prod\n    other:"),
    row("nothing for a choice", "qwen", "operator: Exists", "operator:"),
    row("an empty namespace", "qwen", "  name: qwen\n", "  name: qwen\n  namespace: ''\n"),
    row("a namespace that means nothing", "east", "  name: east\n", "  name: east\n  namespace: No One\n"),
    row("what a server wrote", "qwen", "  name: qwen\n", "  name: qwen\n  uid: 1\n"),
    row("settings of the predecessor's machinery", "qwen", "spec:\n", "spec:\n  crossplane: {a: b}\n"),
    row("a synthetic device of any name", "classes", "linkType:", "link-type:"),
    row("a toleration of everything", "qwen", "      - key: reserved\n        operator: Exists",
        "      - operator: Exists"),
    row("a value that is empty", "qwen", "operator: Exists", "operator: Exists\n        value: ''"),
    row("a request as a number", "qwen", "- name: engine", IN + "resources: {requests: {cpu: 2}}", Edit("qwen", *OWN)),
)  # fmt: skip
"""What both take."""

WRONG: Final = (
    row("text for a number", "east", "nodeCount: 2", 'nodeCount: "2"'),
    row("a misspelt key", "qwen", "replicas: 2", "repilcas: 2"),
    row("the engine's container named otherwise", "qwen", "- name: engine", "- name: vllm"),
    row("two containers", "coder", "containers: [{name: engine",
        "containers: [{name: engine, image: a}, {name: engine"),
    row("a worker on a Leader", "coder", "- role: Leader", "- role: Leader\n          worker: {nodes: 2}"),
    row("a Leader alone", "qwen", "role: Standalone", "role: Leader"),
    row("two Leaders", "coder", "- role: Worker\n          worker: {nodes: 1}", "- role: Leader"),
    row("an engine that asks for nothing", "qwen", "          nodeSelector:\n            devices:",
        "          x:\n            y:"),
    row("a phase without its mode", "qwen", "copies: 1", "phase: Decode"),
    row("a mode without its engines", "qwen", "mode: Unified", "mode: PrefillDecode"),
    row("Exists with a value", "qwen", "operator: Exists", "operator: Exists\n        value: x"),
    row("Equal without a key", "qwen", "      - key: reserved\n        operator: Exists", "      - value: a"),
    row("an empty selector", "coder", "selectors: [{cel: 'device.driver == \"gpu.nvidia.com\"'}]", "selectors: [{}]"),
    row("no selector", "coder", "selectors: [{cel: 'device.driver == \"gpu.nvidia.com\"'}]", "selectors: []"),
    row("a label in the reserved prefix", "qwen", "model: qwen", "modelplane.ai/model: qwen"),
    row("a label that is too long", "qwen", "model: qwen", f"model: {'a' * 64}"),
    row("a label's key with a space", "east", "tier: prod", "a tier: prod"),
    row("a label's key without a name", "east", "tier: prod", "a/: prod"),
    row("a quantity in GB", "classes", "23034Mi", "80GB"),
    row("a version of two numbers", "classes", "8.9.0", "'9.0'"),
    row("an attribute of two types", "classes", "{string: Ada Lovelace}", "{string: Ada, int: 1}"),
    row("an attribute of none", "classes", "{string: Ada Lovelace}", "{string: null}"),
    row("an image with a space", "qwen", "vllm/vllm-openai:v0.23.0", "vllm/vllm openai"),
    row("an image in capitals", "qwen", "vllm/vllm-openai:v0.23.0", "vllm/VLLM:1"),
    row("a taint effect in lower case", "east", "effect: NoSchedule", "effect: noschedule"),
    row("the block of another source", "east", "    eks:\n", "    gke:\n"),
    row("a source without its block", "east", "source: EKS", "source: Nebius"),
    row("an empty block", "east", "    eks:\n      region: us-east-1", "    eks: null"),
    row("a provider without its block", "classes", "provider: EKS", "provider: GKE"),
    row("no DeviceClass", "classes", "    deviceClassName: gpu.nvidia.com\n", ""),
    row("no zones on EKS", "east", "    zones: [us-east-1a]\n", ""),
    row("an empty list of zones on EKS", "east", "zones: [us-east-1a]", "zones: []"),
    row("a zone twice", "east", "zones: [us-east-1a]", "zones: [us-east-1a, us-east-1a]"),
    row("too many nodes", "east", "nodeCount: 2", "nodeCount: 1001"),
    row("the system's pool name", "east", "- name: l4", f"- name: {SYSTEM_POOL}"),
    row("InfiniBand settings without it", "east", "fabric: {type: EFA}",
        "fabric: {type: EFA, infiniband: {fabric: a}}"),
    row("the name of a reservation", "east", "fabric:", "capacityBlock: {capacityReservationId: x}\n    fabric:"),
    row("a gateway without its block", "gateway", "  traefik:\n    version: 40.2.0\n", ""),
    row("MetalLB without addresses", "gateway", "version: 40.2.0", "version: 40.2.0\n    loadBalancer: MetalLB"),
    row("addresses of MetalLB in words", "gateway", "version: 40.2.0",
        "version: 40.2.0\n    loadBalancer: MetalLB\n    metallb: {addressPool: all of them}"),
    row("a variable from two places", "qwen", "                    secretKeyRef:",
        "                    fieldRef: {fieldPath: status.podIP}\n                    secretKeyRef:"),
    row("a variable with value and source", "qwen", "- name: HF_TOKEN", "- name: HF_TOKEN\n                  value: x"),
    row("a field that no variable holds", "qwen", "                    secretKeyRef:\n                      name: hf\n"
        "                      key: token\n", "                    fieldRef: {fieldPath: spec.nodeSelector}\n"),
    row("a cache without its block", "cache", "  huggingFace:\n", "  clusterSelector:\n"),
    row("a repository with a space", "cache", "Qwen/Qwen3-8B", "Qwen/Qwen3 8B"),
    row("a key of a secret with a space", "cache", "{name: hf}", "{name: hf, key: HF TOKEN}"),
    row("a URL without a host", "endpoint", "https://api.together.xyz/", "https:///v1"),
    row("a URL of another scheme", "endpoint", "https://api.together.xyz/", "ftp://a"),
    row("nothing for what is required", "qwen", "replicas: 2", "replicas: null"),
    row("nothing as an item", "environment", "frontDoors: [edge]", "frontDoors: [null]"),
    row("a front door twice", "environment", "frontDoors: [edge]", "frontDoors: [edge, edge]"),
    row("a secret without a namespace", "environment", "layout: Single", "secrets: [hf]"),
    row("an accelerator with a space", "classes", "type: nvidia-l4", "type: nvidia l4"),
    row("a driver in capitals", "classes", "driver: gpu.nvidia.com", "driver: GPU.nvidia.com"),
    row("an attribute with a dash", "classes", "architecture: {", "archi-tecture: {"),
    row("an attribute's domain in capitals", "classes", "architecture: {", "GPU.nvidia.com/architecture: {"),
    row("a version of another cloud", "east", "region: us-east-1",
        "region: us-east-1\n      kubernetesVersion: v1.36.1+3"),
    row("Berth's field under the predecessor's apiVersion", "east", "spec:\n", "spec:\n  removing: true\n"),
    row("the machinery's settings under Berth's", "qwen", "spec:\n", "spec:\n  crossplane: {}\n", Edit("qwen", *OWN)),
    row("two probes in one", "qwen", "- name: engine",
        IN + "livenessProbe: {tcpSocket: {port: 1}, httpGet: {port: 1}}", Edit("qwen", *OWN)),
    row("a liveness of two successes", "qwen", "- name: engine",
        IN + "livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}", Edit("qwen", *OWN)),
    row("a device as a resource", "qwen", "- name: engine",
        IN + "resources: {limits: {nvidia.com/gpu: '1'}}", Edit("qwen", *OWN)),
    row("root that may not be", "qwen", "- name: engine",
        IN + "securityContext: {runAsUser: 0, runAsNonRoot: true}", Edit("qwen", *OWN)),
    row("a volume of two sources", "qwen", "              containers:",
        "              volumes: [{name: a, emptyDir: {}, secret: {secretName: a}}]\n              containers:",
        Edit("qwen", *OWN)),
    row("a sidecar named engine", "qwen", "              containers:",
        "              sidecars: [{name: engine, image: a}]\n              containers:", Edit("qwen", *OWN)),
)  # fmt: skip
"""What both refuse."""

UNSAID: Final = {
    row("a minimum above the maximum", "east", "maxNodeCount: 4", "minNodeCount: 5\n    maxNodeCount: 4"):
        "JSON Schema cannot compare two values",
    row("a zone of another region", "east", "[us-east-1a]", "[eu-west-1a]"): "JSON Schema cannot compare two values",
    row("two pools of one name", "east", "- name: h100", "- name: l4"): "JSON Schema compares whole items only",
    row("a taint twice", "east", "  - {key: reserved, value: search, effect: NoSchedule}\n",
        "  - {key: reserved, value: search, effect: NoSchedule}\n  - {key: reserved, effect: NoSchedule}\n"):
        "JSON Schema compares whole items only",
    row("a mount of no volume", "qwen", "- name: engine",
        IN + "volumeMounts: [{name: a, mountPath: /a}]", Edit("qwen", *OWN)):
        "JSON Schema cannot look a name up elsewhere",
    row("a whole number with a fraction", "qwen", "replicas: 2", "replicas: 2.0"): "JSON has one type of number",
    row("a port that there is not", "endpoint", "api.together.xyz/", "api.together.xyz:99999/"):
        "a pattern is no good at ranges of numbers",
    row("a network that does not begin where it says", "east", "region: us-east-1",
        "region: us-east-1\n      network: {vpcCidr: 10.0.0.1/16}", Edit("east", *OWN)):
        "where a range begins is arithmetic",
    row("an expression that does not compile", "qwen", SIMPLE, "device.nothing"): "JSON Schema knows no CEL",
}  # fmt: skip
"""What only `berth validate` refuses, and why."""


@pytest.mark.parametrize("given", RIGHT, ids=lambda given: given.name)
def test_what_loads_fits(given: Row) -> None:
    """The schemas are no narrower than `berth validate`: nulls, server-written fields and defaults included."""
    found = files(*given.edits)
    assert loads(found)
    assert fits(found)


@pytest.mark.parametrize("given", WRONG, ids=lambda given: given.name)
def test_what_validate_refuses_an_editor_marks(given: Row) -> None:
    """The schemas are no wider either."""
    found = files(*given.edits)
    assert not loads(found)
    assert not fits(found)


@pytest.mark.parametrize("given", UNSAID, ids=lambda given: given.name)
def test_what_json_schema_cannot_say_is_listed(given: Row) -> None:
    """A row that the schemas refuse as well has no place in this list."""
    found = files(*given.edits)
    assert not loads(found), UNSAID[given]
    assert fits(found), UNSAID[given]


def test_every_sample_of_every_kind_fits() -> None:
    """Those that have every field of the predecessor's, and the kinds that machines write."""
    documents: list[Any] = [*samples(), *(yaml.safe_load(document(kind)) for kind in SPECS)]
    for each in documents:
        assert [error.message for error in VALIDATORS[each["kind"]].iter_errors(each)] == []
        assert WHOLE.is_valid(each)
        assert WHOLE.is_valid({"apiVersion": "v1", "kind": "List", "items": [each]})
    assert {each["kind"] for each in documents} == set(ALL_KINDS)
