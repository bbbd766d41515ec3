"""What can be seen of a state backend that is a folder on this machine: leases, and files that were torn.

The engine writes a stack's file in one piece, but a small file of attributes beside it (``dev.json.attrs``) is emptied
first and then written. An engine that is killed in between leaves an empty one, and from then on every command fails
with ``EOF`` although the state itself is whole (3.274.1). The attributes hold a checksum that nobody asks for, and a
missing file is allowed, so an empty one is removed, unless somebody who lives holds the stack. Other backends write
objects whole.
"""

import contextlib
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

from automation.engine.lease import Lease
from components.naming import StackName


class FileBackend:
    """The part of a folder backend that belongs to one project."""

    def __init__(self, root: Path, project: str) -> None:
        self._stacks = root / ".pulumi" / "stacks" / project
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

    def mend(self, stack: StackName) -> bool:
        """Remove torn files of attributes of ``stack`` if nobody who lives holds it; return whether there were any.

        The name of no stack means all of them.
        """
        if not stack.environment:
            mended = [self.mend(StackName.parse(name)) for name in self._names()]  # each one, not only the first
            return any(mended)
        if any(not lease.holder_is_dead for lease in self.leases(stack)):
            return False
        files = [*self._stacks.glob(f"{stack}.json*.attrs"), *(self._locks / str(stack)).glob("*.attrs")]
        torn = [file for file in files if _is_torn(file)]
        for file in torn:
            with contextlib.suppress(FileNotFoundError):
                file.unlink()
        return bool(torn)

    def _names(self) -> tuple[str, ...]:
        files = (file.name.partition(".json")[0] for file in self._stacks.glob("*.json*"))
        return tuple(sorted({*files, *(folder.name for folder in self._locks.glob("*/"))}))


def _is_torn(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except FileNotFoundError:
        return False
    except ValueError:
        return True
    return False
