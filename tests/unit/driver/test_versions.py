"""Other versions of Kubernetes than clusters have: shown where they can be had, refused before anything where not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from automation.driver.reading import read_situation
from automation.driver.refresh import Refresh
from automation.driver.versions import refuse_versions
from automation.driver.view import plan_view
from automation.render.plan import plan_lines
from automation.render.text import plain
from automation.scheduling.observation import ClusterObservation, Observation
from components.errors import ConfigError
from tests.support.fake_runner_session import NOW, FakeDriver

FILE = "platform/clusters.yaml"
REGION = "      region: us-east-1\n"
NAME = "eks-use1"
PLANE = f"{NAME}-cluster"


@pytest.fixture
def older(cloud: FakeDriver) -> FakeDriver:
    """Return an environment in which one cluster has 1.34, as its manifest says; nothing is left to do."""
    for key in ("inputs", "outputs"):
        cloud.state_of(PLANE)[key]["version"] = "1.34"
    cloud.edit(FILE, REGION, f'{REGION}      kubernetesVersion: "1.34"\n')
    cloud.up()
    assert cloud.plan().empty
    cloud.does()
    return cloud


def write(driver: FakeDriver, before: str, after: str) -> None:
    """Change the version that the manifest asks for."""
    driver.edit(FILE, f'kubernetesVersion: "{before}"', f'kubernetesVersion: "{after}"')


def test_an_upgrade_is_planned_with_both_versions(older: FakeDriver) -> None:
    """And counted among what the build does; afterwards nothing is left."""
    write(older, "1.34", "1.35")
    plan = older.plan()
    view = plan_view(older.session, plan)
    assert [(each.cluster, each.before, each.after) for each in view.upgrades] == [(NAME, "1.34", "1.35")]
    assert "1 cluster to upgrade" in view.steps[0].actions
    assert f"  ~ {NAME}: kubernetes 1.34 -> 1.35\n" in plain(plan_lines(view, width=100))
    assert older.up().ok
    assert older.existing().clusters[NAME].kubernetes_version == "1.35"
    assert older.plan().empty


def test_a_downgrade_is_refused_by_whoever_plans(older: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan, a run and whoever only places alike; whoever looks or tears down is told and not stopped."""
    write(older, "1.34", "1.33")
    problem = older.refused()
    assert problem.code == "kubernetes-downgrade"
    assert f"/{FILE}:" in problem.where
    assert problem.text[problem.column - 1 :] == '"1.33"'
    for verb in ("plan", "capacity"):
        assert older.berth(verb, "-e", "dev") == 2
        assert "kubernetes-downgrade" in capsys.readouterr().err
    older.heard.notes.clear()
    older.read(create=False, lenient=True)
    assert any("a control plane never goes back" in note for note in older.heard.notes)


def test_a_minor_cannot_be_skipped(older: FakeDriver) -> None:
    """The next one can be had, and then the one after it."""
    write(older, "1.34", "1.36")
    assert older.refused().code == "kubernetes-skips-minor"
    write(older, "1.36", "1.35")
    assert older.up().ok
    write(older, "1.35", "1.36")
    assert older.up().ok


def test_an_upgrade_that_failed_may_be_taken_back(older: FakeDriver) -> None:
    """The component says what was asked for; what counts is what the control plane has."""
    older.runner.faults.creations = {PLANE}
    write(older, "1.34", "1.35")
    assert not older.up().ok
    older.runner.faults.creations.clear()
    write(older, "1.35", "1.34")
    assert older.up().ok
    assert older.existing().clusters[NAME].kubernetes_version == "1.34"


def test_an_upgrade_behind_our_back_is_not_taken_back(older: FakeDriver) -> None:
    """Only a plan that looks finds it, and it says what the manifest must say."""
    older.runner.faults.edited = {PLANE: {**older.state_of(PLANE)["inputs"], "version": "1.35"}}
    with pytest.raises(ConfigError) as caught:
        older.plan()
    (problem,) = caught.value.problems
    assert (problem.code, problem.allowed) == ("kubernetes-downgrade", "1.35 or 1.36")
    assert older.plan(refresh=Refresh.NEVER).empty
    write(older, "1.34", "1.35")
    assert not older.plan().upgrades
    assert older.up().ok
    assert older.plan().empty


def test_what_was_seen_counts_while_it_is_young(older: FakeDriver) -> None:
    """Also for whoever asks no engine; and in a backed run, whose API servers have the version that the cloud says."""
    older.edit("environment.yaml", "spec:\n", "spec:\n  observation: {maxAge: 2h}\n")
    situation = read_situation(older.session, create=False)

    def look(age: timedelta, *, backed: bool = False) -> None:
        existing = replace(situation.existing, backed=backed)
        seen = Observation({NAME: ClusterObservation(NOW - age, api_server="v1.35.1-eks-2")})
        refuse_versions(situation.fleet, existing, seen, now=NOW)

    with pytest.raises(ConfigError) as caught:
        look(timedelta(hours=1))
    assert "runs Kubernetes 1.35, as seen at" in caught.value.problems[0].message
    look(timedelta(hours=3))
    with pytest.raises(ConfigError):
        look(timedelta(hours=1), backed=True)
