"""A session: everything one run of the driver works with, opened once and given to every part."""

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from automation.driver.reporter import Reporter
from automation.driver.simulation import prepare_simulation, require_kept
from automation.driver.workspace import Workspace
from automation.engine.interruption import Interruption
from automation.engine.provisions import Provisions
from automation.engine.run_mark import RunMarks
from automation.engine.runner import Runner
from automation.engine.toolchain.backend import require_backend, require_passphrase
from automation.engine.toolchain.ensure import ensure
from automation.engine.toolchain.environment import engine_environment
from automation.engine.toolchain.simulated import read_project
from automation.observe.reachability import Observer
from automation.scheduling.observation import Observation
from components.errors import UsageError


@dataclass(frozen=True, slots=True)
class Session:
    """One run's means: where, with which engine, who listens, what time it is."""

    workspace: Workspace
    runner: Runner
    reporter: Reporter
    observer: Observer
    berth: str
    clock: Callable[[], datetime]
    provisions: Provisions | None = None
    """What plugins and programs real clouds need; None in a simulated run, which needs none."""
    observation: Observation = field(default_factory=Observation)
    """What was seen of clusters before the run, as a person gave it; nothing where nobody did."""


def open_session(
    workspace: Workspace, reporter: Reporter, *, interruption: Interruption, previews: bool = False
) -> Session:
    """Find or install the engine, prepare the simulation if that is asked for, and return a session.

    ``previews`` says that the engine will run programs, for which it opens the state's secrets. Raises UsageError when
    the project has no ``Pulumi.yaml``, AuthError when no backend or passphrase is given (all that before anything is
    installed), and ToolchainError when no engine can be had.
    """
    from automation.engine.pulumi import PulumiRunner  # noqa: PLC0415 (imports the SDK, which takes a while)

    layout = workspace.layout
    if layout.project_file is None:
        raise UsageError(
            f"{layout.root} holds no Pulumi.yaml", consequence="Nothing was changed.", help="berth init NAME"
        )
    read_project(layout.project_file)  # the engine's words about a broken one name no place
    _require_at_hand(workspace, previews=previews)
    toolchain = ensure(layout, progress=reporter.phase)
    if workspace.simulated:
        prepare_simulation(layout)
    environment = engine_environment(layout, simulated=workspace.simulated, base=os.environ, toolchain=toolchain)
    runner = PulumiRunner(
        toolchain.pulumi,
        project=workspace.project,
        environment=environment,
        interruption=interruption,
        release=f"berth unlock -e {workspace.environment}{workspace.option}",
        marks=RunMarks(layout.runs_of(simulated=workspace.simulated), command=shlex.join(["berth", *sys.argv[1:]])),
    )
    return Session(
        workspace=workspace,
        runner=runner,
        reporter=reporter,
        observer=_observer(workspace),
        berth=metadata.version("berth"),
        clock=lambda: datetime.now(UTC),
        provisions=None
        if workspace.simulated
        else Provisions(toolchain.pulumi, environment=environment, interruption=interruption, progress=reporter.phase),
    )


def _require_at_hand(workspace: Workspace, *, previews: bool) -> None:
    """Raise for what a run lacks and the engine would only say once it is there: to install it takes minutes."""
    layout = workspace.layout
    if workspace.backed:
        require_kept(layout)
    if workspace.simulated:
        return
    require_backend(layout, os.environ)
    if previews:
        require_passphrase(layout, os.environ, configuration=workspace.configuration(workspace.stack))


def _observer(workspace: Workspace) -> Observer:
    if workspace.simulated and not workspace.backed:
        from automation.observe.simulated import SimulatedObserver  # noqa: PLC0415 (only in rehearsals)
        from automation.rehearsal.cloud import SimulatedCloud  # noqa: PLC0415 (only in rehearsals)

        return SimulatedObserver(SimulatedCloud(workspace.layout.simulated_clouds, scenario=_scenario()))
    from automation.observe.live import LiveObserver  # noqa: PLC0415 (only for real API servers)

    return LiveObserver()


def _scenario() -> Path | None:
    from automation.rehearsal.scenario import VARIABLE  # noqa: PLC0415 (only in rehearsals)

    path = os.environ.get(VARIABLE)
    return Path(path) if path else None
