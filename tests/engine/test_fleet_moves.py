"""Replicas that move: surge, failure, repair, drain, a cluster on its way out; the successor always serves first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.scenario import Failure, Fault
from tests.support.fleet_run import ON_B, Answer, FleetRun, applied, cluster, deployment, small_fleet

pytestmark = [pytest.mark.engine, pytest.mark.lives]

WORKLOAD = "kubernetes:apps/v1:Deployment"
ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
TAINT = "  taints: [{key: maintenance, effect: NoExecute}]\n"


@dataclass
class Stage:
    """What was there after one command."""

    answer: Answer
    replicas: dict[str, str]
    backends: dict[str, list[str]]
    """By service, the replicas that it leads to."""
    images: dict[str, str]
    """What the clouds run: the image of every replica."""
    lock: dict[str, bytes]


@dataclass
class Moves:
    """What was seen on the way."""

    run: FleetRun
    edited: Stage
    planned: Stage
    status: Answer
    drained: Stage
    refused: Answer
    facts: tuple[tuple[str, str], tuple[str, str]]
    removed: Stage
    emptied: Answer


def stage(run: FleetRun, answer: Answer) -> Stage:
    """Look at what is there."""
    existing = run.existing()
    names = {(each.id.namespace, each.entry.name): str(each.id) for each in existing.replicas.values()}
    return Stage(
        answer,
        run.replicas(),
        {
            f"{namespace}/{service}": [names[namespace, each.endpoint] for each in found.entry.backends]
            for (namespace, service), found in existing.services.items()
        },
        {
            each.urn.rpartition("::")[2].removesuffix("-workload-main"): _image(each.outputs)
            for each in run.cloud.resources(type=WORKLOAD)
            if each.urn.endswith("-workload-main")
        },
        run.lock(),
    )


def _image(workload: Mapping[str, Any]) -> str:
    return str(workload["spec"]["template"]["spec"]["containers"][0]["image"])


@pytest.fixture(scope="module")
def moves(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Moves:
    """Move everything once."""
    base = applied(tmp_path_factory, pulumi_cli.pulumi, "small", small_fleet())
    run = base.copy(tmp_path_factory.mktemp("moves") / "fleet")

    run.scenario(Fault(type=WORKLOAD, image="*:broken", fail=Failure.IMAGE_PULL))
    run.write("models/ml/qwen.yaml", deployment("qwen", image="vllm:2"))
    run.write("models/search/embed.yaml", deployment("embed", namespace="search", spec=ON_B, image="vllm:broken"))
    edited = stage(run, run.berth("up", "--yes", "--json", code=4))
    planned = stage(run, run.berth("plan", "--json"))
    status = run.berth("status")

    run.write("models/search/embed.yaml", deployment("embed", namespace="search", spec=ON_B, image="vllm:3"))
    run.write("platform/a.yaml", cluster("a", more=TAINT))
    drained = stage(run, run.berth("up", "--yes", "--json"))

    facts = run.facts()
    run.remove("platform/b.yaml")
    refused = run.berth("plan", code=2)
    left = run.facts()

    run.write("platform/a.yaml", cluster("a"))
    run.write("platform/b.yaml", cluster("b", more="  removing: true\n"))
    run.write("models/search/embed.yaml", deployment("embed", namespace="search", image="vllm:3"))
    run.remove("models/ml/qwen.yaml")
    removed = stage(run, run.berth("up", "--yes", "--json"))

    run.remove("platform/b.yaml")
    emptied = run.berth("plan", "--expect-no-changes")
    return Moves(run, edited, planned, status, drained, refused, (facts, left), removed, emptied)


def order(answer: Answer) -> list[str]:
    """Return what an update says that it did, in its order: a word, a type and a name."""
    words = ("created", "updated", "deleted", "failed")
    return [line.strip() for line in answer.stderr.splitlines() if line.strip().startswith(words)]


def kinds(each: Stage) -> list[str]:
    """Return the steps that were applied."""
    return [step["kind"] for step in each.answer.document["steps"]]


def test_an_edited_replica_goes_after_its_successor_serves(moves: Moves) -> None:
    """A new image is a new replica beside the old one: made, routed to, and only then is the old one deleted."""
    assert kinds(moves.edited) == ["build", "shift", "retire"]
    done = order(moves.edited.answer)
    made = done.index(f"created {WORKLOAD} ml/qwen/a/1-workload-main")
    routed = done.index(f"updated {ROUTE} a/ml/qwen-route")
    gone = done.index(f"deleted {WORKLOAD} ml/qwen/a/0-workload-main")
    assert made < routed < gone
    assert moves.edited.replicas["ml/qwen/a/1"] == "Serving"
    assert moves.edited.backends["ml/qwen"] == ["ml/qwen/a/1"]
    assert moves.edited.images["ml/qwen/a/1"] == "vllm:2"
    assert "ml/qwen/a/0" not in {*moves.edited.replicas, *moves.edited.images}


def test_a_broken_image_leaves_the_old_replica_serving(moves: Moves) -> None:
    """The successor stays out of the routes, the run fails and says why, and the other team's change went through."""
    assert moves.edited.replicas["search/embed/b/0"] == "Serving"
    assert moves.edited.replicas["search/embed/b/1"] == "Failed"
    assert moves.edited.backends["search/embed"] == ["search/embed/b/0"]
    assert moves.edited.images["search/embed/b/0"] == "vllm:1"
    (failure,) = (each for step in moves.edited.answer.document["steps"] for each in step["failures"])
    assert failure["subject"] == "search/embed/b/1"
    assert "vllm:broken" in failure["message"]
    assert "vllm:broken" in next(line for line in moves.status.stdout.splitlines() if "search/embed/1" in line)


def test_planning_again_after_a_failure_gives_the_same_target(moves: Moves) -> None:
    """Nothing piles up: the same lock, no further replica; what failed is tried again."""
    assert moves.planned.lock == moves.edited.lock
    assert moves.planned.replicas == moves.edited.replicas
    plan = moves.planned.answer.document
    assert plan["lockChanged"] == []
    assert "1 part to try again" in plan["steps"][0]["actions"]


def test_the_next_good_manifest_repairs(moves: Moves) -> None:
    """The replica that never served takes the good shape where it is, and its predecessor goes at last."""
    assert moves.drained.replicas["search/embed/b/1"] == "Serving"
    assert moves.drained.images["search/embed/b/1"] == "vllm:3"
    assert moves.drained.backends["search/embed"] == ["search/embed/b/1"]
    assert "search/embed/b/0" not in moves.drained.replicas


def test_a_drained_cluster_is_left_for_another(moves: Moves) -> None:
    """NoExecute moves what does not tolerate it; its successor serves first."""
    done = order(moves.drained.answer)
    routed = done.index(f"updated {ROUTE} a/ml/qwen-route")
    assert done.index(f"created {WORKLOAD} ml/qwen/b/0-workload-main") < routed
    assert routed < done.index(f"deleted {WORKLOAD} ml/qwen/a/1-workload-main")
    assert moves.drained.backends["ml/qwen"] == ["ml/qwen/b/0"]
    assert moves.drained.answer.document["ok"] is True


def test_the_manifest_of_a_cluster_in_use_cannot_just_go(moves: Moves) -> None:
    """A deleted file is no order to lose what serves: exit code 2, the way out, and nothing changed."""
    assert "removing: true" in moves.refused.stderr
    assert "ml/qwen/b/0" in moves.refused.stderr
    assert moves.facts[0] == moves.facts[1]
    assert moves.refused.count("preview") == 0


def test_a_cluster_on_its_way_out_is_emptied_and_goes(moves: Moves) -> None:
    """``removing: true`` moves the replicas first; then everything of the cluster goes, in the same run."""
    answer = moves.removed.answer
    assert answer.count("preview") == 2 + 3, "one of the platform, one of the target, one for each step"
    assert moves.removed.replicas == {"search/embed/a/0": "Serving"}
    done = order(answer)
    routed = done.index(f"updated {ROUTE} a/search/embed-route")
    assert done.index(f"created {WORKLOAD} search/embed/a/0-workload-main") < routed
    assert routed < done.index(f"deleted {WORKLOAD} search/embed/b/1-workload-main")
    assert "deleted pulumi:providers:kubernetes b-kubernetes" in done
    left = {each.name for each in moves.run.cloud.resources(scope="https://b.simulated.invalid") if each.urn}
    assert left == {"ml", "search"}, "namespaces are retained"


def test_a_deployment_without_a_manifest_is_retired(moves: Moves) -> None:
    """Its replica and its service go, and its namespace's lock with them."""
    assert moves.removed.backends == {"search/embed": ["search/embed/a/0"]}
    assert set(moves.removed.images) == {"search/embed/a/0"}
    assert set(moves.removed.lock) == {"platform.yaml", "search.yaml"}


def test_then_the_manifest_of_the_cluster_may_go(moves: Moves) -> None:
    """Nobody asks for the cluster any more, and nothing is left to do about it."""
    assert set(moves.run.existing().clusters) == {"a"}
    assert moves.emptied.count("up") == 0
