"""Gathers the events of one operation into a result.

The engine tells a story: steps that begin, end or fail, messages about resources, policy findings, one summary. A
:class:`Transcript` listens to all of it, in whatever order it comes, and gives a
:class:`~automation.engine.runner.Preview` or :class:`~automation.engine.runner.Applied` at the end. Both the real
runner and the replaying one use it, so what tests see is what users get.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TypedDict

from automation.engine.checkpoint import STACK_TYPE
from automation.engine.events import (
    Diagnostic,
    DiagnosticSeverity,
    Event,
    Finished,
    Op,
    PolicyFinding,
    PolicyRemediation,
    PolicySummary,
    ResourceStep,
    Result,
    StepBegins,
    StepEnds,
    StepFails,
    empty,
)
from automation.engine.runner import Applied, PolicyReport, Preview, ResourceFailure
from components.naming import StackName

_DEFERRED = re.compile(r"^can't run policy .* during preview", re.IGNORECASE)
_PROTECTED = re.compile(r"marked for protection|cannot be deleted\s+because it is protected")
_NAMED = re.compile(r'resource "([^"]+)"')


class _Fields(TypedDict):
    stack: StackName
    ok: bool
    failures: tuple[ResourceFailure, ...]
    policies: PolicyReport
    diagnostics: tuple[Diagnostic, ...]
    changes: dict[Op, int]
    seconds: float


class Transcript:
    """The events of one operation, in the engine's order; feed it with :meth:`add`."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events: list[Event] = list(events)

    def add(self, event: Event) -> None:
        """Take the next event."""
        self.events.append(event)

    @property
    def finished(self) -> Finished | None:
        """The engine's summary; None when it never came to one."""
        return next((event for event in reversed(self.events) if isinstance(event, Finished)), None)

    @property
    def errors(self) -> tuple[str, ...]:
        """Every error message, in order: of the engine, of resources, of the program."""
        return tuple(
            event.message
            for event in self.events
            if isinstance(event, Diagnostic) and event.severity is DiagnosticSeverity.ERROR
        )

    @property
    def blamed(self) -> bool:
        """Whether a resource or a policy is to blame for a failure, rather than the program itself."""
        return bool(self._failures() or self._refused() or self._policies().blocking)

    def preview(self, stack: StackName, *, seconds: float) -> Preview:
        """Return what the operation would do."""
        refused = self._refused()
        fields = self._fields(stack, seconds)
        fields["failures"] = tuple(failure for failure in fields["failures"] if failure.urn not in refused)
        return Preview(steps=self._steps(planned=True), refused=refused, **fields)

    def applied(self, stack: StackName, *, seconds: float) -> Applied:
        """Return what the operation did."""
        return Applied(steps=self._steps(planned=False), **self._fields(stack, seconds))

    def _fields(self, stack: StackName, seconds: float) -> _Fields:
        finished = self.finished
        return {
            "stack": stack,
            "ok": finished is not None and finished.result is Result.SUCCEEDED,
            "failures": self._failures(),
            "policies": self._policies(),
            "diagnostics": tuple(
                event for event in self.events if isinstance(event, Diagnostic) and not event.ephemeral
            ),
            "changes": dict(finished.changes) if finished else {},
            "seconds": seconds,
        }

    def _steps(self, *, planned: bool) -> tuple[ResourceStep, ...]:
        """Return one step per resource and operation.

        A preview counts what has only begun as well. A refresh begins as ``refresh`` and ends as what it found; only
        the end counts. A component ends once more when it registers outputs; the later one knows more.
        """
        failed = {event.step.urn for event in self.events if isinstance(event, StepFails)}
        ended = {event.step.urn for event in self.events if isinstance(event, StepEnds)}
        begun: dict[tuple[str, Op, str], ResourceStep] = {}
        steps: dict[tuple[str, Op, str], ResourceStep] = {}
        for event in self.events:
            if isinstance(event, StepBegins):
                step = event.step
                begun.setdefault(_key(step), step)
                if step.op is Op.REFRESH and step.urn in ended:
                    continue
                # Components end without an event of their own; their steps are done when they begin.
                if planned or (not step.custom and step.op is not Op.SAME and step.urn not in failed):
                    steps.setdefault(_key(step), step)
            elif isinstance(event, StepEnds):
                steps[_key(event.step)] = _merged(begun.get(_key(event.step)), event.step)
        return tuple(steps.values())

    def _failures(self) -> tuple[ResourceFailure, ...]:
        messages: dict[str, list[str]] = {}
        for event in self.events:
            if isinstance(event, Diagnostic) and event.urn and event.severity is DiagnosticSeverity.ERROR:
                messages.setdefault(event.urn, []).append(event.message)
        known = {event.step.urn: event.step for event in self.events if isinstance(event, StepBegins | StepEnds)}
        failures = {
            event.step.urn: _failure(event.step, messages.get(event.step.urn, []), awaited=event.awaited)
            for event in self.events
            if isinstance(event, StepFails)
        }
        for urn, texts in messages.items():
            if urn not in failures:
                step = known.get(urn) or ResourceStep(urn=urn, type=_type_in(urn), op=Op.UNKNOWN)
                failures[urn] = _failure(step, texts)
        return tuple(failure for failure in failures.values() if not _is_stack(failure.type))

    def _refused(self) -> tuple[str, ...]:
        urns: dict[str, None] = {}
        for event in self.events:
            if isinstance(event, Diagnostic) and _PROTECTED.search(event.message):
                named = _NAMED.search(event.message)
                urns[named[1] if named else event.urn] = None
        return tuple(urns)

    def _policies(self) -> PolicyReport:
        findings = [event for event in self.events if isinstance(event, PolicyFinding)]
        finished = self.finished
        return PolicyReport(
            findings=tuple(finding for finding in findings if not _DEFERRED.match(finding.message)),
            deferred=tuple(finding for finding in findings if _DEFERRED.match(finding.message)),
            remediations=tuple(event for event in self.events if isinstance(event, PolicyRemediation)),
            summaries=tuple(event for event in self.events if isinstance(event, PolicySummary)),
            packs=finished.policy_packs if finished else empty(),
        )


def _key(step: ResourceStep) -> tuple[str, Op, str]:
    """Tell two deletions of one URN apart (the old halves of two replacements) by their ids."""
    return (step.urn, step.op, step.id if step.op.removes else "")


def _merged(begun: ResourceStep | None, ended: ResourceStep) -> ResourceStep:
    """Keep the differences that were known at the beginning; some ends do not repeat them."""
    if begun is None:
        return ended
    return replace(ended, diffs=ended.diffs or begun.diffs, replace_keys=ended.replace_keys or begun.replace_keys)


def _failure(step: ResourceStep, messages: list[str], *, awaited: bool = False) -> ResourceFailure:
    return ResourceFailure(
        urn=step.urn,
        type=step.type,
        op=step.op,
        messages=tuple(dict.fromkeys(messages)),
        provider=step.provider,
        parent=step.parent,
        init_errors=step.init_errors,
        awaited=awaited,
    )


def _type_in(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2] if urn.count("::") >= 3 else ""  # noqa: PLR2004 (a URN's four parts)


def _is_stack(type_: str) -> bool:
    return type_ == STACK_TYPE
