"""The processes that the host has started, and how the host ends: at once, without a word, and not alone.

The host runs in a process group of its own, so an interrupt from a terminal reaches it only through the CLI. Its
children stay in that group: when the CLI has to kill the host, it kills them too.
"""

import os
import subprocess
import threading
from contextlib import suppress

_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()


def started(process: subprocess.Popen[bytes]) -> None:
    """Remember a process to be ended with the host."""
    with _lock:
        _running.add(process)


def ended(process: subprocess.Popen[bytes]) -> None:
    """Forget a process that has ended."""
    with _lock:
        _running.discard(process)


def leave(*_signal: object) -> None:
    """End the host now: threads of the program and of gRPC may be waiting for a CLI that no longer answers."""
    # Without the lock: a signal handler may have interrupted the thread that holds it.
    for process in tuple(_running):
        with suppress(OSError):
            process.terminate()
    os._exit(0)
