"""Programs for the engine: one shard of an environment, with a lock that the driver made."""

from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any

from automation.driver.reading import Situation
from automation.driver.servers import Servers
from automation.driver.session import Session
from automation.driver.shared import Facts, facts_of
from automation.engine.runner import Program
from components.api.fleet import Fleet
from components.lock import Lock
from stacks.shard import Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from stacks.config import ProgramConfig


@dataclass(frozen=True, slots=True)
class ShardProgram:
    """The program that builds ``shard`` from ``lock``; the same function that plain ``pulumi`` runs.

    It does not refuse by itself what a policy forbids: every lock is previewed with the policy pack before it is
    applied, and the pack says more.
    """

    fleet: Fleet
    lock: Lock
    shard: Shard
    simulated: bool
    backed: bool = False
    servers: Servers = field(default_factory=Servers)
    """Where its clusters are by what the run knows; a kubeconfig that leads elsewhere is refused."""
    facts: Facts = field(default_factory=Facts)
    """What it is told of what exists, over what the stack's configuration says."""

    def __call__(self) -> None:
        """Register everything of the shard."""
        _wait_for(_AHEAD)
        config_type, program = _program()
        config = config_type.from_pulumi(gated=True, simulated=self.simulated, backed=self.backed)
        self.check(config.secrets)
        program(self.fleet, self.lock, self.shard, self.facts.over(config))

    def check(self, secrets: "Mapping[str, Mapping[str, Any]]") -> None:
        """Raise ConfigError when a kubeconfig among the stack's ``secrets`` leads to another cluster than it did."""
        self.servers.require(self.fleet, self.lock, self.shard, secrets, simulated=self.simulated)


def program_of(session: Session, situation: Situation, lock: Lock, shard: Shard) -> Program:
    """Return a program that builds ``shard`` from ``lock``, by the manifests, the servers and the facts of the run."""
    workspace = session.workspace
    _import_clouds(situation.fleet)
    return ShardProgram(
        situation.fleet,
        lock,
        shard,
        workspace.simulated,
        workspace.backed,
        situation.servers,
        facts_of(situation, shard),
    )


_AHEAD: list[Thread] = []
"""What imports ahead in this process."""


def import_ahead() -> None:
    """Import what a program needs beside the reading of the state, which mostly waits for the engine."""
    _import_beside(_program)


def _import_clouds(fleet: Fleet) -> None:
    """Load the SDKs of a fleet's clouds beside the engine's start, once, where anything is imported ahead."""
    sources = sorted({cluster.source for cluster in fleet.clusters.values()})

    def load() -> None:
        from stacks.platform import load_sdk  # noqa: PLC0415 (brings the SDK along)

        for source in sources:
            load_sdk(source)

    if len(_AHEAD) == 1:
        _import_beside(load)


def _import_beside(load: "Callable[[], object]") -> None:
    earlier = tuple(_AHEAD)

    def run() -> None:
        _wait_for(earlier)
        with suppress(Exception):  # whoever runs a program meets the same error, and reports it
            load()

    _AHEAD.append(Thread(target=run, name="import"))
    _AHEAD[-1].start()


def _wait_for(threads: "Iterable[Thread]") -> None:
    """Wait for imports: the SDKs load their parts on first use, and not safely in two threads at once."""
    for thread in threads:
        thread.join()


def _program() -> "tuple[type[ProgramConfig], Callable[..., None]]":
    """Import the program, and with it the cloud SDKs: late, because most commands run none."""
    from stacks.config import ProgramConfig  # noqa: PLC0415 (brings the SDK along)
    from stacks.program import program  # noqa: PLC0415 (brings the SDK along)

    return ProgramConfig, program
