"""A lock of real clouds survives every rehearsal in its checkout; a rehearsal's lock gives way, with a word."""

from collections.abc import Callable

import pytest

from components.errors import MixedState
from tests.support.fake_runner_session import FakeDriver

LEFT = "lock/ was planned for real clouds and is left as it is: this simulated plan is not written there"
WRITERS = {"plan": ("plan",), "up": ("up", "--yes")}


def planned(driver: FakeDriver, *, simulated: bool) -> dict[str, bytes]:
    """Write the lock of one kind of run, whose state holds nothing."""
    driver.simulated = simulated
    assert driver.berth("plan") == 0
    lock = driver.lock()
    assert (b"\nsimulated: true\n" in lock["platform.yaml"]) is simulated
    driver.simulated = not simulated
    return lock


@pytest.mark.parametrize("command", WRITERS.values(), ids=list(WRITERS))
def test_a_rehearsal_leaves_the_lock_of_real_clouds(
    fresh: FakeDriver, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """It plans, and applies, what the manifests say now; it says that it writes nothing beside them."""
    lock = planned(fresh, simulated=False)
    fresh.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    capsys.readouterr()
    assert fresh.berth(*command) == 0
    said = capsys.readouterr()
    assert LEFT in " ".join(said.out.split())
    assert "wrote" not in said.err
    assert fresh.lock() == lock
    assert bool(fresh.replicas()) is (command[0] == "up")


def _torn(text: str) -> str:
    return f"{text}<<<<<<< ours\n=======\nsimulated: true\n>>>>>>> theirs\n"


@pytest.mark.parametrize("tear", [_torn, lambda text: text.replace("digest", "tsegid")], ids=["a merge", "a hand"])
def test_a_lock_that_cannot_be_read_counts_as_real_unless_it_says_otherwise(
    fresh: FakeDriver, tear: Callable[[str], str]
) -> None:
    """Nobody knows what would be lost; a real plan mends it."""
    planned(fresh, simulated=False)
    for path in sorted((fresh.folder / "lock").iterdir()):
        path.write_text(tear(path.read_text()))
    lock = fresh.lock()
    assert fresh.berth("plan") == 0
    assert fresh.lock() == lock
    fresh.simulated = False
    assert fresh.berth("plan") == 0
    assert fresh.lock() != lock


def test_a_rehearsal_cannot_check_the_lock_of_real_clouds(
    fresh: FakeDriver, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is never what a rehearsal gives, so the reason is not that somebody forgot to plan."""
    planned(fresh, simulated=False)
    capsys.readouterr()
    assert fresh.berth("plan", "--check") == 7
    said = " ".join(capsys.readouterr().err.split())
    assert "planned for real clouds, and this is a simulated plan" in said
    assert "help: run without --simulated" in said


def test_the_plan_for_machines_says_that_nothing_is_written(fresh: FakeDriver) -> None:
    """``lockChanged`` names what the plan writes."""
    planned(fresh, simulated=False)
    assert fresh.plan().lock_changed == ()
    assert fresh.plan().keeps_lock


@pytest.mark.parametrize("command", WRITERS.values(), ids=list(WRITERS))
def test_a_real_run_replaces_the_lock_of_a_rehearsal_and_says_so(
    fresh: FakeDriver, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """Rehearsed first, then in earnest: the usual way."""
    planned(fresh, simulated=True)
    capsys.readouterr()
    assert fresh.berth(*command) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "lock/ was planned for simulated clouds: this real plan takes its place when it is written" in said
    assert b"simulated" not in fresh.lock()["platform.yaml"]


def test_nothing_is_said_where_the_lock_is_of_the_same_kind(
    driver: FakeDriver, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor where there is none."""
    assert driver.berth("plan") == 0
    assert "lock/ was planned" not in capsys.readouterr().out


def test_states_still_refuse_each_other(driver: FakeDriver) -> None:
    """Only the lock may be rehearsed, never a state."""
    driver.simulated = False
    with pytest.raises(MixedState):
        driver.plan()
