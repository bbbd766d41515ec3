"""A cluster that does not answer blocks nobody: what is owed to it is named, and done later, or it is forgotten."""

from dataclasses import dataclass

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.scenario import Failure, Fault
from tests.support.fleet_run import ON_B, Answer, FleetRun, applied, cluster, deployment, small_fleet

pytestmark = [pytest.mark.engine, pytest.mark.lives]

DEAD = Fault(cluster="b", fail=Failure.UNREACHABLE)
A, B = "https://a.simulated.invalid", "https://b.simulated.invalid"
BY_HAND = "kubernetes:gateway.networking.k8s.io/v1:GatewayClass"
WORKLOAD = "kubernetes:apps/v1:Deployment"


@dataclass
class Outage:
    """What was seen on the way."""

    run: FleetRun
    skipped: Answer
    replicas: list[dict[str, str]]
    """After the run that left the cluster out, after the one that did what was owed, after the last."""
    on_b: list[str]
    """What is live on the cluster: before, and after the same runs."""
    restored: list[str]
    """What was deleted by hand on the other cluster, and is there again while this one is silent."""
    mended: Answer
    announced: Answer
    """The plan of a cluster that is marked lost."""
    lost: Answer
    urns: set[str]


def on_b(run: FleetRun) -> str:
    """Return everything that is live on the cluster."""
    return "\n".join(f"{each.type} {each.id}" for each in run.cloud.resources(scope=B))


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Outage:
    """Lose the cluster for a while, then for good."""
    base = applied(tmp_path_factory, pulumi_cli.pulumi, "small", small_fleet())
    run = base.copy(tmp_path_factory.mktemp("outage") / "fleet")
    replicas, live = [], [on_b(run)]

    def up() -> Answer:
        answer = run.berth("up", "--yes", "--json")
        replicas.append(run.replicas())
        live.append(on_b(run))
        return answer

    run.scenario(DEAD)
    run.remove("models/search/embed.yaml")
    run.write("models/ml/qwen.yaml", deployment("qwen", image="vllm:2"))
    deleted = run.cloud.resources(type=BY_HAND, scope=A)[0].id
    run.cloud.delete(BY_HAND, deleted, scope=A)
    skipped = up()
    restored = [each.id for each in run.cloud.resources(type=BY_HAND, scope=A) if each.id == deleted]

    run.scenario()
    run.write("models/search/rank.yaml", deployment("rank", namespace="search", spec=ON_B))
    mended = up()

    run.scenario(DEAD)
    run.write("platform/b.yaml", cluster("b", more="  lost: true\n"))
    run.write("models/search/rank.yaml", deployment("rank", namespace="search"))
    announced = run.berth("plan", "--json")
    lost = up()
    return Outage(run, skipped, replicas, live, restored, mended, announced, lost, run.urns())


def test_a_dead_cluster_is_named_with_what_is_owed_to_it(outage: Outage) -> None:
    """The plan and the run say how much waits for it, and why; it is no failure of theirs."""
    (note,) = outage.skipped.document["notes"]
    assert note.startswith("b SKIPPED unreachable, ")
    assert note.endswith(" deletions owed")
    assert f"{note} (dial tcp" in outage.skipped.stderr, "the plan says it too"
    assert outage.skipped.document["ok"] is True


def test_nothing_on_a_dead_cluster_is_touched_and_the_others_proceed(outage: Outage) -> None:
    """The edit on the living cluster goes through; what should go from the dead one is still known."""
    assert outage.on_b[1] == outage.on_b[0]
    assert outage.replicas[0] == {"ml/qwen/a/1": "Serving", "search/embed/b/0": "Serving"}


def test_what_was_deleted_by_hand_elsewhere_is_made_again_meanwhile(outage: Outage) -> None:
    """A silent cluster does not keep its stack from being looked at."""
    assert len(outage.restored) == 1


def test_what_is_owed_is_done_when_the_cluster_answers(outage: Outage) -> None:
    """The deployment without a manifest goes, and a new one comes."""
    assert outage.replicas[1] == {"ml/qwen/a/1": "Serving", "search/rank/b/0": "Serving"}
    assert f"{WORKLOAD} search/embed" not in outage.on_b[2]
    assert f"{WORKLOAD} search/rank" in outage.on_b[2]
    assert outage.mended.document["notes"] == []


def test_a_plan_does_not_call_it_deletions_that_a_lost_cluster_is_forgotten(outage: Outage) -> None:
    """Nothing there is touched, so no data is lost by the run; what it will do instead stands in a note."""
    document = outage.announced.document
    assert not [each["name"] for each in document["resources"] if each["losesData"]]
    assert not [each["name"] for each in document["resources"] if each["name"].startswith("b/")]
    assert not [note for note in document["notes"] if "SKIPPED" in note]
    assert any(note.startswith("cluster b is marked lost: berth up takes its ") for note in document["notes"])


def test_a_lost_cluster_is_forgotten_and_its_replicas_go_elsewhere(outage: Outage) -> None:
    """The state knows it no more, nothing there was asked to go, and what may cost money is listed for a person."""
    assert outage.replicas[2] == {"ml/qwen/a/1": "Serving", "search/rank/a/0": "Serving"}
    assert outage.on_b[3] == outage.on_b[2]
    assert set(outage.run.existing().clusters) == {"a"}
    assert not [urn for urn in outage.urns if urn.rpartition("::")[2].startswith("b/") or "/b/" in urn]
    notes = outage.lost.document["notes"]
    assert "cluster b is lost" in notes[0]
    assert any(note.startswith("may still cost money: ") and "b/serving-gateway" in note for note in notes)
