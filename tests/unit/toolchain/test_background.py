"""An installation in the background: how far it is, who waits for it, and that there is one."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from automation.engine.toolchain import install_lock
from automation.engine.toolchain.background import install_in_background
from automation.engine.toolchain.doctor import diagnose
from automation.engine.toolchain.ensure import ensure, locate
from automation.engine.toolchain.install_lock import exclusive, said_by_holder
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.versions import VERSION

Program = Callable[..., Path]

_SLOW_GO = f"""
if [ "$1" = build ]; then while ! [ -e "$BERTH_TEST_GO_ON" ]; do sleep 0.05; done; fi
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then printf '#!/bin/sh\\necho v{VERSION}\\n' > "$2"; chmod +x "$2"; fi
    shift
done
"""


def until(what: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


@pytest.fixture
def go_on(tmp_path: Path, layout: Layout, program: Program, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in a project where Go builds until the file is there."""
    program("go", _SLOW_GO)
    (layout.root / "Pulumi.yaml").write_text("name: berth\n")
    monkeypatch.chdir(layout.root)
    path = tmp_path / "go-on"
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    monkeypatch.setenv("BERTH_TOOLCHAIN_SOURCES", "build")
    monkeypatch.setenv("BERTH_TEST_GO_ON", str(path))
    yield path
    path.touch()


def test_it_goes_on_while_others_look_and_wait(layout: Layout, go_on: Path, said: list[str]) -> None:
    """The doctor says how far it is, no second one is begun, and whoever needs the program gets it from the first."""
    started = install_in_background(layout, ["doctor", "--install", "--simulated"])
    assert started.process is not None
    until(lambda: (said_by_holder(layout.bin / ".install.lock") or "").startswith("building"))

    found = {check.name: check for check in diagnose(layout, simulated=True).checks}["Pulumi CLI"]
    assert found.found == f"being installed: building the Pulumi CLI {VERSION}"
    assert "--install" in found.fix
    assert install_in_background(layout, ["doctor", "--install"]).process is None

    timer = threading.Timer(0.5, go_on.touch)
    timer.start()
    assert ensure(layout, progress=said.append).pulumi == layout.pulumi
    assert said == ["another process is installing the Pulumi CLI here; waiting for it"]
    assert started.process.wait(60) in {0, 1}
    assert "building the Pulumi CLI" in layout.install_log.read_text()
    assert said_by_holder(layout.bin / ".install.lock") is None
    assert locate(layout)[0] is not None


def test_whoever_waits_sees_how_far_it_is(tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As who installs does, a line at a time and none twice."""
    monkeypatch.setattr(install_lock, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(install_lock, "_SECONDS_BETWEEN_TRIES", 0.01)
    path, held, waiting = tmp_path / "lock", threading.Event(), []

    def install() -> None:
        with exclusive(path, what="it", progress=lambda _: None) as say:
            held.set()
            for line in ("a half", "nearly all of it"):
                say(line)
                until(lambda wanted=line: wanted in waiting)

    thread = threading.Thread(target=install)
    thread.start()
    held.wait()
    with exclusive(path, what="it", progress=waiting.append):
        assert path.read_text() == ""
    thread.join()
    assert waiting == ["another process is installing it here; waiting for it", "a half", "nearly all of it"]


def test_what_one_that_was_killed_said_last_is_nothing(tmp_path: Path) -> None:
    """Its line stays in the file, and its lock went with it."""
    (tmp_path / "lock").write_text("building it: 3 of 4 packages")
    assert said_by_holder(tmp_path / "lock") is None
    assert said_by_holder(tmp_path / "none") is None
