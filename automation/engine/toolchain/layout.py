"""Where things lie: every path under ``.berth/`` of the checkout, or of the repo of a user who has Berth as a tool.

The layout is a value computed from the root, and whether clusters are backed. It creates nothing and reads nothing
except in ``find``; whoever writes into a folder makes it. Real, simulated and backed runs share the programs in ``bin``
and ``tools`` and nothing else: each has its own ``PULUMI_HOME``, and simulated and backed ones each have a backend and
a copy of the project. What is said of simulated runs here holds for backed ones: their clouds are simulated too.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PROJECT_FILES = ("Pulumi.yaml", "Pulumi.yml")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one tool lies when it was downloaded or built: a folder, and the name of its program in there."""

    folder: Path
    name: str

    @property
    def program(self) -> Path:
        """The program."""
        return self.folder / self.name

    @property
    def record(self) -> Path:
        """What is known about the programs that were seen; makes the next look fast."""
        return self.folder / "toolchain.json"

    @property
    def lock(self) -> Path:
        """The file whose lock says that a process installs the tool."""
        return self.folder / ".install.lock"


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one checkout; ``root`` is absolute."""

    root: Path
    backed: bool = False
    """Whether the clusters of the simulated clouds are real control planes on this machine: a world of its own."""

    @classmethod
    def find(cls, start: Path | None = None, *, backed: bool = False) -> Self:
        """Take the nearest folder with a ``Pulumi.yaml``, from ``start`` (default: here) upwards; else ``start``."""
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if any((folder / name).is_file() for name in _PROJECT_FILES):
                return cls(folder, backed)
        return cls(here, backed)

    def __post_init__(self) -> None:
        """Make the root absolute, because the engine runs in other folders than Berth."""
        object.__setattr__(self, "root", self.root.absolute())

    @property
    def project_file(self) -> Path | None:
        """The project file of the root, if there is one."""
        return next((path for name in _PROJECT_FILES if (path := self.root / name).is_file()), None)

    @property
    def berth(self) -> Path:
        """The folder that holds everything Berth makes; safe to delete except for the state of simulated clouds."""
        return self.root / ".berth"

    @property
    def bin(self) -> Path:
        """The downloaded or built CLI and what must lie beside it."""
        return self.berth / "bin"

    @property
    def pulumi(self) -> Path:
        """The CLI that was downloaded or built (one from PATH stays where it is)."""
        return self.bin / "pulumi"

    @property
    def downloads(self) -> Path:
        """Releases, whole or in part."""
        return self.berth / "downloads"

    @property
    def install_log(self) -> Path:
        """What an installation in the background says; its lock says that there is one."""
        return self.berth / "install.log"

    @property
    def build(self) -> Path:
        """Where tools are built; the finished packages are in Go's own cache."""
        return self.berth / "build"

    @property
    def home(self) -> Path:
        """``PULUMI_HOME`` of real runs: the plugin cache and the CLI's own files."""
        return self.berth / "home"

    @property
    def simulated(self) -> Path:
        """Everything that belongs to the simulated clouds."""
        return self.berth / ("backed" if self.backed else "simulated")

    @property
    def simulated_home(self) -> Path:
        """``PULUMI_HOME`` of simulated runs; holds no real plugin, ever."""
        return self.simulated / "home"

    @property
    def simulated_state(self) -> Path:
        """The state backend of simulated runs."""
        return self.simulated / "state"

    @property
    def simulated_clouds(self) -> Path:
        """The database in which the simulated clouds keep their resources."""
        return self.simulated / "clouds.sqlite"

    @property
    def simulated_project(self) -> Path:
        """The copy of the project file for simulated runs, with stack configuration of their own beside it."""
        return self.simulated / "project"

    @property
    def backed_programs(self) -> Path:
        """What stands in for the programs of clouds in backed runs; first on their PATH."""
        return self.simulated / "programs"

    @property
    def simulated_nowhere(self) -> Path:
        """A folder that stays empty: where simulated runs are sent to look for credentials."""
        return self.simulated / "nowhere"

    def runs_of(self, *, simulated: bool) -> Path:
        """Give the folder of the marks of running engines of a kind of run."""
        return (self.simulated if simulated else self.berth) / "runs"

    def home_of(self, *, simulated: bool) -> Path:
        """Give the ``PULUMI_HOME`` of a kind of run."""
        return self.simulated_home if simulated else self.home
