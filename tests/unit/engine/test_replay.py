"""A recording plays back in its order, errors included, and refuses other calls."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from automation.engine.events import Event, Op
from automation.engine.lease import Lease
from automation.engine.recording import Tap, recording
from automation.engine.replay import Call, ReplayRunner
from automation.engine.runner import Runner
from components import errors
from components.errors import BerthError, ConfigError, InternalError, LockError, StackLeased
from components.naming import StackName
from tests.unit.engine.samples import ROOT, STACK, checkpoint, entry, stack_entry, urn

ROLE = "aws:iam/role:Role"


def raw_events() -> list[dict[str, Any]]:
    """Return a plan of one creation, as the engine tells it."""
    state = {"urn": urn(ROLE, "a"), "type": ROLE, "custom": True, "id": "", "parent": ROOT}
    metadata = {"op": "create", "urn": urn(ROLE, "a"), "type": ROLE, "new": state, "old": None}
    return [
        {"sequence": 1, "timestamp": 5, "resourcePreEvent": {"metadata": metadata, "planning": True}},
        {"sequence": 2, "timestamp": 6, "summaryEvent": {"result": "succeeded", "resourceChanges": {"create": 1}}},
    ]


class Live:
    """Stands in for a real runner: says what it is told, and sends its events to a tap."""

    def __init__(self, tap: Tap) -> None:
        self._tap = tap

    def preview(self, stack: StackName, program: object, **_: object) -> object:
        """Plan one creation, with some tracing."""
        for event in ({"diagnosticEvent": {"severity": "debug", "message": "x"}}, *raw_events()):
            self._tap(json.dumps(event))
        self._tap("not JSON")
        return object()

    def export(self, stack: StackName) -> object:
        """Give a small state."""
        return checkpoint(stack_entry(), entry(ROLE, "a"))

    def leases(self, stack: StackName) -> object:
        """Say who holds the stack."""
        return (Lease("sam", "far", 41),)

    def stacks(self) -> object:
        """Give one stack."""
        return (STACK,)

    def up(self, stack: StackName, program: object, **_: object) -> object:
        """Be refused."""
        raise StackLeased("taken", consequence="Nothing was changed.", help="wait")


def test_what_was_recorded_plays_back(tmp_path: Path) -> None:
    """Events, answers and errors come back as values; tracing is not kept, files are numbered and named."""
    tap = Tap()
    recorder = recording(cast("Runner", Live(tap)), tmp_path, tap=tap)
    recorder.stacks()
    recorder.preview(STACK, lambda: None)
    recorder.export(STACK)
    recorder.leases(STACK)
    with pytest.raises(StackLeased):
        recorder.up(STACK, lambda: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "001-stacks.json", "002-preview-dev.json", "003-export-dev.json", "004-leases-dev.json", "005-up-dev.json",
    ]  # fmt: skip

    replay, heard = ReplayRunner.of_folder(tmp_path), list[Event]()
    assert replay.stacks() == (STACK,)
    preview = replay.preview(STACK, lambda: None, listener=heard.append)
    assert preview.ok
    assert [(s.name, s.op) for s in preview.steps] == [("a", Op.CREATE)]
    assert len(heard) == 2
    assert replay.export(STACK).get(urn(ROLE, "a")) is not None
    assert replay.leases(STACK) == (Lease("sam", "far", 41),)
    assert not replay.finished
    with pytest.raises(StackLeased, match="taken") as raised:
        replay.up(STACK, lambda: None)
    assert (raised.value.consequence, raised.value.help) == ("Nothing was changed.", "wait")
    assert replay.finished


def test_another_call_than_the_recorded_one_is_refused() -> None:
    """Operation and stack must be those that come next; after the last there is none."""
    replay = ReplayRunner([Call("drift", "dev", tuple(raw_events()))])
    with pytest.raises(InternalError, match="'drift dev', and it was asked for: 'export dev'"):
        replay.export(STACK)
    with pytest.raises(InternalError, match="asked for: 'drift prod'"):
        replay.drift(StackName("prod"))
    assert replay.drift(STACK).ok
    with pytest.raises(InternalError, match="no call left"):
        replay.drift(STACK)


@pytest.mark.parametrize(
    ("operation", "act"),
    [
        ("ensure_stack", lambda r: r.ensure_stack(STACK)),
        ("remove_stack", lambda r: r.remove_stack(STACK, force=True)),
        ("set_config", lambda r: r.set_config(STACK, "a:b", "c", secret=True)),
        ("get_config", lambda r: r.get_config(STACK, "a:b")),
        ("up", lambda r: r.up(STACK, lambda: None)),
        ("preview_destroy", lambda r: r.preview_destroy(STACK)),
        ("destroy", lambda r: r.destroy(STACK)),
        ("refresh", lambda r: r.refresh(STACK, targets=["x"])),
        ("import_state", lambda r: r.import_state(checkpoint(stack_entry()))),
        ("set_tag", lambda r: r.set_tag(STACK, "a", None)),
        ("cancel", lambda r: r.cancel(STACK)),
    ],
)
def test_every_call_of_a_runner_can_be_replayed(operation: str, act: Any) -> None:
    """The replaying runner has each method of the protocol."""
    replay = ReplayRunner([Call(operation, "dev", tuple(raw_events()))])
    act(replay)
    assert replay.finished


def test_the_protocol_has_nothing_that_cannot_be_replayed() -> None:
    """A method that is added to the protocol is added here too."""
    methods = {name for name in vars(Runner) if not name.startswith("_")}
    assert methods <= set(vars(ReplayRunner))


def test_errors_that_programs_raise_are_replayed_as_they_were() -> None:
    """A lock that breaks a rule is recorded from inside a program."""
    error = {"class": "LockError", "summary": "two owners", "consequence": "", "help": ""}
    with pytest.raises(LockError, match="two owners"):
        ReplayRunner([Call("up", "dev", error=error)]).up(STACK, lambda: None)


def test_every_error_of_the_tree_can_be_replayed() -> None:
    """Problems of manifests come before a runner is asked; every other error can be in a recording."""
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, BerthError) and kind is not ConfigError:
            replay = ReplayRunner([Call("cancel", "dev", error={"class": name, "summary": "x"})])
            with pytest.raises(kind):
                replay.cancel(STACK)
