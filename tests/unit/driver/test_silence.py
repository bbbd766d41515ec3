"""A cluster that does not answer blocks nobody: it is left alone, named with what it is owed, and looked at later."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from automation.driver.drift import find_drift
from automation.driver.refresh import Refresh
from automation.engine.events import Op
from automation.engine.runner import Preview
from components.errors import DriverError
from components.naming import StackName
from tests.support.fake_runner_session import FakeDriver
from tests.support.fake_runner_update import Faults

WHY = "connection refused"


def on(driver: FakeDriver, cluster: str) -> set[str]:
    """Return the names of the objects on a cluster."""
    return {each.name for each in driver.checkpoint() if each.provider.endswith(f"::{cluster}-kubernetes")}


def silence(driver: FakeDriver, cluster: str) -> None:
    """Let a cluster not answer: nothing on it can be read or changed."""
    driver.dead = {cluster: WHY}
    driver.runner.faults.unreadable = on(driver, cluster)
    driver.runner.faults.creations |= on(driver, cluster)


def test_the_others_go_on(driver: FakeDriver) -> None:
    """Their changes are done, and what is owed is counted."""
    silence(driver, "b")
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    before = {each.urn: each for each in driver.checkpoint() if each.name in on(driver, "b")}
    report = driver.up()
    assert report.ok
    assert driver.replicas()["ml/qwen/a/1"] == "Serving"
    assert "ml/qwen/a/0" not in driver.replicas()
    assert "search/embed/b/0" in driver.replicas()
    assert {each.urn: each for each in driver.checkpoint() if each.name in on(driver, "b")} == before
    (owed,) = report.owed
    assert owed.cluster == "b"


def test_what_is_owed_is_done_when_it_answers(driver: FakeDriver) -> None:
    """The next run that reaches it does it first."""
    silence(driver, "b")
    driver.remove("models/search/embed.yaml")
    driver.up()
    assert "search/embed/b/0" in driver.replicas()
    assert driver.plan().owed[0].deletions
    driver.dead.clear()
    driver.runner.faults.unreadable.clear()
    driver.runner.faults.creations.clear()
    assert driver.up().ok
    assert "search/embed/b/0" not in driver.replicas()
    assert driver.plan().owed == ()


@pytest.mark.parametrize("change", ["gone", "edited"])
def test_what_was_changed_behind_our_back_is_put_right(driver: FakeDriver, change: str) -> None:
    """A run looks first, so it is part of the plan, and the build mends it."""
    name = "ml/qwen/a/0-workload-main"
    if change == "gone":
        driver.runner.faults.gone = {name}
    else:
        driver.runner.faults.edited = {name: {"shape": "another"}}
    assert driver.plan(refresh=Refresh.NEVER).empty
    plan = driver.plan()
    assert [step.kind.value for step in plan.steps] == ["build"]
    assert driver.up().ok
    assert driver.runner.stored == [StackName("dev")]
    assert driver.runner.faults == Faults()
    assert driver.plan().empty


@pytest.mark.parametrize("refresh", list(Refresh))
def test_what_is_as_the_state_says_is_not_read_twice(driver: FakeDriver, refresh: Refresh) -> None:
    """The plan has read it; its steps read it again only for whoever asks for all of it."""
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    driver.runner.looked.clear()
    assert driver.up(refresh=refresh).ok
    assert driver.replicas()["ml/qwen/a/1"] == "Serving"
    assert len(driver.runner.looked) == {Refresh.NEVER: 0, Refresh.AUTO: 1, Refresh.ALWAYS: 2}[refresh]
    assert driver.runner.stored == ([StackName("dev")] if refresh is Refresh.ALWAYS else [])


def test_what_is_as_the_state_says_is_read_once_by_a_plan(driver: FakeDriver) -> None:
    """An edit of the platform is asked about twice: what it does to clusters, and what the target does."""
    driver.edit("platform/a.yaml", "labels: {cluster: a}", "labels: {cluster: a, zone: west}")
    driver.runner.looked.clear()
    before = driver.runner.count("preview")
    assert not driver.plan().empty
    assert driver.runner.count("preview") == before + 2
    assert len(driver.runner.looked) == 1
    driver.runner.faults.edited = {"ml/qwen/a/0-workload-main": {"shape": "another"}}
    driver.plan()
    assert len(driver.runner.looked) == 3


def test_what_differs_is_read_again_by_the_step_that_mends_it(driver: FakeDriver) -> None:
    """Its preview is what is gated, so it must see what the update will find."""
    driver.runner.faults.edited = {"ml/qwen/a/0-workload-main": {"shape": "another"}}
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    driver.runner.looked.clear()
    assert driver.up().ok
    assert len(driver.runner.looked) == 2
    assert driver.runner.stored == [StackName("dev")]


def test_the_rest_of_a_stack_is_looked_at_while_a_cluster_is_silent(driver: FakeDriver) -> None:
    """One silent cluster must not hide what was changed on the others."""
    silence(driver, "b")
    driver.runner.faults.gone = {"ml/qwen/a/0-workload-main"}
    plan = driver.plan()
    assert not plan.empty
    restored = [step.name for each in plan.previews.values() for step in each.changed]
    assert "ml/qwen/a/0-workload-main" in restored
    assert driver.up().ok
    assert driver.runner.faults.gone == set()
    assert driver.plan().empty
    assert driver.replicas()["ml/qwen/a/0"] == "Serving"


def test_what_a_plan_could_not_read_is_read_by_the_build(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs something on a silent cluster may stand in the way of the plan's look, and not of the build's."""
    silence(driver, "b")
    driver.runner.faults.edited = {"a/serving-system-namespace": {"shape": "another"}}
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    real, looks = driver.runner.preview, count()

    def preview(*given: Any, **named: Any) -> Preview:
        seen = real(*given, **named)
        return replace(seen, ok=False) if named.get("refresh") and next(looks) == 0 else seen

    monkeypatch.setattr(driver.runner, "preview", preview)
    assert driver.up().ok
    assert driver.runner.faults.edited == {}


def test_whoever_asks_for_all_of_it_is_told_that_it_cannot_be_read(driver: FakeDriver) -> None:
    """``--refresh always`` fails over a cluster that does not answer."""
    silence(driver, "b")
    with pytest.raises(DriverError, match="cannot be read"):
        driver.plan(refresh=Refresh.ALWAYS)


def test_drift_looks_only_where_somebody_answers(driver: FakeDriver) -> None:
    """It finds what is gone and what was edited, and changes nothing."""
    silence(driver, "b")
    driver.runner.faults.gone = {"ml/qwen/a/0-workload-main", "search/embed/b/0-workload-main"}
    driver.runner.faults.edited = {"a/ml/qwen-route": {"to": []}}
    state = driver.facts()
    found = find_drift(driver.session, driver.read(create=False, lenient=True))
    assert {(step.name, step.op) for steps in found.values() for step in steps} == {
        ("ml/qwen/a/0-workload-main", Op.DELETE),
        ("a/ml/qwen-route", Op.UPDATE),
    }
    assert driver.facts() == state
