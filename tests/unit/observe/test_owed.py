"""What is left out for a cluster that does not answer, and what it is owed."""

import pytest

from automation.engine.events import Op, ResourceStep
from automation.observe.owed import Owed, Skipped, skip_unreachable
from tests.unit.engine.samples import checkpoint, entry, preview, stack_entry, step, urn

CLUSTER, REPLICA, POOL = "berth:index:EksCluster", "berth:index:Replica", "berth:index:Pool"
ENDPOINT, PROVIDER, OBJECT = "berth:index:Endpoint", "pulumi:providers:kubernetes", "kubernetes:core/v1:Secret"
NODES = "aws:eks/nodeGroup:NodeGroup"


def on(cluster: str, op: Op, name: str, *, replica: str, provider: str = "") -> ResourceStep:
    """Return a step on an object of a replica."""
    return step(
        op, OBJECT, name, parent=urn(REPLICA, replica), provider=urn(PROVIDER, f"{provider or cluster}-kubernetes")
    )


def fleet(cluster: str) -> list[ResourceStep]:
    """Return a cluster with its provider, a pool and its nodes, all as they are."""
    return [
        step(Op.SAME, CLUSTER, cluster, inputs={"cluster": cluster}),
        step(Op.SAME, PROVIDER, f"{cluster}-kubernetes", parent=urn(CLUSTER, cluster)),
        step(Op.SAME, POOL, f"{cluster}/gpus", inputs={"cluster": cluster}),
        step(Op.SAME, NODES, f"{cluster}-nodes", parent=urn(POOL, f"{cluster}/gpus")),
    ]


STEPS = [
    *fleet("east"),
    *fleet("west"),
    step(Op.CREATE, REPLICA, "new", inputs={"cluster": "west"}),
    on("west", Op.CREATE, "new-secret", replica="new"),
    step(Op.UPDATE, REPLICA, "old", inputs={"cluster": "west"}),
    on("west", Op.UPDATE, "old-secret", replica="old"),
    on("west", Op.REPLACE, "old-claim", replica="old"),
    on("west", Op.CREATE_REPLACEMENT, "old-claim", replica="old"),
    on("west", Op.DELETE_REPLACED, "old-claim", replica="old"),
    on("west", Op.SAME, "old-service", replica="old"),
    step(Op.CREATE, REPLICA, "other", inputs={"cluster": "east"}),
    on("east", Op.CREATE, "other-secret", replica="other"),
    step(Op.SAME, ENDPOINT, "endpoint", inputs={"frontDoor": "east"}),
    step(
        Op.DELETE, OBJECT, "endpoint-slice", parent=urn(ENDPOINT, "endpoint"), provider=urn(PROVIDER, "east-kubernetes")
    ),
]
STATE = checkpoint(
    stack_entry(),
    entry(CLUSTER, "west", inputs={"cluster": "west"}),
    entry(PROVIDER, "west-kubernetes", id="1", parent=urn(CLUSTER, "west")),
    entry(REPLICA, "unseen", inputs={"cluster": "west"}),
    entry(OBJECT, "unseen-secret", parent=urn(REPLICA, "unseen"), provider=f"{urn(PROVIDER, 'west-kubernetes')}::1"),
)


def test_everything_on_a_dead_cluster_is_left_out_and_counted() -> None:
    """Creations, changes (a replacement is one) and deletions are counted once per resource, components not."""
    skipped = skip_unreachable(preview(*STEPS), STATE, {"west"})
    assert skipped.owed == (Owed("west", creations=1, changes=2, deletions=0),)
    assert {u.rpartition("::")[2] for u in skipped.exclude} == {
        "west", "west-kubernetes", "west/gpus", "west-nodes", "new", "new-secret", "old", "old-secret", "old-claim",
        "old-service", "unseen", "unseen-secret",
    }  # fmt: skip


def test_a_front_door_is_on_its_own_cluster() -> None:
    """Its objects are left out when the front door is dead, whatever they lead to."""
    skipped = skip_unreachable(preview(*STEPS), STATE, {"east"})
    assert skipped.owed == (Owed("east", creations=1, changes=0, deletions=1),)
    assert urn(ENDPOINT, "endpoint") in skipped.exclude
    assert urn(OBJECT, "endpoint-slice") in skipped.exclude


def test_an_object_is_where_its_provider_puts_it() -> None:
    """Under a component of another cluster, the provider decides."""
    strange = on("west", Op.UPDATE, "strange", replica="other")
    skipped = skip_unreachable(preview(*STEPS, strange), STATE, {"west"})
    assert strange.urn in skipped.exclude


def test_when_every_cluster_answers_nothing_is_left_out() -> None:
    """The usual case costs nothing and says nothing."""
    assert skip_unreachable(preview(*STEPS), STATE, frozenset()) == Skipped()


@pytest.mark.parametrize(
    ("owed", "words"),
    [
        (Owed("eks-use1-a", deletions=3), "eks-use1-a SKIPPED unreachable, 3 deletions owed"),
        (Owed("a", creations=1, changes=2), "a SKIPPED unreachable, 1 creation, 2 changes owed"),
        (Owed("a"), "a SKIPPED unreachable, nothing owed"),
    ],
)
def test_what_is_owed_is_one_line(owed: Owed, words: str) -> None:
    """A plan shows one line per cluster."""
    assert str(owed) == words
