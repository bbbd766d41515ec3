"""Applying a plan: the order of steps, and what becomes of a fleet when a part of it fails."""

import pytest

from automation.driver.gate import require_passed
from automation.driver.run import run_plan
from automation.driver.view import plan_view, up_view
from automation.engine.events import Op
from automation.engine.lease import Lease
from automation.planning.step import StepKind
from components.errors import DriverError, ResourceFailed, StackLeased
from components.lock import Phase
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import deployment, front_door

OLD, NEW = "ml/qwen/a/0", "ml/qwen/a/1"


def edit(driver: FakeDriver) -> None:
    """Give the deployment another image, which is a surge."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")


def test_a_move_is_built_then_shifted_then_retired(driver: FakeDriver) -> None:
    """Each from the state that the one before it left; the old replica goes last."""
    old = driver.name_of(OLD)
    edit(driver)
    report = driver.up()
    assert report.ok
    assert [step.kind for step in report.steps] == list(StepKind)
    assert [step.kind for step in driver.announced] == list(StepKind)
    assert driver.does() == ["preview dev", *["preview dev", "up dev"] * 3]
    assert driver.replicas() == {NEW: "Serving", "search/embed/b/0": "Serving"}
    assert driver.backends("ml", "qwen") == {driver.name_of(NEW): 1}
    assert not [each for each in driver.checkpoint() if each.name.startswith(OLD) or old in each.name]
    assert driver.plan().empty


def test_routes_lead_only_to_what_is_ready(driver: FakeDriver) -> None:
    """While the new one is built, the service leads to the old one, and to nothing else."""
    edit(driver)
    seen: list[dict[str, int]] = []

    def look(call: str) -> None:
        if call == "up dev":
            driver.runner.before = lambda _: None
            seen.append(driver.backends("ml", "qwen"))
            driver.runner.before = look

    old = driver.name_of(OLD)
    driver.runner.before = look
    driver.up()
    new = driver.name_of(NEW)
    assert seen == [{old: 1}, {old: 1}, {new: 1}]


@pytest.mark.parametrize("role", ["workload-main", "pool", "picker", "picker-service", "route"])
@pytest.mark.parametrize("how", ["creations", "initialisations"])
def test_a_failed_successor_keeps_its_predecessor(driver: FakeDriver, how: str, role: str) -> None:
    """Whatever part of it fails, made or not: it gets no traffic, and the other team is not held up."""
    old = driver.name_of(OLD)
    edit(driver)
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    getattr(driver.runner.faults, how).add(f"{NEW}-{role}")
    report = driver.up()
    assert not report.ok
    assert set(report.steps[0].failures) == {NEW}
    assert driver.backends("ml", "qwen") == {old: 1}
    phases = driver.replicas()
    assert phases[OLD] == "Serving"
    assert phases[NEW] in {"Failed", "Absent"}
    assert phases["search/embed/b/1"] == "Serving"
    assert "search/embed/b/0" not in phases


def test_what_failed_is_tried_again_and_then_takes_over(driver: FakeDriver) -> None:
    """The next run begins where this one stopped."""
    edit(driver)
    driver.runner.faults.creations = {f"{NEW}-workload-main"}
    assert not driver.up().ok
    plan = driver.plan()
    assert plan.steps[0].summary.retried == 1
    assert not plan.empty
    driver.runner.faults.creations.clear()
    assert driver.up().ok
    assert driver.replicas()[NEW] == "Serving"
    assert OLD not in driver.replicas()


def test_a_failed_route_keeps_the_replica_that_it_leads_to(driver: FakeDriver) -> None:
    """The shift stops at the first failure; nothing is taken away behind a route that was not moved."""
    edit(driver)
    new = "qwen-0ee01"
    driver.runner.faults.creations = {f"a/ml/{new}-slice"}
    with pytest.raises(ResourceFailed, match=f"a/ml/{new}-slice"):
        driver.up()
    assert driver.name_of(NEW) == new
    with pytest.raises(ResourceFailed):
        driver.up()
    route = driver.state_of("a/ml/qwen-route")
    assert [each["endpoint"] for each in route["inputs"]["to"]] == [driver.name_of(OLD)]
    assert OLD in driver.replicas()
    driver.runner.faults.creations.clear()
    assert driver.up().ok
    assert OLD not in driver.replicas()
    assert driver.backends("ml", "qwen") == {new: 1}


def test_a_retirement_that_fails_stops_and_is_owed(driver: FakeDriver) -> None:
    """What cannot be deleted stays in the state, out of the routes, and the next run takes it away."""
    edit(driver)
    driver.runner.faults.deletions = {f"{OLD}-workload-main"}
    with pytest.raises(ResourceFailed, match="cannot be deleted"):
        driver.up()
    assert OLD in driver.replicas()
    assert driver.backends("ml", "qwen") == {driver.name_of(NEW): 1}
    driver.runner.faults.deletions.clear()
    assert driver.up().ok
    assert OLD not in driver.replicas()


def test_a_namespace_that_could_not_be_made_on_the_front_door_is_made_later(driver: FakeDriver) -> None:
    """Its routes wait for it, the routes of the others do not."""
    driver.runner.faults.creations = {"a/late-namespace"}
    driver.write(
        "models/late/one.yaml", deployment("one", namespace="late", spec="clusterSelector: {matchLabels: {cluster: b}}")
    )
    edit(driver)
    report = driver.up()
    assert not report.ok
    assert driver.replicas()[NEW] == "Serving"
    assert OLD not in driver.replicas()
    driver.runner.faults.creations.clear()
    assert driver.up().ok
    assert driver.backends("late", "one") == {driver.name_of("late/one/b/0"): 1}


def test_a_stack_that_is_held_is_not_touched(driver: FakeDriver) -> None:
    """The engine would fail as well; the error says who holds it."""
    edit(driver)
    driver.runner.held[driver.session.workspace.stack].leases.append(Lease("sam", "far", 7))
    state = driver.facts()
    with pytest.raises(StackLeased, match="sam@far"):
        driver.up()
    assert driver.facts() == state


def test_a_step_is_not_applied_to_what_another_run_made(driver: FakeDriver) -> None:
    """Somebody else's run between the plan and its first step stops it."""
    edit(driver)

    def meanwhile() -> None:
        entry = driver.state_of("search/embed/b/0")
        entry["inputs"]["phase"] = Phase.DRAINING.value

    with pytest.raises(DriverError, match="was changed by another run"):
        driver.up(meanwhile=meanwhile)
    assert NEW not in driver.replicas()


def test_an_edit_of_the_platform_that_changes_nothing_is_asked_about_once(driver: FakeDriver) -> None:
    """The stack learns that it was applied; otherwise every later plan would ask again."""
    text = (driver.folder / "platform/classes.yaml").read_text()
    driver.write(
        "platform/classes.yaml", text.replace("metadata: {name: gpu-8x}", "metadata: {name: gpu-8x, labels: {a: b}}")
    )
    assert driver.plan().situation.unapplied
    driver.does()
    driver.up()
    assert not driver.plan().situation.unapplied
    driver.does()
    driver.plan()
    assert driver.does() == ["preview dev"]


def test_a_cluster_that_leaves_goes_when_nothing_is_on_it(driver: FakeDriver) -> None:
    """Its replicas move first; the cluster itself is the retirement's."""
    driver.edit("models/search/embed.yaml", "clusterSelector: {matchLabels: {cluster: b}}", "")
    driver.edit("platform/b.yaml", "spec:\n", "spec:\n  removing: true\n")
    report = driver.up()
    assert report.ok
    assert set(report.existing.clusters) == {"a"}
    assert {str(each) for each in report.existing.replicas} == {"ml/qwen/a/0", "search/embed/a/0"}
    assert driver.plan().empty
    driver.remove("platform/b.yaml")
    driver.up()
    assert driver.plan().empty


def test_a_cluster_that_leaves_waits_for_a_replica_with_nowhere_to_go(driver: FakeDriver) -> None:
    """It may only be on that cluster, so the cluster stays, and the plan says what is missing."""
    driver.edit("platform/b.yaml", "spec:\n", "spec:\n  removing: true\n")
    report = driver.up()
    assert set(report.existing.clusters) == {"a", "b"}
    assert "search/embed/b/0" in driver.replicas()
    assert driver.plan().schedule.shortfalls


def test_a_report_marks_as_planned_only_what_was_not_built(fresh: FakeDriver) -> None:
    """What this very run has made is there; the plan before it said what it would make."""
    fresh.write("models/ml/qwen.yaml", deployment("qwen", gpus=8, replicas=9))
    fresh.runner.faults.initialisations.add("b/serving-gateway")
    plan = fresh.prepare().plan
    report = up_view(fresh.session, plan, fresh.up())
    (before,), (after,) = plan_view(fresh.session, plan).shortfalls, report.shortfalls
    assert {each.cluster: each.planned for each in before.verdicts} == {"a": True, "b": True}
    assert {each.cluster: each.planned for each in after.verdicts} == {"a": False, "b": True}


def test_a_new_front_door_gets_every_route(driver: FakeDriver) -> None:
    """Nobody's traffic moves, and the new door leads where the old one does."""
    driver.write("platform/edge.yaml", front_door("edge"))
    driver.edit("environment.yaml", "frontDoors: [a]", "frontDoors: [a, edge]")
    assert driver.up().ok
    routes = {each.name for each in driver.checkpoint() if each.name.endswith("-route") and "/front" not in each.name}
    assert {"edge/ml/qwen-route", "edge/search/embed-route"} <= routes
    assert driver.plan().empty


def test_what_was_asked_of_a_plan_is_what_is_done(driver: FakeDriver) -> None:
    """The steps that a plan shows are the steps that an undisturbed run takes."""
    edit(driver)
    prepared = driver.prepare()
    require_passed(prepared.plan.previews)
    shown = [step.lock for step in prepared.plan.steps]
    done = []
    run_plan(driver.session, prepared.plan, announce=done.append)
    assert [step.lock for step in done] == shown


def test_a_pool_is_replaced_only_after_its_replicas_left(cloud: FakeDriver) -> None:
    """Every earlier step leaves it alone, whatever else it changes; the retirement replaces it."""
    replica = next(each for each in cloud.existing().replicas.values() if each.id.deployment == "qwen3-8b")
    on = replica.id.cluster
    nodes = f"{on}/{replica.entry.placement[0].members[0].pool}-nodes"
    cloud.state_of(nodes)["inputs"]["accelerator"] = "of another time"  # as if its class changed
    report = cloud.up()
    replaced = {step.kind: [each.name for each in step.applied.steps if each.op is Op.REPLACE] for step in report.steps}
    assert replaced == {StepKind.BUILD: [], StepKind.SHIFT: [], StepKind.RETIRE: [nodes]}
    (moved,) = [each for each in report.existing.replicas if each.deployment == "qwen3-8b"]
    assert moved != replica.id
