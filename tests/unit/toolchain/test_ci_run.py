"""What continuous integration does about the tests on real control planes: runs them, says why not, or fails."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a folder with the script, and with programs in the place of make and berth that do as variables say."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(_ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / ".berth").mkdir()
    programs = {
        "path/make": '#!/bin/bash\necho "$*" >> made\nname="${1//-/_}"\neval "${!name:-true}"\n',
        ".venv/bin/berth": '#!/bin/bash\n[[ $* == *--backed* ]] && exit "${backed:-1}"\nexit "${simulated:-1}"\n',
    }
    for name, text in programs.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path


def run(checkout: Path, **does: str) -> tuple[int, str, list[str]]:
    """Run the script; gives its exit code, what it printed and which targets it made."""
    environ = {"PATH": f"{checkout / 'path'}:{os.environ['PATH']}", **does}
    done = subprocess.run(
        [checkout / ".ci" / "run"], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    made = [line.split()[0] for line in (checkout / "made").read_text().splitlines()]
    return done.returncode, done.stdout + done.stderr, made[made.index("lives") + 1 :]


BUILT = ["toolchain-kubernetes", "provider-kubernetes", "test-kubernetes"]
OFFLINE = "echo '  build: go list failed: dial tcp: lookup example.org: no such host'; exit 2"
BROKEN = "echo '  build: go build failed: main.go:7:2: undefined: nothing'; exit 2"
RETRIED = "echo 'failed tests once more:'"
UNREACHABLE = "where the sources of what they need lie cannot be reached."


def test_what_is_missing_is_built_and_what_is_there_is_not(checkout: Path) -> None:
    """In a machine that has nothing there is time for it."""
    assert run(checkout)[::2] == (0, BUILT)
    (checkout / "made").unlink()
    assert run(checkout, simulated="0", backed="0")[::2] == (0, ["test-kubernetes"])


@pytest.mark.parametrize(
    ("does", "said", "made"),
    [
        pytest.param(
            {"toolchain_kubernetes": OFFLINE}, f"make test-kubernetes: {UNREACHABLE}", BUILT[:1], id="offline"
        ),
        pytest.param({"toolchain_kubernetes": "exit 124"}, "what they need was not built in ", BUILT[:1], id="slow"),
        pytest.param(
            {"toolchain_kubernetes": "echo 'error: no space left on the disk of /x'; exit 2"},
            "the disk is too small",
            BUILT[:1],
            id="full",
        ),
        pytest.param({"SECONDS": "2800"}, "13 minutes are too few", [], id="late"),
        pytest.param({"SECONDS": "9000"}, "0 minutes are too few", [], id="much too late"),
        pytest.param(
            {"provider_kubernetes": OFFLINE}, f"Pulumi's Kubernetes provider: {UNREACHABLE}", BUILT, id="no provider"
        ),
    ],
)
def test_what_cannot_be_had_is_said_and_fails_nothing(
    checkout: Path, does: dict[str, str], said: str, made: list[str]
) -> None:
    """The tests that need less run all the same."""
    code, printed, targets = run(checkout, **does)
    assert (code, targets) == (0, made)
    (line,) = [line for line in printed.splitlines() if line.startswith("NOT RUN: ")]
    assert said in line


@pytest.mark.parametrize(
    ("does", "made"),
    [
        ({"toolchain_kubernetes": BROKEN}, BUILT[:1]),
        ({"provider_kubernetes": BROKEN}, BUILT[:2]),
        ({"toolchain_kubernetes": f"echo 'no etcd by download: dial tcp'; {BROKEN}"}, BUILT[:1]),
        ({"test_kubernetes": "exit 1"}, BUILT),
    ],
    ids=["a program", "the provider", "a download that cannot be reached is not why", "a test"],
)
def test_what_goes_wrong_fails(checkout: Path, does: dict[str, str], made: list[str]) -> None:
    """A module or a test of ours that is broken is none that cannot be had here."""
    code, printed, targets = run(checkout, **does)
    assert code != 0
    assert targets == made
    assert "NOT RUN" not in printed


def test_a_second_chance_that_was_needed_is_said(checkout: Path) -> None:
    """At the end, where it is read."""
    code, printed, _ = run(checkout, test_kubernetes=RETRIED)
    assert code == 0
    assert printed.splitlines()[-1].startswith("FAILED ONCE: ")
    assert "FAILED ONCE" not in run(checkout)[1]
