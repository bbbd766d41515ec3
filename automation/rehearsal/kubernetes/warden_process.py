"""The process that ends a local control plane when whoever started it is gone, in whatever way.

A driver that is killed cannot clean up. So it starts nothing itself: this process does, and it lives as long as the
pipe to the driver. When that ends, it ends every process it has started, by its number, and removes the folder they
worked in. Should this process be killed too, the system ends its children (Linux), and the next run sweeps the folder.

It is started as a file, without site packages, and imports nothing of Berth: it must start fast and stay small. Each
line on its standard input is a request, each line on its standard output the answer, both JSON.
"""

import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

GRACE = 1.0
"""Seconds between asking a process to end and killing it. An API server would take a minute over its farewell."""
HELD = ".held"
"""The file in the folder that is locked as long as the folder is in use."""

_PR_SET_PDEATHSIG = 1


class Warden:
    """The children of this process; each is waited for here, so that a number never means another process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for: start a program, look whether it still runs, or stop some."""
        match request["do"]:
            case "start":
                return {"pid": self.start(request["argv"], Path(request["log"]))}
            case "look":
                child = self._children.get(request["pid"])
                # Another thread of the driver may have stopped it.
                return {"code": -signal.SIGTERM if child is None else child.poll()}
            case _:
                self.stop(request["pids"])
                return {}

    def start(self, argv: list[str], log: Path) -> int:
        """Start a program in the folder, with an environment that no setting of the user reaches."""
        environ = {"HOME": str(self._folder), "PATH": os.defpath}
        with log.open("ab") as out:
            child = subprocess.Popen(  # noqa: S603 - what the driver asks for
                argv,
                cwd=self._folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                preexec_fn=die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - no threads here
            )
        self._children[child.pid] = child
        return child.pid

    def stop(self, pids: list[int]) -> None:
        """End some of the children, all at once, and wait for them."""
        ending = [self._children.pop(pid) for pid in pids if pid in self._children]
        for child in ending:
            child.terminate()
        deadline = time.monotonic() + GRACE
        while any(child.poll() is None for child in ending) and time.monotonic() < deadline:
            time.sleep(0.02)
        for child in ending:
            child.kill()
            child.wait()

    def end(self) -> None:
        """End all children and remove the folder."""
        self.stop([*self._children])
        shutil.rmtree(self._folder, ignore_errors=True)


def main(folder: Path) -> None:
    """Serve requests until the driver is gone."""
    # Locked before it has its name, so that nobody who sweeps finds it free.
    unnamed = folder / f"{HELD}.new"
    fcntl.flock(os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), fcntl.LOCK_EX)
    unnamed.rename(folder / HELD)
    warden = Warden(folder)
    signal.signal(signal.SIGTERM, _leave)
    # A terminal's Ctrl-C and hang-up are the driver's business.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        for line in sys.stdin:
            try:
                answer = warden.answer(json.loads(line))
            except OSError as error:
                answer = {"error": error.strerror or str(error)}
            # The driver may have gone while it was served.
            with suppress(BrokenPipeError):
                print(json.dumps(answer), flush=True)  # noqa: T201 - the answer
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        warden.end()


def die_with_parent() -> None:
    """Ask the system to kill this process when the warden is killed; runs in the child, before the program."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave(*_signal: object) -> NoReturn:
    raise SystemExit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
