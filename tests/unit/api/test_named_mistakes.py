"""The mistakes that everybody makes sooner or later, with the exact place and the exact words of each answer."""

from dataclasses import dataclass

import pytest

from components.api.codes import Code
from components.errors import Severity
from tests.support.api_manifests import NAMES, Edit, load

SELECTOR = """selectors:
              - cel: device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace\""""
PREFILL = """\
      serving: {mode: PrefillDecode}
      engines:
      - name: other
        phase: Prefill
        members:
        - nodeSelector: {devices: [{name: g, selectors: [{cel: 'true'}]}]}
          template: {spec: {containers: [{name: engine, image: a}]}}
      - name: main
        phase: Prefill"""


@dataclass(frozen=True)
class Answer:
    """What is said of one edit of the sample environment: where, and in which words."""

    name: str
    edit: Edit
    line: int
    column: int
    code: Code
    message: str
    help: str = ""
    allowed: str = ""


ANSWERS = [
    Answer(
        "text for a number",
        Edit("east", "nodeCount: 2", 'nodeCount: "2"'),
        17,
        16,
        Code.TYPE_WRONG,
        "nodeCount must be a whole number, and is text",
        help="write it without quotes: 2",
    ),
    Answer(
        "a misspelt field",
        Edit("qwen", "replicas", "repilcas"),
        6,
        3,
        Code.FIELD_UNKNOWN,
        "`repilcas` is not a field of spec",
        help="did you mean `replicas`?",
        allowed="replicas, template, surge, priority, strategy, spot, maxCostPerHour",
    ),
    Answer(
        "a tab indent",
        Edit("qwen", "  replicas", "\treplicas"),
        6,
        1,
        Code.YAML_TAB,
        "a tab indents this line; YAML allows only spaces",
        help="use spaces",
    ),
    Answer(
        "a missing dash",
        Edit("qwen", "      - name: main", "        name: main"),
        24,
        9,
        Code.TYPE_WRONG,
        "engines must be a list, and is a mapping",
        help="begin each item with `- `: `- name: main`",
    ),
    Answer(
        "a missing dash before the second item",
        Edit("east", "  - name: h100", "    name: h100"),
        20,
        5,
        Code.YAML_DUPLICATE_KEY,
        "`name` stands twice in one mapping; the first is on line 15",
        help="does another item begin here? Write `- name: h100`",
    ),
    Answer(
        "the engine's container named otherwise",
        Edit("qwen", "name: engine", "name: vllm"),
        40,
        23,
        Code.NAME_INVALID,
        "the container is named `vllm`; it must be named `engine`",
        allowed="engine",
    ),
    Answer(
        "a worker on a Leader",
        Edit("coder", "- role: Leader", "- role: Leader\n          worker: {nodes: 2}"),
        14,
        11,
        Code.ENGINE_SHAPE,
        "`worker` belongs to role Worker, and the role is Leader",
    ),
    Answer(
        "two prefill engines",
        Edit("coder", "      engines:\n      - name: main", PREFILL),
        11,
        7,
        Code.ENGINE_SHAPE,
        "mode PrefillDecode needs two engines, one of phase Prefill and one of Decode; here: Prefill, Prefill",
    ),
    Answer(
        "a toleration Exists with a value",
        Edit("qwen", "operator: Exists", "operator: Exists\n        value: search"),
        22,
        16,
        Code.TOLERATION_INVALID,
        "a toleration with operator Exists takes no value",
        help="remove it, or write `operator: Equal`",
    ),
    Answer(
        "a label in the reserved prefix",
        Edit("qwen", "        model: qwen", "        modelplane.ai/model: qwen"),
        10,
        9,
        Code.LABEL_RESERVED,
        "labels under `modelplane.ai/` are written by Berth itself",
        help="choose another prefix, or none",
    ),
    Answer(
        "a quantity 80GB",
        Edit("classes", "23034Mi", "80GB"),
        23,
        23,
        Code.QUANTITY_INVALID,
        "`80GB` must be a number and one of Ki Mi Gi Ti Pi Ei (powers of 1024) or k M G T P E (powers of 1000);"
        " `80Gi` perhaps",
    ),
    Answer(
        "a version 9.0",
        Edit("classes", "{version: 8.9.0}", "{version: '9.0'}"),
        21,
        40,
        Code.VERSION_INVALID,
        "`9.0` must be a semantic version: three numbers without leading zeros, `major.minor.patch`; `9.0.0` perhaps",
    ),
    Answer(
        "a version 9.0 without quotes",
        Edit("classes", "{version: 8.9.0}", "{version: 9.0}"),
        21,
        40,
        Code.TYPE_WRONG,
        "version must be text, and is a decimal number",
        help="put it in quotes; `9.0` must be a semantic version: three numbers without leading zeros,"
        " `major.minor.patch`; `9.0.0` perhaps",
    ),
    Answer(
        "an empty selector",
        Edit("qwen", SELECTOR, "selectors:\n              - {}"),
        33,
        17,
        Code.SELECTOR_EMPTY,
        "the selector is empty; it needs a condition in `cel`",
    ),
    Answer(
        "an image with a space",
        Edit("qwen", "vllm-openai:v", "vllm openai:v"),
        41,
        24,
        Code.IMAGE_INVALID,
        "`vllm/vllm openai:v0.23.0` must not hold a space",
    ),
    Answer(
        "a taint effect in lower case",
        Edit("east", "effect: NoSchedule", "effect: noschedule"),
        13,
        44,
        Code.VALUE_NOT_ALLOWED,
        "`noschedule` is not allowed for effect",
        help="did you mean `NoSchedule`?",
        allowed="NoSchedule, NoExecute",
    ),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
def test_a_mistake_is_answered_at_its_place_in_these_words(answer: Answer) -> None:
    """One problem; file, line and column; what is wrong, what is allowed, what was meant."""
    result = load(answer.edit)
    assert result.fleet is None
    (problem,) = result.problems
    assert (problem.file, problem.line, problem.column) == (NAMES[answer.edit.file], answer.line, answer.column)
    assert (problem.code, problem.severity) == (answer.code, Severity.ERROR)
    assert problem.message == answer.message
    assert problem.help == answer.help
    assert problem.allowed == answer.allowed
    assert problem.text.strip()
