"""Runs of the real ``berth`` command that are cut off at a chosen call of a chosen step, and what must hold afterwards.

A scenario holds calls of the simulated clouds: before their effect or after it. A test waits until the state says that
every held call was begun (and the cloud that its effect is there), kills what it wants to kill, by number, and lets go.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from automation.engine.checkpoint import PendingOperation
from automation.rehearsal.cloud import Resource, known_resources
from automation.rehearsal.scenario import Fault
from tests.support.fleet_run import GATEWAY, FleetRun, cluster, deployment, environment, gpu_class
from tests.support.processes import of_session

PATIENCE = 120.0
"""Seconds after which something that is waited for does not come any more; nothing is measured with it."""
FOR_EVER = 600.0
"""Seconds that a call is held: until the scenario is taken back."""


def tiny_fleet() -> dict[str, str]:
    """Return one cluster that exists and is its own front door, with one deployment and its service."""
    return {
        "environment.yaml": environment(),
        "platform/classes.yaml": f"{gpu_class('gpu-4x', 4)}---\n{gpu_class('gpu-8x', 8)}",
        "platform/gateway.yaml": GATEWAY,
        "platform/a.yaml": cluster("a"),
        "models/ml/qwen.yaml": deployment("qwen"),
    }


class Victim(StrEnum):
    """What is killed."""

    DRIVER = "driver"
    """The ``berth`` process alone, as by a closed laptop or a cancelled job."""
    ENGINE = "engine"
    """The engine alone, as by a lack of memory."""
    BOTH = "both"
    """Everything at once, as by a power cut."""


@dataclass(frozen=True)
class Hold:
    """A call at which a run is held: ``call`` on the resource of ``type`` whose logical name ends with ``name``."""

    call: str
    type: str
    name: str
    when: str = "before"

    @property
    def fault(self) -> Fault:
        """The rule that holds it."""
        return Fault(type=self.type, name=f"*{self.name}", call=self.call, when=self.when, delay=FOR_EVER)

    def begun(self, pending: Iterable[PendingOperation]) -> bool:
        """Return whether the state says that the call was begun."""
        kind = f"{self.call.removesuffix('e')}ing"
        found = ((each.kind, each.resource.type, each.resource.name) for each in pending)
        return any(at == kind and type_ == self.type and name.endswith(self.name) for at, type_, name in found)

    def look(self, run: FleetRun) -> Any:
        """Return what the cloud has of it."""
        return [each for each in run.cloud.resources(type=self.type) if each.urn.endswith(self.name)]


@dataclass(frozen=True)
class Cut:
    """How a run ended that was cut off: what it said, and its engine's lease as the backend wrote it."""

    code: int
    stdout: str
    stderr: str
    lease: dict[str, Any]


class Started:
    """A command that runs beside the test; its output goes to files."""

    def __init__(
        self, run: FleetRun, arguments: Sequence[str], *, tag: str = "beside", stdin: int = subprocess.DEVNULL
    ) -> None:
        self._files = (run.root / f"{tag}.out", run.root / f"{tag}.err")
        with self._files[0].open("w") as out, self._files[1].open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "automation.cli", *arguments],
                cwd=run.repo,
                env=run._environment(),
                stdin=stdin,
                stdout=out,
                stderr=err,
                start_new_session=True,  # a signal for this test is none for it
            )

    @property
    def said(self) -> str:
        """Everything that it printed."""
        return "\n".join(file.read_text() for file in self._files)

    def end(self) -> tuple[int, str, str]:
        """Wait for its end: exit code, stdout, stderr."""
        code = self.process.wait(PATIENCE)
        return code, self._files[0].read_text(), self._files[1].read_text()

    def kill(self) -> None:
        """Kill it, and nothing that it started."""
        self.process.kill()
        self.process.wait(PATIENCE)


def until(condition: Callable[[], object], *, but: Callable[[], object] = str) -> None:
    """Wait until something is so; fail, and say what is so instead, when it never is."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"what the test waits for does not happen:\n{but()}"
        time.sleep(0.02)


def leases(run: FleetRun, stack: str = "dev") -> list[dict[str, Any]]:
    """Read who holds a stack from the backend's own files."""
    found = []
    for file in sorted(lease_folder(run, stack).glob("*.json")):
        with suppress(FileNotFoundError, ValueError):  # freed, or written, just now
            found.append(json.loads(file.read_bytes()))
    return found


def lease_folder(run: FleetRun, stack: str = "dev") -> Path:
    """Return where the backend keeps the leases of a stack."""
    return run.layout.simulated_state / ".pulumi" / "locks" / "organization" / "berth" / stack


def pending(run: FleetRun) -> tuple[PendingOperation, ...]:
    """Return what the state says to be under way."""
    try:
        return run.checkpoint().pending
    except (FileNotFoundError, ValueError):
        return ()


def held(run: FleetRun, *holds: Hold, arguments: Sequence[str] = ("up", "--yes")) -> Started:
    """Start a run and wait until it is held at every one of ``holds``."""
    before = {hold: hold.look(run) for hold in holds}
    run.scenario(*(hold.fault for hold in holds))
    started = Started(run, arguments)

    def reached() -> bool:
        under_way = pending(run)
        return all(
            hold.begun(under_way) and (hold.when == "before" or hold.look(run) != before[hold]) for hold in holds
        )

    try:
        until(
            lambda: reached() or started.process.poll() is not None,
            but=lambda: f"{[str(each) for each in pending(run)]}\n{started.said}",
        )
        assert started.process.poll() is None, f"it ended before it was held:\n{started.said}"
    except BaseException:
        end(run, started)
        raise
    return started


def end(run: FleetRun, started: Started) -> None:
    """End a run that a failed test leaves."""
    for lease in leases(run):
        with suppress(ProcessLookupError):
            os.kill(lease["pid"], signal.SIGKILL)
    started.kill()


def cut_off(run: FleetRun, *holds: Hold, victim: Victim, arguments: Sequence[str] = ("up", "--yes")) -> Cut:
    """Hold a run at ``holds``, kill ``victim``, let go, and wait until nothing of the run is left."""
    started = held(run, *holds, arguments=arguments)
    (lease,) = leases(run)
    if victim is not Victim.ENGINE:
        started.kill()
    if victim is not Victim.DRIVER:
        os.kill(lease["pid"], signal.SIGKILL)
    run.scenario()
    code, stdout, stderr = started.end()
    if victim is Victim.DRIVER:
        until(lambda: not leases(run))  # the engine finishes what it had begun, and frees the stack
    else:
        until(lambda: not of_session(lease["pid"]))
    return Cut(code, stdout, stderr, lease)


def plugins(engine: int) -> list[int]:
    """Return the processes of a running engine's providers."""
    return [pid for pid in of_session(engine) if b"provider" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def orphans(run: FleetRun) -> list[str]:
    """Return what is live in the clouds and in no state."""
    known = [each for stack in run.stacks() for each in known_resources(run.checkpoint(stack).raw["deployment"])]
    return [f"{each.type} {each.id}" for each in run.cloud.orphans(known)]


def doubled(run: FleetRun) -> list[str]:
    """Return what exists twice: two resources for one URN that is not being replaced, or two of one name."""
    live = run.cloud.resources()
    urns = [each.urn for each in live if each.urn]
    names = [(each.type, each.scope, each.name) for each in live]
    return sorted({urn for urn in urns if urns.count(urn) > 1} | {str(name) for name in names if names.count(name) > 1})


def missing(run: FleetRun) -> list[str]:
    """Return what the state knows and no cloud has."""
    live = {(each.type, each.id) for each in run.cloud.resources()}
    known = {
        (each.type.removesuffix("Patch"), each.id)
        for stack in run.stacks()
        for each in known_resources(run.checkpoint(stack).raw["deployment"])
    }
    return sorted(f"{type_} {identifier}" for type_, identifier in known - live)


def dead_ends(run: FleetRun, *, of: str = "") -> list[str]:
    """Return the routes of components of a type (all of them) that lead to something that is not there."""
    return [
        f"{route.id} -> {ref['name']}"
        for route in run.cloud.resources(type=_ROUTE)
        if of in route.urn
        for rule in route.inputs["spec"]["rules"]
        for ref in rule.get("backendRefs") or ()
        if not _leads_on(run, route, ref)
    ]


_ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"


def _leads_on(run: FleetRun, route: Resource, ref: Mapping[str, Any]) -> bool:
    """Return whether a backend is there: a pool of engines, or a Service with an address."""
    kind = ref.get("kind", "Service")
    identifier = f"{route.id.partition('/')[0]}/{ref['name']}"
    there = {each.id for each in run.cloud.resources(type=f"*:{kind}", scope=route.scope)}
    slices = run.cloud.resources(type="*:EndpointSlice", scope=route.scope)
    leads = {each.tags.get("kubernetes.io/service-name") for each in slices}
    return identifier in there and (kind != "Service" or ref["name"] in leads)


def assert_sound(run: FleetRun) -> None:
    """See that state and clouds agree, nothing is there twice, and every replica and service works."""
    assert pending(run) == ()
    assert orphans(run) == []
    assert doubled(run) == []
    assert missing(run) == []
    assert dead_ends(run) == []
    assert set(run.replicas().values()) == {"Serving"}
    services = run.existing().services
    assert services
    assert all(each.entry.backends for each in services.values())
