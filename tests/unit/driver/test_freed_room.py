"""Room that comes free only when a run retires what holds it: the plan says so, and so does the end of the run."""

from collections.abc import Iterable

from automation.driver.view import closing_notes, notes
from automation.planning.step import StepKind
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import ON_B, cluster, deployment

FULL = cluster("b", small=0)
"""Cluster ``b`` with one node of eight GPUs."""


def full(driver: FakeDriver) -> None:
    """Let one replica take all of cluster ``b``."""
    driver.write("models/search/embed.yaml", deployment("embed", namespace="search", gpus=8, spec=ON_B))
    driver.write("platform/b.yaml", FULL)
    for _ in range(3):
        driver.up()
    assert driver.plan().empty
    assert not driver.plan().schedule.shortfalls


def about(said: Iterable[str]) -> list[str]:
    """Return the notes that speak of the new deployment."""
    return [each for each in said if "search/find" in each]


def test_a_deployment_renamed_in_a_full_fleet_takes_two_runs_and_both_plans_say_so(driver: FakeDriver) -> None:
    """The old one holds the room until it retires; nothing serves in between, and the next run places the new one."""
    full(driver)
    (old,) = [each for each in driver.replicas() if each.startswith("search/")]
    driver.remove("models/search/embed.yaml")
    driver.write("models/search/find.yaml", deployment("find", namespace="search", gpus=8, spec=ON_B, labels=""))
    prepared = driver.prepare()
    gap, again = about(notes(driver.session, prepared.plan))
    assert gap == "search/embed is removed and search/find is new with the same shape: nothing serves in between"
    assert again == (
        f"search/find finds no room on b; that of {old} is free only once this run has retired it:"
        " run berth up again then"
    )
    report = driver.up()
    assert StepKind.RETIRE in {step.kind for step in report.steps}
    assert about(closing_notes(prepared.plan, report)) == [
        f"search/find finds no room on b; that of {old} is free now: run berth up again"
    ]
    plan = driver.plan()
    assert not about(notes(driver.session, plan))
    after = driver.up()
    assert not about(closing_notes(plan, after))
    assert driver.replicas()["search/find/b/0"] == "Serving"


def test_a_new_deployment_of_another_shape_is_no_renamed_one(driver: FakeDriver) -> None:
    """It waits for the same room, and that is all that is said."""
    full(driver)
    driver.remove("models/search/embed.yaml")
    driver.write("models/search/find.yaml", deployment("find", namespace="search", gpus=6, image="vllm:9", spec=ON_B))
    (again,) = about(notes(driver.session, driver.plan()))
    assert "run berth up again" in again


def test_a_shortfall_that_no_departure_helps_promises_nothing(driver: FakeDriver) -> None:
    """What goes is on another cluster."""
    full(driver)
    driver.remove("models/ml/qwen.yaml")
    driver.write("models/search/find.yaml", deployment("find", namespace="search", gpus=8, spec=ON_B))
    plan = driver.plan()
    assert [each.deployment for each in plan.schedule.shortfalls] == ["find"]
    assert plan.schedule.leaving
    assert not about(notes(driver.session, plan))


def test_a_renamed_deployment_with_room_is_built_beside_the_old_one(driver: FakeDriver) -> None:
    """Nothing is missing in between, so nothing is said."""
    driver.remove("models/search/embed.yaml")
    driver.write("models/search/find.yaml", deployment("find", namespace="search", spec=ON_B))
    assert not about(notes(driver.session, driver.plan()))
