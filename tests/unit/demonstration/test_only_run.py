"""Two demonstrations in one checkout."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from automation.demo import ROOT, Demo
from automation.demonstration.only_run import OnlyRun
from components.errors import UsageError
from tests.support.processes import soon

SAMPLE = ROOT / "stacks" / "environments" / "dev"
HOLDS = """
import subprocess, sys
from pathlib import Path
from automation.demonstration.only_run import OnlyRun
held = OnlyRun(Path(sys.argv[1]))
handed = [held.descriptor] if len(sys.argv) > 2 else []
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=handed)
print(child.pid, flush=True)
input()
"""


def test_a_second_run_is_refused_before_it_removes_anything(tmp_path: Path) -> None:
    """It would take the folder away under the first one, with its state and the lock of its keeper."""
    folder = tmp_path / "berth" / "demo"
    first, second = Demo(folder, SAMPLE), Demo(folder, SAMPLE)
    first.prepare()
    kept = folder / "state"
    kept.write_text("of the first run")
    with pytest.raises(UsageError, match=rf"runs in .*demo already: process {os.getpid()} began it") as refused:
        second.prepare()
    assert refused.value.consequence == "Nothing was changed."
    assert kept.read_text() == "of the first run"
    first.prepare()
    first.leave()
    second.prepare()
    second.leave()
    assert not kept.exists()


def test_every_command_is_handed_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And holds it: the run was closed, and the folder is not free before its command has ended."""
    demo = Demo(tmp_path / "demo", SAMPLE)
    demo.prepare()
    seen = []

    def leave_and_look(command: list[str], **more: Any) -> "subprocess.CompletedProcess[bytes]":
        with subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=more["pass_fds"]
        ) as child:
            demo.leave()
            seen.append(_free(demo.layout.root))
            child.communicate(b"\n")
        seen.append(_free(demo.layout.root))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", leave_and_look)
    demo.run("version")
    assert seen == [False, True]


def test_runs_in_other_folders_are_no_trouble(tmp_path: Path) -> None:
    """The two kinds of demonstration go side by side."""
    with_lock = [OnlyRun(tmp_path / name) for name in ("demo", "demo-kubernetes")]
    for each in with_lock:
        each.close()


@pytest.mark.parametrize("handed", [False, True], ids=["alone", "with-a-command"])
def test_the_lock_of_a_killed_run_lasts_as_long_as_its_commands(tmp_path: Path, *, handed: bool) -> None:
    """Nothing has to be removed by anybody; a command that still works in the folder is left in peace."""
    folder = tmp_path / "demo"
    command = [sys.executable, "-c", HOLDS, str(folder), *(["handed"] if handed else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as run:
        assert run.stdout is not None
        child = int(run.stdout.readline())
        with pytest.raises(UsageError, match=f"process {run.pid} began it"):
            OnlyRun(folder)
        if handed:
            os.kill(child, signal.SIGSTOP)  # the end of its input must not end it
        run.send_signal(signal.SIGKILL)
        run.wait()
        if handed:
            with pytest.raises(UsageError, match=f"process {run.pid} began it"):
                OnlyRun(folder)
            os.kill(child, signal.SIGKILL)
    assert soon(lambda: _free(folder))


def _free(folder: Path) -> bool:
    try:
        OnlyRun(folder).close()
    except UsageError:
        return False
    return True
