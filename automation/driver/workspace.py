"""Where a run works: the project, the environment's folder, and whether its clouds are simulated."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.simulated import read_project
from components.api.near import did_you_mean
from components.api.syntax import is_dns_label
from components.errors import UsageError
from components.naming import StackName
from components.run_kind import RunKind
from stacks.environment import environment_folder
from stacks.shown_path import shown_path


@dataclass(frozen=True, slots=True)
class Workspace:
    """One environment of one project: real, simulated, or backed (``layout.backed``, which is simulated too)."""

    layout: Layout
    environment: str
    folder: Path
    simulated: bool = False

    @classmethod
    def open(
        cls, environment: str, *, environments: Path | None = None, simulated: bool = False, backed: bool = False
    ) -> Self:
        """Find the project around the current folder and the environment in it. What is ``backed`` is simulated.

        Raises UsageError, naming the environments that exist, when there is none of that name.
        """
        if not is_dns_label(environment):
            raise UsageError(
                f"environment name {environment!r} is not a DNS label",
                consequence="Nothing was changed.",
                help="give the name of a folder, not a path; --environments DIR says where the folders lie",
            )
        layout = Layout.find(backed=backed)
        folder = environment_folder(layout.root, environment, environments=environments)
        if not folder.is_dir():
            raise _no_environment(environment, folder.parent)
        return cls(layout, environment, folder, simulated or backed)

    @property
    def backed(self) -> bool:
        """Whether the simulated clouds' clusters are real control planes on this machine."""
        return self.layout.backed

    @property
    def kind(self) -> RunKind:
        """The kind of run."""
        return RunKind.of(simulated=self.simulated, backed=self.backed)

    @property
    def option(self) -> str:
        """The option that chooses this kind of run, with a blank before it; empty for a real one."""
        return f" {self.kind.option}".rstrip()

    @property
    def stack(self) -> StackName:
        """The environment's main stack: everything (Single), or the front doors (PerCluster)."""
        return StackName(self.environment)

    @property
    def project(self) -> Path:
        """The folder with the ``Pulumi.yaml`` that runs of this kind use."""
        return self.layout.simulated_project if self.simulated else self.layout.root

    def configuration(self, stack: StackName) -> Path:
        """Return the file that holds a stack's configuration, which need not exist."""
        described = self.project / "Pulumi.yaml"
        folder = read_project(described).get("stackConfigDir") if described.is_file() else None
        return self.project / str(folder or "") / f"Pulumi.{stack}.yaml"


def _no_environment(environment: str, folder: Path) -> UsageError:
    """Return the error for an environment that is not there, with the ones that are."""
    found = sorted(path.name for path in folder.glob("*") if path.is_dir() and is_dns_label(path.name))
    where = shown_path(folder)
    known = f"environments in {where}: {', '.join(found)}" if found else f"{where} has none"
    meant = did_you_mean(environment, found)
    make = f"berth init {environment}"
    if meant:
        help_ = f"{meant} If not: {make}"
    elif found:
        help_ = f"-e {found[0]} (or BERTH_ENV={found[0]}), or {make}"
    else:
        help_ = f"{make}, or --environments DIR"
    return UsageError(
        f"there is no environment {environment!r} ({known if folder.is_dir() else f'there is no folder {where}'})",
        consequence="Nothing was changed.",
        help=help_,
    )
