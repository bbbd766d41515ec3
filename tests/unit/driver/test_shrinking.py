"""Runs in which a pool is edited to less than what is on it."""

from automation.driver.view import notes
from automation.planning.step import StepKind
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import ON_B, cluster, deployment

OLD, NEW = "ml/qwen/a/0", "ml/qwen/a/1"


def nodes(driver: FakeDriver) -> dict[str, int]:
    """Return how many nodes the pools of cluster ``a`` say that they have."""
    return {pool: held.nodes for (name, pool), held in driver.existing().pools.items() if name == "a"}


def test_a_pool_shrinks_in_the_run_that_moves_its_replica(driver: FakeDriver) -> None:
    """The successor serves on the other pool while the first one still has its node."""
    driver.write("platform/a.yaml", cluster("a", small=0))
    seen: list[dict[str, int]] = []

    def look(call: str) -> None:
        if call == "up dev":
            seen.append(nodes(driver))

    driver.runner.before = look
    report = driver.up()
    assert report.ok
    assert [step.kind for step in report.steps] == list(StepKind)
    assert seen == [{"big": 1, "small": 1}] * 3
    assert nodes(driver) == {"big": 1, "small": 0}
    assert driver.replicas() == {NEW: "Serving", "search/embed/b/0": "Serving"}
    assert driver.plan().empty


def test_a_pool_that_cannot_be_left_stays_and_the_others_go_on(driver: FakeDriver) -> None:
    """The run says who waits for what, and another team's edit is applied as ever."""
    driver.write("platform/a.yaml", cluster("a", small=0, big=0))
    driver.write("models/ml/qwen.yaml", deployment("qwen", spec=ON_B.replace("b}", "a}")))
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    plan = driver.plan()
    (said,) = [each for each in notes(driver.session, plan) if "keeps" in each]
    assert said.startswith("pool a/small keeps its 1 node until 1 replica that 0 nodes cannot hold has left: ml/qwen")
    driver.up()
    assert nodes(driver) == {"big": 0, "small": 1}
    assert driver.replicas() == {OLD: "Serving", "search/embed/b/1": "Serving"}
    held = [each for each in plan.target.platform.clusters if each.held]
    assert [(each.name, [pool.pool for pool in each.held or ()]) for each in held] == [("a", ["small"])]


def test_a_failed_successor_keeps_the_pool(driver: FakeDriver) -> None:
    """The edit waits for the run in which it comes up."""
    driver.write("platform/a.yaml", cluster("a", small=0))
    driver.runner.faults.creations.add(f"{NEW}-workload-main")
    driver.up()
    assert nodes(driver) == {"big": 1, "small": 1}
    driver.runner.faults.creations.clear()
    assert driver.up().ok
    assert nodes(driver) == {"big": 1, "small": 0}
