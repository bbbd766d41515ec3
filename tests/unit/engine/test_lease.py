"""Leases say who holds a stack, and whether that process still lives."""

import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from automation.engine.file_backend import FileBackend
from automation.engine.lease import Lease, leased_error, read_leases
from components.naming import StackName

STACK = StackName("dev", "east")
HERE = socket.gethostname()
SINCE = datetime(2026, 11, 2, 8, tzinfo=UTC)


def gone() -> int:
    """Return the number of a process that is over."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_a_refusal_names_every_holder() -> None:
    """Users, hosts, numbers and times are read from the engine's text; a time it cannot read is left out."""
    text = (
        "locked by 2 lock(s).\n  file:///a/0.json: created by sam@far (pid 41) at 2026-11-02T08:00:00Z"
        "\n  file:///a/1.json: created by ci@runner-7 (pid 9) at yesterday"
    )
    assert read_leases(text) == (Lease("sam", "far", 41, SINCE), Lease("ci", "runner-7", 9))
    assert str(Lease("sam", "far", 41, SINCE)) == "sam@far (pid 41) since 2026-11-02T08:00:00+00:00"
    assert read_leases("nothing of the kind") == ()


def test_a_holder_is_dead_only_when_that_is_certain() -> None:
    """On this host a process that is over is dead; one on another host, or without a number, may live."""
    assert Lease("sam", HERE, gone()).holder_is_dead
    assert not Lease("sam", HERE, os.getpid()).holder_is_dead
    assert not Lease("sam", HERE, os.getpid(), datetime.now(UTC)).holder_is_dead
    assert not Lease("sam", "far", gone()).holder_is_dead
    assert not Lease("sam", HERE, 0).holder_is_dead


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads when a process began, as Linux can")
def test_a_number_that_was_given_anew_is_another_process() -> None:
    """A process that began long after the lease was taken does not hold it."""
    assert Lease("sam", HERE, os.getpid(), datetime.now(UTC) - timedelta(days=3650)).holder_is_dead


def test_the_error_gives_the_advice_that_fits() -> None:
    """A dead holder may be freed; a living one is waited for; the command is always there."""
    dead = leased_error(STACK, [Lease("sam", HERE, gone())], release="free it")
    alive = leased_error(STACK, [Lease("sam", "far", 41)], release="free it")
    unknown = leased_error(STACK, [], release="free it")
    assert "no longer runs on this machine" in dead.consequence
    assert "If you know that it is gone" in alive.consequence
    assert "another run" in unknown.summary
    for error in (dead, alive, unknown):
        assert error.consequence.startswith("Nothing was changed.")
        assert "`free it`" in error.consequence
        assert error.help == "free it"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder backend whose path needs escaping in a URL."""
    root = tmp_path / "a state"
    (root / ".pulumi" / "locks" / "organization" / "town" / str(STACK)).mkdir(parents=True)
    (root / ".pulumi" / "stacks" / "town").mkdir(parents=True)
    return root


def backend_at(root: Path) -> FileBackend:
    """Open the backend by its URL."""
    backend = FileBackend.at(f"file://{quote(str(root))}", "town")
    assert backend is not None
    return backend


def hold(root: Path, pid: int, *, host: str = HERE, since: datetime = SINCE) -> None:
    """Write a lease."""
    content = {"pid": pid, "username": "sam", "hostname": host, "timestamp": since.isoformat()}
    (root / ".pulumi" / "locks" / "organization" / "town" / str(STACK) / "0a.json").write_text(json.dumps(content))


def test_leases_are_read_from_a_folder(root: Path) -> None:
    """A damaged file is a lease all the same; files of attributes are none."""
    hold(root, 41, host="far")
    folder = root / ".pulumi" / "locks" / "organization" / "town" / str(STACK)
    (folder / "0b.json").write_text("{")
    (folder / "0a.json.attrs").write_text("{}")
    assert backend_at(root).leases(STACK) == (Lease("sam", "far", 41, SINCE), Lease("somebody", "an unknown host", 0))
    assert backend_at(root).leases(StackName("other")) == ()
    assert Lease.from_json(Lease("sam", "far", 41, SINCE).to_json()) == Lease("sam", "far", 41, SINCE)


def test_other_backends_cannot_be_asked() -> None:
    """Only a folder on this machine can be looked into."""
    assert FileBackend.at("s3://bucket", "town") is None
    assert FileBackend.at("", "town") is None


def test_a_torn_file_of_attributes_is_removed(root: Path) -> None:
    """Empty ones of this stack go, of its backup and its leases too; whole ones and other stacks' stay."""
    stacks = root / ".pulumi" / "stacks" / "town"
    torn = [stacks / "dev.east.json.attrs", stacks / "dev.east.json.bak.attrs"]
    torn.append(root / ".pulumi" / "locks" / "organization" / "town" / str(STACK) / "0a.json.attrs")
    kept = [stacks / "dev.json.attrs", stacks / "dev.east.json"]
    for file in (*torn, *kept):
        file.write_text("")
    assert backend_at(root).mend(STACK) is True
    assert [file for file in (*torn, *kept) if file.exists()] == kept
    torn[0].write_text('{"md5": ""}')
    assert backend_at(root).mend(STACK) is False
    assert torn[0].exists()


def test_without_a_name_every_stack_is_mended(root: Path) -> None:
    """Listing the stacks reads all of them; one that is held is left alone."""
    stacks = root / ".pulumi" / "stacks" / "town"
    for name in ("dev", "dev.east", "prod"):
        (stacks / f"{name}.json").write_text("{}")
        (stacks / f"{name}.json.attrs").write_text("")
    hold(root, os.getpid(), since=datetime.now(UTC))
    assert backend_at(root).mend(StackName("")) is True
    assert sorted(file.name for file in stacks.glob("*.attrs")) == ["dev.east.json.attrs"]
    assert backend_at(root).mend(StackName("")) is False


def test_nothing_is_mended_under_a_living_holder(root: Path) -> None:
    """An empty file may just be being written."""
    torn = root / ".pulumi" / "stacks" / "town" / "dev.east.json.attrs"
    torn.write_text("")
    hold(root, os.getpid(), since=datetime.now(UTC))
    assert backend_at(root).mend(STACK) is False
    hold(root, gone())
    assert backend_at(root).mend(STACK) is True


def test_one_lease_is_freed_and_no_other(root: Path) -> None:
    """Whoever came in the meantime keeps the stack; a lease that is freed already is fine."""
    folder = root / ".pulumi" / "locks" / "organization" / "town" / str(STACK)
    hold(root, 41)
    (folder / "0a.json").rename(folder / "0c.json")
    (folder / "0c.json.attrs").write_text("{}")
    hold(root, 42)
    backend = backend_at(root)
    dead, living = sorted(backend.leases(STACK), key=lambda lease: lease.pid)
    for _ in range(2):
        backend.free(STACK, dead)
        assert backend.leases(STACK) == (living,)
    assert sorted(file.name for file in folder.iterdir()) == ["0a.json"]


def test_every_stack_that_is_held_is_listed(root: Path) -> None:
    """Also one whose own file was never written; an empty folder of leases is none."""
    assert backend_at(root).leased() == ()
    hold(root, 41)
    assert backend_at(root).leased() == (STACK,)
    assert backend_at(root / "nowhere").leased() == ()


def test_a_lease_that_could_not_be_written_is_removed(root: Path) -> None:
    """Its run ended at once, and every later one would fail over the part; one that is just being written stays."""
    folder = root / ".pulumi" / "locks" / "organization" / "town" / str(STACK)
    for name in ("old.json", "new.json"):
        (folder / name).write_text('{"pid": 4')
    (folder / "old.json.attrs").write_text("{}")
    os.utime(folder / "old.json", (0, 0))
    assert backend_at(root).mend(STACK) is True
    assert [file.name for file in folder.iterdir()] == ["new.json"]
    assert backend_at(root).mend(STACK) is False


def test_a_truncated_state_is_restored_from_the_newest_whole_copy(root: Path) -> None:
    """The backup beside it first; it may be truncated as well, then the newest of the history."""
    backend = backend_at(root)
    state = root / ".pulumi" / "stacks" / "town" / "dev.east.json"
    history = root / ".pulumi" / "history" / "town" / "dev.east"
    history.mkdir(parents=True)
    state.write_text("{}")
    assert backend.restore(STACK) == ""
    state.write_text('{"checkpoint": {"lat')
    assert backend.restore(STACK) == ""
    for name in ("1.checkpoint.json", "2.checkpoint.json", "3.history.json"):
        (history / f"dev.east-{name}").write_text("{}")
    backup = state.with_name("dev.east.json.bak")
    backup.write_text("{")
    assert backend.restore(STACK) == f"cp '{history}/dev.east-2.checkpoint.json' '{state}'"
    backup.write_text("{}")
    assert backend.restore(StackName("")) == f"cp '{backup}' '{state}'"
    assert backend.size(STACK) == state.stat().st_size
    assert backend.size(StackName("other")) == 0
