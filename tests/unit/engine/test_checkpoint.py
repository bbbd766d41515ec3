"""A state as values: who is under whom, what is pending, and what is left when something is forgotten."""

import json
from typing import Any, cast

import pytest

from automation.engine.checkpoint import Checkpoint, PendingKind, is_secret
from components.errors import DriverError
from tests.unit.engine.samples import ROOT, SECRET, STACK, checkpoint, entry, stack_entry, urn

CLUSTER, REPLICA = "berth:index:EksCluster", "berth:index:Replica"
PROVIDER, OBJECT, ROLE = "pulumi:providers:kubernetes", "kubernetes:core/v1:ServiceAccount", "aws:iam/role:Role"


def town() -> Checkpoint:
    """Return two clusters, each with a provider, and a replica with an object on each."""
    resources = [stack_entry(outputs={"simulated": True, "token": SECRET}), entry(ROLE, "shared")]
    for name in ("east", "west"):
        resources.append(entry(CLUSTER, name, inputs={"cluster": name}))
        provider = entry(PROVIDER, f"{name}-kubernetes", id="9f", parent=urn(CLUSTER, name))
        replica = entry(REPLICA, f"ml/a/{name}/0", inputs={"cluster": name})
        thing = entry(
            OBJECT,
            f"{name}-object",
            parent=replica["urn"],
            provider=f"{provider['urn']}::9f",
            dependencies=[urn(ROLE, "shared")],
            propertyDependencies={"metadata": [provider["urn"]]},
        )
        resources += [provider, replica, thing]
    keeper = entry(
        ROLE,
        "keeper",
        dependencies=[urn(OBJECT, "west-object"), urn(ROLE, "shared")],
        propertyDependencies={"name": [urn(OBJECT, "west-object")]},
        deletedWith=urn(CLUSTER, "west"),
    )
    return checkpoint(*resources, keeper)


def test_resources_say_what_they_rest_on() -> None:
    """Provider references lose their id; dependencies of properties count as dependencies."""
    thing = town().get(urn(OBJECT, "east-object"))
    assert thing is not None
    assert thing.provider == urn(PROVIDER, "east-kubernetes")
    assert thing.dependencies == {urn(ROLE, "shared"), urn(PROVIDER, "east-kubernetes")}


def test_family_ties_are_followed_both_ways() -> None:
    """A subtree holds everything under a component, parents first; ancestors lead up to the stack."""
    state = town()
    assert [r.name for r in state.subtree(urn(REPLICA, "ml/a/east/0"))] == ["ml/a/east/0", "east-object"]
    assert [r.name for r in state.ancestors(urn(OBJECT, "east-object"))] == ["ml/a/east/0", "town-dev"]
    assert [r.name for r in state.provided_by([urn(PROVIDER, "west-kubernetes")])] == ["west-object"]
    assert state.subtree("nobody") == ()


def test_outputs_stay_encrypted() -> None:
    """A secret output is recognised, never opened."""
    outputs = town().outputs
    assert outputs["simulated"] is True
    assert is_secret(outputs["token"])
    assert not is_secret({"ciphertext": "x"})


def test_the_old_half_of_a_replacement_is_kept_and_not_found() -> None:
    """Two entries have one URN; looking it up gives the one that stays."""
    state = checkpoint(stack_entry(), entry(ROLE, "a", id="new"), entry(ROLE, "a", id="old", delete=True))
    found = state.get(urn(ROLE, "a"))
    assert found is not None
    assert found.id == "new"
    assert len(state.resources) == 3
    assert len(list(state)) == 2


def test_forgetting_a_cluster_cuts_every_edge_to_it() -> None:
    """A cluster goes with its provider and all that is provided; who depended on it stays without that edge."""
    state = town().without([urn(CLUSTER, "west")])
    assert {r.name for r in state} == {
        "town-dev", "shared", "east", "east-kubernetes", "ml/a/east/0", "east-object", "ml/a/west/0", "keeper",
    }  # fmt: skip
    keeper = next(r for r in state.raw["deployment"]["resources"] if r["urn"] == urn(ROLE, "keeper"))
    assert keeper["dependencies"] == [urn(ROLE, "shared")]
    assert keeper["propertyDependencies"] == {"name": []}
    assert "deletedWith" not in keeper


def test_forgetting_changes_only_the_copy() -> None:
    """The value that was asked stays as it was."""
    state = town()
    before = json.dumps(state.raw, sort_keys=True)
    state.without([urn(CLUSTER, "west")])
    assert json.dumps(state.raw, sort_keys=True) == before


def test_forgetting_takes_pending_operations_along() -> None:
    """What was being done to something that is forgotten is forgotten too."""
    pending = [("creating", entry(ROLE, "a")), ("deleting", entry(ROLE, "b"))]
    state = checkpoint(stack_entry(), entry(ROLE, "b"), pending=pending).without([urn(ROLE, "a")])
    assert [(op.kind, op.resource.name) for op in state.pending] == [(PendingKind.DELETING, "b")]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("creating", "interrupted while creating; it may exist without being in the state"),
        ("updating", "interrupted while updating; it may hold the old or the new settings"),
        ("deleting", "interrupted while deleting; it may be gone already"),
        ("reading", "interrupted while reading"),
    ],
)
def test_a_pending_operation_says_what_may_be_left(kind: str, words: str) -> None:
    """A person reads what was interrupted and what that may mean."""
    (operation,) = checkpoint(pending=[(kind, entry(ROLE, "a"))]).pending
    assert str(operation) == f"{ROLE} a: {words}"


@pytest.mark.parametrize("raw", [{}, {"version": 3}, {"version": 3, "deployment": None}])
def test_a_stack_that_never_ran_is_empty(raw: dict[str, object]) -> None:
    """A new stack's export holds no resources, in any of the shapes the engine gives it."""
    state = Checkpoint.from_json(STACK, raw)
    assert state.is_empty
    assert state.outputs == {}


def test_only_the_stack_itself_is_empty_unless_something_is_pending() -> None:
    """An interrupted creation is not nothing."""
    assert checkpoint(stack_entry()).is_empty
    assert not checkpoint(stack_entry(), pending=[("creating", entry(ROLE, "a"))]).is_empty
    assert not checkpoint(stack_entry(), entry(ROLE, "a")).is_empty


@pytest.mark.parametrize(
    "raw",
    [
        {"deployment": {"resources": [{"type": "x"}]}},
        {"deployment": {"resources": 3}},
        {"deployment": {"pending_operations": [{"type": "dreaming", "resource": {"urn": ROOT, "type": "x"}}]}},
        {"deployment": [1]},
        [1],
    ],
)
def test_an_export_of_another_shape_is_one_clear_error(raw: object) -> None:
    """What cannot be read is said with the stack's name, without a traceback of ours."""
    with pytest.raises(DriverError, match="state of stack dev cannot be read"):
        Checkpoint.from_json(STACK, cast("Any", raw))
