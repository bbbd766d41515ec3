"""Values that are not what they seem to be: templates of other tools, and spellings that kubectl reads differently."""

import pytest

from components.api.codes import Code
from components.errors import Severity
from tests.support.api_manifests import Edit, load, pointed

LABEL = "        model: qwen"


@pytest.mark.parametrize(
    ("written", "says", "help_"),
    [
        ('"{{ .Values.image }}"', "Helm template", "helm template"),
        ("vllm/vllm-openai:{{ .Values.tag }}", "Helm template", "helm template"),
        ("vllm/vllm-openai:${TAG}", "placeholder", "envsubst"),
        ("$IMAGE", "placeholder", "envsubst"),
        ("vllm/vllm-openai:$(TAG)", "variable", "command, args and env alone"),
        ("<%= image %>", "template", "render it first"),
        ("<your-image>", "placeholder", "without the `<` and `>`"),
    ],
)
def test_a_value_that_another_tool_fills_in_is_named_as_such(written: str, says: str, help_: str) -> None:
    """Also in quotes, where YAML sees nothing wrong."""
    (problem,) = load(Edit("qwen", "vllm/vllm-openai:v0.23.0", written)).problems
    assert (problem.code, problem.severity) == (Code.TEMPLATE_FILE, Severity.ERROR)
    assert pointed(problem) == written
    assert says in problem.message
    assert help_ in problem.help


def test_a_number_is_filled_in_as_well_and_a_document_is_told_of_once() -> None:
    """The first place of each document stands for all."""
    edits = (Edit("qwen", "replicas: 2", "replicas: ${N}"), Edit("qwen", "name: main", "name: ${E}"))
    (problem,) = load(*edits).problems
    assert (problem.code, problem.path) == (Code.TEMPLATE_FILE, "spec.replicas")


def test_a_placeholder_that_no_rule_refuses_is_warned_of() -> None:
    """Nothing else would be said before a cloud is asked for it."""
    (problem,) = load(Edit("cache", "revision: main", "revision: ${VERSION}")).problems
    assert (problem.code, problem.severity) == (Code.TEMPLATE_FILE, Severity.WARNING)
    assert pointed(problem) == "${VERSION}"


def test_what_a_container_replaces_itself_is_no_template() -> None:
    """Arguments, values of the environment and sentences hold such signs of their own."""
    edits = (
        Edit(
            "qwen",
            "--max-model-len=8192",
            "--max-model-len=$(LENGTH)\n                - '{{ x }}'\n                - ${Y}",
        ),
        Edit("classes", "One NVIDIA L4.", "For <name> and ${NAME}."),
        Edit("edge", "name: edge\n", "name: edge\n  annotations: {a: '{{ b }}'}\n"),
    )
    assert load(*edits).problems == ()


@pytest.mark.parametrize(
    ("edit", "message", "help_"),
    [
        (Edit("qwen", "replicas: 2", "replicas: 010"), "`010` is 10 here, and 8 to kubectl", "write 10, or 8"),
        (Edit("qwen", "replicas: 2", "replicas: 0x2"), "`0x2` is the number 2", "write 2"),
        (Edit("qwen", "replicas: 2", "replicas: 0o2"), "`0o2` is the number 2", "write 2"),
        (Edit("qwen", "replicas: 2", "replicas: 02"), "`02` is the number 2", "write 2"),
        (Edit("qwen", LABEL, f"{LABEL}\n        a: yes"), "`yes` is text here, and true to kubectl", '"yes"'),
        (Edit("qwen", LABEL, f"{LABEL}\n        a: Off"), "`Off` is text here, and false to kubectl", '"Off"'),
        (Edit("qwen", LABEL, f"{LABEL}\n        on: a"), "`on` is text here, and true to kubectl", '"on"'),
        (Edit("qwen", LABEL, f"{LABEL}\n        a: 1_000"), "text here, and the number 1000 to kubectl", '"1_000"'),
        (Edit("qwen", LABEL, f"{LABEL}\n        a: 0b11"), "text here, and the number 3 to kubectl", '"0b11"'),
    ],
)
def test_a_value_that_kubectl_reads_differently_is_warned_of(edit: Edit, message: str, help_: str) -> None:
    """A manifest would mean one thing here and another in the predecessor."""
    result = load(edit)
    (problem,) = result.problems
    assert (problem.code, problem.severity) == (Code.VALUE_AMBIGUOUS, Severity.WARNING)
    assert message in problem.message
    assert help_ in problem.help
    assert result.fleet is not None


@pytest.mark.parametrize("written", ['"yes"', "'010'", "nowhere", "o", "1.5.0", "y1", "0a"])
def test_what_every_reader_takes_for_text_is_no_doubt(written: str) -> None:
    """Quotes decide, and so does a letter that no number has."""
    assert load(Edit("qwen", LABEL, f"{LABEL}\n        a: {written}")).problems == ()


@pytest.mark.parametrize(
    ("written", "help_"),
    [
        ("2.0", "write it without a fraction: 2"),
        ("1e1", "write it without a fraction: 10"),
        ("1_000", "write it without the signs between its digits: 1000"),
        ("1,000", "write it without the signs between its digits: 1000"),
        ("2;", "write the number alone: 2"),
        ("40Gi", "write the number alone: 40"),
        ('"2"', "write it without quotes: 2"),
        ("2.5", ""),
        ("two", ""),
        (".inf", ""),
    ],
)
def test_a_number_that_is_none_is_answered_with_the_one_that_was_meant(written: str, help_: str) -> None:
    """Where one was."""
    (problem,) = load(Edit("qwen", "replicas: 2", f"replicas: {written}")).problems
    assert (problem.code, problem.help) == (Code.TYPE_WRONG, help_)


def test_a_label_without_a_value_is_warned_of() -> None:
    """Of a selector's labels it would make one fewer, so that it chooses more."""
    (problem,) = load(Edit("qwen", "          tier: prod", "          tier: prod\n          gpu:")).problems
    assert (problem.code, problem.severity, pointed(problem)) == (Code.FIELD_IGNORED, Severity.WARNING, "gpu:")
    assert problem.help == 'for an empty text write `gpu: ""`'
    (problem,) = load(Edit("qwen", LABEL, f"{LABEL}\n        a: #b")).problems
    assert problem.help == 'a `#` begins a comment; put the value in quotes: "#b"'
