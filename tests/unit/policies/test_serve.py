"""The pack as a process: says its port, answers, and ends when it is told to or when the engine is gone."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2_grpc

from policies.pack import NAME

COMMAND: Final = [sys.executable, "-P", "-u", "-m", "policies", "127.0.0.1:1"]
ENGINE: Final = f"import subprocess\nsubprocess.Popen({COMMAND!r})\ninput()"
"""A parent that starts the pack and goes on."""


@pytest.fixture
def pack() -> Iterator[subprocess.Popen[str]]:
    """Start the pack."""
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def port_of(process: subprocess.Popen[str]) -> int:
    """Read what it says first."""
    assert process.stdout is not None
    return int(process.stdout.readline())


def name_at(port: int) -> str:
    """Ask who is there."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        return str(analyzer_pb2_grpc.AnalyzerStub(channel).GetAnalyzerInfo(empty_pb2.Empty()).name)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_engine_ends_the_pack_at_once(pack: subprocess.Popen[str], number: signal.Signals) -> None:
    """The engine interrupts its plugins when it is done, and every run would wait for one that stays."""
    assert name_at(port_of(pack)) == NAME
    pack.send_signal(number)
    out, err = pack.communicate(timeout=60)
    assert (pack.returncode, out, err) == (0, "", "")


def test_a_killed_engine_takes_the_pack_along() -> None:
    """Nothing runs on after a crash: the other end of the pipe is closed by the last process that held it."""
    command = [sys.executable, "-c", ENGINE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert name_at(port_of(engine)) == NAME
        engine.kill()
        out, _ = engine.communicate(timeout=60)
        assert out == ""
