"""One run of a demonstration at a time in a checkout: each begins by removing the folder of the one before."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from components.errors import UsageError

_BYTES_OF_A_NUMBER: Final = 32


class OnlyRun:
    """Whoever holds the lock of a folder may remove the folder, and nobody else.

    The lock is a file beside the folder and belongs to whoever has it open: this process, and the commands that it
    starts, which are handed ``descriptor``. So it lasts as long as any of them works in the folder, and after all were
    killed there is nothing to clean up. The number in the file is for people only.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock of ``folder``; raises UsageError when another run has it, and changes nothing then."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        path = folder.with_name(f"{folder.name}.lock")
        self.descriptor: Final = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            began = _number(self.descriptor)
            self.close()
            raise UsageError(
                f"a demonstration runs in {folder} already{began}",
                consequence="Nothing was changed.",
                help="wait until it is over, or end it (Ctrl-C where it runs); another checkout is no trouble",
            ) from None
        os.ftruncate(self.descriptor, 0)
        os.write(self.descriptor, str(os.getpid()).encode())

    def close(self) -> None:
        """Let another run begin."""
        os.close(self.descriptor)


def _number(descriptor: int) -> str:
    """Say who began the run that holds the lock, in words that stay true when only its commands are left."""
    with suppress(OSError, ValueError):
        return f": process {int(os.read(descriptor, _BYTES_OF_A_NUMBER))} began it"
    return ""
