"""Starting the CLI: environment, output, interrupts, time; with small programs in its place."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from automation.engine.interruption import Interruption
from automation.engine.process import CommandResult, run_command
from tests.support.lab import until

COUNTING = """\
import os, signal, sys
seen = []
def tell():
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(len(seen)))
    os.replace(sys.argv[1] + ".new", sys.argv[1])
def count(number, frame):
    seen.append(number)
    if len(seen) == {stops_after}:
        sys.exit(7)
    tell()
signal.signal(signal.SIGINT, count)
tell()
while True:
    signal.pause()
"""
"""Tells in a file how many interrupts it has seen, and ends at one of them."""


def start(
    code: str,
    *args: str,
    interruption: Interruption | None = None,
    timeout: float | None = None,
    stdin: str = "",
    **env: str,
) -> CommandResult:
    """Run a Python program as if it were the CLI."""
    return run_command(
        Path(sys.executable),
        ["-c", code, *args],
        cwd=Path.cwd(),
        env=env,
        interruption=interruption or Interruption(),
        timeout=timeout,
        stdin=stdin,
    )  # fmt: skip


def test_the_child_sees_exactly_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this process's environment leaks in."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine")
    result = start("import os; print(sorted(os.environ))", GIVEN="1", LC_CTYPE="C.UTF-8")
    assert result.stdout.strip() == "['GIVEN', 'LC_CTYPE']"


def test_both_streams_and_the_code_come_back() -> None:
    """Output may be large and need not be text; what goes in comes through standard input."""
    code = (
        "import sys; sys.stdout.buffer.write(b'\\xff' + b'x' * 200000); sys.stderr.write(sys.stdin.read()); sys.exit(3)"
    )
    result = start(code, stdin="a secret")
    assert (result.code, result.stderr) == (3, "a secret")
    assert len(result.stdout) == 200001
    assert (result.requests, result.timed_out) == (0, False)


def test_what_cannot_be_started_is_an_os_error() -> None:
    """The caller knows what to say about it."""
    with pytest.raises(FileNotFoundError):
        run_command(Path("/nowhere/pulumi"), [], cwd=Path.cwd(), env={}, interruption=Interruption())


@pytest.mark.parametrize(("requests", "stops_after", "code"), [(1, 1, 7), (2, 2, 7), (3, 9, -signal.SIGKILL)])
def test_requests_become_signals(tmp_path: Path, requests: int, stops_after: int, code: int) -> None:
    """The first and the second request are interrupts, the third kills."""
    interruption, ready = Interruption(), tmp_path / "ready"

    def ask() -> None:
        for count in range(requests):
            # Two signals at once would be one to the child.
            until(lambda: ready.exists() and ready.read_text() == str(min(count, 2)), seconds=20)  # noqa: B023 (used at once)
            interruption.request()

    asking = threading.Thread(target=ask)
    asking.start()
    result = start(COUNTING.format(stops_after=stops_after), str(ready), interruption=interruption)
    asking.join()
    assert result.code == code
    assert result.requests == requests


def test_a_child_started_after_a_request_is_asked_at_once(tmp_path: Path) -> None:
    """Whoever pressed before the engine was there need not press again."""
    interruption = Interruption()
    for _ in range(3):
        interruption.request()
    assert start(COUNTING.format(stops_after=9), str(tmp_path / "ready"), interruption=interruption).code < 0


def test_a_child_over_its_time_is_stopped(tmp_path: Path) -> None:
    """It is asked to stop as a person would ask."""
    result = start(COUNTING.format(stops_after=1), str(tmp_path / "ready"), timeout=1.0)
    assert result.timed_out
    assert result.code in {7, -signal.SIGINT}, "before or after it could say what an interrupt means to it"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the members of a session, as Linux can")
def test_a_killed_child_takes_its_children_along(tmp_path: Path) -> None:
    """Plugins of an engine that was killed do not live on, although each has a process group of its own."""
    pid = tmp_path / "pid"
    code = (
        "import os, signal, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], process_group=0)\n"
        f"open({str(pid)!r}, 'w').write(str(child.pid))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert start(code).code == -signal.SIGKILL
    child = Path(f"/proc/{pid.read_text()}/stat")
    assert not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


def test_signals_become_requests_while_listening() -> None:
    """SIGINT and SIGTERM of this process are counted, not raised, and the old handlers come back."""
    interruption, before = Interruption(), signal.getsignal(signal.SIGINT)
    with interruption.listening():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert interruption.requests == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_only_the_main_thread_listens() -> None:
    """Elsewhere the block runs without listening, instead of failing."""
    interruption, ran = Interruption(), []

    def work() -> None:
        with interruption.listening():
            ran.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ran == [True]


def test_whoever_ended_is_told_nothing_more() -> None:
    """A subscription ends with its block."""
    interruption, heard = Interruption(), []
    with interruption.subscribed(heard.append):
        interruption.request()
    interruption.request()
    assert heard == [1]
