"""The events of one operation make one result."""

from automation.engine.events import (
    Diagnostic,
    DiagnosticSeverity,
    Event,
    Finished,
    Level,
    Op,
    PolicyFinding,
    PropertyDiff,
    Result,
    StepBegins,
    StepEnds,
    StepFails,
)
from automation.engine.outcome import Transcript
from tests.unit.engine.samples import STACK, preview, step, urn

ROLE = "aws:iam/role:Role"
ERROR = DiagnosticSeverity.ERROR


def error(text: str, about: str = "") -> Diagnostic:
    """Return an error message."""
    return Diagnostic(0, 0, ERROR, text, about)


def finished(result: Result) -> Finished:
    """Return the end of an update."""
    return Finished(0, 0, result, {Op.CREATE: 1}, 2, preview=False)


def test_a_preview_counts_what_began_and_an_update_what_ended() -> None:
    """Something planned that never ended is in the plan; something begun that never ended was not done."""
    begun = step(Op.CREATE, ROLE, "a")
    transcript = Transcript([StepBegins(0, 0, begun, planning=True), finished(Result.FAILED)])
    assert [s.name for s in transcript.preview(STACK, seconds=0).steps] == ["a"]
    assert transcript.applied(STACK, seconds=0).steps == ()


def test_a_refresh_is_what_it_found() -> None:
    """A refresh begins as such and ends as update, deletion or nothing; only the end counts."""
    begins = [StepBegins(0, 0, step(Op.REFRESH, ROLE, name), planning=True) for name in "ab"]
    ends = [StepEnds(0, 0, step(Op.DELETE, ROLE, "a"), planning=True)]
    result = Transcript([*begins, *ends, finished(Result.SUCCEEDED)]).preview(STACK, seconds=0)
    assert [(s.name, s.op) for s in result.steps] == [("b", Op.REFRESH), ("a", Op.DELETE)]
    assert [s.name for s in result.changed] == ["a"]


def test_an_end_keeps_the_differences_of_its_beginning() -> None:
    """Some ends do not repeat the diff that the beginning had."""
    diffs = (PropertyDiff("path", "update-replace"),)
    begun, ended = step(Op.UPDATE, ROLE, "a", diffs=diffs), step(Op.UPDATE, ROLE, "a", id="x")
    events: list[Event] = [StepBegins(0, 0, begun, planning=False), StepEnds(0, 0, ended, planning=False)]
    (only,) = Transcript([*events, finished(Result.SUCCEEDED)]).applied(STACK, seconds=0).steps
    assert (only.diffs, only.id) == (diffs, "x")


def test_failures_gather_their_messages_and_leave_out_the_stack() -> None:
    """A failing resource has each of its messages once; the stack's own "update failed" is no failure of a resource."""
    failing = step(Op.CREATE, ROLE, "a")
    events: list[Event] = [
        StepBegins(0, 0, failing, planning=False),
        error("no room", failing.urn),
        error("no room", failing.urn),
        StepFails(0, 0, failing, awaited=False),
        error("update failed", urn("pulumi:pulumi:Stack", "town-dev")),
        error("bad property", urn(ROLE, "b")),
        finished(Result.FAILED),
    ]
    result = Transcript(events).applied(STACK, seconds=1.5)
    assert [(f.name, f.op, f.messages) for f in result.failures] == [
        ("a", Op.CREATE, ("no room",)),
        ("b", Op.UNKNOWN, ("bad property",)),
    ]
    assert (result.ok, result.seconds, result.changes) == (False, 1.5, {Op.CREATE: 1})
    assert result.steps == ()


def test_a_deferred_rule_is_neither_passed_nor_violated() -> None:
    """The engine's note that a rule could not judge an unknown value stands apart from findings."""
    told = PolicyFinding(
        0, 0, "p", "1", "r", Level.ADVISORY, "", 'can\'t run policy "r" from policy pack "p" during preview'
    )
    real = PolicyFinding(0, 0, "p", "1", "s", Level.MANDATORY, "high", "no")
    report = preview(extra=[told, real], result=Result.FAILED).policies
    assert report.findings == (real,)
    assert report.deferred == (told,)
    assert report.blocking == (real,)


def test_protected_resources_are_refused_and_not_failed() -> None:
    """Both ways in which the engine says it name the resource, whatever the message is about."""
    one, two = urn(ROLE, "a"), urn(ROLE, "b")
    result = preview(
        extra=[
            error(f'unable to replace resource "{one}"\nas it is currently marked for protection.', one),
            error(f'Preview failed: resource "{two}" cannot be deleted\nbecause it is protected.', two),
        ],
        result=Result.FAILED,
    )
    assert result.refused == (one, two)
    assert result.failures == ()


def test_two_deletions_under_one_urn_are_two_steps() -> None:
    """The old halves of two interrupted replacements have the same URN and different ids."""
    steps = [step(Op.DELETE_REPLACED, ROLE, "a", id=identifier) for identifier in ("one", "two")]
    assert len(preview(*steps).steps) == 2


def test_without_a_summary_nothing_is_ok() -> None:
    """An engine that never came to its end has no good result."""
    assert Transcript([]).finished is None
    assert Transcript([]).applied(STACK, seconds=0).ok is False


def test_a_failure_is_blamed_on_a_resource_a_policy_or_nobody() -> None:
    """A program that breaks by itself has nobody else to blame."""
    broken = Transcript([error("python inline source runtime error: oops"), finished(Result.FAILED)])
    assert not broken.blamed
    assert broken.errors == ("python inline source runtime error: oops",)
    assert Transcript([error("no", urn(ROLE, "a")), finished(Result.FAILED)]).blamed
