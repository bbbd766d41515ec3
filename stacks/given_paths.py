"""Files and folders that a person names, sorted into what belongs together: environments, and parts of some.

A folder with an ``environment.yaml`` is an environment and is read whole, but for what its ``.berthignore`` names.
Everything else is a part: what it refers to may lie elsewhere. A part that lies inside an environment is read as from
there, so that the rules of its folders hold.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from components.api.load import SUFFIXES, LoadResult, is_manifest, load_fleet
from components.clusters.machines import gpus_by_machine
from components.clusters.sources import SOURCES
from components.errors import ConfigError, Problem, UsageError
from stacks.manifest_files import LOCK_FOLDER, ignored, is_ignored, read_file, walk
from stacks.shown_path import shown_path

_MARKS: Final = ("environment.yaml", "environment.yml")


@dataclass(frozen=True, slots=True)
class Given:
    """Files that are read together; ``files`` leads from the path that the loader knows to the file itself.

    ``environment`` is the folder's name where they are a whole environment, else empty, and ``folder`` that folder.
    """

    environment: str
    folder: Path | None
    files: Mapping[str, Path]

    def contents(self) -> list[tuple[str, bytes]]:
        """Read the files; raises ConfigError with all that cannot be read."""
        problems: list[Problem] = []
        found = []
        for name, path in self.files.items():
            try:
                found.append((name, read_file(path)))
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)
        return found

    def without(self, patterns: Iterable[str]) -> Self:
        """Return the same without the files whose path matches one of the patterns."""
        passed = tuple(patterns)
        return replace(self, files={name: path for name, path in self.files.items() if not is_ignored(name, passed)})

    def load(self) -> LoadResult:
        """Load them: an environment strictly, a part with warnings for what it refers to and does not hold."""
        return load_fleet(
            self.contents(),
            name=self.environment,
            complete=bool(self.environment),
            shown=self.shown,
            sources=SOURCES.keys(),
            machines=gpus_by_machine(),
        )

    def shown(self, name: str) -> str:
        """Write the path of a file, or of one that should be there."""
        missing = self.folder / name if self.folder else Path(name)
        return shown_path(self.files.get(name, missing))


def given(paths: Iterable[Path], *, whole: bool = False) -> tuple[Given, ...]:
    """Sort the manifests at ``paths`` into environments and parts; with ``whole`` every path is an environment.

    Raises UsageError for a path that is not there or holds no manifest, and ConfigError when a folder cannot be read.
    """
    if whole:
        return tuple(_environment(path) for path in paths)
    return _Sorter().sort(paths)


def _environment(folder: Path) -> Given:
    problems: list[Problem] = []
    files = {path.relative_to(folder).as_posix(): path for path in walk(folder, problems)}
    if problems:
        raise ConfigError(problems)
    return Given(folder.name, folder, files).without(ignored(folder))


class _Sorter:
    """One sorting; remembers which folders are in which environment."""

    def __init__(self) -> None:
        self.environments: dict[Path, dict[str, Path]] = {}
        self.parts: dict[Path | None, dict[str, Path]] = {}
        self.roots: dict[Path, Path | None] = {}
        self.patterns: dict[Path, tuple[str, ...]] = {}

    def sort(self, paths: Iterable[Path]) -> tuple[Given, ...]:
        """Sort everything."""
        problems: list[Problem] = []
        for path in paths:
            here = Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)
            found = list(self._files(here, problems))
            if not found and not problems:
                raise _usage(f"there is no manifest in {shown_path(here)}", f"manifests end in {' or '.join(SUFFIXES)}")
            base = here if here.is_dir() else Path.cwd() if here.is_relative_to(Path.cwd()) else here.parent
            for file in found:
                root = self._root(file.parent)
                if root is not None and root.is_relative_to(here):
                    self.environments.setdefault(root, {})[file.relative_to(root).as_posix()] = file
                else:
                    _add(self.parts.setdefault(root, {}), file, root or base)
        if problems:
            raise ConfigError(problems)
        whole = [Given(root.name, root, files) for root, files in sorted(self.environments.items())]
        return (
            *whole,
            *(Given("", None, files) for root, files in self.parts.items() if root not in self.environments),
        )

    def _files(self, here: Path, problems: list[Problem]) -> Iterator[Path]:
        """Yield the manifests at a path, without what planning wrote."""
        if not here.exists():
            is_name = not here.suffix and here.parent == Path.cwd()
            help_ = f"an environment is named by -e {here.name}" if is_name else f"paths count from {Path.cwd()}"
            raise _usage(f"there is no file or folder {shown_path(here)}", help_)
        if not here.is_dir():
            if not is_manifest(here.name):
                raise _usage(f"{shown_path(here)} is no manifest", f"manifests end in {' or '.join(SUFFIXES)}")
            yield here
            return
        for file in walk(here, problems):
            root = self._root(file.parent)
            name = file.relative_to(root or here)
            if root is None or (name.parts[0] != LOCK_FOLDER and not is_ignored(name.as_posix(), self._ignored(root))):
                yield file

    def _ignored(self, root: Path) -> tuple[str, ...]:
        """Read once what an environment passes over."""
        if root not in self.patterns:
            self.patterns[root] = ignored(root)
        return self.patterns[root]

    def _root(self, folder: Path) -> Path | None:
        """Find the environment that a folder is in."""
        if folder not in self.roots:
            marked = any((folder / mark).is_file() for mark in _MARKS)
            above = folder.parent
            self.roots[folder] = folder if marked else None if above == folder else self._root(above)
        return self.roots[folder]


def _add(files: dict[str, Path], file: Path, base: Path) -> None:
    name = file.relative_to(base).as_posix() if file.is_relative_to(base) else file.name
    files[name if files.get(name, file) == file else file.as_posix()] = file


def _usage(summary: str, advice: str) -> UsageError:
    return UsageError(summary, consequence="Nothing was read.", help=advice)
