"""What is installed in the interpreter's environment: the plugins its Pulumi SDKs need, and its packages."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

_FILE = "pulumi-plugin.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, order=True)
class Plugin:
    """A provider plugin that an SDK asks for; ``server`` is empty for those of the official registry."""

    name: str
    version: str
    server: str = ""

    def is_in(self, home: Path) -> bool:
        """Whether it is installed there, and whole: while it is unpacked the engine keeps a mark beside it."""
        file = self.file_in(home)
        return file.exists() and not file.parent.with_name(f"{file.parent.name}.partial").exists()

    def file_in(self, home: Path) -> Path:
        """Say where the program lies when it is installed under a ``PULUMI_HOME``."""
        return home / "plugins" / f"resource-{self.name}-v{self.version}" / f"pulumi-resource-{self.name}"


def required_plugins(folders: list[str] | None = None) -> tuple[Plugin, ...]:
    """Read the plugin file that each SDK keeps in its package, from the import path; sorted.

    Looking for the file in the folders takes milliseconds; asking each distribution for its list of files takes
    seconds, because a cloud SDK has ten thousand.
    """
    found = {
        plugin.name: plugin for file in _files(sys.path if folders is None else folders) if (plugin := _read(file))
    }
    return tuple(sorted(found.values()))


def _files(folders: list[str]) -> Iterator[Path]:
    """Give the plugin files, last folder first: of two installed SDKs the one that Python imports wins."""
    for folder in reversed(folders):
        if folder and Path(folder).is_dir():
            yield from sorted(Path(folder).glob(f"*/{_FILE}"))


def _read(file: Path) -> Plugin | None:
    try:
        data = json.loads(file.read_bytes())
        if data.get("resource") is not True:
            return None
        name = data.get("name") or file.parent.name.removeprefix("pulumi_").replace("_", "-")
        version = data.get("version") or metadata.version(file.parent.name)
    except (OSError, ValueError, AttributeError, metadata.PackageNotFoundError):
        return None
    return Plugin(name=str(name), version=str(version).removeprefix("v"), server=str(data.get("server") or ""))


def installed_packages(*, transitive: bool) -> tuple[tuple[str, str], ...]:
    """List (name, version) of the installed packages, sorted; those that others require only if ``transitive``."""
    versions: dict[str, tuple[str, str]] = {}
    required: set[str] = set()
    for distribution in metadata.distributions():
        name = distribution.name
        versions.setdefault(_normal(name), (name, distribution.version))
        required.update(_normal(match[0]) for line in distribution.requires or () if (match := _NAME.match(line)))
    return tuple(sorted(pair for key, pair in versions.items() if transitive or key not in required))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
