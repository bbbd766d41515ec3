"""What machines read: one document each, with the same facts as the page for people."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from automation.render.observation import in_short
from automation.render.plan import plan_lines
from automation.render.problems import error_json, problem_json, problem_lines, summary
from automation.render.text import cells, plain, visible
from automation.render.views import PlanView, ResourceView, View
from automation.scheduling.observation import ForeignPod, PoolObservation
from components.errors import ConfigError, Problem, Severity, UsageError
from tests.support.sample_views import DESTROYED, DRIFT, EXPLANATION, NOTHING, OBSERVATION, PLAN, PREFLIGHT, STATUS, UP

DOCUMENTS = (PLAN, NOTHING, STATUS, EXPLANATION, DRIFT, UP, DESTROYED, PREFLIGHT, OBSERVATION)
WARNING = Problem("old", "older", file="a.yaml", severity=Severity.WARNING)


@pytest.mark.parametrize("view", DOCUMENTS, ids=lambda view: type(view).__name__)
def test_a_document_says_what_it_is_and_reads_back(view: View) -> None:
    """Version and kind first; nothing is lost on the way."""
    document = view.to_json()
    assert list(document)[:2] == ["apiVersion", "kind"]
    assert document["apiVersion"] == "berth.dev/output/v1"
    assert type(view).model_validate(document) == view


def test_keys_are_spelled_as_in_kubernetes() -> None:
    """Camel case, at every depth."""

    def keys(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [*value, *(key for each in value.values() for key in keys(each))]
        return [key for each in value for key in keys(each)] if isinstance(value, list) else []

    assert not [key for key in keys(PLAN.to_json()) if "_" in key]


def test_a_document_refuses_what_it_does_not_know() -> None:
    """A misspelt field of ours is found by the first test that makes one."""
    with pytest.raises(ValidationError):
        PlanView(environment="dev", simulated=False, empty=True, placement=())  # ty: ignore[unknown-argument]


def test_many_resources_are_folded_into_counts() -> None:
    """A page stays readable; the document has them all."""
    many = tuple(
        ResourceView(
            op="create" if number % 3 else "delete", type="kubernetes:core/v1:Secret", name=f"s{number}", stack="d"
        )
        for number in range(60)
    )
    plan = PLAN.model_copy(update={"resources": many})
    text = plain(plan_lines(plan, width=80))
    assert " 40 x kubernetes:core/v1:Secret" in text
    assert " 20 x kubernetes:core/v1:Secret" in text
    assert "s59" not in text
    assert len(plan.to_json()["resources"]) == 60


def test_a_problem_leaves_out_what_is_not_known() -> None:
    """So that a reader can tell no line from line 0."""
    assert problem_json(WARNING) == {"code": "old", "severity": "warning", "message": "older", "file": "a.yaml"}


@pytest.mark.parametrize("column", [1, 80, 1001, 19990, 20000])
def test_a_line_without_end_is_shown_around_its_mistake(column: int) -> None:
    """The caret stands under the same letter as in the whole line."""
    text = "".join(chr(97 + at % 26) for at in range(20000))
    head, shown, caret = problem_lines(Problem("c", "m", file="f", line=1, column=column, text=text))
    assert len(shown.plain) < 200
    assert shown.plain[caret.plain.index("^")] == text[column - 1]
    assert head.plain.startswith(f"f:1:{column}: ")


@pytest.mark.parametrize(
    ("before", "columns"), [("a: ", 3), ("\u65e5\u672c: ", 6), ("\U0001f600: ", 4), ("e\u0301: ", 3), ("\t", 1)]
)
def test_the_caret_stands_under_its_letter_whatever_is_before_it(before: str, columns: int) -> None:
    """Terminals give a wide letter two columns, and none to a mark on another."""
    _, shown, caret = problem_lines(Problem("c", "m", file="f", line=1, column=len(before) + 1, text=f"{before}x"))
    assert caret.plain.index("^") == cells(shown.plain.removesuffix("x")) == len("    1 | ") + columns


def test_nothing_that_is_printed_steers_a_terminal() -> None:
    """A manifest is somebody else's text: its controls are shown, and its order stays."""
    assert visible("a\x1b[31m\x07\x7f\x9b\u202eb\tc") == "a\u241b[31m\u2407\u2421\ufffd\ufffdb\tc"
    assert visible("\u65e5\u672c \U0001f600") == "\u65e5\u672c \U0001f600"


def test_an_error_carries_its_problems() -> None:
    """All of them, sorted, with the number that the process ends with."""
    document = error_json(ConfigError([Problem("b", "two", file="b.yaml"), WARNING]))
    assert (document["kind"], document["code"], document["exitCode"]) == ("Error", "config", 2)
    assert [each["file"] for each in document["problems"]] == ["a.yaml", "b.yaml"]
    assert "problems" not in error_json(UsageError("no"))


@pytest.mark.parametrize(
    ("problems", "want"),
    [
        ([], ""),
        ([WARNING], "1 warning"),
        ([Problem("a", "x"), Problem("b", "y"), WARNING], "2 errors, 1 warning"),
    ],
)
def test_a_summary_counts_errors_and_warnings(problems: list[Problem], want: str) -> None:
    """In words, and nothing when there is nothing."""
    assert summary(problems) == want


def test_an_observation_gives_the_scheduler_what_was_counted_and_no_more() -> None:
    """A silent cluster is absent, for whether it answers is asked anew; a pool that nobody could read is not zero."""
    seen = OBSERVATION.seen.clusters
    assert list(seen) == ["eks-euw1", "onprem"]
    assert seen["eks-euw1"].pools["l40s"] == PoolObservation(1, 1, (ForeignPod((("gpu", 2),)),))
    assert (seen["eks-euw1"].kubelet, seen["eks-euw1"].driver) == ("v1.34.2", "580.105.8")
    assert seen["onprem"].pools == {}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (7_199, "119m"), (7_200, "2h"), (172_800, "2d")],
)
def test_ages_are_short(seconds: int, text: str) -> None:
    """As kubectl prints them; a clock that is behind makes nothing younger than now."""
    assert in_short(timedelta(seconds=seconds)) == text
