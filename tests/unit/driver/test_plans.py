"""A plan: how often the engine is asked, what is foreseen, and the same lock every time."""

from pathlib import Path

import pytest

from automation.driver.gate import require_passed
from automation.planning.step import StepKind
from automation.scheduling.changes import Change
from components.errors import PolicyViolation, ResourceFailed
from components.lock import Lock, dump_lock
from components.naming import ReplicaId
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import GATEWAY, cluster, deployment, environment, gpu_class
from tests.support.samples import environment_files


def test_nothing_to_do_asks_the_engine_once(driver: FakeDriver) -> None:
    """The platform is as it was applied, so only the target is previewed."""
    plan = driver.plan()
    assert plan.empty
    assert plan.steps == ()
    assert plan.lock_changed == ()
    assert driver.does() == ["preview dev"]


def test_a_model_asks_the_engine_once(driver: FakeDriver) -> None:
    """What a model changes is no matter of the platform's."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    plan = driver.plan()
    assert [step.kind for step in plan.steps] == list(StepKind)
    assert driver.does() == ["preview dev"]


def test_an_edited_platform_asks_the_engine_twice(driver: FakeDriver) -> None:
    """Once what the edit alone would do, once what the target would do."""
    driver.edit("platform/b.yaml", "labels: {cluster: b}", "labels: {cluster: b, tier: gold}")
    plan = driver.plan()
    assert driver.does() == ["preview dev", "preview dev"]
    assert plan.changes.touched
    first, second = driver.runner.programs[-2:]
    assert {str(each) for each, _, _ in first.lock.replicas()} == set(driver.replicas())
    assert second.lock == plan.target


def test_the_first_plan_needs_no_preview_of_the_platform(fresh: FakeDriver) -> None:
    """Nothing exists, so nothing can be replaced: every cluster is one that the plan makes."""
    driver = fresh
    plan = driver.prepare().plan
    assert driver.does() == ["ensure_stack dev", "preview dev"]
    assert set(plan.changes.clusters) == {"a", "b"}
    assert not any(change.goes_away for change in plan.changes.clusters.values())


def test_planning_again_gives_the_same_bytes(driver: FakeDriver) -> None:
    """Whatever order the files are read in, and however often."""
    written = driver.lock()
    assert dump_lock(driver.plan().target) == written
    driver.up()
    assert driver.lock() == written


def test_a_pool_that_an_edit_would_replace_is_left_before_it_is_replaced(cloud: FakeDriver) -> None:
    """Preview 1 says that the pool goes away; what is on it is placed elsewhere or the plan says that it cannot."""
    replica = next(each for each in cloud.existing().replicas.values() if each.id.cluster == "eks-euw1")
    pool = replica.entry.placement[0].members[0].pool
    cloud.state_of(f"eks-euw1/{pool}-nodes")["inputs"]["accelerator"] = "of another time"  # as if its class changed
    plan = cloud.plan()
    assert plan.changes.pool("eks-euw1", pool).goes_away
    kept = {placed.id for placed in plan.schedule.placements if placed.kept}
    assert replica.id not in kept or plan.schedule.shortfalls
    assert all(f"eks-euw1/{pool}" in step.withheld for step in plan.steps if replica.id in ids_of(step.lock))


def ids_of(lock: Lock) -> set[ReplicaId]:
    """Return the replicas of a lock."""
    return {identity for identity, _, _ in lock.replicas()}


def test_a_forbidden_plan_changes_nothing(driver: FakeDriver) -> None:
    """The gate holds before the first step, and the lock on disk is not touched."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    driver.runner.faults.forbidden = {"ml/qwen/a/1"}
    state, lock = driver.facts(), driver.lock()
    with pytest.raises(PolicyViolation, match="berth/no-such-thing"):
        driver.up()
    assert driver.facts() == state
    assert driver.lock() == lock
    assert not [call for call in driver.does() if call.startswith("up")]


def test_a_step_that_is_forbidden_stops_before_it_is_applied(driver: FakeDriver) -> None:
    """A policy may only say no when the pack sees the step itself; what was done before stays done."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")

    def forbid() -> None:
        driver.runner.faults.forbidden = {"ml/qwen/a/1"}

    state = driver.facts()
    with pytest.raises(PolicyViolation):
        driver.up(meanwhile=forbid)
    assert driver.facts() == state


def test_what_is_protected_stops_the_plan(tmp_path: Path) -> None:
    """Nothing is changed, and the way out is named."""
    files = {path: content.decode() for path, content in environment_files().items()}
    files["environment.yaml"] = files["environment.yaml"].replace("protect: false", "protect: true")
    made = FakeDriver.of(tmp_path, files)
    made.up()
    made.state_of("eks-euw1-cluster")["inputs"]["name"] = "of another time"  # as if an edit replaced the cluster
    plan = made.plan()
    assert plan.changes.cluster("eks-euw1") is Change.REPLACE_REFUSED
    with pytest.raises(ResourceFailed, match="eks-euw1-cluster") as caught:
        require_passed(plan.previews)
    assert "protect: false" in caught.value.help


def test_a_plan_says_what_of_the_lock_it_changes(driver: FakeDriver) -> None:
    """By file, so that a reviewer knows which team is concerned."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    assert driver.plan().lock_changed == ("ml.yaml",)
    driver.write("models/new/one.yaml", deployment("one", namespace="new"))
    assert driver.plan().lock_changed == ("ml.yaml", "new.yaml")
    (driver.folder / "lock" / "search.yaml").unlink()
    assert driver.plan().lock_changed == ("ml.yaml", "new.yaml", "search.yaml")


def test_a_new_cluster_is_a_candidate_that_is_marked(tmp_path: Path) -> None:
    """What is placed on it waits for it, and the plan says so."""
    made = FakeDriver.of(
        tmp_path,
        {
            "environment.yaml": environment(),
            "platform/classes.yaml": f"{gpu_class('gpu-4x', 4)}---\n{gpu_class('gpu-8x', 8)}",
            "platform/gateway.yaml": GATEWAY,
            "platform/a.yaml": cluster("a"),
        },
    )
    made.up()
    made.write("platform/c.yaml", cluster("c", small=4))
    made.write(
        "models/ml/wide.yaml",
        deployment("wide", spec="clusterSelector: {matchLabels: {cluster: c}}"),
    )
    plan = made.plan()
    (placed,) = plan.schedule.placements
    assert placed.id.cluster == "c"
    assert [each.state.value for each in plan.snapshot.clusters if each.name == "c"] == ["planned"]
