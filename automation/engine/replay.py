"""Runs that were recorded, played back: a runner without an engine.

A recording is a folder with one numbered file per call of a runner (``001-preview-dev.json``): the operation, the
stack, the engine's raw events, the answer. ``recording`` writes one while another runner works; :class:`ReplayRunner`
answers the same calls in the same order from it, through the same reading of events, and refuses a call that the
recording does not have next. So the driver, its reports and the documentation are tested on what an engine really said.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automation.engine.checkpoint import Checkpoint
from automation.engine.event_json import parse_event
from automation.engine.lease import Lease
from automation.engine.outcome import Transcript
from automation.engine.runner import Applied, Listener, PolicyPackRef, Preview, Program
from components import errors
from components.errors import BerthError, InternalError
from components.naming import StackName

_ERRORS: Mapping[str, type[BerthError]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, BerthError) and kind is not errors.ConfigError
}


@dataclass(frozen=True, slots=True)
class Call:
    """One recorded call. ``answer`` is plain JSON; ``error`` holds the class and fields of what was raised."""

    operation: str
    stack: str
    events: tuple[Mapping[str, Any], ...] = ()
    answer: Any = None
    error: Mapping[str, str] | None = None
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the content of its file."""
        return {
            "operation": self.operation,
            "stack": self.stack,
            "seconds": round(self.seconds, 3),
            "error": self.error,
            "answer": self.answer,
            "events": list(self.events),
        }

    @classmethod
    def read(cls, path: Path) -> "Call":
        """Read one file of a recording."""
        raw = json.loads(path.read_bytes())
        return cls(
            operation=raw["operation"],
            stack=raw["stack"],
            events=tuple(raw.get("events") or ()),
            answer=raw.get("answer"),
            error=raw.get("error"),
            seconds=float(raw.get("seconds") or 0),
        )


class ReplayRunner:
    """A :class:`~automation.engine.runner.Runner` that answers from recorded calls, in their order.

    Programs and options of an operation are not looked at: the events are what the engine made of them then.
    """

    def __init__(self, calls: Iterable[Call]) -> None:
        self._calls = list(calls)
        self._next = 0

    @classmethod
    def of_folder(cls, folder: Path) -> "ReplayRunner":
        """Play back a recording."""
        return cls(Call.read(path) for path in sorted(folder.glob("*.json")))

    @property
    def finished(self) -> bool:
        """Whether every recorded call was made."""
        return self._next == len(self._calls)

    def _take(self, operation: str, stack: StackName | None = None) -> Call:
        asked = f"{operation} {stack or ''}".strip()
        if self.finished:
            raise InternalError(f"the recording has no call left, and was asked for: {asked}")
        call = self._calls[self._next]
        if (call.operation, call.stack) != (operation, str(stack or "")):
            have = f"{call.operation} {call.stack}".strip()
            raise InternalError(f"call {self._next + 1} of the recording is {have!r}, and it was asked for: {asked!r}")
        self._next += 1
        if call.error:
            raise _ERRORS[call.error["class"]](
                call.error["summary"], consequence=call.error.get("consequence", ""), help=call.error.get("help", "")
            )
        return call

    def _transcript(self, call: Call, listener: Listener | None) -> Transcript:
        transcript = Transcript()
        for raw in call.events:
            event = parse_event(raw)
            transcript.add(event)
            if listener:
                listener(event)
        return transcript

    def _preview(self, operation: str, stack: StackName, listener: Listener | None) -> Preview:
        call = self._take(operation, stack)
        return self._transcript(call, listener).preview(stack, seconds=call.seconds)

    def _applied(self, operation: str, stack: StackName, listener: Listener | None) -> Applied:
        call = self._take(operation, stack)
        return self._transcript(call, listener).applied(stack, seconds=call.seconds)

    def stacks(self) -> tuple[StackName, ...]:
        """Answer from the recording."""
        return tuple(StackName.parse(name) for name in self._take("stacks").answer)

    def ensure_stack(self, stack: StackName) -> bool:
        """Answer from the recording."""
        return bool(self._take("ensure_stack", stack).answer)

    def remove_stack(self, stack: StackName, *, force: bool = False, keep_config: bool = True) -> None:
        """Answer from the recording."""
        del force, keep_config
        self._take("remove_stack", stack)

    def set_config(self, stack: StackName, key: str, value: str, *, secret: bool = False) -> None:
        """Answer from the recording."""
        del key, value, secret
        self._take("set_config", stack)

    def get_config(self, stack: StackName, key: str) -> str | None:
        """Answer from the recording."""
        del key
        answer = self._take("get_config", stack).answer
        return None if answer is None else str(answer)

    def preview(
        self,
        stack: StackName,
        program: Program,
        *,
        policy_pack: PolicyPackRef | None = None,
        exclude: Sequence[str] = (),
        refresh: bool = False,
        listener: Listener | None = None,
    ) -> Preview:
        """Answer from the recording."""
        del program, policy_pack, exclude, refresh
        return self._preview("preview", stack, listener)

    def up(
        self,
        stack: StackName,
        program: Program,
        *,
        policy_pack: PolicyPackRef | None = None,
        exclude: Sequence[str] = (),
        refresh: bool = False,
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Answer from the recording."""
        del program, policy_pack, exclude, refresh, continue_on_error
        return self._applied("up", stack, listener)

    def preview_destroy(
        self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None
    ) -> Preview:
        """Answer from the recording."""
        del exclude
        return self._preview("preview_destroy", stack, listener)

    def destroy(
        self,
        stack: StackName,
        *,
        exclude: Sequence[str] = (),
        continue_on_error: bool = False,
        listener: Listener | None = None,
    ) -> Applied:
        """Answer from the recording."""
        del exclude, continue_on_error
        return self._applied("destroy", stack, listener)

    def drift(self, stack: StackName, *, exclude: Sequence[str] = (), listener: Listener | None = None) -> Preview:
        """Answer from the recording."""
        del exclude
        return self._preview("drift", stack, listener)

    def refresh(
        self,
        stack: StackName,
        *,
        targets: Sequence[str] = (),
        exclude: Sequence[str] = (),
        listener: Listener | None = None,
    ) -> Applied:
        """Answer from the recording."""
        del targets, exclude
        return self._applied("refresh", stack, listener)

    def get_secret(self, stack: StackName, key: str) -> str | None:
        """Answer from the recording."""
        del key
        answer = self._take("get_secret", stack).answer
        return None if answer is None else str(answer)

    def export(self, stack: StackName, *, show_secrets: bool = False) -> Checkpoint:
        """Answer from the recording."""
        del show_secrets
        return Checkpoint.from_json(stack, self._take("export", stack).answer)

    def import_state(self, checkpoint: Checkpoint) -> None:
        """Answer from the recording."""
        self._take("import_state", checkpoint.stack)

    def tags(self, stack: StackName) -> Mapping[str, str]:
        """Answer from the recording."""
        return dict(self._take("tags", stack).answer)

    def set_tag(self, stack: StackName, key: str, value: str | None) -> None:
        """Answer from the recording."""
        del key, value
        self._take("set_tag", stack)

    def leases(self, stack: StackName) -> tuple[Lease, ...] | None:
        """Answer from the recording."""
        answer = self._take("leases", stack).answer
        return None if answer is None else tuple(Lease.from_json(entry) for entry in answer)

    def leased(self) -> tuple[StackName, ...]:
        """Answer from the recording."""
        return tuple(StackName.parse(name) for name in self._take("leased").answer)

    def free(self, stack: StackName, lease: Lease) -> None:
        """Answer from the recording."""
        del lease
        self._take("free", stack)

    def cancel(self, stack: StackName) -> None:
        """Answer from the recording."""
        self._take("cancel", stack)
