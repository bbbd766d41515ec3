"""Marks prove that nothing of a run is left, and prove nothing when that is not so."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from automation.engine.interruption import Interruption
from automation.engine.lease import Lease, Trace, leased_error
from automation.engine.process import CommandResult, run_command
from automation.engine.run_mark import RunMarks
from components.naming import StackName

HERE = socket.gethostname()
COMMAND = "berth up -e dev"
WAIT = "import sys; sys.stdin.read()"
"""A program that lives until its standard input is closed."""
LEAVE = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WAIT!r}], close_fds=False)"
"""A program that ends at once and leaves such a one behind, which keeps what it was handed."""


def lease_of(pid: int, *, host: str = HERE, after: float = 1) -> Lease:
    """Return a lease that was taken so many seconds from now."""
    return Lease("sam", host, pid, datetime.now(UTC) + timedelta(seconds=after))


@contextmanager
def engine(marks: RunMarks, code: str, *, over: bool = False) -> Generator[subprocess.Popen[bytes]]:
    """Start a program under a mark and let go of the mark; its standard input is open while the block runs."""
    with marks.marking() as mark:
        assert mark.descriptor is not None
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, pass_fds=(mark.descriptor,))
        mark.started(process.pid)
        mark.over = over
    try:
        yield process
    finally:
        process.communicate()


@pytest.fixture
def marks(tmp_path: Path) -> RunMarks:
    """Return the marks of a checkout."""
    return RunMarks(tmp_path / "runs", command=COMMAND)


def test_a_living_engine_holds_its_mark(marks: RunMarks) -> None:
    """While it lives it is not dead, whoever asks; the mark says which command it is."""
    with engine(marks, WAIT) as process:
        lease = marks.look(lease_of(process.pid))
        assert (lease.trace, lease.command) == (Trace.HELD, COMMAND)
        assert not lease.proven_dead
        assert str(lease).startswith(f"sam@{HERE} (pid {process.pid}, `{COMMAND}`) since ")


def test_a_dead_engine_has_let_go_of_it(marks: RunMarks) -> None:
    """Once it is gone, that is proven."""
    with engine(marks, "") as process:
        pass
    lease = marks.look(lease_of(process.pid))
    assert lease.trace is Trace.FREE
    assert lease.proven_dead


def test_what_an_engine_leaves_behind_holds_it_too(marks: RunMarks) -> None:
    """An engine that is gone is not dead for us while a plugin of it may still create something."""
    with engine(marks, LEAVE) as process:
        process.wait()
        lease = marks.look(lease_of(process.pid))
        assert lease.trace is Trace.HELD
        assert not lease.holder_is_dead
    error = leased_error(StackName("dev"), [lease], release="free it")
    assert "still at work here" in error.consequence
    assert "`free it`" in error.consequence


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"host": "far"}, id="another host"),
        pytest.param({"after": 3600}, id="a lease taken an hour later"),
        pytest.param({"after": -3600}, id="a lease taken an hour before"),
    ],
)
def test_a_mark_of_somebody_else_proves_nothing(marks: RunMarks, other: dict[str, Any]) -> None:
    """A number alone is no identity: it is given anew, and another host has its own."""
    with engine(marks, "") as process:
        pass
    lease = marks.look(lease_of(process.pid, **other))
    assert lease.trace is Trace.NONE
    assert not lease.proven_dead
    undated = Lease("sam", HERE, process.pid)
    assert marks.look(undated) == undated


def test_a_number_that_lives_again_is_not_dead(marks: RunMarks) -> None:
    """A free mark does not outweigh a process that is there."""
    with marks.marking() as mark:
        mark.started(os.getpid())
    lease = marks.look(Lease("sam", HERE, os.getpid(), datetime.now(UTC)))
    assert lease.trace is Trace.FREE
    assert not lease.proven_dead


def test_the_mark_of_an_engine_that_came_to_its_end_is_removed(marks: RunMarks, tmp_path: Path) -> None:
    """Only what was cut off leaves one."""
    with engine(marks, "", over=True):
        pass
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_freed_lease_takes_its_mark_along(marks: RunMarks, tmp_path: Path) -> None:
    """Others stay until they are very old; those that are held stay for ever."""
    with engine(marks, "") as first, engine(marks, "") as second, engine(marks, WAIT) as third:
        first.communicate()
        second.communicate()
        marks.forget(lease_of(first.pid))
        assert left(tmp_path) == {second.pid, third.pid}
        for path in (tmp_path / "runs").iterdir():
            os.utime(path, (0, 0))
        marks.forget(lease_of(first.pid))
        assert left(tmp_path) == {third.pid}


def left(folder: Path) -> set[int]:
    """Return the processes whose marks are there."""
    return {json.loads(path.read_bytes())["pid"] for path in (folder / "runs").iterdir()}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": 1, "host": "x", "since": "yesterday"}'])
def test_a_damaged_mark_proves_nothing(marks: RunMarks, tmp_path: Path, content: bytes) -> None:
    """A driver may be killed while it writes one."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.json").write_bytes(content)
    lease = lease_of(1, host="x")
    assert marks.look(lease) == lease
    marks.forget(lease)


def test_without_room_for_a_mark_the_engine_starts_all_the_same(tmp_path: Path) -> None:
    """A mark is a help for the next run, and no reason to refuse this one."""
    (tmp_path / "file").write_text("")
    assert started(tmp_path / "file", "print('done')").stdout == "done\n"


def test_commands_run_under_a_mark(tmp_path: Path) -> None:
    """The engine has the mark in its hands; one that is killed leaves it, one that ends does not."""
    answer = started(
        tmp_path / "runs", f"import os; print(os.listdir({str(tmp_path / 'runs')!r}), os.listdir('/dev/fd'))"
    )
    assert ".json" in answer.stdout
    assert list((tmp_path / "runs").iterdir()) == []
    killed = started(tmp_path / "runs", "import os; print(os.getpid(), flush=True); os.kill(os.getpid(), 9)")
    assert killed.code == -9
    assert RunMarks(tmp_path / "runs").look(lease_of(int(killed.stdout))).proven_dead


def started(folder: Path, code: str) -> CommandResult:
    """Run a program to its end under a mark in a folder."""
    with RunMarks(folder, command=COMMAND).marking() as mark:
        return run_command(
            Path(sys.executable),
            ["-c", code],
            cwd=Path.cwd(),
            env=os.environ,
            interruption=Interruption(),
            mark=mark,
        )
