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


def test_an_interrupt_is_the_engines_to_judge(pack: subprocess.Popen[str]) -> None:
    """Ctrl-C reaches every process of the terminal; the pack goes on, and a request to end ends it quietly."""
    port = port_of(pack)
    pack.send_signal(signal.SIGINT)
    assert name_at(port) == NAME
    pack.send_signal(signal.SIGTERM)
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
