"""The Kubernetes of backed clusters: refused before anything is made, at the manifest, with what to do."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.driver import kept_minors
from automation.driver.kept_minors import minor_problems, refuse_minors
from automation.engine.toolchain.kubernetes import DEFAULT_MINOR
from automation.rehearsal.backing.door import KeeperRefused, NotKept
from automation.scheduling.existing import Existing, ExistingCluster
from components.errors import ConfigError, UsageError
from stacks.environment import read_manifests
from tests.support.fake_runner_session import FakeDriver
from tests.support.platforms import eks, existing, fleet
from tests.support.samples import ENVIRONMENTS

if TYPE_CHECKING:
    from automation.driver.session import Session

REPO = ENVIRONMENTS.parents[1]
FILE = "platform/clusters.yaml"
NAME = "eks-use1"
REGION = "      region: us-east-1\n"
NOTHING = Existing()


def says(version: str) -> Any:
    """Return an environment whose one cluster says a version."""
    return fleet(eks(source={"kubernetesVersion": version}))


def test_a_minor_whose_programs_are_there_is_no_problem() -> None:
    """Nor one that does not matter: of a cluster that is lost, or that Berth does not make."""
    assert not list(minor_problems(says("1.34"), NOTHING, ["1.34"]))
    assert not list(minor_problems(fleet(eks(source={"kubernetesVersion": "1.36"}, lost=True)), NOTHING, ["1.34"]))
    assert not list(minor_problems(fleet(existing()), NOTHING, ["1.34"]))


def test_a_minor_whose_programs_are_missing_is_refused_with_both_ways_out() -> None:
    """Get them, or write another; said differently where it is the default that nobody wrote."""
    (problem,) = minor_problems(says("1.36"), NOTHING, ["1.34", "1.35"])
    assert problem.code == "backed-kubernetes-missing"
    assert problem.message.startswith("the manifest of cluster east says Kubernetes 1.36, whose programs are not here")
    assert problem.allowed == "1.34, 1.35"
    assert "berth doctor --kubernetes 1.36 --install" in problem.help
    assert '`kubernetesVersion: "1.34"` or `kubernetesVersion: "1.35"`' in problem.help
    (problem,) = minor_problems(fleet(eks()), NOTHING, ["1.34"])
    assert "says nothing, which means Kubernetes 1.36" in problem.message
    (problem,) = minor_problems(says("1.31"), NOTHING, ["1.34"])
    assert "doctor" not in problem.help


@pytest.mark.parametrize(("asked", "fine"), [("1.34", True), ("1.35", False), ("1.36", False)])
def test_a_control_plane_that_runs_stays_what_it_is(asked: str, *, fine: bool) -> None:
    """Whatever programs there are by now."""
    there = Existing(clusters={"east": ExistingCluster("east", source="EKS", kubernetes_version="1.34")})
    problems = list(minor_problems(says(asked), there, ["1.35"]))
    assert [each.code for each in problems] == ([] if fine else ["backed-kubernetes-upgrade"])
    for problem in problems:
        assert problem.allowed == "1.34"
        assert 'write `kubernetesVersion: "1.34"`' in problem.help


def session_of(*, backed: bool) -> "Session":
    """Give a session of which only its workspace matters."""
    layout = SimpleNamespace(simulated=REPO / ".berth" / "nowhere")
    return cast("Session", SimpleNamespace(workspace=SimpleNamespace(backed=backed, layout=layout)))


@pytest.mark.parametrize("error", [NotKept("no keeper has left a record"), KeeperRefused("does not know 'minors'")])
def test_a_keeper_that_does_not_say_is_to_be_started_again(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """One of an older Berth goes on while it runs; whoever is not backed, or has no such cluster, asks none."""

    class Silent:
        def __init__(self, _: object) -> None:
            pass

        def ask(self, _: str) -> dict[str, Any]:
            raise error

    monkeypatch.setattr(kept_minors, "Door", Silent)
    with pytest.raises(UsageError) as caught:
        refuse_minors(session_of(backed=True), says("1.34"), NOTHING)
    assert str(error) in caught.value.summary
    assert "berth backing" in caught.value.help
    refuse_minors(session_of(backed=False), says("1.34"), NOTHING)
    refuse_minors(session_of(backed=True), fleet(existing()), NOTHING)


def test_it_is_refused_where_manifests_are_read(cloud: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the version's place in the file, or the block where it would stand; nothing was asked of the engine."""
    cloud.does()
    monkeypatch.setattr(kept_minors, "_kept", lambda _: ["1.34"])
    monkeypatch.setattr(kept_minors, "_is_asked", lambda *_: True)
    cloud.edit(FILE, REGION, f'{REGION}      kubernetesVersion: "1.35"\n')
    with pytest.raises(ConfigError) as caught:
        cloud.up()
    assert cloud.does() == []
    problem = next(each for each in caught.value.problems if NAME in each.message)
    assert f"/{FILE}:" in problem.where
    assert problem.text[problem.column - 1 :] == '"1.35"'


def test_the_environment_of_the_demonstration_says_what_the_demonstration_gets() -> None:
    """It keeps control planes of one minor, and the clusters of `local` have it."""
    folder = REPO / "automation" / "rehearsal" / "environments" / "local"
    made = read_manifests(folder).raise_if_errors()
    assert {each.kubernetes_version for each in made.clusters.values()} == {DEFAULT_MINOR}
    assert not list(minor_problems(made, NOTHING, [DEFAULT_MINOR]))
