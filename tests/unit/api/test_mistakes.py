"""The mistakes that people make, one by one: each gives exactly one problem, at its place, that says what is right."""

from dataclasses import dataclass

import pytest

from components.api.codes import Code
from tests.support.api_manifests import OWN, Edit, load, pointed


@dataclass(frozen=True)
class Case:
    """One edit of the valid environment, and the one problem that it must give."""

    name: str
    edits: tuple[Edit, ...]
    code: Code
    at: str
    says: str = ""
    hint: str = ""
    allowed: str = ""


def case(name: str, file: str, old: str, new: str, /, code: Code, at: str, **more: str) -> Case:  # noqa: PLR0917 (a table's row)
    """Make a case of one edit."""
    return Case(name, (Edit(file, old, new),), code, at, **more)


SELECTOR = """selectors:
              - cel: device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace\""""

CASES = [
    case(
        "text for a number",
        "east",
        "nodeCount: 2",
        'nodeCount: "2"',
        Code.TYPE_WRONG,
        '"2"',
        says="nodeCount must be a whole number, and is text",
        hint="write it without quotes: 2",
    ),
    case(
        "misspelt key",
        "qwen",
        "replicas",
        "repilcas",
        Code.FIELD_UNKNOWN,
        "repilcas:",
        says="`repilcas` is not a field of spec",
        hint="did you mean `replicas`?",
        allowed="replicas, template, surge, priority, strategy, spot, maxCostPerHour",
    ),
    case("tab indent", "qwen", "  replicas", "\treplicas", Code.YAML_TAB, "\treplicas", hint="use spaces"),
    case(
        "missing dash",
        "qwen",
        "      - name: main",
        "        name: main",
        Code.TYPE_WRONG,
        "name: main",
        says="engines must be a list, and is a mapping",
        hint="begin each item with `- `: `- name: main`",
    ),
    case(
        "missing dash between items",
        "east",
        "  - name: h100",
        "    name: h100",
        Code.YAML_DUPLICATE_KEY,
        "name: h100",
        hint="does another item begin here? Write `- name: h100`",
    ),
    case(
        "engine container named otherwise",
        "qwen",
        "name: engine",
        "name: vllm",
        Code.NAME_INVALID,
        "vllm",
        says="it must be named `engine`",
    ),
    case(
        "worker on a Leader",
        "coder",
        "- role: Leader",
        "- role: Leader\n          worker: {nodes: 2}",
        Code.ENGINE_SHAPE,
        "worker:",
        says="the role is Leader",
    ),
    Case(
        "two prefill engines",
        (
            Edit(
                "coder",
                "      engines:\n      - name: main",
                "      serving: {mode: PrefillDecode}\n      engines:\n"
                "      - name: other\n        phase: Prefill\n        members:\n        - nodeSelector: {devices: "
                "[{name: g, selectors: [{cel: 'true'}]}]}\n          template: {spec: {containers: [{name: engine, "
                "image: a}]}}\n      - name: main\n        phase: Prefill",
            ),
        ),
        Code.ENGINE_SHAPE,
        "engines:",
        says="here: Prefill, Prefill",
    ),
    case(
        "toleration Exists with a value",
        "qwen",
        "operator: Exists",
        "operator: Exists\n        value: search",
        Code.TOLERATION_INVALID,
        "search",
        says="operator Exists takes no value",
    ),
    case(
        "toleration Equal without a key",
        "coder",
        "{key: reserved, value: search}",
        "{value: search}",
        Code.TOLERATION_INVALID,
        "{value",
        says="needs a key",
        hint="to tolerate everything, write `operator: Exists`",
    ),
    case(
        "label in the reserved prefix",
        "qwen",
        "        model: qwen",
        "        modelplane.ai/model: qwen",
        Code.LABEL_RESERVED,
        "modelplane.ai/model",
        says="written by Berth itself",
    ),
    case("quantity 80GB", "classes", "23034Mi", "80GB", Code.QUANTITY_INVALID, "80GB", says="`80Gi` perhaps"),
    case(
        "version 9.0",
        "classes",
        "{version: 8.9.0}",
        "{version: '9.0'}",
        Code.VERSION_INVALID,
        "'9.0'",
        says="`9.0.0` perhaps",
    ),
    case("version as a number", "classes", "8.9.0", "8.9", Code.TYPE_WRONG, "8.9"),
    case(
        "empty selector",
        "qwen",
        SELECTOR,
        "selectors:\n              - {}",
        Code.SELECTOR_EMPTY,
        "{}",
        says="needs a condition in `cel`",
    ),
    case(
        "no selectors",
        "qwen",
        SELECTOR,
        "selectors: []",
        Code.VALUE_LENGTH,
        "selectors:",
        says="selectors must have at least 1 item, and has 0",
    ),
    case("image with a space", "qwen", "vllm-openai:v", "vllm openai:v", Code.IMAGE_INVALID, "vllm/", says="a space"),
    case(
        "taint effect in lower case",
        "east",
        "effect: NoSchedule",
        "effect: noschedule",
        Code.VALUE_NOT_ALLOWED,
        "noschedule",
        hint="did you mean `NoSchedule`?",
        allowed="NoSchedule, NoExecute",
    ),
    case(
        "source in lower case",
        "east",
        "source: EKS",
        "source: eks",
        Code.VALUE_NOT_ALLOWED,
        "eks",
        hint="did you mean `EKS`?",
    ),
    case(
        "version without quotes",
        "east",
        "region: us-east-1",
        "region: us-east-1\n      kubernetesVersion: 1.30",
        Code.TYPE_WRONG,
        "1.30",
        hint='put it in quotes: "1.30"',
    ),
    case(
        "arguments as text",
        "qwen",
        "args:\n                - --max-model-len=8192",
        "args: --max-model-len=8192",
        Code.TYPE_WRONG,
        "--max",
        hint="write it as an item: `- --max-model-len=8192`",
    ),
    case(
        "field one level too high",
        "qwen",
        "  replicas: 2",
        "  replicas: 2\n  clusterSelector: {}",
        Code.FIELD_UNKNOWN,
        "clusterSelector",
        hint="`clusterSelector` belongs to spec.template.spec",
    ),
    case(
        "snake case",
        "east",
        "nodePools:",
        "node_pools:",
        Code.FIELD_UNKNOWN,
        "node_pools",
        hint="did you mean `nodePools`?",
    ),
    case("key without a value", "east", "region: us-east-1", "region:", Code.FIELD_MISSING, "region:"),
    case(
        "missing field",
        "qwen",
        "                image: vllm/vllm-openai:v0.23.0\n",
        "",
        Code.FIELD_MISSING,
        "name: engine",
        says="`image` is missing in item 0 of containers",
        hint="image: Image reference",
    ),
    case("missing name", "qwen", "metadata:\n  name: qwen", "metadata: {}", Code.FIELD_MISSING, "metadata"),
    case(
        "kind misspelt",
        "qwen",
        "ModelDeployment",
        "ModelDeploymnt",
        Code.KIND_UNKNOWN,
        "ModelDeploymnt",
        hint="did you mean `ModelDeployment`?",
    ),
    case(
        "apiVersion misspelt",
        "qwen",
        "modelplane.ai/v1alpha1",
        "modelplane.ai/v1aplha1",
        Code.API_VERSION_UNKNOWN,
        "modelplane.ai/v1aplha1",
        hint="did you mean `modelplane.ai/v1alpha1`?",
    ),
    case(
        "Berth's field under the predecessor's apiVersion",
        "qwen",
        "  replicas: 2",
        "  replicas: 2\n  surge: {}",
        Code.BERTH_FIELD,
        "surge",
        hint="write `apiVersion: berth.dev/v1alpha1` on line 1",
    ),
    case(
        "too many replicas for the predecessor",
        "qwen",
        "replicas: 2",
        "replicas: 11",
        Code.VALUE_OUT_OF_RANGE,
        "11",
        hint="with `apiVersion: berth.dev/v1alpha1` on line 1 any number is allowed",
    ),
    Case(
        "field that is not supported yet",
        (Edit("qwen", *OWN), Edit("qwen", "  replicas: 2", "  replicas: 2\n  keepOld: 30m")),
        Code.NOT_SUPPORTED_YET,
        "keepOld",
        says="`keepOld` is not supported yet",
    ),
    case("name in capitals", "coder", "name: coder", "name: Coder_1", Code.NAME_INVALID, "Coder_1", says="`coder-1`"),
    case(
        "pool without zones",
        "east",
        "    zones: [us-east-1a]\n",
        "",
        Code.ZONE_INVALID,
        "name: l4",
        says="EKS needs them",
        allowed="us-east-1a, us-east-1b, us-east-1c",
    ),
    case(
        "class that does not exist",
        "east",
        "className: h100x8",
        "className: h100x4",
        Code.REFERENCE_MISSING,
        "h100x4",
        hint="did you mean `h100x8`?",
        allowed="h100x8, l4",
    ),
    case(
        "cache that does not exist",
        "qwen",
        "name: weights",
        "name: weight",
        Code.REFERENCE_MISSING,
        "weight",
        says="there is no ModelCache named `weight` in namespace ml",
        hint="did you mean `weights`?",
    ),
    case(
        "front door that does not exist",
        "environment",
        "[edge]",
        "[edgy]",
        Code.REFERENCE_MISSING,
        "edgy",
        hint="did you mean `edge`?",
    ),
    case(
        "Helm template",
        "qwen",
        "replicas: 2",
        "replicas: {{ .Values.replicas }}",
        Code.TEMPLATE_FILE,
        "{{ .Values",
        hint="render the chart with `helm template`, and keep its output here instead",
    ),
    case(
        "a value that begins with @",
        "qwen",
        "image: vllm",
        "image: @vllm",
        Code.YAML_SYNTAX,
        "@vllm",
        says="may not begin with `@`",
        hint="put the value in quotes",
    ),
    case("a quote that is not closed", "qwen", "name: HF_TOKEN", 'name: "HF_TOKEN', Code.YAML_SYNTAX, '"HF_TOKEN'),
    case(
        "boolean word",
        "qwen",
        "key: token",
        "key: token\n                      optional: yes",
        Code.TYPE_WRONG,
        "yes",
        hint="write it without quotes: true",
    ),
]


@pytest.mark.parametrize("given", CASES, ids=lambda given: given.name)
def test_a_mistake_gives_one_problem_at_its_place(given: Case) -> None:
    """Each mistake is reported once, under the caret, with what would be right."""
    result = load(*given.edits)
    assert result.fleet is None
    assert [problem.code for problem in result.problems] == [given.code], result.problems
    (problem,) = result.problems
    assert pointed(problem).startswith(given.at)
    assert given.says in problem.message
    assert problem.help == given.hint or not given.hint
    assert problem.allowed == given.allowed or not given.allowed
    assert problem.text.strip()


def test_all_problems_of_all_files_come_at_once_and_sorted() -> None:
    """Nothing hides behind another problem, whatever the file."""
    result = load(
        Edit("east", "nodeCount: 2", 'nodeCount: "2"'),
        Edit("east", "effect: NoSchedule", "effect: no"),
        Edit("qwen", "repl", "rpel"),
        Edit("cache", "source: HuggingFace", "source: HuggingFace\n  x: 1"),
        Edit("classes", "23034Mi", "1 G"),
        Edit("environment", "[edge]", "[egde]"),
    )
    assert [(problem.file, problem.code) for problem in result.problems] == [
        ("environment.yaml", Code.REFERENCE_MISSING),
        ("models/ml/cache.yaml", Code.FIELD_UNKNOWN),
        ("models/ml/qwen.yaml", Code.FIELD_UNKNOWN),
        ("platform/classes.yaml", Code.QUANTITY_INVALID),
        ("platform/east.yaml", Code.VALUE_NOT_ALLOWED),
        ("platform/east.yaml", Code.TYPE_WRONG),
    ]


def test_the_valid_environment_has_no_problem() -> None:
    """The ground of the tables is sound: not even a warning."""
    result = load()
    assert result.problems == ()
    assert result.fleet is not None
