"""What an error says of a run: what its own operation did, and what the run did before it."""

import pytest

from automation.driver.run import run_plan
from automation.driver.so_far import SoFar, after_settling
from automation.engine.lease import Lease
from automation.planning.step import StepKind
from components.errors import BerthError, DriverError, ResourceFailed, StackLeased
from components.naming import StackName
from tests.support.fake_runner_session import FakeDriver
from tests.unit.driver.test_applying import OLD, edit
from tests.unit.driver.test_removals import destroy

STAYS = "hat this run did before that stays: "


@pytest.mark.parametrize(
    ("count", "said", "want"),
    [
        pytest.param(0, "Nothing was changed.", "Nothing was changed.", id="nothing-before"),
        pytest.param(1, "Nothing was changed.", f"Not here; w{STAYS}1 resource changed.", id="nothing-now"),
        pytest.param(2, "Nothing was changed. Wait.", f"Not here; w{STAYS}2 resources changed. Wait.", id="advice"),
        pytest.param(
            2,
            "1 resource was changed before that.",
            f"1 resource was changed before that. W{STAYS}2 resources changed.",
            id="something-now",
        ),
        pytest.param(2, "", f"W{STAYS}2 resources changed.", id="silent"),
    ],
)
def test_an_error_says_what_was_done_before_it_once(count: int, said: str, want: str) -> None:
    """However many operations it leaves on its way out."""
    so_far = SoFar(count=count)
    with pytest.raises(BerthError) as caught, so_far.told("Outside"), so_far.told("Not here"):
        raise DriverError("no", consequence=said)
    assert caught.value.consequence == want


def test_a_retirement_that_fails_does_not_deny_the_steps_before_it(driver: FakeDriver) -> None:
    """Its engine changed nothing, and the replica that was built and led to is there."""
    edit(driver)
    driver.runner.faults.deletions = {each.name for each in driver.checkpoint() if each.name.startswith(f"{OLD}-")}
    with pytest.raises(ResourceFailed, match="cannot be deleted") as caught:
        driver.up()
    assert [step.kind for step in driver.announced] == list(StepKind)
    said = caught.value.consequence
    assert STAYS in said
    assert not said.startswith("Nothing was changed")
    assert f"{STAYS}0" not in said


def test_what_stops_a_step_before_its_engine_is_said_of_that_step(split: FakeDriver) -> None:
    """Somebody takes the other stack between the two of one step."""
    edit(split)
    split.edit("models/search/embed.yaml", "vllm:1", "vllm:2")

    def hold(call: str) -> None:
        if call.startswith("up "):
            held = next(each for each in ("dev", "dev.b") if each != call.removeprefix("up "))
            split.runner.held[StackName.parse(held)].leases.append(Lease("sam", "far", 7))
            split.runner.before = lambda _: None

    split.runner.before = hold
    with pytest.raises(StackLeased) as caught:
        split.up()
    assert caught.value.consequence.startswith("The step build changed nothing in stack dev")
    assert STAYS in caught.value.consequence


def test_the_first_step_that_fails_says_that_nothing_was_changed(driver: FakeDriver) -> None:
    """Then it is true of the run as well."""
    edit(driver)
    prepared = driver.prepare()
    driver.runner.held[driver.session.workspace.stack].leases.append(Lease("sam", "far", 7))
    with pytest.raises(StackLeased) as caught:
        run_plan(driver.session, prepared.plan, announce=lambda _: None)
    assert caught.value.consequence.startswith("Nothing was changed.")


def test_a_teardown_does_not_deny_the_stacks_before(split: FakeDriver) -> None:
    """The front doors' stack is gone when the next is held."""

    def hold(call: str) -> None:
        if call == "remove_stack dev":
            split.runner.held[StackName.parse("dev.b")].leases.append(Lease("sam", "far", 7))

    split.runner.before = hold
    with pytest.raises(StackLeased) as caught:
        destroy(split)
    assert caught.value.consequence.startswith(f"Nothing of stack dev.b was deleted; w{STAYS}")
    assert " resources deleted." in caught.value.consequence


@pytest.mark.parametrize(
    ("notes", "want"),
    [
        pytest.param((), "Nothing was changed. Wait.", id="nothing"),
        pytest.param(
            ("repaired x",), "Nothing was changed but what an earlier run had left unsettled. Wait.", id="repaired"
        ),
    ],
)
def test_a_plan_that_is_refused_does_not_deny_what_was_settled_first(notes: tuple[str, ...], want: str) -> None:
    """A lease that was freed, a state that was repaired: the notes say which."""
    with pytest.raises(BerthError) as caught, after_settling(notes):
        raise DriverError("no", consequence="Nothing was changed. Wait.")
    assert caught.value.consequence == want
