"""An environment's folder: its manifests, and the lock beside them.

The only place where program and driver touch the files of an environment. Layout: ``environment.yaml``,
``platform/*.yaml``, ``models/<namespace>/*.yaml``, and ``lock/``, which holds what planning wrote. Hidden folders and
files are passed over (``manifest_files`` walks it).
"""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from components.api.load import LoadResult, load_fleet
from components.clusters.machines import gpus_by_machine
from components.clusters.sources import SOURCES
from components.errors import DriverError, LockError
from components.lock import PLATFORM_FILE, Lock, dump_lock, load_lock
from components.run_kind import RunKind, kind_of_lock
from stacks.manifest_files import LOCK_FOLDER, manifest_files, read_file
from stacks.shown_path import shown_path

ENVIRONMENTS_VARIABLE: Final = "BERTH_ENVIRONMENTS"
"""Names the folder of all environments, for repos that hold no source of Berth."""

DEFAULT_FOLDER: Final = Path("stacks", "environments")


def environment_folder(root: Path, name: str, *, environments: Path | None = None) -> Path:
    """Return the folder of the environment ``name``, which need not exist.

    The folder of all environments is ``environments``, else what the variable ``BERTH_ENVIRONMENTS`` says, else
    ``stacks/environments``; relative ones lie under ``root``, the project's.
    """
    given = environments or os.environ.get(ENVIRONMENTS_VARIABLE) or DEFAULT_FOLDER
    return root / given / name


def read_environment(folder: Path) -> tuple[LoadResult, Lock | None]:
    """Read the manifests and the lock of an environment; problems of the manifests are in the result.

    Raises ConfigError when a file cannot be read at all, and LockError when the lock cannot be understood.
    """
    return read_manifests(folder), read_lock(folder)


def read_manifests(folder: Path, *, over: Sequence[Path] = ()) -> LoadResult:
    """Read the manifests alone, for whoever must go on when the lock is unreadable.

    Documents in the files ``over`` are added to them, or stand in for those of the same kind, namespace and name.
    """
    return load_fleet(
        manifest_files(folder),
        name=folder.name,
        shown=lambda path: shown_path(folder / path),
        sources=SOURCES.keys(),
        machines=gpus_by_machine(),
        over=[(str(path.absolute()), read_file(path)) for path in over],
    )


def read_lock(folder: Path) -> Lock | None:
    """Read the lock; None when nothing was planned yet."""
    return load_lock(_lock_files(folder))


def lock_kind(folder: Path) -> RunKind | None:
    """Return the kind of run that the lock was planned for, also of one that cannot be read; None without a lock."""
    return kind_of_lock(_lock_files(folder), platform=PLATFORM_FILE)


def _lock_files(folder: Path) -> dict[str, bytes]:
    return {path.name: read_file(path) for path in sorted((folder / LOCK_FOLDER).glob("*.yaml")) if path.is_file()}


def write_lock(folder: Path, lock: Lock) -> tuple[Path, ...]:
    """Write the lock's files, remove those of namespaces that are gone, and return what changed, sorted.

    Every file is whole at any moment, and all are written before the first one takes its place, so that a full disk
    leaves the old lock as it was. Raises DriverError when that fails.
    """
    place = folder / LOCK_FOLDER
    files = {place / name: content for name, content in dump_lock(lock).items()}
    try:
        place.mkdir(parents=True, exist_ok=True)
        gone = [path for path in place.glob("*.yaml") if path not in files]
        changed = {path: content for path, content in files.items() if not _holds(path, content)}
        _replace_all(changed)
        for path in gone:
            path.unlink()
    except OSError as error:
        raise DriverError(
            f"the lock cannot be written to {shown_path(place)}: {error.strerror or error}",
            consequence="The lock on disk is still the old one.",
        ) from error
    return tuple(sorted([*changed, *gone]))


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _replace_all(files: dict[Path, bytes]) -> None:
    written: list[tuple[Path, Path]] = []
    try:
        for path, content in files.items():
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            written.append((Path(name), path))
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o644)
                file.write(content)
                file.flush()
                os.fsync(descriptor)
        for temporary, path in written:
            temporary.replace(path)
    finally:
        for temporary, _ in written:
            with suppress(FileNotFoundError):
                temporary.unlink()


def missing_lock(folder: Path) -> LockError:
    """Return the error of an environment that was never planned."""
    return LockError(
        f"environment {folder.name} has no lock ({shown_path(folder / LOCK_FOLDER)} is empty)",
        consequence="Nothing was changed.",
        help=f"berth plan -e {folder.name}",
    )
