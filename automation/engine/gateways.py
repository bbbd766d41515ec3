"""Gateways that moved: what was read of them has another address than the state says.

A load balancer that is made anew has another address, and no input of its gateway says so: the engine finds nothing to
change, and an update that does not look stores nothing. But routes lead to that address, and routes may lie in another
stack. A preview that looks runs the program on what it read, so the components say in it what they would put out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from automation.engine.checkpoint import Checkpoint
from automation.engine.events import Op
from automation.engine.family import FRONT_DOOR_TYPE, SERVING_TYPE
from automation.engine.runner import Preview
from automation.engine.state import known

_PUT_OUT: Final[Mapping[str, str]] = {SERVING_TYPE: "gatewayAddress", FRONT_DOOR_TYPE: "address"}
"""The output with the address, by the type of the component above a gateway."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A gateway with another address; ``urn`` is that of its component, ``public`` says that it is a front door's.

    ``before`` is empty where the state has none.
    """

    urn: str
    cluster: str
    public: bool
    before: str
    now: str


def moved_gateways(preview: Preview, checkpoint: Checkpoint | None) -> tuple[Moved, ...]:
    """Return the gateways that moved, in the engine's order.

    One that has no address at the moment has not moved: its load balancer is being made, and nothing else can be led
    to. One whose address the state does not know has: an update may have stored that it had none.
    """
    found = []
    for step in preview.steps:
        key, state = _PUT_OUT.get(step.type), checkpoint.get(step.urn) if checkpoint is not None else None
        # What a refresh says of a component is what the state has.
        if key is None or state is None or step.op is Op.REFRESH or step.op.removes:
            continue
        before, now = known(state.outputs.get(key)) or "", known(step.outputs.get(key))
        if now and before != now:
            public = step.type == FRONT_DOOR_TYPE
            found.append(Moved(step.urn, str(state.inputs.get("cluster") or ""), public, before, now))
    return tuple(found)
