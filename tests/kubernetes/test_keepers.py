"""Two keepers of control planes on one machine."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.door import RECORD, Door
from automation.rehearsal.backing.keeper import Keeper
from tests.support.keeper_run import api_of, start_cluster
from tests.support.kubernetes_minor import MINOR

pytestmark = pytest.mark.kubernetes

NAMESPACES = "/api/v1/namespaces"


def test_keepers_of_two_projects_do_not_see_each_other(programs: Mapping[str, Path], tmp_path: Path) -> None:
    """Clusters of the same name; and the end of one keeper is nothing to the other."""
    layouts = [Layout(tmp_path / name, backed=True) for name in ("one", "two")]
    doors = [Door(layout.simulated / RECORD) for layout in layouts]
    with ExitStack() as opened:
        stays = opened.enter_context(Keeper(programs, layouts[1], say=lambda _: None, minor=MINOR.name))
        there = opened.enter_context(closing(api_of(start_cluster(stays, layouts[1]))))
        with Keeper(programs, layouts[0], say=lambda _: None, minor=MINOR.name) as goes:
            here = opened.enter_context(closing(api_of(start_cluster(goes, layouts[0]))))
            here.create(NAMESPACES, namespace("here"))
            assert "here" not in {each["metadata"]["name"] for each in there.items(NAMESPACES)}
            assert len({door.ask("token", cluster="a")["token"] for door in doors}) == 2
        assert not doors[0].is_kept()
        assert not here.is_ready()
        assert doors[1].is_kept()
        there.create(NAMESPACES, namespace("there"))
    assert not doors[1].is_kept()


def namespace(name: str) -> dict[str, object]:
    """Make a small object."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
