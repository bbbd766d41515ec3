"""A folder and processes that end with the driver: asks the warden process, which does the starting and ending.

``Warden`` is the driver's side. What is started is not its business; see ``local``.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from automation.rehearsal.kubernetes import warden_process
from automation.rehearsal.kubernetes.warden_process import HELD
from components.errors import DriverError

_PREFIX: Final = "run-"
_SECONDS_TO_END: Final = 10.0
_LINES_OF_FAILURE: Final = 4


class Warden:
    """Owns a private folder under ``parent``, made for it, and every process started in it. Use it as a context."""

    def __init__(self, parent: Path) -> None:
        """Start the warden process; sweeps the folders of runs whose warden was killed."""
        parent.mkdir(parents=True, exist_ok=True)
        sweep(parent)
        self.folder: Final = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent)).resolve()
        self._lock = threading.Lock()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with a file of ours
                [sys.executable, "-I", "-S", "-u", warden_process.__file__, str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Of its own, so that a terminal's Ctrl-C does not reach it or what it starts.
                start_new_session=True,
            )
        except OSError:
            self.folder.rmdir()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The number of the warden process."""
        return self._process.pid

    def check(self) -> None:
        """Raise DriverError when the warden process has ended, which nobody asked it to."""
        if self._process.poll() is not None:
            raise _ended()

    def start(self, name: str, argv: Sequence[str]) -> int:
        """Start a program and give its process number; what it says goes to ``<name>.log`` in the folder."""
        answer = self._ask(do="start", argv=list(argv), log=str(self.log(name)))
        if "error" in answer:
            raise DriverError(f"{argv[0]} cannot be started: {answer['error']}", consequence="Nothing was started.")
        return int(answer["pid"])

    def look(self, pid: int) -> int | None:
        """Give the exit status of a program that was started; ``None`` while it runs."""
        code = self._ask(do="look", pid=pid)["code"]
        return None if code is None else int(code)

    def stop(self, pids: Iterable[int]) -> None:
        """End some programs; whoever does not go within a second is killed."""
        self._ask(do="stop", pids=list(pids))

    def log(self, name: str) -> Path:
        """Say where the output of a program is."""
        return self.folder / f"{name}.log"

    def last_words(self, name: str) -> str:
        """Give the last lines of a program's output, for an error."""
        try:
            text = self.log(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join([line for line in text.splitlines() if line.strip()][-_LINES_OF_FAILURE:])

    def close(self) -> None:
        """End everything and remove the folder; does nothing the second time."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with suppress(OSError):
            stdin.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, **request: Any) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with self._lock:
            try:
                stdin.write(json.dumps(request).encode() + b"\n")
                stdin.flush()
                line = stdout.readline()
            except (OSError, ValueError):
                line = b""
        if not line:
            raise _ended()
        answer: dict[str, Any] = json.loads(line)
        return answer


def _ended() -> DriverError:
    return DriverError(
        "the process that keeps the local clusters has ended", consequence="The local clusters have ended with it."
    )


def sweep(parent: Path) -> None:
    """Remove the folders of runs whose warden is gone without having removed them; those in use are locked."""
    for folder in sorted(parent.glob(f"{_PREFIX}*")):
        with suppress(OSError):
            held = os.open(folder / HELD, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)
