"""A gateway moved when what its component would put out is another address than the state has."""

from dataclasses import replace

import pytest

from automation.engine.events import Op
from automation.engine.family import FRONT_DOOR_TYPE, SERVING_TYPE
from automation.engine.gateways import Moved, moved_gateways
from automation.engine.state import UNKNOWN
from tests.unit.engine.samples import checkpoint, entry, preview, stack_entry, step, urn

NAME = "a/serving"
URN = urn(SERVING_TYPE, NAME)


@pytest.mark.parametrize(
    ("op", "before", "now", "moved"),
    [
        pytest.param(Op.SAME, "1", "2", True, id="nothing-else-changes"),
        pytest.param(Op.UPDATE, "1", "2", True, id="something-else-does"),
        pytest.param(Op.SAME, "1", "1", False, id="same"),
        pytest.param(Op.REFRESH, "1", "2", False, id="not-yet-the-program"),
        pytest.param(Op.DELETE, "1", "2", False, id="goes"),
        pytest.param(Op.SAME, "1", "", False, id="lost-it"),
        pytest.param(Op.SAME, "1", UNKNOWN, False, id="not-known-yet"),
        pytest.param(Op.SAME, "1", None, False, id="says-nothing"),
    ],
)
def test_what_moved(op: Op, before: str | None, now: str | None, *, moved: bool) -> None:
    """Only to a known address that is another one."""
    state = checkpoint(
        stack_entry(), entry(SERVING_TYPE, NAME, inputs={"cluster": "a"}, outputs={"gatewayAddress": before})
    )
    planned = replace(step(op, SERVING_TYPE, NAME), outputs={"gatewayAddress": now})
    found = moved_gateways(preview(planned), state)
    assert found == ((Moved(URN, "a", public=False, before="1", now="2"),) if moved else ())


@pytest.mark.parametrize("before", [None, "", UNKNOWN])
def test_one_that_had_none_moved(before: str | None) -> None:
    """Its address may have been stored as none while its load balancer was made."""
    state = checkpoint(
        stack_entry(), entry(SERVING_TYPE, NAME, inputs={"cluster": "a"}, outputs={"gatewayAddress": before})
    )
    planned = preview(replace(step(Op.SAME, SERVING_TYPE, NAME), outputs={"gatewayAddress": "2"}))
    assert moved_gateways(planned, state) == (Moved(URN, "a", public=False, before="", now="2"),)


def test_a_front_door_is_public() -> None:
    """Its address is its component's own; what a stack does not hold yet has moved nowhere."""
    name = "a/front-door"
    state = checkpoint(stack_entry(), entry(FRONT_DOOR_TYPE, name, inputs={"cluster": "a"}, outputs={"address": "1"}))
    planned = preview(replace(step(Op.SAME, FRONT_DOOR_TYPE, name), outputs={"address": "2"}))
    (found,) = moved_gateways(planned, state)
    assert (found.public, found.before, found.now) == (True, "1", "2")
    assert moved_gateways(planned, None) == ()
