"""Writing under ``.berth/``: a full or read-only disk is an error that says so, and a file is whole or not there."""

import errno
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from components.errors import DriverError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR})


@contextmanager
def writing(folder: Path) -> Generator[None]:
    """Turn the errors of a disk that takes nothing into a ``DriverError``; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(folder) from error
        if error.errno in _REFUSED:
            raise DriverError(
                f"cannot write to {error.filename or folder}: {error.strerror}",
                consequence="Nothing was installed and nothing was changed.",
                help=f"make {folder} a folder that this user can write to",
            ) from error
        raise


def disk_full(folder: Path) -> DriverError:
    """Say that there is no room under ``folder``, and how to make some."""
    return DriverError(
        f"no space left on the disk of {folder}",
        consequence="Nothing was installed and nothing was changed.",
        help=f"free some space, for example by removing {folder / 'downloads'} and {folder / 'build'}, and run again",
    )


def write_whole(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file by way of a temporary name, so that a reader sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_native_id()}")
    try:
        temporary.write_bytes(content)
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def keep_out_of_git(folder: Path) -> None:
    """Make a folder that Git ignores without an entry in the user's own ``.gitignore``."""
    if not (folder / ".gitignore").exists():
        write_whole(folder / ".gitignore", b"*\n")
