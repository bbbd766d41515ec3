"""Every kind of raw event becomes its own value; what a newer engine adds is no error."""

from dataclasses import dataclass
from typing import Any

import pytest

from automation.engine.event_json import parse_event, plain
from automation.engine.events import (
    Analysis,
    Closed,
    Diagnostic,
    DiagnosticSeverity,
    EngineFault,
    Event,
    Finished,
    Level,
    Message,
    Op,
    PolicyException,
    PolicyFinding,
    PolicyLoads,
    PolicyRemediation,
    PolicySummary,
    Progress,
    PropertyDiff,
    Result,
    Started,
    StepBegins,
    StepEnds,
    StepFails,
    Unread,
)

URN = "urn:pulumi:dev::town::berth:index:Replica$kubernetes:core/v1:ServiceAccount::ml/a/east/0-workload-main"
PROVIDER = "urn:pulumi:dev::town::pulumi:providers:kubernetes::east-kubernetes"
PARENT = "urn:pulumi:dev::town::berth:index:Replica::ml/a/east/0"


def metadata(**changes: Any) -> dict[str, Any]:
    """Return the metadata of an update, as the engine sends it."""
    state = {
        "type": "kubernetes:core/v1:ServiceAccount",
        "urn": URN,
        "custom": True,
        "id": "default/a-main",
        "parent": PARENT,
        "provider": f"{PROVIDER}::4f9e",
    }
    return {
        "op": "update",
        "urn": URN,
        "type": "kubernetes:core/v1:ServiceAccount",
        "old": {**state, "inputs": {"image": "1"}, "outputs": {}, "protect": True},
        "new": {
            **state,
            "inputs": {"image": "2"},
            "outputs": {"uid": "x"},
            "initErrors": ["<{%fg 1%}>late<{%reset%}>"],
        },
        "detailedDiff": {"image": {"diffKind": "update", "inputDiff": True}, "name": {"diffKind": "update-replace"}},
        "logical": True,
        "provider": f"{PROVIDER}::4f9e",
        **changes,
    }


@dataclass(frozen=True)
class Case:
    """A raw event body and what it must become."""

    name: str
    kind: str
    body: dict[str, Any]
    want: Event


CASES = [
    Case("started", "preludeEvent", {"config": {"b:x": "1", "a:y": "[secret]"}}, Started(7, 99, ("a:y", "b:x"))),
    Case(
        "diagnostic",
        "diagnosticEvent",
        {"urn": URN, "message": "<{%fg 1%}>no room\n<{%reset%}>", "severity": "error", "color": "raw"},
        Diagnostic(7, 99, DiagnosticSeverity.ERROR, "no room", URN),
    ),
    Case(
        "diagnostic-of-a-newer-severity",
        "diagnosticEvent",
        {"message": "hm", "severity": "fatal", "ephemeral": True},
        Diagnostic(7, 99, DiagnosticSeverity.INFO, "hm", "", ephemeral=True),
    ),
    Case(
        "policy",
        "policyEvent",
        {
            "resourceUrn": URN,
            "message": "no",
            "policyName": "gpu-tainted",
            "policyPackName": "berth",
            "policyPackVersion": "1.2",
            "enforcementLevel": "mandatory",
            "severity": "critical",
            "exceptions": [{"id": "EXC-1", "reason": "until May"}],
        },
        PolicyFinding(
            7,
            99,
            "berth",
            "1.2",
            "gpu-tainted",
            Level.MANDATORY,
            "critical",
            "no",
            URN,
            (PolicyException("EXC-1", "until May"),),
        ),
    ),
    Case(
        "policy-advisory-by-its-old-word",
        "policyEvent",
        {"message": "hm", "policyName": "r", "policyPackName": "p", "enforcementLevel": "warning"},
        PolicyFinding(7, 99, "p", "", "r", Level.ADVISORY, "", "hm"),
    ),
    Case(
        "policy-of-a-newer-level-blocks",
        "policyEvent",
        {"message": "hm", "policyName": "r", "policyPackName": "p", "enforcementLevel": "catastrophic"},
        PolicyFinding(7, 99, "p", "", "r", Level.MANDATORY, "", "hm"),
    ),
    Case(
        "remediation",
        "policyRemediationEvent",
        {"resourceUrn": URN, "policyName": "r", "policyPackName": "p", "before": {"a": 1}, "after": {"a": 2}},
        PolicyRemediation(7, 99, "p", "r", URN, {"a": 1}, {"a": 2}),
    ),
    Case(
        "analysis",
        "policyAnalyzeSummaryEvent",
        {"resourceUrn": URN, "policyPackName": "p", "passed": ["a"], "failed": ["b"]},
        PolicySummary(7, 99, Analysis.RESOURCE, "p", ("a",), ("b",), URN),
    ),
    Case(
        "remediation-summary",
        "policyRemediateSummaryEvent",
        {"resourceUrn": URN, "policyPackName": "p"},
        PolicySummary(7, 99, Analysis.REMEDIATION, "p", (), (), URN),
    ),
    Case(
        "stack-analysis",
        "policyAnalyzeStackSummaryEvent",
        {"policyPackName": "p", "passed": ["a"]},
        PolicySummary(7, 99, Analysis.STACK, "p", ("a",), ()),
    ),
    Case("policy-loads", "policyLoadEvent", {}, PolicyLoads(7, 99)),
    Case(
        "finished",
        "summaryEvent",
        {
            "durationSeconds": 3,
            "resourceChanges": {"create": 2, "same": 1, "conjure": 4},
            "PolicyPacks": {"p|local|/somewhere/p": "1.0"},
            "isPreview": True,
            "result": "succeeded",
            "maybeCorrupt": False,
        },
        Finished(
            7,
            99,
            Result.SUCCEEDED,
            {Op.CREATE: 2, Op.SAME: 1, Op.UNKNOWN: 4},
            3,
            preview=True,
            policy_packs={"p": "1.0"},
        ),
    ),
    Case(
        "finished-with-a-newer-result",
        "summaryEvent",
        {"result": "postponed"},
        Finished(7, 99, Result.FAILED, {}, 0, preview=False),
    ),
    Case("message", "stdoutEvent", {"message": "\x1b[31m^C received\x1b[0m\n"}, Message(7, 99, "^C received")),
    Case("fault", "errorEvent", {"error": "oh"}, EngineFault(7, 99, "oh")),
    Case(
        "progress",
        "progressEvent",
        {"type": "plugin-download", "id": "aws", "message": "m", "received": 5, "total": 9, "done": False},
        Progress(7, 99, "plugin-download", "aws", "m", 5, 9, done=False),
    ),
    Case("closed", "cancelEvent", {}, Closed(7, 99)),
    Case("debugging", "startDebuggingEvent", {"config": {}}, Unread(7, 99, "startDebuggingEvent")),
    Case("newer-kind", "wonderEvent", {"x": 1}, Unread(7, 99, "wonderEvent")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_event_becomes_its_own_value(case: Case) -> None:
    """Each kind keeps every field that the SDK's own classes lose."""
    assert parse_event({"sequence": 7, "timestamp": 99, case.kind: case.body}) == case.want


def test_a_step_says_what_who_where_and_why() -> None:
    """A step has operation, provider and parent as URNs, both states, the detailed diff and errors without colour."""
    event = parse_event({"sequence": 1, "timestamp": 2, "resourcePreEvent": {"metadata": metadata(), "planning": True}})
    assert isinstance(event, StepBegins)
    assert event.planning
    step = event.step
    assert (step.op, step.provider, step.parent, step.id) == (Op.UPDATE, PROVIDER, PARENT, "default/a-main")
    assert step.name == "ml/a/east/0-workload-main"
    assert step.protected
    assert (step.old_inputs, step.inputs, step.outputs) == ({"image": "1"}, {"image": "2"}, {"uid": "x"})
    assert step.diffs == (PropertyDiff("image", "update", inputs_only=True), PropertyDiff("name", "update-replace"))
    assert [diff.replaces for diff in step.diffs] == [False, True]
    assert step.init_errors == ("late",)


def test_a_provider_without_a_detailed_diff_still_names_what_changes() -> None:
    """Names of changed and of replacing properties make a diff."""
    body = metadata(detailedDiff=None, diffs=["b", "a"], keys=["b"])
    event = parse_event({"resOutputsEvent": {"metadata": body}})
    assert isinstance(event, StepEnds)
    assert event.step.diffs == (PropertyDiff("a", "update"), PropertyDiff("b", "update-replace"))
    assert event.step.replace_keys == ("b",)


@pytest.mark.parametrize(
    ("op", "found", "drifted"),
    [
        pytest.param("refresh", {}, False, id="as-the-state-says"),
        pytest.param("refresh", {"outputs": {"uid": "y"}}, True, id="another-output"),
        pytest.param("refresh", {"inputs": {"image": "2"}}, True, id="another-input"),
        pytest.param("refresh", {"id": "default/b-main"}, True, id="another-id"),
        pytest.param("refresh", {"outputs": {}}, True, id="no-outputs"),
        pytest.param("refresh", {"modified": "2026-01-01T00:00:00Z"}, False, id="another-time"),
        pytest.param("update", {"inputs": {"image": "2"}}, False, id="no-refresh"),
        pytest.param("refresh", None, True, id="gone"),
    ],
)
def test_a_refresh_tells_what_is_not_as_the_state_says(
    op: str, found: dict[str, object] | None, *, drifted: bool
) -> None:
    """The engine tells what it had and what it found, and of most it does not say that they differ."""
    old = {"id": "default/a-main", "inputs": {"image": "1"}, "outputs": {"uid": "x"}}
    body = metadata(op=op, old=old, new=None if found is None else old | found)
    event = parse_event({"resOutputsEvent": {"metadata": body}})
    assert isinstance(event, StepEnds)
    assert event.step.drifted is drifted


def test_a_deletion_is_described_by_its_old_state() -> None:
    """Without a new state the old one tells parent, provider and inputs."""
    event = parse_event({"resOpFailedEvent": {"metadata": metadata(op="delete", new=None), "awaited": True}})
    assert isinstance(event, StepFails)
    assert event.awaited is True
    assert (event.step.op, event.step.parent, event.step.inputs) == (Op.DELETE, PARENT, {"image": "1"})


def test_an_operation_of_a_newer_engine_counts_as_a_change() -> None:
    """What is not known must not look like nothing."""
    event = parse_event({"resourcePreEvent": {"metadata": metadata(op="transmute")}})
    assert isinstance(event, StepBegins)
    assert event.step.op is Op.UNKNOWN
    assert event.step.op.changes


@pytest.mark.parametrize(
    ("op", "changes", "replaces", "removes"),
    [
        (Op.SAME, False, False, False),
        (Op.REFRESH, False, False, False),
        (Op.READ, False, False, False),
        (Op.CREATE, True, False, False),
        (Op.UPDATE, True, False, False),
        (Op.DELETE, True, False, True),
        (Op.REPLACE, True, True, False),
        (Op.CREATE_REPLACEMENT, True, True, False),
        (Op.DELETE_REPLACED, True, True, True),
        (Op.IMPORT, True, False, False),
    ],
)
def test_operations_say_what_they_do(op: Op, *, changes: bool, replaces: bool, removes: bool) -> None:
    """Whether something outside the state changes, is replaced, goes away."""
    assert (op.changes, op.replaces, op.removes) == (changes, replaces, removes)


def test_an_exception_keeps_a_mandatory_finding_from_blocking() -> None:
    """A granted exception lets the run go on; remediation that failed does not."""
    body = {"message": "m", "policyName": "r", "policyPackName": "p"}
    finding = parse_event({"policyEvent": {**body, "enforcementLevel": "mandatory", "exceptions": [{"id": "E"}]}})
    assert isinstance(finding, PolicyFinding)
    assert not finding.blocks
    finding = parse_event({"policyEvent": {**body, "enforcementLevel": "remediate"}})
    assert isinstance(finding, PolicyFinding)
    assert finding.blocks


def test_text_is_plain() -> None:
    """Colour marks, terminal escapes and blank ends are gone; other braces stay."""
    assert plain("\n<{%fg 13%}>a<{%reset%}> {b} \x1b[1mc\x1b[0m\n") == "a {b} c"


def test_an_empty_event_is_unread() -> None:
    """An event without a body is no error."""
    assert parse_event({"sequence": 3, "timestamp": 4}) == Unread(3, 4, "")
