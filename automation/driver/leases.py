"""Leases that dead runs left behind: which ones a run frees by itself, and which ones only a person may free.

A run frees what is *proven* dead: an engine that was started from this checkout and of which the system says that
nothing is left (``engine.run_mark``). It says so, and it removes that one lease, never another that came in the
meantime. Whatever is only likely dead (no such process on a host of this name) waits for ``berth unlock``, and what may
live for ``berth unlock --force`` (decision 0004).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from automation.driver.reading import refuse_mixed
from automation.driver.session import Session
from automation.engine.lease import Lease, leased_error
from automation.engine.state import read_existing
from components.errors import DriverError, MixedState
from components.naming import StackName


@dataclass(frozen=True, slots=True)
class HeldStack:
    """One stack of the environment and one holder of it; ``lease`` is None when the backend does not say who."""

    stack: StackName
    lease: Lease | None

    def __str__(self) -> str:
        """Return stack and holder in words."""
        return f"{self.stack} by {self.lease}" if self.lease else str(self.stack)


def held_stacks(session: Session) -> tuple[HeldStack, ...]:
    """Return every lease on the environment's stacks that can be seen without starting the engine."""
    stacks = (each for each in session.runner.leased() if each.environment == session.workspace.environment)
    return tuple(HeldStack(stack, lease) for stack in stacks for lease in session.runner.leases(stack) or ())


def free_proven(session: Session) -> tuple[str, ...]:
    """Free the leases of runs that are proven to be gone; return what was freed, in words."""
    return tuple(
        f"freed stack {each.stack}: nothing is left of the run that held it, {each.lease}"
        for each in _free(session, held_stacks(session), lambda lease: lease.proven_dead)
    )


def unlock(session: Session, *, force: bool, release: str) -> tuple[HeldStack, ...]:
    """Free what a dead run holds, or with ``force`` whatever is held; return what was freed.

    Raises StackLeased, before anything is freed, when a holder may live and ``force`` is not given; ``release`` is the
    command that frees it all the same. Raises MixedState when what is held is simulated and this run is not, or the
    reverse: its holder is another kind of run.
    """
    if session.runner.leases(StackName(session.workspace.environment)) is None:
        return _unlock_unseen(session, force=force, release=release)
    held = held_stacks(session)
    _refuse_other_kind(session, {each.stack for each in held})
    living = [each for each in held if each.lease and not each.lease.holder_is_dead]
    if living and not force:
        stack = living[0].stack
        raise leased_error(
            stack, [each.lease for each in living if each.lease and each.stack == stack], release=release
        )
    return _free(session, held, lambda _lease: True)


def _refuse_other_kind(session: Session, stacks: Iterable[StackName]) -> None:
    for stack in sorted(stacks):
        try:
            existing = read_existing([session.runner.export(stack)])
        except MixedState:
            raise
        except DriverError:
            continue  # a run that died may have left a state that cannot be read; its lease must go all the same
        refuse_mixed(session, existing)


def living(session: Session) -> frozenset[StackName]:
    """Return the stacks on which somebody who may live is at work."""
    return frozenset(each.stack for each in held_stacks(session) if each.lease and not each.lease.holder_is_dead)


def lease_lines(session: Session) -> tuple[str, ...]:
    """Return who holds the environment's stacks, and what follows from it."""
    return tuple(f"{each}: {_advice(session, each.lease)}" for each in held_stacks(session) if each.lease)


def _free(
    session: Session, held: tuple[HeldStack, ...], may_be_freed: Callable[[Lease], bool]
) -> tuple[HeldStack, ...]:
    freed = tuple(each for each in held if each.lease and may_be_freed(each.lease))
    for each in freed:
        assert each.lease is not None, "chosen so"
        session.runner.free(each.stack, each.lease)
    return freed


def _unlock_unseen(session: Session, *, force: bool, release: str) -> tuple[HeldStack, ...]:
    """Free every stack in a backend that does not say who holds what: only a person can know that nobody does."""
    stacks = [each for each in session.runner.stacks() if each.environment == session.workspace.environment]
    if stacks and not force:
        raise leased_error(stacks[0], (), release=release)
    _refuse_other_kind(session, stacks)
    for stack in stacks:
        session.runner.cancel(stack)
    return tuple(HeldStack(stack, None) for stack in stacks)


def _advice(session: Session, lease: Lease) -> str:
    if lease.proven_dead:
        return "nothing is left of that run; the next `berth up` frees it"
    if lease.holder_is_dead:
        workspace = session.workspace
        return f"no such process runs here; `berth unlock -e {workspace.environment}{workspace.option}` frees it"
    return "wait for it to end"
