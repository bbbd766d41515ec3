"""One start of the Pulumi CLI: its output, its end, and how it is stopped.

The child gets exactly the environment it is given, so that a simulated run cannot see real credentials. It has a
session of its own, because a terminal's Ctrl-C must reach it only through :class:`Interruption`. Its output goes to
files, not pipes: when the driver is killed, a pipe would break and take the engine with it in the middle of an
operation; with files the engine loses its program, finishes what it has begun, writes the state and frees the lease.
What an exit means is ``complaints``' work.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from automation.engine.interruption import Interruption
from automation.engine.run_mark import RunMark

_GRACE = 20.0
"""Seconds between asking a run that is over its time to stop, to stop at once, and killing it."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended. ``requests`` is how often a stop had been asked for by then."""

    args: tuple[str, ...]
    code: int
    stdout: str
    stderr: str
    requests: int = 0
    timed_out: bool = False


def run_command(
    command: Path,
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    interruption: Interruption,
    timeout: float | None = None,
    stdin: str = "",
    mark: RunMark | None = None,
) -> CommandResult:
    """Run ``command`` to its end and return what it said; raises OSError when it cannot be started.

    After ``timeout`` seconds it is asked to stop, a little later to stop at once, and at last it is killed. It and all
    that it starts hold ``mark``.
    """
    with tempfile.TemporaryFile() as entered, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        entered.write(stdin.encode())
        entered.seek(0)
        process = subprocess.Popen(  # noqa: S603 (a fixed program, arguments as a list)
            [str(command), *args],
            cwd=cwd,
            env=dict(env),
            stdin=entered,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            pass_fds=(mark.descriptor,) if mark and mark.descriptor is not None else (),
        )
        if mark:
            mark.started(process.pid)
        with interruption.subscribed(lambda requests: _press(process, requests)):
            timed_out = _wait(process, timeout)
        if process.returncode < 0:
            _end_session(process.pid)
        elif mark:
            mark.over = True
        return CommandResult(
            args=tuple(args),
            code=process.returncode,
            stdout=_text(stdout),
            stderr=_text(stderr),
            requests=interruption.requests,
            timed_out=timed_out,
        )


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _wait(process: "subprocess.Popen[bytes]", timeout: float | None) -> bool:
    """Wait for the end; return whether the time ran out."""
    if timeout is None:
        process.wait()
        return False
    deadline = time.monotonic() + timeout
    for presses in range(_KILL):
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _press(process, presses + 1)
            deadline = time.monotonic() + _GRACE
        else:
            return presses > 0
    process.wait()
    return True


_KILL = 3
"""The first request is graceful and the second terminates, by the engine's own count; the third kills."""


def _press(process: "subprocess.Popen[bytes]", requests: int) -> None:
    if process.poll() is not None:
        return
    try:
        if requests < _KILL:
            process.send_signal(signal.SIGINT)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended in between


def _end_session(session: int) -> None:
    """End the plugins of an engine that was killed; it ends them itself otherwise (Linux only).

    One that is left would go on creating what nobody waits for, behind the back of the run that repairs the stack.
    """
    deadline = time.monotonic() + _PLUGIN_GRACE
    sign = signal.SIGTERM
    while members := _members(session):
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, sign)
        if time.monotonic() > deadline:
            if sign is signal.SIGKILL:
                return
            sign, deadline = signal.SIGKILL, time.monotonic() + _PLUGIN_GRACE
        time.sleep(0.05)


_PLUGIN_GRACE = 3.0  # seconds between asking and killing


def _members(session: int) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended in between
        if fields[0] != "Z" and int(fields[3]) == session:
            found.append(int(folder.name))
    return found
