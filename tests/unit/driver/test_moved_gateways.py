"""Gateways whose address alone is another one: no input says so, and all the same clients and routes follow it."""

import json
from typing import Any

import pytest

from automation.driver.drift import find_drift
from automation.driver.refresh import Refresh
from automation.driver.shared import GATEWAYS_KEY
from automation.driver.view import plan_view
from automation.engine.runner import Applied
from components.naming import StackName
from tests.support.fake_runner_session import FakeDriver

ELSEWHERE = "elsewhere.lb.test"
BEFORE = "b-serving-gateway.lb.test"


def host(driver: FakeDriver, replica: str) -> str:
    """Return where the front door leads for a replica."""
    identity = replica.split("/")
    return str(driver.state_of(f"a/{identity[0]}/{driver.name_of(replica)}-slice")["inputs"]["host"])


def told(driver: FakeDriver) -> Any:
    """Return what the stack of the front doors has in its configuration."""
    return json.loads(driver.runner.held[StackName("dev")].config[GATEWAYS_KEY])


@pytest.mark.parametrize("layout", ["driver", "split"])
def test_the_run_that_sees_it_leads_routes_there(layout: str, request: pytest.FixtureRequest) -> None:
    """In one stack or in two, by one build step: the plan shows the routes, and nothing is left to do after it."""
    driver: FakeDriver = request.getfixturevalue(layout)
    driver.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    assert driver.plan(refresh=Refresh.NEVER).empty
    plan = driver.plan()
    view = plan_view(driver.session, plan)
    assert [(step.kind, step.actions) for step in view.steps] == [
        ("build", ("1 gateway to follow to another address",))
    ]
    assert [(each.op, each.name) for each in view.resources] == [
        ("update", f"a/search/{driver.name_of('search/embed/b/0')}-slice")
    ]
    assert (
        f"the gateway of b has another address, {ELSEWHERE} instead of {BEFORE}: routes will lead there" in view.notes
    )
    assert driver.up().ok
    assert [step.kind.value for step in driver.announced] == ["build"]
    assert driver.existing().clusters["b"].gateway_address == ELSEWHERE
    assert host(driver, "search/embed/b/0") == ELSEWHERE
    assert driver.plan().empty


def test_the_front_doors_stack_is_told(split: FakeDriver) -> None:
    """Its configuration is what a plain ``pulumi preview`` goes by; both stacks are updated once, and no other."""
    split.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    assert split.up().ok
    assert told(split) == {"b": ELSEWHERE}
    assert split.does() == ["preview dev.b", "preview dev", "up dev.b", "up dev"]


def test_an_address_that_nothing_leads_to_is_stored(split: FakeDriver) -> None:
    """What is routed there later goes to the right place, and ``berth get clusters`` says the right thing."""
    split.remove("models/search/embed.yaml")
    assert split.up().ok
    split.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    plan = split.plan()
    assert not plan.empty
    assert plan_view(split.session, plan).resources == ()
    split.does()
    assert split.up().ok
    assert [call for call in split.does() if call.startswith("up ")] == ["up dev.b"]
    assert split.existing().clusters["b"].gateway_address == ELSEWHERE
    assert told(split) == {"b": ELSEWHERE}
    assert split.plan().empty


@pytest.mark.parametrize("layout", ["driver", "split"])
def test_one_that_has_no_address_keeps_its_last_and_is_followed_to_the_next(
    layout: str, request: pytest.FixtureRequest
) -> None:
    """Also where other changes are built meanwhile, and where the configuration is thrown away."""
    driver: FakeDriver = request.getfixturevalue(layout)
    driver.runner.faults.moved = {"b/serving-gateway": ""}
    assert driver.plan().empty
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    assert driver.up().ok
    assert host(driver, "search/embed/b/1") == BEFORE
    assert driver.existing().clusters["b"].gateway_address == BEFORE
    driver.runner.held[StackName("dev")].config.pop(GATEWAYS_KEY, None)
    assert driver.plan().empty
    driver.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    assert driver.up().ok
    assert host(driver, "search/embed/b/1") == ELSEWHERE
    assert driver.plan().empty


def test_a_door_that_had_no_address_is_said_to_have_one(driver: FakeDriver) -> None:
    """What a run stored meanwhile is no reason to forget it."""
    driver.runner.faults.moved = {"a/front-door-gateway": ""}
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    assert driver.up().ok
    assert driver.existing().front_doors["a"].address is None
    driver.runner.faults.moved = {"a/front-door-gateway": ELSEWHERE}
    (door,) = plan_view(driver.session, driver.plan()).front_doors
    assert (door.change, door.address, door.new_address) == ("moved", None, ELSEWHERE)
    assert driver.up().ok
    assert driver.existing().front_doors["a"].address == ELSEWHERE


def test_routes_are_not_led_back_where_it_could_not_be_stored(
    split: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gateway is where it was read to be, whatever else of its stack fails."""
    split.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    real = split.runner.up

    def up(stack: StackName, *given: Any, **named: Any) -> Applied:
        return Applied(stack, ok=False, steps=()) if stack == StackName("dev", "b") else real(stack, *given, **named)

    monkeypatch.setattr(split.runner, "up", up)
    assert not split.up().ok
    assert host(split, "search/embed/b/0") == ELSEWHERE
    assert told(split) == {"b": ELSEWHERE}
    monkeypatch.undo()
    assert split.up().ok
    assert split.existing().clusters["b"].gateway_address == ELSEWHERE
    assert split.plan().empty


@pytest.mark.parametrize("layout", ["driver", "split"])
def test_a_public_address_that_changed_is_said_and_stored(layout: str, request: pytest.FixtureRequest) -> None:
    """Clients and DNS records have to follow it, and nothing else of the plan does."""
    driver: FakeDriver = request.getfixturevalue(layout)
    driver.runner.faults.moved = {"a/front-door-gateway": ELSEWHERE}
    plan = driver.plan()
    assert not plan.empty
    (door,) = plan_view(driver.session, plan).front_doors
    assert (door.change, door.address, door.new_address) == ("moved", "a-front-door-gateway.lb.test", ELSEWHERE)
    assert driver.up().ok
    assert driver.existing().front_doors["a"].address == ELSEWHERE
    assert driver.plan().empty


def test_a_run_with_other_steps_stores_it_first(split: FakeDriver) -> None:
    """What is built, shifted and retired beside it is led to the new address from the start."""
    split.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    split.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    assert split.up().ok
    assert [step.kind.value for step in split.announced] == ["build", "shift", "retire"]
    assert host(split, "search/embed/b/1") == ELSEWHERE
    assert split.plan().empty


def test_a_retirement_alone_is_built_before(split: FakeDriver) -> None:
    """A plan that only takes away has a build step for the address."""
    split.remove("models/ml/qwen.yaml")
    split.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    assert split.up().ok
    assert host(split, "search/embed/b/0") == ELSEWHERE
    assert split.plan().empty


def test_a_checkout_without_the_configuration_plans_the_same(split: FakeDriver) -> None:
    """A CI job throws away what the run before wrote into its checkout; that is no change of anything."""
    del split.runner.held[StackName("dev")].config[GATEWAYS_KEY]
    assert split.plan().empty
    split.does()
    assert split.up().ok
    assert split.announced == []
    assert [call for call in split.does() if call.startswith("up ")] == []
    assert told(split) == {"b": BEFORE}


def test_drift_names_the_gateway(driver: FakeDriver) -> None:
    """The engine compares inputs, and an address is none."""
    driver.runner.faults.moved = {"b/serving-gateway": ELSEWHERE}
    (step,) = find_drift(driver.session, driver.read())[StackName("dev")]
    assert (step.name, step.op.value, [diff.path for diff in step.diffs]) == (
        "b/serving-gateway",
        "update",
        ["status.addresses"],
    )
