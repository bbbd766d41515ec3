"""What can be seen of a state backend that is a folder on this machine: leases, and files that were torn.

The engine writes a stack's file in one piece, but a small file of attributes beside it (``dev.json.attrs``) is emptied
first and then written. An engine that is killed in between leaves an empty one, and from then on every command fails
with ``EOF`` although the state itself is whole (3.274.1). The attributes hold a checksum that nobody asks for, and a
missing file is allowed, so an empty one is removed, unless somebody who lives holds the stack. A full disk leaves
truncated files of every kind (``disk_room``). Other backends write objects whole.
"""

import json
import shlex
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from automation.engine.lease import Lease
from components.naming import StackName


class FileBackend:
    """The part of a folder backend that belongs to one project."""

    def __init__(self, root: Path, project: str) -> None:
        self._root = root
        self._stacks = root / ".pulumi" / "stacks" / project
        self._history = root / ".pulumi" / "history" / project
        self._locks = root / ".pulumi" / "locks" / "organization" / project

    @classmethod
    def at(cls, url: str, project: str) -> "FileBackend | None":
        """Return the backend behind a URL; None when it is not a folder."""
        parts = urlsplit(url)
        if parts.scheme != "file":
            return None
        return cls(Path(unquote(parts.netloc + parts.path)).expanduser(), project)

    def leases(self, stack: StackName) -> tuple[Lease, ...]:
        """Return who holds the lease on ``stack``, in the order of their files' names."""
        return tuple(lease for _, lease in self._files(stack))

    def leased(self) -> tuple[StackName, ...]:
        """Return the stacks that somebody holds, also one whose own file was never written, sorted."""
        names = (StackName.parse(folder.name) for folder in self._locks.glob("*/") if any(folder.glob("*.json")))
        return tuple(sorted(names))

    def free(self, stack: StackName, lease: Lease) -> None:
        """Remove the files of one holder, and of nobody else: another may have come in the meantime."""
        for file, held in self._files(stack):
            if (held.host, held.pid, held.since) == (lease.host, lease.pid, lease.since):
                for each in (file, file.with_name(f"{file.name}.attrs")):
                    each.unlink(missing_ok=True)

    def _files(self, stack: StackName) -> tuple[tuple[Path, Lease], ...]:
        found: list[tuple[Path, Lease]] = []
        for file in sorted((self._locks / str(stack)).glob("*.json")):
            try:
                found.append((file, Lease.from_json(json.loads(file.read_bytes()))))
            except FileNotFoundError:
                continue  # freed in between
            except (ValueError, AttributeError):  # being written, or damaged: still a lease
                found.append((file, Lease("somebody", "an unknown host", 0)))
        return tuple(found)

    @property
    def root(self) -> Path:
        """The folder that the backend's URL names."""
        return self._root

    def size(self, stack: StackName) -> int:
        """Return how many bytes the state of ``stack`` takes; 0 when there is none."""
        try:
            return (self._stacks / f"{stack}.json").stat().st_size
        except OSError:
            return 0

    def restore(self, stack: StackName) -> str:
        """Return the command that puts the newest whole copy in place of a truncated state; empty if none is.

        Copies are the backup beside it and those in the history. The name of no stack means all of them.
        """
        for name in (str(stack),) if stack.environment else self._names():
            state = self._stacks / f"{name}.json"
            history = sorted((self._history / name).glob("*.checkpoint.json"), reverse=True)
            copies = (state.with_name(f"{state.name}.bak"), *history)
            if state.is_file() and _is_torn(state):
                return next((shlex.join(["cp", str(copy), str(state)]) for copy in copies if _is_whole(copy)), "")
        return ""

    def mend(self, stack: StackName) -> bool:
        """Remove torn files that stand in the way if nobody who lives holds ``stack``; return whether there were any.

        They are files of attributes, and leases of runs that never began: an engine that cannot write its lease whole
        (a full disk) ends at once and leaves the part. The name of no stack means all of them.
        """
        if not stack.environment:
            mended = [self.mend(StackName.parse(name)) for name in self._names()]  # each one, not only the first
            return any(mended)
        mended = self._drop_torn_leases(stack)
        if any(not lease.holder_is_dead for lease in self.leases(stack)):
            return mended
        files = [*self._stacks.glob(f"{stack}.json*.attrs"), *(self._locks / str(stack)).glob("*.attrs")]
        torn = [file for file in files if _is_torn(file)]
        for file in torn:
            file.unlink(missing_ok=True)
        return mended or bool(torn)

    def _drop_torn_leases(self, stack: StackName) -> bool:
        files = (self._locks / str(stack)).glob("*.json")
        torn = [file for file in files if _is_torn(file) and _age(file) > _WRITING]
        for file in torn:
            for each in (file, file.with_name(f"{file.name}.attrs")):
                each.unlink(missing_ok=True)
        return bool(torn)

    def _names(self) -> tuple[str, ...]:
        files = (file.name.partition(".json")[0] for file in self._stacks.glob("*.json*"))
        return tuple(sorted({*files, *(folder.name for folder in self._locks.glob("*/"))}))


_WRITING = 2.0
"""Seconds after which nobody can still be writing a lease; one that is written whole takes its place in one go."""


def _age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except OSError:
        return 0.0


def _is_whole(file: Path) -> bool:
    return file.is_file() and not _is_torn(file)


def _is_torn(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except FileNotFoundError:
        return False
    except ValueError:
        return True
    return False
