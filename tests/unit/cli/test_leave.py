"""The process ends at once, and still does what an end has to do."""

import os
import subprocess
import sys

import pytest

SAYS = "import atexit, sys; atexit.register(print, 'tidied'); sys.stdout.write('said, '); sys.stderr.write('warned')"


def end(program: str, *, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with buffers."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=buffered, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.parametrize("code", [0, 4])
def test_what_was_said_is_out_and_what_is_temporary_is_gone(code: int) -> None:
    """Buffers are written, functions for the end are called, and the exit code is the command's."""
    ended = end(f"{SAYS}; from automation.cli.main import leave; leave({code})")
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "said, tidied\n", "warned")


def test_a_thread_that_still_imports_holds_nothing_up() -> None:
    """Its work is for nobody any more."""
    waits = "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()"
    assert end(f"{waits}; from automation.cli.main import leave; leave(7)").returncode == 7


def test_a_reader_that_has_left_is_no_error() -> None:
    """As with ``berth ... | head``."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = end(f"{SAYS}; from automation.cli.main import leave; leave(3)", stdout=writer)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (3, "warned")


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-"])
def test_a_job_without_output_ends_with_its_code(closed: str) -> None:
    """As some supervisors start one: the stream is not there at all."""
    program = "from automation.cli.main import leave; leave(4)"
    ended = subprocess.run(["/bin/sh", "-c", f'"$0" -c "$1" {closed}', sys.executable, program], check=False)
    assert ended.returncode == 4


def test_the_command_line_ends_that_way() -> None:
    """With the code of what it ran."""
    program = (
        "import sys; sys.argv = ['berth', 'explain', 'no-such-thing']; from automation.cli.main import main; main()"
    )
    ended = end(program)
    assert ended.returncode == 2
    assert "no-such-thing" in ended.stderr
