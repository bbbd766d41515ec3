"""Options that mean the same on every verb, with the environment variable that sets each.

Precedence: flag, then environment variable, then the built-in default.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.driver.workspace import Workspace

Output = Literal["table", "json"]
Color = Literal["auto", "always", "never"]
When = Annotated[Literal["auto", "never", "always"], Parameter(env_var="BERTH_REFRESH")]
"""Whether a plan looks at the real resources first (``--refresh``)."""
Seen = Annotated[Path | None, Parameter(env_var="BERTH_OBSERVATION")]
"""A file of ``berth observe`` whose facts are counted with (``--observation``)."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Talk:
    """How a verb talks, whatever the form of its answer."""

    json: Annotated[bool, Parameter(negative="")] = False
    """The same as ``-o json``."""

    color: Annotated[Color, Parameter(env_var="BERTH_COLOR")] = "auto"
    """Whether to colour; ``auto`` asks the terminal, NO_COLOR and FORCE_COLOR."""

    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", env_var="BERTH_QUIET")] = False
    """Say nothing on stderr but errors."""

    def sinks_for(self, output: Output) -> "Sinks":
        """Open sinks for people or for a machine; ``--json`` wins."""
        from automation.cli.sinks import Sinks

        return Sinks(output="json" if self.json else output, color=self.color, quiet=self.quiet)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Show(Talk):
    """How a verb shows its answer."""

    output: Annotated[Output, Parameter(name=["--output", "-o"], env_var="BERTH_OUTPUT")] = "table"
    """Form of the answer on stdout."""

    def sinks(self) -> "Sinks":
        """Open the sinks that these options describe."""
        return self.sinks_for(self.output)


class _Assumed(str):
    """A name that nobody gave; otherwise the text that it is."""

    __slots__ = ()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Where:
    """Which environment, and which clouds."""

    env: Annotated[str, Parameter(name=["--env", "-e"], env_var="BERTH_ENV")] = _Assumed("dev")
    """Name of the environment: a folder of manifests."""

    environments: Annotated[Path | None, Parameter(env_var="BERTH_ENVIRONMENTS")] = None
    """Folder that holds the environments; by default ``stacks/environments`` of the project."""

    simulated: Annotated[bool, Parameter(negative="", env_var="BERTH_SIMULATED")] = False
    """Use the simulated clouds, with a state of their own; never touches a real cloud."""

    backed: Annotated[bool, Parameter(negative="", env_var="BERTH_BACKED")] = False
    """Use simulated clouds whose clusters are real control planes on this machine, which `berth backing` keeps."""

    def __post_init__(self) -> None:
        """Take what is backed as simulated too, and what is simulated as backed when its scenario says so."""
        object.__setattr__(self, "backed", self.backed or (self.simulated and _backed_by_scenario()))
        object.__setattr__(self, "simulated", self.simulated or self.backed)

    @property
    def named(self) -> bool:
        """Whether somebody named the environment, by the option or the variable."""
        return not isinstance(self.env, _Assumed)

    def workspace(self) -> "Workspace":
        """Find the project and the environment; raises UsageError where there is none."""
        from automation.driver.workspace import Workspace

        return Workspace.open(self.env, environments=self.environments, simulated=self.simulated, backed=self.backed)


def _backed_by_scenario() -> bool:
    from automation.rehearsal.scenario import is_backed  # only in rehearsals

    return is_backed()
