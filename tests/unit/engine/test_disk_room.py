"""Room for the state is kept while the engine works: refused when there is none, given back when it runs out."""

import errno
import os
import threading
from pathlib import Path

import pytest

from automation.engine import disk_room as module
from automation.engine.disk_room import disk_room
from automation.engine.interruption import Interruption
from components.errors import DriverError

MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK", 0.001)


def reserves(folder: Path) -> dict[str, int]:
    """Return the reserves on disk with their sizes in MiB."""
    return {path.name: path.stat().st_size // MIB for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("state", "reserve"), [pytest.param(10, 4, id="small state"), pytest.param(2 * MIB, 16, id="large state")]
)
def test_a_reserve_is_held_while_the_engine_works(tmp_path: Path, state: int, reserve: int) -> None:
    """Several times what the state takes, and nothing afterwards; one that a killed run left is used again."""
    (tmp_path / ".berth-reserve-dev").write_bytes(b"left over")
    interruption = Interruption()
    with disk_room(tmp_path, name="dev", state=state, interruption=interruption) as room:
        assert reserves(tmp_path) == {".berth-reserve-dev": reserve}
    assert not room.gave_out
    assert interruption.requests == 0
    assert reserves(tmp_path) == {}


def test_a_disk_that_fills_up_gets_the_reserve_and_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is asked to stop with care, once, and has room to write what it did."""
    interruption = Interruption()
    free = iter([100 * MIB, *[MIB] * 1000])
    monkeypatch.setattr(module, "_free", lambda _folder: next(free))
    with disk_room(tmp_path, name="dev", state=10, interruption=interruption) as room:
        asked = threading.Event()
        with interruption.subscribed(lambda _requests: asked.set()):
            assert asked.wait(60)
        assert reserves(tmp_path) == {}
    assert room.gave_out
    assert interruption.requests == 1
    error = room.error()
    assert "nearly full" in error.summary
    assert "finished and is in the state" in error.consequence


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_refused_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """And nothing of the try is left."""

    def full(_descriptor: int, _size: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, "_fill", full)
    with (
        pytest.raises(DriverError, match="a run needs 4 MiB there") as raised,
        disk_room(tmp_path, name="dev", state=10, interruption=Interruption()),
    ):
        pass
    assert raised.value.consequence == "Nothing was changed."
    assert reserves(tmp_path) == {}


def test_where_nothing_can_be_reserved_the_engine_works_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is not ours, or a file system that cannot reserve; nor is the disk watched where it cannot be."""
    interruption = Interruption()
    with disk_room(tmp_path / "nowhere", name="dev", state=10, interruption=interruption) as room:
        pass
    monkeypatch.setattr(module, "_free", lambda _folder: 0)
    with disk_room(tmp_path / "nowhere", name="dev", state=10, interruption=interruption):
        pass
    assert not room.gave_out
    assert interruption.requests == 0


def test_systems_that_cannot_reserve_write_zeros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Space that was written is space that is taken."""
    monkeypatch.delattr(os, "posix_fallocate")
    with disk_room(tmp_path, name="dev", state=10, interruption=Interruption()):
        assert reserves(tmp_path) == {".berth-reserve-dev": 4}
