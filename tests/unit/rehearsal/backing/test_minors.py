"""The minor of Kubernetes behind a simulated cluster: the one that the cloud says, or none and a way out."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from automation.cli.backing import backing
from automation.engine.toolchain.kubernetes import MINORS, Minor
from automation.engine.toolchain.tool import Tool
from automation.rehearsal.backing.door import Door, KeeperRefused
from automation.rehearsal.backing.eks import CLUSTER, NODE_GROUP
from automation.rehearsal.backing.minors import Kits, Look
from automation.rehearsal.kubernetes.local import Kit
from automation.rehearsal.provider.backing import back, refuse_upgrade
from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.store import Row, Store
from components.errors import UsageError

OWN: Mapping[str, Path] = {"kube-apiserver": Path("/own")}
OTHER: Mapping[str, Path] = {"kube-apiserver": Path("/other")}


class Asked:
    """Remembers what a keeper was asked for."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Mapping[str, str]]] = []

    def ask(self, do: str, **request: str) -> Mapping[str, str]:
        """Refuse, so that nothing else has to be played."""
        self.requests.append((do, request))
        raise KeeperRefused("enough")


def row(type_: str = CLUSTER, version: str = "1.36") -> Row:
    """Give a resource of the simulated cloud."""
    return Row("aws", type_, "aws/1/us-east-1", "sim-east", None, "east", "u", "", {}, {"version": version})


def only(minor: str) -> Callable[[Minor], Mapping[str, Path] | None]:
    """Look for programs where only those of one minor are."""
    return lambda wanted: OTHER if wanted.name == minor else None


def test_the_version_of_the_cloud_goes_along(tmp_path: Path) -> None:
    """The keeper cannot know it otherwise."""
    asked = Asked()
    with pytest.raises(Refused, match="enough"):
        back(cast("Door", asked), Store(tmp_path / "clouds"), row(version="1.35"), {})
    ((do, request),) = asked.requests
    assert (do, request["version"]) == ("cluster", "1.35")


@pytest.mark.parametrize(
    ("version", "want"),
    [("1.34", Kit("1.34", OWN)), ("1.34.9", Kit("1.34", OWN)), ("", Kit("1.34", OWN)), ("1.36", Kit("1.36", OTHER))],
)
def test_a_cluster_is_made_of_its_own_minor(version: str, want: Kit) -> None:
    """Several run side by side; who says none gets the keeper's."""
    kits = Kits(Kit("1.34", OWN), only("1.36"))
    assert kits.of("east", version) == want
    assert kits.minors == ("1.34", "1.36")


def test_programs_that_come_while_it_keeps_are_taken() -> None:
    """To end a keeper is to end every cluster, so nobody should have to."""
    there: list[str] = []
    kits = Kits(Kit("1.34", OWN), lambda minor: OTHER if minor.name in there else None)
    with pytest.raises(UsageError) as caught:
        kits.of("east", "1.36")
    for words in (
        "east is to have Kubernetes 1.36",
        "berth doctor --kubernetes 1.36 --install",
        '`kubernetesVersion: "1.34"`',
    ):
        assert words in caught.value.summary
    there.append("1.36")
    assert kits.of("east", "1.36").programs == OTHER


def test_a_minor_that_nothing_runs_is_not_looked_for() -> None:
    """No command would get it."""
    with pytest.raises(UsageError) as caught:
        Kits(Kit("1.34", OWN), only("1.31")).of("east", "1.31")
    assert "which is not among the minors that run here (1.34, " in caught.value.summary
    assert 'write `kubernetesVersion: "1.34"`' in caught.value.summary
    assert "doctor" not in caught.value.summary


def test_a_control_plane_is_not_upgraded() -> None:
    """The cloud must not say a version that the API server does not have; another patch is the same minor."""
    with pytest.raises(Refused, match=r"\(east\): the control plane behind it keeps Kubernetes 1.35"):
        refuse_upgrade(row(version="1.35"), {"version": "1.36"})
    refuse_upgrade(row(version="1.35"), {"version": "1.35.1"})
    refuse_upgrade(row(version="1.35"), {})
    refuse_upgrade(row(NODE_GROUP, "1.35"), {"version": "1.36"})


@pytest.mark.parametrize(
    ("there", "asked", "want"),
    [((), None, "1.36"), (("1.34",), None, "1.34"), (("1.34", "1.35"), None, "1.35"), (("1.34",), "1.36", "1.36")],
)
def test_the_keeper_begins_with_what_is_there(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], asked: str | None, want: str
) -> None:
    """With nothing there it gets what clusters have that say nothing; who names a minor gets that."""
    got: list[str] = []
    found = SimpleNamespace(path=Path("program"))

    def ensure_tool(tool: Tool, *_: object, **__: object) -> SimpleNamespace:
        if tool.name == "kube-apiserver":
            got.append(".".join(tool.version.split(".")[:2]))
        return found

    def locate_all(tools: Iterable[Tool], _: object) -> Mapping[str, Path] | None:
        (server,) = [each for each in tools if each.name == "kube-apiserver"]
        return OTHER if server.version.rpartition(".")[0] in there else None

    def keeper(*_: object, minor: str, look: Look, **__: object) -> AbstractContextManager[SimpleNamespace]:
        assert minor == want
        assert [name for name, each in MINORS.items() if look(each)] == list(there)
        return nullcontext(SimpleNamespace(keep=lambda *_, **__: None, minors=there))

    monkeypatch.setattr("automation.engine.toolchain.ensure.ensure", lambda *_, **__: None)
    monkeypatch.setattr("automation.engine.toolchain.install.ensure_tool", ensure_tool)
    monkeypatch.setattr("automation.engine.toolchain.install.locate_all", locate_all)
    monkeypatch.setattr("automation.rehearsal.backing.keeper.Keeper", keeper)
    assert backing(kubernetes=asked, quiet=True) == 0
    assert got == [want]
