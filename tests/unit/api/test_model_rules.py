"""The rules of what ML engineers write: deployments, caches, services, endpoints."""

import pytest

from components.api.codes import Code
from tests.support.api_manifests import OWN, Edit, load

ENGINE = "spec.template.spec.engines[0]"
MEMBER = f"{ENGINE}.members[0]"
CONTAINER = f"{MEMBER}.template.spec.containers[0]"

TOLERATION = "spec.template.spec.tolerations[0]"
TWO_REQUESTS = "            - {name: gpu, selectors: [{cel: 'true'}]}\n            - {name: gpu"
TWO_SOURCES = "                    fieldRef: {fieldPath: status.podIP}\n                    secretKeyRef:"

PREFILL = """\
      serving: {mode: PrefillDecode}
      engines:
      - name: prefill
        phase: Prefill
        members:
        - nodeSelector: {devices: [{name: gpu, selectors: [{cel: 'true'}]}]}
          template: {spec: {containers: [{name: engine, image: a}]}}
      - name: main
        phase: Decode
"""

ROWS = [
    ("qwen", "name: qwen", "name: qwen2.5", Code.NAME_INVALID, "metadata.name"),
    ("qwen", "name: qwen", "name: 4bit", Code.NAME_INVALID, "metadata.name"),
    ("qwen", "name: qwen", f"name: {'a' * 64}", Code.NAME_INVALID, "metadata.name"),
    ("qwen", "replicas: 2", "replicas: 0", Code.VALUE_OUT_OF_RANGE, "spec.replicas"),
    ("qwen", "replicas: 2", "replicas: -1", Code.VALUE_OUT_OF_RANGE, "spec.replicas"),
    ("qwen", "replicas: 2", "replicas: 2.5", Code.TYPE_WRONG, "spec.replicas"),
    ("qwen", "replicas: 2", "replicas: true", Code.TYPE_WRONG, "spec.replicas"),
    ("qwen", "- name: main", "- name: Main_1", Code.NAME_INVALID, f"{ENGINE}.name"),
    ("qwen", "copies: 1", "copies: 65", Code.VALUE_OUT_OF_RANGE, f"{ENGINE}.copies"),
    ("qwen", "copies: 1", "phase: Decode", Code.ENGINE_SHAPE, f"{ENGINE}.phase"),
    ("qwen", "mode: Unified", "mode: PrefillDecode", Code.ENGINE_SHAPE, "spec.template.spec.engines"),
    ("qwen", "role: Standalone", "role: Leader", Code.ENGINE_SHAPE, f"{ENGINE}.members"),
    ("qwen", "role: Standalone", "role: standalone", Code.VALUE_NOT_ALLOWED, f"{MEMBER}.role"),
    ("coder", "role: Leader", "role: Standalone", Code.ENGINE_SHAPE, f"{ENGINE}.members"),
    ("coder", "worker: {nodes: 1}", "worker: {nodes: 64}", Code.VALUE_OUT_OF_RANGE,
     f"{ENGINE}.members[1].worker.nodes"),
    ("coder", "worker: {nodes: 1}", "worker: {}", Code.FIELD_MISSING, f"{ENGINE}.members[1].worker"),
    ("qwen", "- name: gpu\n              count: 1", "- name: GPU\n              count: 1", Code.NAME_INVALID,
     f"{MEMBER}.nodeSelector.devices[0].name"),
    ("qwen", "              count: 1", "              count: 0", Code.VALUE_OUT_OF_RANGE,
     f"{MEMBER}.nodeSelector.devices[0].count"),
    ("coder", "            - {name: gpu", TWO_REQUESTS, Code.LIST_DUPLICATE,
     f"{MEMBER}.nodeSelector.devices[1].name"),
    ("qwen", "app.kubernetes.io/name: qwen", "berth.dev/x: qwen", Code.LABEL_RESERVED,
     f'{MEMBER}.template.metadata.labels["berth.dev/x"]'),
    ("qwen", "app.kubernetes.io/name: qwen", "a/b/c: qwen", Code.LABEL_INVALID,
     f'{MEMBER}.template.metadata.labels["a/b/c"]'),
    ("qwen", "app.kubernetes.io/name: qwen", "a: 'b c'", Code.LABEL_INVALID, f"{MEMBER}.template.metadata.labels.a"),
    ("qwen", "        model: qwen", f"        model: {'x' * 64}", Code.LABEL_INVALID,
     "spec.template.metadata.labels.model"),
    ("qwen", "        model: qwen", "        model: 1", Code.TYPE_WRONG, "spec.template.metadata.labels.model"),
    ("qwen", "labels:\n                app", "annotations:\n                -app", Code.LABEL_INVALID,
     f'{MEMBER}.template.metadata.annotations["-app.kubernetes.io/name"]'),
    ("qwen", "labels:\n                app.kubernetes.io/name: qwen", f"annotations:\n                a: {'x' * 8193}",
     Code.VALUE_LENGTH, f"{MEMBER}.template.metadata.annotations.a"),
    ("qwen", "                    secretKeyRef:", TWO_SOURCES, Code.FIELD_CONFLICT, f"{CONTAINER}.env[0].valueFrom"),
    ("qwen", "name: HF_TOKEN", "name: HF_TOKEN\n                  value: x", Code.FIELD_CONFLICT,
     f"{CONTAINER}.env[0].valueFrom"),
    ("qwen", "name: HF_TOKEN", "name: HF=TOKEN", Code.NAME_INVALID, f"{CONTAINER}.env[0].name"),
    ("qwen", "name: HF_TOKEN", "name: HF_TOKEN\n                  value: 8000", Code.TYPE_WRONG,
     f"{CONTAINER}.env[0].value"),
    ("qwen", "vllm/vllm-openai", "vllm/vLLM-openai", Code.IMAGE_INVALID, f"{CONTAINER}.image"),
    ("coder", '[{name: engine, image: "vllm/vllm-openai:v0.23.0"}]',
     "[{name: engine, image: a}, {name: engine, image: b}]", Code.VALUE_LENGTH, f"{MEMBER}.template.spec.containers"),
    ("qwen", "operator: Exists", "operator: exists", Code.VALUE_NOT_ALLOWED, f"{TOLERATION}.operator"),
    ("qwen", "effect: NoSchedule", "effect: PreferNoSchedule", Code.VALUE_NOT_ALLOWED,
     f"{TOLERATION}.effect"),
    ("cache", "  huggingFace:", "  huggingface:", Code.FIELD_UNKNOWN, "spec.huggingface"),
    ("cache", "source: HuggingFace", "source: Disk", Code.VALUE_NOT_ALLOWED, "spec.source"),
    ("cache", "source: HuggingFace", "source: S3", Code.BERTH_FIELD, "spec.source"),
    ("cache", "repo: Qwen/Qwen3-8B", "repo: $(reboot now)", Code.VALUE_INVALID, "spec.huggingFace.repo"),
    ("cache", "revision: main", "revision: --upload", Code.VALUE_INVALID, "spec.huggingFace.revision"),
    ("cache", "sizeGiB: 40", "sizeGiB: 40Gi", Code.TYPE_WRONG, "spec.huggingFace.sizeGiB"),
    ("cache", "sizeGiB: 40", "sizeGiB: 0", Code.VALUE_OUT_OF_RANGE, "spec.huggingFace.sizeGiB"),
    ("cache", "sizeGiB: 40", "sizeGiB: 100001", Code.VALUE_OUT_OF_RANGE, "spec.huggingFace.sizeGiB"),
    ("cache", "sizeGiB:", "sizeGib:", Code.FIELD_UNKNOWN, "spec.huggingFace.sizeGib"),
    ("service", "weight: 95", "weight: 0", Code.VALUE_OUT_OF_RANGE, "spec.endpoints[0].weight"),
    ("service", "weight: 95", "weight: 1000001", Code.VALUE_OUT_OF_RANGE, "spec.endpoints[0].weight"),
    ("service", "        model: qwen", "        model: 'a b'", Code.LABEL_INVALID,
     "spec.endpoints[0].selector.matchLabels.model"),
    ("endpoint", "https://api.together.xyz/", "api.together.xyz", Code.URL_INVALID, "spec.url"),
    ("endpoint", "https://api.together.xyz/", "https://api.together.xyz:x/", Code.URL_INVALID, "spec.url"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "code", "path"), ROWS)
def test_a_model_document_keeps_its_rules(file: str, old: str, new: str, code: Code, path: str) -> None:
    """One edit, one problem, at the field."""
    found = [problem for problem in load(Edit(file, old, new)).problems if problem.code != Code.REFERENCE_MISSING]
    assert [(problem.code, problem.path) for problem in found] == [(code, path)]


def test_a_cache_without_its_block_names_the_block() -> None:
    """The block named after the source must be there."""
    text = (
        "apiVersion: modelplane.ai/v1alpha1\nkind: ModelCache\nmetadata: {name: weights}\nspec: {source: HuggingFace}\n"
    )
    (problem,) = load(cache=text).problems
    assert (problem.code, problem.path) == (Code.BLOCK_MISSING, "spec.source")
    assert "`huggingFace`" in problem.message


def test_engines_have_different_names() -> None:
    """Two engines of one name are reported at the second, with the first's position."""
    second = PREFILL.replace("name: prefill", "name: main")
    (problem,) = load(Edit("coder", "      engines:\n      - name: main\n", second)).problems
    assert (problem.code, problem.path) == (Code.LIST_DUPLICATE, "spec.template.spec.engines[1].name")
    assert "already item 0" in problem.message


def test_prefill_and_decode_are_two_engines() -> None:
    """The one valid form of split serving."""
    fleet = load(Edit("coder", "      engines:\n      - name: main\n", PREFILL)).raise_if_errors()
    engines = fleet.deployments["ml", "coder"].spec.template.spec.engines
    assert [(engine.name, engine.phase, engine.gang) for engine in engines] == [
        ("prefill", "Prefill", False),
        ("main", "Decode", True),
    ]
    assert [member.pods for member in engines[1].members] == [1, 1]


def test_an_engine_that_asks_for_no_device_is_refused() -> None:
    """At least one member of an engine has a node selector."""
    text = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: cpu}
spec:
  replicas: 1
  template:
    spec:
      engines:
      - name: main
        members:
        - template: {spec: {containers: [{name: engine, image: a}]}}
"""
    (problem,) = load(**{"models/ml/cpu.yaml": text}).problems
    assert (problem.code, problem.path) == (Code.SELECTOR_EMPTY, f"{ENGINE}.members")


def test_a_worker_without_its_block_is_one_node() -> None:
    """The predecessor allows it, and counts one node."""
    fleet = load(Edit("coder", "          worker: {nodes: 1}\n", "")).raise_if_errors()
    assert fleet.deployments["ml", "coder"].spec.template.spec.engines[0].members[1].pods == 1


@pytest.mark.parametrize("replicas", [0, 11, 1000])
def test_berth_s_own_apiversion_has_no_ceiling_of_replicas(replicas: int) -> None:
    """Parked is a healthy state, and a fleet may be large."""
    edits = (Edit("qwen", *OWN), Edit("qwen", "replicas: 2", f"replicas: {replicas}\n  surge: {{allowGap: true}}"))
    spec = load(*edits).raise_if_errors().deployments["ml", "qwen"].spec
    assert (spec.replicas, spec.surge.allow_gap) == (replicas, True)


def test_tolerations_of_every_legal_form_load() -> None:
    """Exists without a key tolerates everything; Equal compares key and value."""
    forms = (
        "[{operator: Exists}, {key: a}, {key: a, value: b, effect: NoExecute}, {key: a, operator: Exists, value: ''}]"
    )
    result = load(Edit("coder", "[{key: reserved, value: search}]", forms))
    assert result.problems == ()


LATER = ["keepOld: 30m", "secrets: [a]"]


@pytest.mark.parametrize("field", LATER)
def test_a_field_whose_work_is_not_built_is_refused(field: str) -> None:
    """Whatever its value: it is never silently ignored."""
    result = load(Edit("qwen", *OWN), Edit("qwen", "replicas: 2", f"replicas: 2\n  {field}"))
    assert [problem.code for problem in result.problems] == [Code.NOT_SUPPORTED_YET]


def test_an_annotation_of_ordinary_length_is_right() -> None:
    """The bound is the predecessor's."""
    edit = Edit("qwen", "labels:\n                app.kubernetes.io/name: qwen", "annotations:\n                a: b")
    assert load(edit).problems == ()
