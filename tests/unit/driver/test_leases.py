"""Which leases a run frees by itself, which ones a person may free, and what is said about each."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from automation.driver.leases import free_proven, lease_lines, living, unlock
from automation.driver.recovery import cross_out, pending_lines
from automation.driver.session import Session
from automation.driver.workspace import Workspace
from automation.engine.checkpoint import Checkpoint
from automation.engine.lease import Lease, Trace
from automation.engine.repair import ORPHANS_TAG, Orphan
from automation.engine.toolchain.layout import Layout
from components.errors import DriverError, MixedState, StackLeased, UsageError
from components.naming import StackName
from tests.unit.engine.samples import checkpoint, entry

DEV, EAST, PROD = StackName("dev"), StackName("dev", "east"), StackName("prod")
HERE = socket.gethostname()


def _gone() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


GONE = _gone()
NOW = datetime.now(UTC)
PROVEN = Lease("sam", HERE, GONE, NOW, "berth up", Trace.FREE)
LIKELY = Lease("sam", HERE, GONE, NOW)
LINGERING = Lease("sam", HERE, GONE, NOW, "berth up", Trace.HELD)
ALIVE = Lease("sam", HERE, os.getpid(), NOW)
ELSEWHERE = Lease("ci", "far", 41, NOW)


class Backend:
    """A runner that only knows who holds what; with ``seen=False`` it is a backend that does not say."""

    def __init__(self, held: Mapping[StackName, Sequence[Lease]], *, seen: bool = True) -> None:
        self.held = {stack: list(leases) for stack, leases in held.items()}
        self.seen = seen
        self.cancelled: list[StackName] = []
        self.notes: dict[str, str] = {}
        self.state: Checkpoint | None = None

    def leased(self) -> tuple[StackName, ...]:
        """Name the stacks that are held."""
        return tuple(sorted(self.held)) if self.seen else ()

    def stacks(self) -> tuple[StackName, ...]:
        """Name all stacks."""
        return tuple(sorted(self.held))

    def leases(self, stack: StackName) -> tuple[Lease, ...] | None:
        """Name the holders."""
        return tuple(self.held.get(stack, ())) if self.seen else None

    def free(self, stack: StackName, lease: Lease) -> None:
        """Free one."""
        self.held[stack].remove(lease)

    def export(self, stack: StackName) -> Checkpoint:
        """Give a state; one that cannot be read stops nobody."""
        if self.state is None:
            raise DriverError(f"the state of {stack} is torn")
        return self.state

    def cancel(self, stack: StackName) -> None:
        """Free all of a stack."""
        self.cancelled.append(stack)

    def tags(self, _stack: StackName) -> Mapping[str, str]:
        """Give the notes."""
        return self.notes

    def set_tag(self, _stack: StackName, key: str, value: str | None) -> None:
        """Take a note."""
        self.notes = {key: value} if value else {}

    @property
    def session(self) -> Session:
        """A session of the environment ``dev`` on it."""
        workspace = Workspace(Layout(Path("/x")), "dev", Path("/x/dev"), simulated=True)
        return cast("Session", SimpleNamespace(runner=self, workspace=workspace))


def test_a_run_frees_what_is_proven_dead_and_nothing_else() -> None:
    """Of its own environment only; each one is said with who it was."""
    backend = Backend({DEV: [PROVEN, LIKELY], EAST: [ELSEWHERE, LINGERING, PROVEN], PROD: [PROVEN]})
    said = free_proven(backend.session)
    assert said == tuple(
        f"freed stack {stack}: nothing is left of the run that held it, {PROVEN}" for stack in (DEV, EAST)
    )
    assert backend.held == {DEV: [LIKELY], EAST: [ELSEWHERE, LINGERING], PROD: [PROVEN]}
    assert free_proven(Backend({DEV: [PROVEN]}, seen=False).session) == ()


def test_a_person_frees_what_is_dead() -> None:
    """Proven or likely; what belongs to other environments is not touched."""
    backend = Backend({DEV: [PROVEN, LIKELY], PROD: [LIKELY]})
    freed = unlock(backend.session, force=False, release="force it")
    assert [(each.stack, each.lease) for each in freed] == [(DEV, PROVEN), (DEV, LIKELY)]
    assert backend.held == {DEV: [], PROD: [LIKELY]}


@pytest.mark.parametrize("lease", [ALIVE, ELSEWHERE, LINGERING], ids=["alive", "elsewhere", "a plugin lives"])
def test_nothing_is_freed_while_somebody_may_live(lease: Lease) -> None:
    """Not even the dead ones beside it; with force everything is."""
    backend = Backend({DEV: [LIKELY], EAST: [lease]})
    with pytest.raises(StackLeased, match=f"stack {EAST} is leased by {lease.user}@{lease.host}") as raised:
        unlock(backend.session, force=False, release="force it")
    assert raised.value.help == "force it"
    assert backend.held == {DEV: [LIKELY], EAST: [lease]}
    assert len(unlock(backend.session, force=True, release="force it")) == 2
    assert backend.held == {DEV: [], EAST: []}


def test_a_backend_that_does_not_say_needs_force() -> None:
    """Only a person can know that nobody is at work there."""
    backend = Backend({DEV: [], EAST: [], PROD: []}, seen=False)
    with pytest.raises(StackLeased, match="another run"):
        unlock(backend.session, force=False, release="force it")
    assert backend.cancelled == []
    assert [str(each) for each in unlock(backend.session, force=True, release="force it")] == ["dev", "dev.east"]
    assert backend.cancelled == [DEV, EAST]
    assert unlock(Backend({}, seen=False).session, force=False, release="force it") == ()


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "unseen"])
def test_what_another_kind_of_run_holds_is_not_freed(*, seen: bool) -> None:
    """A simulated run has no business with a real state, whatever is forced."""
    backend = Backend({DEV: [LIKELY]}, seen=seen)
    backend.state = checkpoint(entry("aws:ec2/vpc:Vpc", "vpc", id="vpc-1"))
    with pytest.raises(MixedState):
        unlock(backend.session, force=True, release="force it")
    assert backend.held == {DEV: [LIKELY]}
    assert backend.cancelled == []
    backend.state = checkpoint(entry("aws:ec2/vpc:Vpc", "vpc", id="sim-vpc-1"))
    assert unlock(backend.session, force=True, release="force it")


def test_each_lease_comes_with_what_follows_from_it() -> None:
    """Wait, free it, or let the next run free it."""
    backend = Backend({DEV: [PROVEN, LIKELY, LINGERING, ALIVE, ELSEWHERE]})
    assert [line.partition(": ")[2].rpartition(": ")[2] for line in lease_lines(backend.session)] == [
        "nothing is left of that run; the next `berth up` frees it",
        "no such process runs here; `berth unlock -e dev --simulated` frees it",
        *["wait for it to end"] * 3,
    ]
    assert lease_lines(backend.session)[0].startswith(f"dev by sam@{HERE} (pid {GONE}, `berth up`) since ")


def test_what_a_living_run_does_is_not_interrupted() -> None:
    """Only stacks on which nobody works have something to repair."""
    role = ("creating", entry("aws:iam/role:Role", "nodes"))
    states = {stack: checkpoint(pending=[role], stack=stack) for stack in (DEV, EAST)}
    session = Backend({DEV: [PROVEN], EAST: [ALIVE, PROVEN]}).session
    assert living(session) == {EAST}
    situation: Any = SimpleNamespace(checkpoints=states)
    assert pending_lines(session, situation) == tuple(str(each) for each in states[DEV].pending)


def test_orphans_are_crossed_out_by_name() -> None:
    """One that nobody knows is a mistake, and then nothing is forgotten."""
    vpc, role = Orphan("urn:vpc", "aws:ec2/vpc:Vpc", "e-vpc"), Orphan("urn:role", "aws:iam/role:Role", "e-role")
    backend = Backend({})
    backend.notes = {ORPHANS_TAG: f"[{_json(vpc)}, {_json(role)}]"}
    noted = {DEV: (vpc, role)}
    with pytest.raises(UsageError, match=r"there is no orphan 'e-v' \(e-role, e-vpc\)"):
        cross_out(backend.session, noted, ("e-vpc", "e-v"))
    assert cross_out(backend.session, noted, ()) == noted
    assert cross_out(backend.session, noted, ("e-vpc",)) == {DEV: (role,)}
    assert "e-vpc" not in backend.notes[ORPHANS_TAG]
    with pytest.raises(UsageError, match="none is known"):
        cross_out(backend.session, {}, ("e-vpc",))


def _json(orphan: Orphan) -> str:
    return f'{{"urn": "{orphan.urn}", "type": "{orphan.type}", "name": "{orphan.name}"}}'
