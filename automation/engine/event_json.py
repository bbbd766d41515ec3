"""Reads the engine's JSON events.

The shapes are those of ``sdk/go/common/apitype/events.go`` of the pinned engine (3.274.1). Reading is forgiving where
a newer engine may add something (a kind, an operation, a severity) and never raises on a well-formed event: one that
cannot be read must not end a run that changes clouds.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from automation.engine.events import (
    EMPTY,
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
    ResourceStep,
    Result,
    Started,
    StepBegins,
    StepEnds,
    StepFails,
    Unread,
)
from automation.engine.read_back import differs

_COLOUR = re.compile(r"<\{%.*?%\}>")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ENVELOPE = frozenset({"sequence", "timestamp"})


def parse_event(raw: Mapping[str, Any]) -> Event:
    """Turn one raw event into a value; an unknown kind becomes :class:`Unread`."""
    sequence, timestamp = int(raw.get("sequence") or 0), int(raw.get("timestamp") or 0)
    for kind, body in raw.items():
        if kind in _ENVELOPE or body is None:
            continue
        read = _READERS.get(kind)
        return read(sequence, timestamp, body) if read else Unread(sequence, timestamp, kind)
    return Unread(sequence, timestamp, "")


def plain(text: str) -> str:
    """Return ``text`` without the engine's colour marks, terminal escapes and surrounding blank lines."""
    return _ANSI.sub("", _COLOUR.sub("", text)).strip()


def provider_urn(reference: str) -> str:
    """Return the URN of a provider reference (``<urn>::<id>``), empty for none."""
    return reference.rpartition("::")[0]


def _step(metadata: Mapping[str, Any]) -> ResourceStep:
    old, new = metadata.get("old") or {}, metadata.get("new") or {}
    state = new or old
    reference = state.get("provider") or metadata.get("provider") or ""
    type_ = metadata.get("type") or state.get("type") or ""
    op = _enum(Op, metadata.get("op"), Op.UNKNOWN)
    return ResourceStep(
        urn=metadata["urn"],
        type=type_,
        op=op,
        provider=provider_urn(reference),
        parent=state.get("parent") or "",
        id=(new.get("id") or old.get("id") or ""),
        custom=bool(state.get("custom")),
        protected=bool(old.get("protect")),
        retained=bool(old.get("retainOnDelete")),
        logical=bool(metadata.get("logical")),
        replace_keys=tuple(metadata.get("keys") or ()),
        diffs=_diffs(metadata),
        inputs=state.get("inputs") or EMPTY,
        outputs=state.get("outputs") or EMPTY,
        old_inputs=old.get("inputs") or EMPTY,
        init_errors=tuple(plain(error) for error in state.get("initErrors") or ()),
        drifted=op is Op.REFRESH and differs(type_, old, new),
    )


def _diffs(metadata: Mapping[str, Any]) -> tuple[PropertyDiff, ...]:
    """Prefer the detailed diff; some providers give only the names of the properties that changed."""
    detailed = metadata.get("detailedDiff")
    if detailed:
        return tuple(
            PropertyDiff(path, str(diff.get("diffKind") or "update"), bool(diff.get("inputDiff")))
            for path, diff in sorted(detailed.items())
        )
    keys = frozenset(metadata.get("keys") or ())
    return tuple(
        PropertyDiff(path, "update-replace" if path in keys else "update")
        for path in sorted(metadata.get("diffs") or ())
    )


def _enum(cls: type, value: Any, fallback: Any) -> Any:
    try:
        return cls(value)
    except ValueError:
        return fallback


def _started(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return Started(sequence, timestamp, tuple(sorted(body.get("config") or ())))


def _begins(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return StepBegins(sequence, timestamp, _step(body["metadata"]), bool(body.get("planning")))


def _ends(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return StepEnds(sequence, timestamp, _step(body["metadata"]), bool(body.get("planning")))


def _fails(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return StepFails(sequence, timestamp, _step(body["metadata"]), bool(body.get("awaited")))


def _diagnostic(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    severity = _enum(DiagnosticSeverity, body.get("severity"), DiagnosticSeverity.INFO)
    text = plain(body.get("message") or "")
    return Diagnostic(sequence, timestamp, severity, text, body.get("urn") or "", bool(body.get("ephemeral")))


def _policy(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return PolicyFinding(
        sequence,
        timestamp,
        pack=body.get("policyPackName") or "",
        version=body.get("policyPackVersion") or body.get("policyPackVersionTag") or "",
        rule=body.get("policyName") or "",
        # The engine may say "warning" for advisory; a level of a newer engine must not let a violation pass.
        level=_LEVELS.get(body.get("enforcementLevel") or "", Level.MANDATORY),
        severity=body.get("severity") or "",
        message=plain(body.get("message") or ""),
        urn=body.get("resourceUrn") or "",
        exceptions=tuple(
            PolicyException(e.get("id") or "", e.get("reason") or "") for e in body.get("exceptions") or ()
        ),
    )


_LEVELS = {
    "none": Level.DISABLED,
    "disabled": Level.DISABLED,
    "warning": Level.ADVISORY,
    "advisory": Level.ADVISORY,
    "remediate": Level.REMEDIATE,
    "mandatory": Level.MANDATORY,
}


def _remediation(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return PolicyRemediation(
        sequence,
        timestamp,
        pack=body.get("policyPackName") or "",
        rule=body.get("policyName") or "",
        urn=body.get("resourceUrn") or "",
        before=body.get("before") or EMPTY,
        after=body.get("after") or EMPTY,
    )


def _summary_of(analysis: Analysis) -> Callable[[int, int, Mapping[str, Any]], Event]:
    def read(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
        return PolicySummary(
            sequence,
            timestamp,
            analysis=analysis,
            pack=body.get("policyPackName") or "",
            passed=tuple(body.get("passed") or ()),
            failed=tuple(body.get("failed") or ()),
            urn=body.get("resourceUrn") or "",
        )

    return read


def _finished(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    changes: dict[Op, int] = {}
    for op, count in (body.get("resourceChanges") or {}).items():
        known = _enum(Op, op, Op.UNKNOWN)
        changes[known] = changes.get(known, 0) + int(count)
    return Finished(
        sequence,
        timestamp,
        result=_enum(Result, body.get("result"), Result.FAILED),
        changes=changes,
        seconds=int(body.get("durationSeconds") or 0),
        preview=bool(body.get("isPreview")),
        maybe_corrupt=bool(body.get("maybeCorrupt")),
        # The key of a local pack carries its path: "name|local|/path".
        policy_packs={name.partition("|")[0]: version for name, version in (body.get("PolicyPacks") or {}).items()},
    )


def _progress(sequence: int, timestamp: int, body: Mapping[str, Any]) -> Event:
    return Progress(
        sequence,
        timestamp,
        job=body.get("type") or "",
        id=body.get("id") or "",
        message=plain(body.get("message") or ""),
        completed=int(body.get("received") or 0),
        total=int(body.get("total") or 0),
        done=bool(body.get("done")),
    )


_READERS: dict[str, Callable[[int, int, Mapping[str, Any]], Event]] = {
    "preludeEvent": _started,
    "resourcePreEvent": _begins,
    "resOutputsEvent": _ends,
    "resOpFailedEvent": _fails,
    "diagnosticEvent": _diagnostic,
    "policyEvent": _policy,
    "policyRemediationEvent": _remediation,
    "policyLoadEvent": lambda sequence, timestamp, _: PolicyLoads(sequence, timestamp),
    "policyAnalyzeSummaryEvent": _summary_of(Analysis.RESOURCE),
    "policyRemediateSummaryEvent": _summary_of(Analysis.REMEDIATION),
    "policyAnalyzeStackSummaryEvent": _summary_of(Analysis.STACK),
    "summaryEvent": _finished,
    "stdoutEvent": lambda sequence, timestamp, body: Message(sequence, timestamp, plain(body.get("message") or "")),
    "errorEvent": lambda sequence, timestamp, body: EngineFault(sequence, timestamp, plain(body.get("error") or "")),
    "progressEvent": _progress,
    "startDebuggingEvent": lambda sequence, timestamp, _: Unread(sequence, timestamp, "startDebuggingEvent"),
    "cancelEvent": lambda sequence, timestamp, _: Closed(sequence, timestamp),
}
