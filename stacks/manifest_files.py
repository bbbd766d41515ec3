"""The files of a folder that hold manifests: which they are, and their bytes."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from components.api.load import is_manifest
from components.errors import ConfigError, DriverError, Problem
from stacks.shown_path import shown_path

LOCK_FOLDER: Final = "lock"
"""The folder of an environment that planning writes; it holds no manifests."""


IGNORE_FILE: Final = ".berthignore"
"""The file of an environment that says which of its files are no manifests of Berth's."""


def manifest_files(folder: Path) -> list[tuple[str, bytes]]:
    """Read every manifest of an environment's folder, as pairs of the path below it and the bytes.

    Raises ConfigError with all that cannot be read, because what is missed would be deleted.
    """
    problems: list[Problem] = []
    found = []
    patterns = ignored(folder)
    for path in walk(folder, problems):
        name = path.relative_to(folder).as_posix()
        if is_ignored(name, patterns):
            continue
        try:
            found.append((name, read_file(path)))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return found


def ignored(folder: Path) -> tuple[str, ...]:
    """Return the patterns of files that an environment passes over, from its ``.berthignore``: one a line.

    Every verb and the program read it, so that what is passed over is the same for all of them. Raises ConfigError when
    it cannot be read.
    """
    place = folder / IGNORE_FILE
    if not place.is_file():
        return ()
    lines = (line.strip() for line in read_file(place).decode(errors="replace").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def is_ignored(name: str, patterns: Iterable[str]) -> bool:
    """Whether a path below the folder is passed over; ``charts/`` is the folder with all in it."""
    return any(fnmatchcase(name, f"{pattern}*" if pattern.endswith("/") else pattern) for pattern in patterns)


def walk(folder: Path, problems: list[Problem], *, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield the manifests below a folder, sorted, its own before those in its subfolders; links are followed."""
    here = folder.resolve()
    if here in above:
        problems.append(_unreadable(folder, "leads back to a folder above it"))
        return
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        problems.append(_unreadable(folder, error.strerror or str(error)))
        return
    folders = [entry for entry in entries if entry.is_dir()]
    for entry in entries:
        if is_manifest(entry.name) and not entry.is_dir():
            if entry.is_file():
                yield entry
            else:
                problems.append(_unreadable(entry, "a link that leads nowhere" if entry.is_symlink() else "not a file"))
    for entry in folders:
        if above or entry.name != LOCK_FOLDER:
            yield from walk(entry, problems, above=(*above, here))


def read_file(path: Path) -> bytes:
    """Read one file; raises ConfigError when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError([_unreadable(path, error.strerror or str(error))]) from error


def rewrite(files: Mapping[Path, bytes]) -> None:
    """Put new bytes into files that exist, each whole at any moment, with its mode; links stay links.

    All are written before the first one takes its place. Raises DriverError when that fails.
    """
    written: list[tuple[Path, Path]] = []
    try:
        for path, text in files.items():
            real = path.resolve()
            descriptor, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
            written.append((Path(name), real))
            with os.fdopen(descriptor, "wb") as file:
                file.write(text)
            shutil.copymode(real, name)
        for temporary, real in written:
            temporary.replace(real)
    except OSError as error:
        raise DriverError(
            f"a manifest cannot be written: {error.strerror or error} ({shown_path(Path(error.filename or '.'))})",
            consequence="Every file is whole; some may be new already.",
        ) from error
    finally:
        for temporary, _ in written:
            with suppress(FileNotFoundError):
                temporary.unlink()


def _unreadable(path: Path, why: str) -> Problem:
    return Problem("file-unreadable", f"cannot be read: {why}", shown_path(path))
