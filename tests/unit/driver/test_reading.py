"""Before anything is planned, a run refuses what would take one thing for another."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from automation.driver.reading import (
    committed_lock,
    refuse_gone_gateway,
    refuse_in_use,
    refuse_mixed,
    refuse_other_source,
    with_answers,
)
from automation.driver.workspace import Workspace
from automation.engine.toolchain.layout import Layout
from automation.scheduling.existing import Existing, ExistingCluster, ExistingFrontDoor
from components.errors import ConfigError, MixedState, NewerLock
from components.lock import Lock, PlatformLock
from stacks.environment import write_lock
from tests.unit.planning.world import cluster, fleet

if TYPE_CHECKING:
    from automation.driver.session import Session


def existing(source: str) -> Existing:
    """Return a state that holds the cluster ``a``."""
    return Existing(clusters={"a": ExistingCluster("a", source=source)})


def test_a_cluster_that_would_come_from_another_source_is_refused() -> None:
    """The name is the same, but everything on the old cluster would be taken for being on the new one."""
    with pytest.raises(ConfigError) as caught:
        refuse_other_source(fleet(cluster("a")), existing("EKS"))
    (problem,) = caught.value.problems
    assert problem.code == "source-changed"
    assert problem.where.startswith("platform/all.yaml:")
    assert "EKS" in problem.message
    assert "Existing" in problem.message
    assert "removing: true" in problem.help


@pytest.mark.parametrize(
    ("source", "lost"),
    [("Existing", False), ("", False), ("EKS", True)],
    ids=["the same source", "a source that no state tells", "a cluster that is given up"],
)
def test_other_clusters_are_let_through(source: str, *, lost: bool) -> None:
    """Only a difference that would be built is refused."""
    refuse_other_source(fleet(cluster("a", lost=lost), cluster("b")), existing(source))
    refuse_other_source(fleet(cluster("b")), existing(source))


def with_door(*clusters: str) -> Existing:
    """Return clusters that are all front doors."""
    return Existing(
        clusters={name: ExistingCluster(name, source="Existing") for name in clusters},
        front_doors={name: ExistingFrontDoor(name) for name in clusters},
    )


def test_the_manifest_of_a_front_door_cannot_just_go() -> None:
    """The cluster would be deleted by the build, with the public gateway on it."""
    with pytest.raises(ConfigError) as caught:
        refuse_in_use(fleet(cluster("b"), doors=["b"]), with_door("a", "b"))
    (problem,) = caught.value.problems
    assert problem.code == "cluster-in-use"
    assert problem.message == "the manifest of cluster a is gone, and the front door is still on it"
    refuse_in_use(fleet(cluster("a"), cluster("b"), doors=["b"]), with_door("a", "b"))


def test_the_gateway_cannot_go_while_a_front_door_stands() -> None:
    """Nobody could say what that front door is until it is retired."""
    found = fleet(cluster("a"), cluster("b", lost=True))
    without = dataclasses.replace(found, gateways={})
    refuse_gone_gateway(found, with_door("a"))
    refuse_gone_gateway(without, with_door("b", "gone"))
    with pytest.raises(ConfigError) as caught:
        refuse_gone_gateway(without, with_door("a", "b"))
    (problem,) = caught.value.problems
    assert problem.code == "gateway-in-use"
    assert problem.message.endswith("front door on a")


def test_a_front_door_whose_cluster_does_not_answer_is_marked() -> None:
    """It may be whole in the state and still nobody can give it the routes of today."""
    found = with_answers(with_door("a", "b"), {"b": "no answer"})
    assert {name: door.answers for name, door in found.front_doors.items()} == {"a": True, "b": False}


@pytest.mark.parametrize(
    ("found", "asked", "help_"),
    [
        ("real", "simulated", "run without --simulated"),
        ("real", "backed", "run without --backed"),
        ("simulated", "real", "run with --simulated"),
        ("simulated", "backed", "run with --simulated"),
        ("backed", "real", "run with --backed"),
        ("backed", "simulated", "run with --backed"),
    ],
)
def test_kinds_of_state_refuse_each_other(tmp_path: Path, found: str, asked: str, help_: str) -> None:
    """Real, simulated and backed ones, each against each."""

    def meets(kind: str) -> None:
        layout = Layout(tmp_path, backed=asked == "backed")
        session = SimpleNamespace(workspace=Workspace(layout, "dev", tmp_path, simulated=asked != "real"))
        state = Existing(simulated=kind != "real", backed=kind == "backed")
        refuse_mixed(cast("Session", session), state)

    meets(asked)
    with pytest.raises(MixedState, match=f"environment dev is {found}, this run is {asked}") as caught:
        meets(found)
    assert caught.value.help == help_


def committed(folder: Path) -> tuple[Lock | None, list[str]]:
    """Read the lock of a folder as a run does; return it and what was said."""
    said: list[str] = []
    session = SimpleNamespace(workspace=SimpleNamespace(folder=folder), reporter=SimpleNamespace(note=said.append))
    return committed_lock(cast("Session", session)), said


def test_a_lock_that_a_merge_tore_does_not_stop_the_plan_that_mends_it(tmp_path: Path) -> None:
    """The state is the truth; the command that the refusal of plain pulumi names must work."""
    lock = Lock(PlatformLock(berth="1", environment="dev", digest="sha256:1"))
    write_lock(tmp_path, lock)
    assert committed(tmp_path) == (lock, [])
    with (tmp_path / "lock/platform.yaml").open("a") as file:
        file.write("<<<<<<< ours\n")
    found, said = committed(tmp_path)
    assert found is None
    assert "lock/platform.yaml is not readable YAML" in said[0]


def test_a_newer_lock_stops_every_run(tmp_path: Path) -> None:
    """It says what this Berth cannot read, so nothing may write over it."""
    (tmp_path / "lock").mkdir()
    (tmp_path / "lock/platform.yaml").write_text("kind: PlatformLock\nversion: 99\nberth: 9.0.0\n")
    with pytest.raises(NewerLock):
        committed(tmp_path)
