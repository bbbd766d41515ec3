"""A step is applied to the state that it was made from, or not at all."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.driver.guard import GuardedProgram
from automation.engine.checkpoint import Checkpoint
from components.errors import DriverError
from tests.unit.engine.samples import STACK, checkpoint, entry, stack_entry

if TYPE_CHECKING:
    from automation.driver.session import Session

REPLICA, OBJECT = "berth:index:Replica", "kubernetes:apps/v1:Deployment"


def state(*entries: dict[str, Any]) -> Checkpoint:
    """Return a state with a replica and what is added."""
    return checkpoint(stack_entry(), entry(REPLICA, "ml/a/east/0", inputs={"phase": "Serving"}), *entries)


OTHERS = {
    "another replica": state(entry(REPLICA, "ml/a/east/1", inputs={"phase": "Starting"})),
    "a replica less": checkpoint(stack_entry()),
    "another phase": checkpoint(stack_entry(), entry(REPLICA, "ml/a/east/0", inputs={"phase": "Draining"})),
}


def run(now: Checkpoint) -> list[str]:
    """Run a guarded program on a state; return what it did."""
    done: list[str] = []
    session = cast("Session", SimpleNamespace(runner=SimpleNamespace(export=lambda _stack: now)))
    GuardedProgram(session, state(), lambda: done.append("ran"))()
    return done


@pytest.mark.parametrize("now", OTHERS.values(), ids=list(OTHERS))
def test_a_fleet_that_changed_is_left_alone(now: Checkpoint) -> None:
    """What another run did is not undone by a plan that does not know of it."""
    with pytest.raises(DriverError, match=f"stack {STACK} was changed by another run"):
        run(now)


def test_what_a_refresh_changes_does_not_count() -> None:
    """An update looks at the clouds first; what they say changes no plan's ground."""
    assert run(state()) == ["ran"]
    assert run(state(entry(OBJECT, "ml/a/east/0-workload", inputs={"seen": "now"}))) == ["ran"]
