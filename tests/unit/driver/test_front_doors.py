"""Front doors that move, on the fake engine: what stands between the steps, and what becomes of failures."""

import pytest

from automation.driver.view import up_view
from automation.planning.step import StepKind
from components.errors import ConfigError, ResourceFailed
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import deployment, front_door

GATEWAY, ROUTE = "-front-door-gateway", "qwen-route"
A, B = {"a/front-door-gateway", "a/ml/qwen-route"}, {"b/front-door-gateway", "b/ml/qwen-route"}
NEW = "ml/qwen/a/1"


def move(driver: FakeDriver, old: str = "a", new: str = "b") -> None:
    """Name other front doors."""
    driver.edit("environment.yaml", f"frontDoors: [{old}]", f"frontDoors: [{new}]")


def standing(driver: FakeDriver) -> set[str]:
    """Return the gateways of front doors, and the routes of one service on them."""
    names = {each.name for each in driver.checkpoint() if each.custom}
    return {name for name in names if name.endswith((GATEWAY.removeprefix("-"), f"/{ROUTE}"))}


def watch(driver: FakeDriver) -> list[set[str]]:
    """Write down what stands before each update."""
    seen: list[set[str]] = []

    def look(call: str) -> None:
        if call == "up dev":
            driver.runner.before = lambda _: None
            seen.append(standing(driver))
            driver.runner.before = look

    driver.runner.before = look
    return seen


def leads(driver: FakeDriver, door: str) -> dict[str, int]:
    """Return where the route on one front door leads."""
    return {each["endpoint"]: each["weight"] for each in driver.state_of(f"{door}/ml/{ROUTE}")["inputs"]["to"]}


def notes(driver: FakeDriver) -> tuple[str, ...]:
    """Run, and return what the report says beside the steps."""
    plan = driver.plan()
    return up_view(driver.session, plan, driver.up()).notes


def test_a_front_door_moves_without_a_gap(driver: FakeDriver) -> None:
    """The new one stands with its routes before anything of the old one goes; both lead to what serves meanwhile."""
    move(driver)
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    seen = watch(driver)
    report = driver.up()
    assert [step.kind for step in report.steps] == list(StepKind)
    assert seen == [A, A | B, A | B]
    assert standing(driver) == B
    assert leads(driver, "b") == {driver.name_of(NEW): 1}
    assert not [each for each in driver.checkpoint() if each.name.startswith(("a/ml/qwen", "a/search"))]
    assert driver.plan().empty


def test_both_front_doors_lead_to_the_same_before_the_old_one_goes(driver: FakeDriver) -> None:
    """The shift is on both; that it is seen, the retirement fails at the old route."""
    move(driver)
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    driver.runner.faults.deletions = {f"a/ml/{ROUTE}"}
    with pytest.raises(ResourceFailed, match="cannot be deleted"):
        driver.up()
    assert standing(driver) == A | B
    assert leads(driver, "a") == leads(driver, "b") == {driver.name_of(NEW): 1}
    driver.runner.faults.deletions.clear()
    assert [step.kind for step in driver.up().steps] == [StepKind.RETIRE]
    assert standing(driver) == B
    assert driver.plan().empty


@pytest.mark.parametrize("how", ["creations", "initialisations"])
def test_a_front_door_that_fails_leaves_the_old_one_and_holds_nobody_up(driver: FakeDriver, how: str) -> None:
    """Traffic moves on the old one, the old one stays, the run says why; repaired, the move ends."""
    move(driver)
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    getattr(driver.runner.faults, how).add("b/front-door-gateway")
    said = notes(driver)
    assert any(note.startswith("the front door on a stays until another one serves (b") for note in said)
    assert leads(driver, "a") == {driver.name_of(NEW): 1}
    assert set(driver.replicas()) == {NEW, "search/embed/b/0"}
    again = driver.plan()
    assert [step.kind for step in again.steps] == [StepKind.BUILD, StepKind.RETIRE]
    assert again.steps[0].summary.retried == 1
    driver.runner.faults.creations.clear()
    driver.runner.faults.initialisations.clear()
    assert driver.up().ok
    assert standing(driver) == B
    assert leads(driver, "b") == {driver.name_of(NEW): 1}
    assert driver.plan().empty


def test_a_route_that_fails_on_the_new_front_door_keeps_the_old_one(driver: FakeDriver) -> None:
    """Some clients would find nothing behind the new address."""
    move(driver)
    driver.runner.faults.creations = {f"b/ml/{ROUTE}"}
    assert not driver.up().ok
    assert standing(driver) == A | {"b/front-door-gateway"}
    driver.runner.faults.creations.clear()
    assert driver.up().ok
    assert standing(driver) == B


def test_the_old_front_door_stays_while_the_new_one_does_not_answer(driver: FakeDriver) -> None:
    """Nobody can tell what it leads to; when it answers, the old one goes."""
    move(driver, new="a, b")
    assert driver.up().ok
    move(driver, old="a, b", new="b")
    driver.dead["b"] = "no answer"
    driver.up()
    assert standing(driver) == A | B
    driver.dead.clear()
    assert driver.up().ok
    assert standing(driver) == B


def test_two_front_doors_that_a_run_left_different_are_made_alike(driver: FakeDriver) -> None:
    """The first being right does not hide that the second is not."""
    move(driver, new="a, b")
    assert driver.up().ok
    assert driver.plan().empty
    driver.state_of("b/ml/qwen")["inputs"]["backends"] = []
    driver.state_of(f"b/ml/{ROUTE}")["inputs"]["to"] = []
    plan = driver.plan()
    assert [step.kind for step in plan.steps] == [StepKind.BUILD]
    assert driver.up().ok
    assert leads(driver, "a") == leads(driver, "b") == {driver.name_of("ml/qwen/a/0"): 1}
    assert driver.plan().empty


def test_a_cluster_does_not_change_stacks_to_become_a_front_door(split: FakeDriver) -> None:
    """With a stack for each cluster it would be built twice; nothing is touched, and the edit is named."""
    move(split, new="a, b")
    before = split.facts()
    with pytest.raises(ConfigError) as caught:
        split.up()
    (problem,) = caught.value.problems
    assert problem.where.endswith("environment.yaml:1")
    assert "cluster b" in problem.message
    assert split.facts() == before


def test_a_front_door_with_a_stack_for_each_cluster_moves_to_a_new_cluster(split: FakeDriver) -> None:
    """The old one leaves from the stack that it is in, in one run; every cluster stays where it was built."""
    split.write("platform/edge.yaml", front_door("edge"))
    split.edit("platform/a.yaml", "spec:\n", "spec:\n  removing: true\n")
    move(split, new="edge")
    assert split.up().ok
    held = {
        str(stack): {each.name for each in split.checkpoint(str(stack)) if each.type.endswith("Cluster")}
        for stack in split.runner.stacks()
    }
    assert held == {"dev": {"edge"}, "dev.b": {"b"}}
    assert standing(split) == {"edge/front-door-gateway", f"edge/ml/{ROUTE}"}
    assert set(split.replicas()) == {"ml/qwen/b/0", "search/embed/b/0"}
    assert split.plan().empty


def test_a_former_front_door_that_has_to_stay_does_so_in_its_stack(split: FakeDriver) -> None:
    """Its replica has nowhere else to go, so the cluster waits there for it."""
    split.write("platform/edge.yaml", front_door("edge"))
    split.edit("platform/a.yaml", "spec:\n", "spec:\n  removing: true\n")
    split.write("models/ml/qwen.yaml", deployment("qwen", spec="clusterSelector: {matchLabels: {cluster: a}}"))
    move(split, new="edge")
    split.up()
    assert "ml/qwen/a/0" in split.replicas()
    assert {each.name for each in split.checkpoint() if each.type.endswith("Cluster")} == {"a", "edge"}
    assert standing(split) == {"edge/front-door-gateway", f"edge/ml/{ROUTE}"}
