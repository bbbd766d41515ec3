"""A program that Berth finds, downloads or builds: what is pinned of it, and where it comes from.

The machinery (``find``, ``download``, ``archive``, ``build``, ``install``) works from this description alone. The pins
are data elsewhere: ``versions`` has the Pulumi CLI, ``kubernetes`` the programs of a local control plane and the
provider that puts objects on one.
"""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from automation.engine.toolchain.layout import Layout, Place
from automation.engine.toolchain.version import Platform, Version

GO_WORDS: Final[Mapping[str, str]] = {"amd64": "amd64", "arm64": "arm64"}
"""The processors that most projects release for; they use Go's words, as ``Platform`` does."""


@dataclass(frozen=True, slots=True)
class GoModule:
    """How a tool is built. ``folder`` lies under ``modules`` and holds a go.mod that pins the tool, and its go.sum."""

    folder: str
    package: str
    """The package to build; ``.`` is a ``main.go`` of ours in the folder."""
    tags: tuple[str, ...] = ()
    symbols: tuple[tuple[str, str], ...] = ()
    """Symbols that the linker fills, with their values: how most tools learn their own version."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the folder."""
        return ("go.mod", "go.sum", "main.go") if self.package == "." else ("go.mod", "go.sum")


@dataclass(frozen=True, slots=True)
class Files:
    """The names at an address: the release itself (an archive, or the bare program) and the list of checksums."""

    name: str
    checksums: str


@dataclass(frozen=True, slots=True)
class Release:
    """An official download with published SHA-256 sums; ``{system}`` and ``{machine}`` stand for the platform."""

    address: str
    name: str
    checksums: str
    systems: tuple[str, ...] = ("linux",)
    machines: Mapping[str, str] = field(default_factory=lambda: GO_WORDS)
    """The processors that there are releases for, with the words that the release uses."""

    def on(self, platform: Platform) -> Files | None:
        """Name the files for a platform; ``None`` when the release has none for it."""
        if platform.system not in self.systems or platform.machine not in self.machines:
            return None
        words = {"system": platform.system, "machine": self.machines[platform.machine]}
        return Files(name=self.name.format(**words), checksums=self.checksums.format(**words))

    def address_on(self, platform: Platform) -> str:
        """Give the address for a platform, without a slash at its end."""
        return self.address.format(system=platform.system, machine=self.machines.get(platform.machine, ""))


@dataclass(frozen=True, slots=True)
class Tool:
    """A program at a pinned version. On PATH any version from ``minimum`` up to but not including ``below`` will do."""

    name: str
    version: str
    minimum: str
    below: str
    ask: tuple[str, ...]
    """The arguments that make it print its version; none for a provider plugin, which is served and asked."""
    release: Release | None = None
    mirror: str = ""
    """The environment variable that names another address with the files of the release."""
    module: GoModule | None = None
    title: str = ""
    """What people call it, when that is not its file name."""
    companions: str = ""
    """A pattern of files in the release archive that must lie beside the program."""
    folder: str = ""
    """Where under ``.berth`` it is installed; its own folder, by name and version, when empty."""

    @property
    def called(self) -> str:
        """The tool as it stands in a list."""
        return self.title or self.name

    @property
    def phrase(self) -> str:
        """The tool as it stands in a sentence."""
        return f"the {self.title}" if self.title else self.name

    @property
    def range(self) -> str:
        """The versions that will do, for people."""
        return f"{self.minimum} or newer, below {self.below}"

    def accepts(self, version: Version) -> bool:
        """Whether a tool of this version on PATH may be used."""
        minimum, below = Version.parse(self.minimum), Version.parse(self.below)
        assert minimum is not None
        assert below is not None
        return minimum <= version < below

    def place(self, layout: Layout) -> Place:
        """Say where it lies when it is installed."""
        return Place(layout.berth / (self.folder or f"tools/{self.name}-v{self.version}"), self.name)

    def wants(self, name: str) -> bool:
        """Whether a file of the release archive is needed."""
        return name == self.name or bool(self.companions and fnmatch.fnmatchcase(name, self.companions))
