"""What the commands leave behind, and what they say and how they end when something is in the way."""

import json
import os

import pytest

from automation.engine.lease import Lease
from components.errors import ConfigError, Problem
from tests.support.fake_runner_session import FakeDriver

LOOKING = {
    "plan --dry-run": ("plan", "--dry-run"),
    "plan --check": ("plan", "--check"),
    "plan --expect-no-changes": ("plan", "--expect-no-changes"),
    "up --dry-run": ("up", "--dry-run"),
    "up that nobody can be asked about": ("up",),
}


@pytest.mark.parametrize("command", LOOKING.values(), ids=list(LOOKING))
def test_whoever_only_looks_leaves_no_stack(fresh: FakeDriver, command: tuple[str, ...]) -> None:
    """The engine previews nothing without a stack, so there is one for as long as the preview takes."""
    code = fresh.berth(*command)
    assert code == {"plan --check": 7, "plan --expect-no-changes": 7, "up": 2}.get(" ".join(command), 0)
    assert fresh.runner.count("preview") == 1
    assert fresh.runner.stacks() == ()
    assert fresh.lock() == {}
    assert fresh.does()[-1] == "remove_stack_and_config dev"


def test_a_plan_that_fails_leaves_no_stack(fresh: FakeDriver) -> None:
    """Whatever stopped it."""
    fresh.runner.faults.forbidden = {"ml/qwen/a/0"}
    assert fresh.berth("plan") == 5
    assert fresh.runner.stacks() == ()
    assert fresh.berth("plan", "--dry-run") == 5
    assert fresh.berth("up", "--yes") == 5
    assert fresh.runner.stacks() == ()


def test_a_program_that_fails_leaves_no_stack(fresh: FakeDriver) -> None:
    """A secret that is missing is only found when the engine runs the program."""

    def fail(call: str) -> None:
        if call == "preview dev":
            raise ConfigError([Problem("secret-missing", "secret x/y is not there")])

    fresh.runner.before = fail
    assert fresh.berth("up", "--yes") == 2
    assert fresh.berth("plan") == 2
    assert fresh.berth("plan", "--check") == 2
    assert fresh.runner.stacks() == ()


def test_a_plan_that_succeeds_keeps_its_stack(fresh: FakeDriver) -> None:
    """What it takes to apply the plan, secrets above all, is set on it."""
    assert fresh.berth("plan") == 0
    assert [str(stack) for stack in fresh.runner.stacks()] == ["dev"]


def test_a_configuration_that_was_there_is_kept(fresh: FakeDriver) -> None:
    """It is the user's, with secrets that may be nowhere else."""
    place = fresh.session.workspace.configuration(fresh.session.workspace.stack)
    place.parent.mkdir(parents=True)
    place.write_text("encryptionsalt: v1:x\n")
    fresh.berth("plan", "--dry-run")
    assert fresh.does()[-1] == "remove_stack dev"


def test_a_stack_that_was_there_is_kept(driver: FakeDriver) -> None:
    """Whoever looks at an applied environment removes nothing."""
    state = driver.facts()
    for command in LOOKING.values():
        driver.berth(*command)
    assert driver.facts() == state


def test_a_plan_to_be_applied_keeps_its_stack(fresh: FakeDriver) -> None:
    """So that secrets can be set in its configuration before the first run."""
    assert fresh.berth("plan") == 0
    assert [str(each) for each in fresh.runner.stacks()] == ["dev"]
    assert sorted(fresh.lock()) == ["ml.yaml", "platform.yaml", "search.yaml"]


BROKEN = {
    "not YAML": "kind: [",
    "a field of no such name": "apiVersion: modelplane.ai/v1alpha1\nkind: ModelDeployment\nmetadata: {nmae: x}\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=list(BROKEN))
def test_status_is_shown_whatever_is_wrong_with_the_manifests(
    driver: FakeDriver, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """What exists does not depend on them; the mistakes are listed and decide the exit code."""
    driver.write("models/ml/broken.yaml", text)
    assert driver.berth("status") == 2
    said = capsys.readouterr()
    assert "qwen" in said.out
    assert "Serving" in said.out
    assert "broken.yaml:" in said.err
    assert "what is wanted of it cannot be told" in said.err
    assert driver.berth("status", "--json") == 2
    document = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in document["tree"]].count("cluster") == 2
    assert document["deployments"] == []


def test_status_of_nothing_says_what_is_wrong(fresh: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing was ever applied the mistakes are all there is to say."""
    fresh.write("models/ml/broken.yaml", "kind: [")
    assert fresh.berth("status") == 2
    said = capsys.readouterr()
    assert "broken.yaml:" in said.err
    assert said.out == ""


@pytest.mark.parametrize("verb", ["plan", "up", "drift", "destroy"])
def test_whoever_would_act_on_broken_manifests_is_stopped(driver: FakeDriver, verb: str) -> None:
    """Before anything is started."""
    driver.write("models/ml/broken.yaml", "kind: [")
    driver.runner.calls.clear()
    assert driver.berth(verb) == 2
    assert driver.runner.calls == []


def test_status_looks_past_a_lock_that_a_newer_berth_wrote(
    driver: FakeDriver, capsys: pytest.CaptureFixture[str]
) -> None:
    """It writes none, so it need not understand it."""
    place = driver.folder / "lock" / "ml.yaml"
    place.write_text(place.read_text().replace("version: 1", "version: 99"))
    assert driver.berth("status") == 0
    assert "qwen" in capsys.readouterr().out
    assert driver.berth("plan") == 2


def test_a_replica_that_only_the_lock_calls_staying_is_found_out(driver: FakeDriver) -> None:
    """A mark that somebody wrote by hand is not what planning gives; no run builds from it either."""
    place = driver.folder / "lock" / "search.yaml"
    good = place.read_text()
    place.write_text(good.replace("phase: Serving", "phase: Serving\n  stays: team=x:NoSchedule"))
    assert "stays" in place.read_text()
    assert driver.berth("plan", "--check") == 7
    assert driver.berth("up", "--yes") == 0
    assert place.read_text() == good


def test_a_lease_is_freed_whatever_is_wrong_with_the_manifests(driver: FakeDriver) -> None:
    """It has nothing to do with them."""
    held = driver.runner.held[driver.session.workspace.stack]
    held.leases.append(Lease("sam", "far", 7))
    driver.write("models/ml/broken.yaml", "kind: [")
    assert driver.berth("unlock") == 1
    assert driver.berth("unlock", "--force") == 0
    assert held.leases == []


def test_a_lease_of_the_other_kind_of_run_is_left(driver: FakeDriver) -> None:
    """Simulated and real runs do not meet there either."""
    held = driver.runner.held[driver.session.workspace.stack]
    held.leases.append(Lease("sam", "far", os.getpid()))
    driver.simulated = False
    assert driver.berth("unlock", "--force") == 2
    assert held.leases
