"""Interrupted operations are settled one by one; what cannot be settled is noted."""

import json
from collections.abc import Collection, Mapping
from typing import Any, cast

import pytest

from automation.engine.checkpoint import Checkpoint, Resource
from automation.engine.events import Finished, Op, Result, StepEnds
from automation.engine.outcome import Transcript
from automation.engine.repair import (
    ORPHANS_TAG,
    CannotTell,
    NoFinder,
    Orphan,
    RepairReport,
    forget_orphans,
    known_orphans,
    repair,
)
from automation.engine.runner import Applied, Runner
from components.naming import StackName
from tests.unit.engine.samples import STACK, checkpoint, entry, stack_entry, step, urn

ROLE, POLICY, OBJECT = "aws:iam/role:Role", "aws:iam/policy:Policy", "kubernetes:core/v1:Secret"
PROVIDER, CLUSTER, REPLICA = "pulumi:providers:kubernetes", "berth:index:EksCluster", "berth:index:Replica"


class Backend:
    """A runner that only keeps a state and notes; ``gone`` and ``found`` are what a refresh finds, gone or live."""

    def __init__(
        self, state: Checkpoint, *, gone: Collection[str] = (), found: Mapping[str, Any] | None = None
    ) -> None:
        self.state = state
        self._found = found
        self.notes: dict[str, str] = {}
        self.read: list[str] = []
        self.imports = 0
        self._gone = gone

    def export(self, stack: StackName) -> Checkpoint:
        """Give the state."""
        return self.state

    def import_state(self, state: Checkpoint) -> None:
        """Take a state, without what is pending, as the engine does."""
        raw = json.loads(json.dumps(state.raw))
        raw["deployment"].pop("pending_operations", None)  # as the engine does
        self.state = Checkpoint.from_json(state.stack, raw)
        self.imports += 1

    def refresh(self, stack: StackName, *, targets: Collection[str], listener: object) -> Applied:
        """Read, and find some of it gone."""
        self.read = list(targets)
        if self._found is not None:
            raw = json.loads(json.dumps(self.state.raw))
            for each in raw["deployment"]["resources"]:
                if each["urn"] in targets:
                    each["outputs"] = self._found
            self.state = Checkpoint.from_json(stack, raw)
        ends = [
            StepEnds(0, 0, step(Op.DELETE, ROLE, u.rpartition("::")[2]), planning=False)
            for u in targets
            if u in self._gone
        ]
        return Transcript([*ends, Finished(0, 0, Result.SUCCEEDED, {}, 0, preview=False)]).applied(stack, seconds=0)

    def tags(self, stack: StackName) -> Mapping[str, str]:
        """Give the notes."""
        return self.notes

    def set_tag(self, stack: StackName, key: str, value: str | None) -> None:
        """Keep or drop a note."""
        self.notes = {**self.notes, key: value} if value else {k: v for k, v in self.notes.items() if k != key}


class Finder:
    """Knows what is in the cloud by name, and cannot look for policies."""

    def __init__(self, **there: str) -> None:
        self._there = there
        self.known: Collection[str] = ()

    def find(self, resource: Resource, *, known: Collection[str]) -> str | None:
        """Look for a role."""
        self.known = known
        if resource.type != ROLE:
            raise CannotTell(resource.type)
        return self._there.get(resource.name)


def mend(backend: Backend, finder: Any, *, unreachable: Collection[str] = ()) -> RepairReport:
    """Repair the only stack of a backend."""
    return repair(cast("Runner", backend), STACK, finder, unreachable=unreachable)


def creating(*resources: Mapping[str, Any], state: tuple[Mapping[str, Any], ...] = ()) -> Backend:
    """Return a stack that was cut off while it created ``resources``."""
    pending = [("creating", {key: value for key, value in r.items() if key != "id"}) for r in resources]
    return Backend(checkpoint(stack_entry(), *state, pending=pending))


def test_a_whole_stack_costs_one_look() -> None:
    """Nothing is imported or read when nothing is pending."""
    backend = Backend(checkpoint(stack_entry(), entry(ROLE, "a")))
    assert mend(backend, Finder()) == RepairReport()
    assert (backend.imports, backend.read) == (0, [])


def test_what_was_created_is_adopted_and_read() -> None:
    """It comes into the state under its id, marked until it is read; ids that the state knows are no candidates."""
    backend = creating(entry(ROLE, "a", inputs={"path": "/"}), state=(entry(ROLE, "b"),))
    finder = Finder(a="sim-a")
    report = mend(backend, finder)
    assert report.adopted == (urn(ROLE, "a"),)
    assert backend.read == [urn(ROLE, "a")]
    assert finder.known == {"sim-b"}
    adopted = backend.state.get(urn(ROLE, "a"))
    assert adopted is not None
    assert (adopted.id, adopted.inputs, adopted.outputs) == ("sim-a", {"path": "/"}, {"path": "/"})
    assert adopted.init_errors
    assert backend.state.pending == ()
    assert report.lines == ("a: adopted",)


def test_what_was_not_created_is_forgotten() -> None:
    """The next update creates it; nothing is read."""
    backend = creating(entry(ROLE, "a"))
    report = mend(backend, Finder())
    assert report.absent == (urn(ROLE, "a"),)
    assert report.did_anything
    assert backend.state.is_empty
    assert backend.read == []


def test_what_a_later_run_created_is_not_adopted_twice() -> None:
    """The engine carries interrupted creations along even after the resource is in the state."""
    backend = creating(entry(ROLE, "a"), state=(entry(ROLE, "a", id="sim-a"),))
    assert mend(backend, Finder(a="sim-a")).absent == (urn(ROLE, "a"),)
    assert [r.id for r in backend.state.resources if r.custom] == ["sim-a"]


def test_the_new_half_of_a_replacement_takes_its_place() -> None:
    """The old half waits for its deletion; what the new one rests on stands before it, whatever the old order was."""
    old = entry(ROLE, "a", id="old")
    user = entry(ROLE, "user", dependencies=[urn(ROLE, "a")])
    subnet = entry(ROLE, "subnet")
    new = entry(ROLE, "a", dependencies=[urn(ROLE, "subnet")])
    backend = creating(new, state=(old, user, subnet))
    assert mend(backend, Finder(a="new")).adopted == (urn(ROLE, "a"),)
    order = [(r.name, r.id, r.pending_deletion) for r in backend.state.resources if r.custom]
    assert order.index(("subnet", "sim-subnet", False)) < order.index(("a", "new", False))
    assert order.index(("a", "new", False)) < order.index(("user", "sim-user", False))
    assert ("a", "old", True) in order


def test_a_replacement_that_had_deleted_first_takes_the_empty_place() -> None:
    """The entry of what was deleted already goes, even when the new one has its id."""
    backend = creating(entry(ROLE, "a"), state=(entry(ROLE, "a", id="same", pendingReplacement=True),))
    assert mend(backend, Finder(a="same")).adopted == (urn(ROLE, "a"),)
    assert [(r.id, r.pending_replacement) for r in backend.state.resources if r.custom] == [("same", False)]


def test_an_id_that_follows_from_the_inputs_needs_no_search() -> None:
    """An object is adopted under its name and read; what is not there is gone after that."""
    secret = entry(OBJECT, "s", inputs={"metadata": {"name": "token", "namespace": "ml"}})
    backend = creating(secret)
    assert mend(backend, NoFinder()).adopted == (urn(OBJECT, "s"),)
    assert [r.id for r in backend.state.of_type(OBJECT)] == ["ml/token"]


def managed(*fields: tuple[str, str, str], by: str) -> dict[str, Any]:
    """Write an object's outputs: who manages fields of it, how, since when; and whom the provider takes for itself."""
    written = [{"manager": manager, "operation": how, "time": time} for manager, how, time in fields]
    return {"metadata": {"name": "token", "managedFields": written}, "__fieldManager": by}


MADE, AGAIN, DRAWN = (f"pulumi-kubernetes-{each}" for each in ("1a", "2b", "9f"))


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param(managed((MADE, "Apply", "1"), by=DRAWN), MADE, id="another was drawn"),
        pytest.param(managed((AGAIN, "Apply", "2"), (MADE, "Apply", "1"), by=DRAWN), AGAIN, id="made twice"),
        pytest.param(managed((MADE, "Apply", "1"), ("kubectl", "Apply", "2"), by=DRAWN), MADE, id="others beside it"),
        pytest.param(managed((MADE, "Apply", "1"), by=MADE), MADE, id="the right one"),
        pytest.param(managed((MADE, "Update", "1"), by=DRAWN), DRAWN, id="not applied"),
        pytest.param({"metadata": {"name": "token"}, "__fieldManager": DRAWN}, DRAWN, id="nothing is said"),
    ],
)
def test_an_adopted_object_stays_with_who_made_it(found: dict[str, Any], want: str) -> None:
    """The provider draws another manager when it reads it, to whom the API server would refuse every change."""
    secret = entry(OBJECT, "s", inputs={"metadata": {"name": "token", "namespace": "ml"}})
    backend = Backend(creating(secret).state, found=found)
    assert mend(backend, NoFinder()).adopted == (urn(OBJECT, "s"),)
    adopted = backend.state.get(urn(OBJECT, "s"))
    assert adopted is not None
    assert adopted.outputs["__fieldManager"] == want
    assert backend.imports == (2 if want != found["__fieldManager"] else 1)


def test_what_reading_finds_to_be_gone_was_absent() -> None:
    """The report tells what was there, not what was tried."""
    state = creating(entry(ROLE, "a")).state
    report = mend(Backend(state, gone=[urn(ROLE, "a")]), Finder(a="sim-a"))
    assert (report.adopted, report.absent) == ((), (urn(ROLE, "a"),))


def test_what_nobody_can_look_for_is_noted_before_it_is_forgotten() -> None:
    """Orphans of several repairs add up in the backend, until a person crosses them out."""
    backend = creating(entry(POLICY, "p"))
    orphan = Orphan(urn(POLICY, "p"), POLICY, "p")
    assert mend(backend, Finder()).orphans == (orphan,)
    assert json.loads(backend.notes[ORPHANS_TAG]) == [{"urn": orphan.urn, "type": POLICY, "name": "p"}]
    runner = cast("Runner", backend)
    backend.state = creating(entry(POLICY, "q")).state
    assert [o.name for o in mend(backend, Finder()).orphans] == ["p", "q"]
    assert [o.name for o in known_orphans(runner, STACK)] == ["p", "q"]
    assert [o.name for o in forget_orphans(runner, STACK, [orphan.urn])] == ["q"]
    assert forget_orphans(runner, STACK, [urn(POLICY, "q")]) == ()
    assert ORPHANS_TAG not in backend.notes


@pytest.mark.parametrize("kind", ["updating", "deleting"])
def test_changes_are_settled_by_reading(kind: str) -> None:
    """An interrupted update or deletion of something in the state is read again."""
    backend = Backend(checkpoint(stack_entry(), entry(ROLE, "a"), pending=[(kind, entry(ROLE, "a"))]))
    report = mend(backend, Finder())
    assert report.settled == (urn(ROLE, "a"),)
    assert backend.read == [urn(ROLE, "a")]


def test_components_and_providers_stand_for_nothing_outside() -> None:
    """An interrupted component or provider is simply registered again."""
    backend = creating(entry(REPLICA, "r"), entry(PROVIDER, "p"))
    assert mend(backend, Finder()).absent == (urn(REPLICA, "r"), urn(PROVIDER, "p"))


def test_what_is_on_a_dead_cluster_waits() -> None:
    """It is adopted under its name, because that forgets nothing, and read when the cluster answers."""
    cluster = entry(CLUSTER, "east", inputs={"cluster": "east"})
    provider = entry(PROVIDER, "east-kubernetes", id="9f", parent=cluster["urn"])
    replica = entry(REPLICA, "r", inputs={"cluster": "east"})
    secret = entry(
        OBJECT,
        "s",
        parent=replica["urn"],
        provider=f"{provider['urn']}::9f",
        inputs={"metadata": {"name": "x", "namespace": "ml"}},
    )
    backend = creating(secret, state=(cluster, provider, replica))
    report = mend(backend, NoFinder(), unreachable=["east"])
    assert report.waiting == (urn(OBJECT, "s"),)
    assert backend.read == []
    assert backend.state.get(urn(OBJECT, "s")) is not None
    assert "s: waits for its cluster" in report.lines
