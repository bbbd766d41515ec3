"""Small states and events, as the engine writes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from automation.engine.checkpoint import Checkpoint
from automation.engine.events import Event, Finished, Op, ResourceStep, Result, StepBegins, StepEnds
from automation.engine.outcome import Transcript
from automation.engine.runner import Preview
from components.naming import StackName

STACK = StackName("dev")
ROOT = "urn:pulumi:dev::town::pulumi:pulumi:Stack::town-dev"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:abc"}
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def urn(type_: str, name: str) -> str:
    """Return a URN without its parents' types, which nothing reads."""
    return f"urn:pulumi:dev::town::{type_}::{name}"


def entry(type_: str, name: str, **fields: Any) -> dict[str, Any]:
    """Return one resource of a state; components have no id."""
    custom = not type_.startswith(("berth:", "pulumi:pulumi:"))
    raw: dict[str, Any] = {"urn": urn(type_, name), "type": type_, "custom": custom, "parent": ROOT, **fields}
    if custom:
        raw.setdefault("id", f"sim-{name}")
    return raw


def stack_entry(**fields: Any) -> dict[str, Any]:
    """Return the stack's own resource."""
    return {"urn": ROOT, "type": "pulumi:pulumi:Stack", "custom": False, **fields}


def checkpoint(
    *resources: Mapping[str, Any], pending: Sequence[tuple[str, Mapping[str, Any]]] = (), stack: StackName = STACK
) -> Checkpoint:
    """Return a state of these resources; ``pending`` holds kinds and resources."""
    deployment: dict[str, Any] = {"manifest": {}, "resources": [dict(resource) for resource in resources]}
    if pending:
        deployment["pending_operations"] = [{"type": kind, "resource": dict(resource)} for kind, resource in pending]
    return Checkpoint.from_json(stack, {"version": 3, "deployment": deployment})


def step(op: Op, type_: str, name: str, **fields: Any) -> ResourceStep:
    """Return one step of a preview."""
    custom = not type_.startswith(("berth:", "pulumi:pulumi:"))
    given: dict[str, Any] = {"parent": ROOT, "custom": custom, **fields}
    return ResourceStep(urn=urn(type_, name), type=type_, op=op, **given)


def preview(*steps: ResourceStep, extra: Sequence[Event] = (), result: Result = Result.SUCCEEDED) -> Preview:
    """Return what a preview with these steps gives."""
    events: list[Event] = [StepBegins(0, 0, each, planning=True) for each in steps]
    events += [StepEnds(0, 0, each, planning=True) for each in steps]
    return Transcript([*events, *extra, Finished(0, 0, result, {}, 1, preview=True)]).preview(STACK, seconds=0)
