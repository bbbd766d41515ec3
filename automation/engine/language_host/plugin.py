"""Runs a provider or a policy pack that is a folder, as a process of its own, and streams back what it prints."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import grpc
from pulumi.runtime.proto import language_pb2

from automation.engine.language_host import children

_CHUNK = 1 << 16
_ANALYZER = "analyzer"


def run_plugin(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
    """Start the plugin, stream its output, and give its exit code last.

    When the CLI no longer wants the plugin it cancels the call; the process is then told to end.
    """
    process = _start(request)
    children.started(process)
    context.add_callback(lambda: _terminate(process))
    chunks: queue.SimpleQueue[tuple[str, bytes] | None] = queue.SimpleQueue()
    streams = {"stdout": process.stdout, "stderr": process.stderr}
    for name, stream in streams.items():
        assert stream is not None
        threading.Thread(target=_pump, args=(name, cast("BufferedReader", stream), chunks), daemon=True).start()
    open_streams = len(streams)
    while open_streams:
        chunk = chunks.get()
        if chunk is None:
            open_streams -= 1
        else:
            yield _answer(*chunk)
    code = process.wait()
    children.ended(process)
    yield language_pb2.RunPluginResponse(exitcode=code)


def _answer(name: str, chunk: bytes) -> Any:
    if name == "stdout":
        return language_pb2.RunPluginResponse(stdout=chunk)
    return language_pb2.RunPluginResponse(stderr=chunk)


def command(*, kind: str, folder: str, arguments: list[str], options: Any) -> list[str]:
    """Write the command line of a plugin. Unbuffered: the CLI waits for the line with the port."""
    python = _python(folder, options)
    if kind == _ANALYZER:
        return [python, "-u", "-m", "pulumi.policy", *arguments, folder]
    return [python, "-u", folder, *arguments]


def _python(folder: str, options: Any) -> str:
    """Give the interpreter of the virtual environment that a plugin names, if it is there; else our own."""
    name = options["virtualenv"] if "virtualenv" in options else ""  # noqa: SIM401 - a protobuf Struct has no get()
    python = Path(folder, str(name), "bin", "python") if name else None
    return str(python) if python is not None and python.exists() else sys.executable


def _start(request: Any) -> subprocess.Popen[bytes]:
    line = command(
        kind=request.kind,
        folder=request.info.program_directory,
        arguments=list(request.args),
        options=request.info.options,
    )
    given = dict(entry.partition("=")[::2] for entry in request.env)
    return subprocess.Popen(  # noqa: S603 - the plugin that the CLI asks for
        line,
        cwd=request.pwd or None,
        env={**os.environ, **given},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _terminate(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(OSError):
            process.terminate()


def _pump(name: str, stream: BufferedReader, chunks: "queue.SimpleQueue[tuple[str, bytes] | None]") -> None:
    with stream:
        while chunk := stream.read1(_CHUNK):
            chunks.put((name, chunk))
    chunks.put(None)
