"""Programs for the engine: one shard of an environment, with a lock that the driver made."""

from automation.engine.runner import Program
from components.api.fleet import Fleet
from components.lock import Lock
from stacks.shard import Shard


def program_of(fleet: Fleet, lock: Lock, shard: Shard, *, simulated: bool) -> Program:
    """Return a program that builds ``shard`` from ``lock``; the same function that plain ``pulumi`` runs.

    It does not refuse by itself what a policy forbids: every lock is previewed with the policy pack before it is
    applied, and the pack says more.
    """

    def run() -> None:
        from stacks.config import ProgramConfig  # noqa: PLC0415 (imports the cloud SDKs, when the engine asks)
        from stacks.program import program  # noqa: PLC0415

        program(fleet, lock, shard, ProgramConfig.from_pulumi(gated=True, simulated=simulated))

    return run
