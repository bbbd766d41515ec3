"""The warden: what it starts ends with the driver, in whatever way that ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from automation.rehearsal.kubernetes.warden import Warden, sweep
from automation.rehearsal.kubernetes.warden_process import HELD
from components.errors import DriverError
from tests.support.processes import is_running, running, soon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")

STUBBORN = ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"]

DRIVER = """
import json, sys, time
from pathlib import Path
from automation.rehearsal.kubernetes.warden import Warden
warden = Warden(Path(sys.argv[1]))
pids = [warden.start("sleeper", ["/bin/sleep", "1000"]), warden.start("stubborn", json.loads(sys.argv[2]))]
print(json.dumps({"warden": warden.pid, "pids": pids, "folder": str(warden.folder)}), flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("killed", ["driver", "warden"])
def test_a_kill_leaves_nothing(tmp_path: Path, killed: str) -> None:
    """The driver's end is seen by the warden, the warden's by the system; the folder goes then or at the next start."""
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path), json.dumps(STUBBORN)], stdout=subprocess.PIPE, text=True
    )
    with driver:
        assert driver.stdout is not None
        said = json.loads(driver.stdout.readline())
        pids, folder = said["pids"], Path(said["folder"])
        assert running([said["warden"], *pids]) == [said["warden"], *pids]
        assert folder.stat().st_mode & 0o777 == 0o700
        if killed == "warden":
            os.kill(said["warden"], signal.SIGKILL)
            assert soon(lambda: not running(pids)), "the system ends the children of a warden"
        driver.kill()
    assert soon(lambda: not running([said["warden"], *pids]))
    sweep(tmp_path)
    assert soon(lambda: not folder.exists())


def test_the_end_of_a_block_ends_everything(tmp_path: Path) -> None:
    """Also what does not heed a request to end, and also when the block fails."""
    pids = []

    def fail() -> None:
        with Warden(tmp_path) as warden:
            pids.append(warden.start("stubborn", STUBBORN))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not is_running(pids[0])
    assert list(tmp_path.iterdir()) == []


def test_one_program_is_stopped_and_the_others_go_on(tmp_path: Path) -> None:
    """Its end is waited for, so that its number never means another process."""
    with Warden(tmp_path) as warden:
        first, second = (warden.start(name, ["/bin/sleep", "1000"]) for name in ("a", "b"))
        warden.stop([first])
        assert running([first, second]) == [second]
        assert warden.look(second) is None
        assert warden.look(first) == -signal.SIGTERM, "whoever still waits for it hears so, and nothing else ends"


def test_the_last_words_of_a_program_are_kept(tmp_path: Path) -> None:
    """They say why it ended."""
    with Warden(tmp_path) as warden:
        pid = warden.start("loud", ["/bin/sh", "-c", "seq 9; echo; echo no such flag >&2; exit 3"])
        assert soon(lambda: warden.look(pid) is not None)
        assert warden.look(pid) == 3
        assert warden.last_words("loud") == "7\n8\n9\nno such flag"
        assert warden.last_words("silent") == ""


def test_programs_do_not_see_the_users_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many take flags from variables (ETCD_...), and kwok reads a file in the home."""
    monkeypatch.setenv("ETCD_LISTEN_CLIENT_URLS", "http://0.0.0.0:2379")
    with Warden(tmp_path) as warden:
        pid = warden.start("env", ["/usr/bin/env"])
        assert soon(lambda: warden.look(pid) is not None)
        said = dict(line.partition("=")[::2] for line in warden.log("env").read_text().splitlines())
        assert {name for name in said if name not in {"PWD", "SHLVL", "_"}} == {"HOME", "PATH"}
        assert said["HOME"] == str(warden.folder)


def test_a_program_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    """And no reason to end what runs."""
    with Warden(tmp_path) as warden:
        pid = warden.start("sleeper", ["/bin/sleep", "1000"])
        with pytest.raises(DriverError, match="/nowhere/etcd cannot be started: No such file"):
            warden.start("etcd", ["/nowhere/etcd"])
        assert warden.look(pid) is None


def test_a_folder_in_use_is_not_swept(tmp_path: Path) -> None:
    """Two runs share the place where their folders lie."""
    left = tmp_path / "run-left"
    left.mkdir()
    (left / HELD).touch()
    with Warden(tmp_path) as first, Warden(tmp_path) as second:
        assert first.folder != second.folder
        assert soon((first.folder / HELD).exists)
        sweep(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([first.folder, second.folder])
