"""How the memory of everything that a process has started is summed."""

import os
import subprocess
import sys

import pytest

from automation.demonstration.memory import Memory, descendants, proportional
from tests.support.processes import soon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")

TAKES = """
import subprocess, sys
held = bytearray(b"x") * {own}
deeper = {deeper}
if deeper:
    subprocess.run([sys.executable, "-c", "held = bytearray(b'x') * %d; print(flush=True); input()" % deeper])
"""
MB = 1_000_000


def test_what_descends_from_a_process_counts_too() -> None:
    """The children of children, as the programs of a warden of a keeper are."""
    code = TAKES.format(own=20 * MB, deeper=60 * MB)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        found = descendants(child.pid)
        assert len(found) == 2
        assert set(found) <= set(descendants(os.getpid()))
        memory = Memory(child.pid)
        memory.look()
        child.communicate(b"\n")
    assert 80 <= memory.peak < 200
    assert sum(memory.programs.values()) <= memory.peak


def test_the_largest_sum_stays() -> None:
    """Also when all of it has ended."""
    memory = Memory()
    with subprocess.Popen([sys.executable, "-c", TAKES.format(own=0, deeper=80 * MB)], stdin=subprocess.PIPE) as child:
        with memory.measuring():
            assert soon(lambda: memory.peak >= 80)
            child.communicate(b"\n")
        peak = memory.peak
        memory.look()
        assert memory.peak == peak


def test_a_process_that_is_not_there_takes_nothing() -> None:
    """It has ended between two looks."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert proportional(child.pid) == 0
