"""Programs for the engine: one shard of an environment, with a lock that the driver made."""

from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

from automation.engine.runner import Program
from components.api.fleet import Fleet
from components.lock import Lock
from stacks.shard import Shard

if TYPE_CHECKING:
    from collections.abc import Callable

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

    def __call__(self) -> None:
        """Register everything of the shard."""
        config, program = _program()
        program(self.fleet, self.lock, self.shard, config.from_pulumi(gated=True, simulated=self.simulated))


def program_of(fleet: Fleet, lock: Lock, shard: Shard, *, simulated: bool) -> Program:
    """Return a program that builds ``shard`` from ``lock``."""
    return ShardProgram(fleet, lock, shard, simulated)


def import_ahead() -> None:
    """Import what a program needs beside the reading of the state, which mostly waits for the engine."""

    def run() -> None:
        with suppress(Exception):  # whoever runs a program meets the same error, and reports it
            _program()

    Thread(target=run, name="import").start()


def _program() -> "tuple[type[ProgramConfig], Callable[..., None]]":
    """Import the program, and with it the cloud SDKs: late, because most commands run none."""
    from stacks.config import ProgramConfig  # noqa: PLC0415
    from stacks.program import program  # noqa: PLC0415

    return ProgramConfig, program
