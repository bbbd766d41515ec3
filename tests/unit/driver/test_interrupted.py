"""A run that was cut off: the next one settles what it left before it plans, and a mere look settles nothing."""

import pytest

from automation.driver.recovery import pending_lines
from automation.engine.repair import ORPHANS_TAG
from components.errors import Cancelled
from tests.support.fake_runner_session import FakeDriver

NEW = "ml/qwen/a/1"
WORKLOAD = f"{NEW}-workload-main"


@pytest.fixture
def cut_off(driver: FakeDriver) -> FakeDriver:
    """Return an environment whose last run was interrupted while it made a workload."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    driver.runner.faults.interrupted_at = WORKLOAD
    with pytest.raises(Cancelled):
        driver.up()
    driver.runner.faults.interrupted_at = ""
    driver.does()
    driver.heard.notes.clear()
    return driver


def test_what_is_in_doubt_is_not_ready(cut_off: FakeDriver) -> None:
    """Nothing is routed to it, and its predecessor serves."""
    assert cut_off.replicas()[NEW] == "Absent"
    assert cut_off.replicas()["ml/qwen/a/0"] == "Serving"
    (line,) = pending_lines(cut_off.session, cut_off.read(create=False))
    assert line.startswith(f"kubernetes:apps/v1:Deployment {WORKLOAD}: interrupted while creating")


def test_a_look_settles_nothing(cut_off: FakeDriver) -> None:
    """A plan, a dry run and status leave the state as it is."""
    state = cut_off.facts()
    prepared = cut_off.prepare(settle=False)
    assert prepared.unsettled
    assert prepared.notes == ()
    cut_off.berth("status")
    assert cut_off.facts() == state


def test_the_next_run_settles_it_first_and_then_goes_on(cut_off: FakeDriver) -> None:
    """The state is written back before anything is previewed, and the move is finished."""
    assert cut_off.up().ok
    done = cut_off.does()
    assert done.index("import_state dev") < done.index("preview dev")
    assert cut_off.replicas() == {NEW: "Serving", "search/embed/b/0": "Serving"}
    assert cut_off.plan().empty
    assert any(WORKLOAD in note for note in cut_off.heard.notes)


def test_nothing_on_a_silent_cluster_is_read_while_it_is_settled(cut_off: FakeDriver) -> None:
    """It is settled as far as that goes without the cluster, and the run goes on with the others."""
    cut_off.dead = {"a": "connection refused"}
    on = {each.name for each in cut_off.checkpoint() if each.provider.endswith("::a-kubernetes")}
    cut_off.runner.faults.unreadable = on
    cut_off.runner.faults.creations = on | {WORKLOAD}
    cut_off.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    cut_off.prepare()
    assert "refresh dev" not in cut_off.does()
    assert cut_off.existing().pending == ()


def test_what_may_exist_unseen_is_noted_until_a_person_dealt_with_it(driver: FakeDriver) -> None:
    """It is in no state; the note beside the stack is all that remains of it."""
    stack = driver.session.workspace.stack
    driver.simulated = False
    lost = {"urn": "urn:pulumi:dev::berth::aws:ec2/vpc:Vpc::b-vpc", "type": "aws:ec2/vpc:Vpc", "custom": True}
    for entry in driver.runner.held[stack].resources:
        if entry["type"].startswith("pulumi:pulumi"):
            entry["outputs"]["simulated"] = False
    driver.runner.held[stack].pending.append({"type": "creating", "resource": lost})
    driver.prepare()
    assert "b-vpc" in driver.runner.held[stack].tags[ORPHANS_TAG]
    driver.heard.notes.clear()
    assert driver.berth("orphans", "--dealt-with", "b-vpc") == 0
    assert ORPHANS_TAG not in driver.runner.held[stack].tags
