"""Records the calls of a runner, for ``replay``.

The recorder stands between a driver and a real runner and keeps the engine's raw events, which the runner hands to a
tap: a later version that reads more of an event can then read old recordings. What is recorded may hold everything that
a state holds; secrets are encrypted or blinded in it, by the engine.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from automation.engine.checkpoint import Checkpoint
from automation.engine.replay import Call
from automation.engine.runner import Runner
from components.errors import BerthError
from components.naming import StackName


class Tap:
    """Takes the raw events of a runner, one JSON text each; hand it to the runner that is to be recorded."""

    def __init__(self) -> None:
        self._events: list[Mapping[str, Any]] = []

    def __call__(self, text: str) -> None:
        """Take one event; what is not JSON is dropped, as the runner does."""
        try:
            self._events.append(json.loads(text))
        except ValueError:
            return

    def drain(self) -> tuple[Mapping[str, Any], ...]:
        """Return what came since the last call."""
        events, self._events = tuple(self._events), []
        return events


def recording(runner: Runner, folder: Path, *, tap: Tap) -> Runner:
    """Return a runner that works as ``runner`` does and writes every call into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    return cast("Runner", _Recorder(runner, folder, tap))


class _Recorder:
    def __init__(self, runner: Runner, folder: Path, tap: Tap) -> None:
        self._runner = runner
        self._folder = folder
        self._tap = tap
        self._count = 0

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        inner = getattr(self._runner, operation)

        def call(*args: Any, **options: Any) -> Any:
            began = time.monotonic()
            try:
                answer = inner(*args, **options)
            except BerthError as error:
                self._write(operation, args, None, began, error)
                raise
            self._write(operation, args, answer, began, None)
            return answer

        return call

    def _write(
        self, operation: str, args: tuple[Any, ...], answer: Any, began: float, error: BerthError | None
    ) -> None:
        self._count += 1
        call = Call(
            operation=operation,
            stack=_stack(args),
            events=tuple(event for event in self._tap.drain() if not _is_tracing(event)),
            answer=_plain(answer),
            error=_fields(error) if error else None,
            seconds=time.monotonic() - began,
        )
        name = f"{self._count:03}-{operation.replace('_', '-')}{'-' if call.stack else ''}{call.stack}.json"
        (self._folder / name).write_text(json.dumps(call.to_json(), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _stack(args: tuple[Any, ...]) -> str:
    first = args[0] if args else ""
    return str(first.stack if isinstance(first, Checkpoint) else first if isinstance(first, StackName) else "")


def _is_tracing(event: Mapping[str, Any]) -> bool:
    return (event.get("diagnosticEvent") or {}).get("severity") == "debug"


def _plain(answer: Any) -> Any:
    """Return an answer as JSON; None for what is built from events."""
    if isinstance(answer, Checkpoint):
        return answer.raw
    if isinstance(answer, tuple):
        return [str(item) if isinstance(item, StackName) else item.to_json() for item in answer]
    return answer if isinstance(answer, bool | str | dict) else None


def _fields(error: BerthError) -> dict[str, str]:
    return {
        "class": type(error).__name__,
        "summary": error.summary,
        "consequence": error.consequence,
        "help": error.help,
    }
