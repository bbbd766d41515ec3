"""Asks a provider plugin for its version.

A plugin prints none: it serves the provider protocol and is asked over that, as the engine does. It is started without
an engine, asked one question and ended.
"""

import subprocess
import threading
from pathlib import Path
from typing import Final

from automation.engine.toolchain.toolchain import Unavailable
from automation.engine.toolchain.version import Version

_SECONDS_TO_START: Final = 60.0
_SECONDS_TO_ANSWER: Final = 10.0


def plugin_version(program: Path) -> str:
    """Give the three numbers of a plugin's version; empty when it tells none. Raises ``Unavailable`` if it cannot run.

    The first line that a plugin prints is the loopback port on which it serves.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the program found on PATH or installed here
            [str(program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise Unavailable(f"{program} cannot be run: {error.strerror or error}") from error
    late = threading.Timer(_SECONDS_TO_START, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode(errors="replace").strip()
        return _ask(int(line)) if line.isdigit() else ""
    finally:
        late.cancel()
        process.kill()
        process.communicate()


def _ask(port: int) -> str:
    import grpc  # noqa: PLC0415 - with the protocol a quarter of a second that only a plugin's first sight costs
    from google.protobuf import empty_pb2  # noqa: PLC0415 - as above
    from pulumi.runtime.proto import provider_pb2_grpc  # noqa: PLC0415 - as above

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            answer = provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(
                empty_pb2.Empty(), timeout=_SECONDS_TO_ANSWER
            )
        except grpc.RpcError:
            return ""
    version = Version.parse(answer.version)
    return str(version) if version else ""
