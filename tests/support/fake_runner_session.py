"""A driver on a fake engine: an environment's folder, a runner in memory, clusters that answer or do not.

What the commands do is called directly: ``plan``, ``up``, ``read``. Everything lies under one folder of the test.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from automation.cli.main import run
from automation.driver.applier import Report
from automation.driver.planner import Plan, make_plan
from automation.driver.reading import Situation, read_situation
from automation.driver.refresh import Refresh
from automation.driver.run import Prepared, prepare, run_plan
from automation.driver.session import Session
from automation.driver.workspace import Workspace
from automation.engine.checkpoint import Checkpoint
from automation.engine.events import Event
from automation.engine.state import read_existing
from automation.engine.toolchain.layout import Layout
from automation.observe.reachability import Reachability
from automation.planning.step import Step
from automation.scheduling.existing import Existing
from components.errors import ConfigError, Problem
from components.naming import StackName
from tests.support.environment_folder import EnvironmentFolder
from tests.support.fake_runner import FakeRunner
from tests.support.fake_runner_update import Raw

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class Heard:
    """A reporter that keeps what it hears."""

    phases: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def phase(self, text: str) -> None:
        """Keep the name of a phase."""
        self.phases.append(text)

    def note(self, text: str) -> None:
        """Keep a note."""
        self.notes.append(text)

    def event(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)


@dataclass
class FakeDriver(EnvironmentFolder):
    """One environment named ``dev`` under ``root``, and everything that a run works with.

    ``dead`` names clusters that do not answer, with the reason.
    """

    root: Path
    runner: FakeRunner = field(default_factory=FakeRunner)
    heard: Heard = field(default_factory=Heard)
    dead: dict[str, str] = field(default_factory=dict)
    simulated: bool = True
    announced: list[Step] = field(default_factory=list)

    @classmethod
    def of(cls, root: Path, files: Mapping[str, str]) -> "FakeDriver":
        """Make the environment of ``files``."""
        driver = cls(root)
        for path, text in files.items():
            driver.write(path, text)
        return driver

    @property
    def session(self) -> Session:
        """A session, as every command opens its own."""
        workspace = Workspace(Layout(self.root), "dev", self.folder, self.simulated)
        return Session(workspace, self.runner, self.heard, self, "1.0.0", lambda: NOW)

    def reachable(self, endpoints: Mapping[str, str]) -> Mapping[str, Reachability]:
        """Answer for every cluster."""
        return {
            name: Reachability(name, name not in self.dead, NOW, self.dead.get(name, "")) for name in sorted(endpoints)
        }

    # What commands do

    def read(self, *, create: bool = True, missing_ok: bool = False, lenient: bool = False) -> Situation:
        """Read the present."""
        return read_situation(self.session, create=create, missing_ok=missing_ok, lenient=lenient)

    def plan(self, *, refresh: Refresh = Refresh.AUTO) -> Plan:
        """Plan and write nothing."""
        return make_plan(self.session, self.read(create=False, missing_ok=True), refresh=refresh)

    def prepare(self, *, settle: bool = True) -> Prepared:
        """Settle what is left of earlier runs, and plan."""
        return prepare(self.session, settle=settle)

    def up(self, *, refresh: Refresh = Refresh.AUTO, meanwhile: Callable[[], None] = lambda: None) -> Report:
        """Do all that ``berth up --yes`` does; ``meanwhile`` happens between the plan and its first step."""
        prepared = prepare(self.session, refresh=refresh)
        prepared.require_passed()
        meanwhile()
        self.announced = []
        return run_plan(self.session, prepared.plan, announce=self.announced.append)

    def berth(self, *arguments: str) -> int:
        """Run a command in this process on the fake engine; return its exit code."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            for name in [name for name in os.environ if name.startswith("BERTH_")]:
                patch.delenv(name)
            patch.setenv("BERTH_ENVIRONMENTS", str(self.folder.parent))
            patch.setenv("NO_COLOR", "1")
            patch.setattr("automation.driver.session.open_session", lambda *_, **__: self.session)
            patch.setattr("automation.driver.programs.import_ahead", lambda: None)
            return run([*arguments, *(["--simulated"] if self.simulated else [])])

    # What exists

    def checkpoint(self, stack: str = "dev") -> Checkpoint:
        """Return the state of a stack."""
        return self.runner.export(StackName.parse(stack))

    def state_of(self, name: str) -> Raw:
        """Return the state's own entry of the resource of that name, to be changed by hand."""
        entries = (each for stack in self.runner.held.values() for each in stack.resources)
        (found,) = [each for each in entries if each["urn"].rpartition("::")[2] == name]
        return found

    def existing(self) -> Existing:
        """Return what exists, of all stacks together."""
        return read_existing(self.runner.export(stack) for stack in self.runner.stacks())

    def replicas(self) -> dict[str, str]:
        """Return every replica with its phase; ``Failed`` for one that did not come up, ``Absent`` for one in parts."""
        return {
            str(identity): "Failed" if each.failure else each.entry.phase.value if each.ready else "Absent"
            for identity, each in self.existing().replicas.items()
        }

    def backends(self, namespace: str, service: str) -> dict[str, int]:
        """Return where a service leads, by the names of endpoints."""
        found = self.existing().services[namespace, service].entry.backends
        return {backend.endpoint: backend.weight for backend in found}

    def name_of(self, replica: str) -> str:
        """Return the name of a replica's objects."""
        return next(each.entry.name for identity, each in self.existing().replicas.items() if str(identity) == replica)

    def facts(self) -> dict[str, object]:
        """Return all states, to compare before with after."""
        return {str(stack): self.checkpoint(str(stack)).raw["deployment"] for stack in self.runner.stacks()}

    def does(self) -> list[str]:
        """Return and forget the operations that were asked of the engine, without the reading ones."""
        done = [call for call in self.runner.calls if call.split()[0] in _WORK]
        self.runner.calls.clear()
        return done

    def refused(self) -> Problem:
        """Return what a run says that is refused with one problem; it asked the engine for nothing."""
        before = (self.facts(), self.lock())
        self.does()
        with pytest.raises(ConfigError) as caught:
            self.up()
        assert self.does() == []
        assert (self.facts(), self.lock()) == before
        (problem,) = caught.value.problems
        return problem


_WORK = frozenset(
    {
        "preview",
        "up",
        "destroy",
        "refresh",
        "drift",
        "import_state",
        "ensure_stack",
        "remove_stack",
        "remove_stack_and_config",
    }
)
