"""The build from the Go module, with a Go that only pretends."""

import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from automation.engine.toolchain.build import build
from automation.engine.toolchain.install_lock import exclusive
from automation.engine.toolchain.kubernetes import PROVIDER
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Unavailable
from automation.engine.toolchain.versions import PULUMI, VERSION
from components.errors import DriverError

Program = Callable[..., Path]

FAKE_GO = """
here=$(dirname "$0")
echo "$@" >> "$here/calls"
env > "$here/environment"
pwd > "$here/folder"
case "$1" in
list)
    echo "go: downloading example.com/one v1.0.0" >&2
    printf 'a/b\\nc/d\\ne/f\\n'
    ;;
build)
    printf 'a/b\\nc/d\\n' >&2
    while [ $# -gt 0 ]; do
        if [ "$1" = -o ]; then target=$2; fi
        shift
    done
    printf '#!/bin/sh\\necho VERSION\\n' > "$target"
    chmod +x "$target"
    ;;
esac
"""


def variables(go: Path) -> dict[str, str]:
    """Give the variables of a machine with this Go."""
    return {"PATH": f"{go.parent}:/usr/bin:/bin"}


def test_the_cli_is_built_from_the_wrapper_module(layout: Layout, program: Program, said: list[str]) -> None:
    """Read-only modules, the official tags, and the version set by the linker, in a copy of the module."""
    go = program("go", FAKE_GO.replace("VERSION", f"v{VERSION}"))
    build(PULUMI, layout, environ=variables(go), progress=said.append)
    listed, built = (go.parent / "calls").read_text().splitlines()
    assert listed.startswith("list -deps -mod=readonly")
    for part in (
        "build -v -mod=readonly -trimpath",
        "-tags osusergo,grpcnotrace",
        f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{VERSION}",
        "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    ):
        assert part in built
    assert (go.parent / "folder").read_text().strip() == str(layout.build / "pulumi")
    assert {path.name for path in (layout.build / "pulumi").iterdir()} == {"go.mod", "go.sum"}
    assert [path.name for path in layout.bin.iterdir()] == ["pulumi"]


def test_a_plugin_is_built_from_a_main_of_our_own(
    layout: Layout, program: Program, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its project's main needs files that are not in the module; ours goes into the copy, and is told the version."""
    monkeypatch.setattr("automation.engine.toolchain.plugin_version.plugin_version", lambda _: PROVIDER.version)
    go = program("go", FAKE_GO)
    build(PROVIDER, layout, environ=variables(go), progress=said.append)
    built = (go.parent / "calls").read_text().splitlines()[1]
    assert f"-X main.version={PROVIDER.version}" in built
    assert built.endswith(" .")
    folder = layout.build / "kubernetes-provider"
    assert {path.name for path in folder.iterdir()} == {"go.mod", "go.sum", "main.go"}
    assert PROVIDER.place(layout).program.is_file()


def test_the_surroundings_do_not_change_what_is_built(layout: Layout, program: Program, said: list[str]) -> None:
    """A go.work of the repo, a cross build and C are switched off; what else the user has set stays."""
    go = program("go", FAKE_GO.replace("VERSION", f"v{VERSION}"))
    surroundings = {"GOOS": "plan9", "GOWORK": "/repo/go.work", "CGO_ENABLED": "1", "GOPROXY": "https://proxy.example"}
    build(PULUMI, layout, environ={**variables(go), **surroundings}, progress=said.append)
    lines = (go.parent / "environment").read_text().splitlines()
    assert {"GOWORK=off", "CGO_ENABLED=0", "GOPROXY=https://proxy.example"} <= set(lines)
    assert not [line for line in lines if line.startswith("GOOS=")]


def test_progress_tells_how_far_the_build_is(layout: Layout, program: Program, said: list[str]) -> None:
    """Packages are counted as they are compiled; there are at most as many as the program needs."""
    go = program("go", FAKE_GO.replace("VERSION", f"v{VERSION}"))
    seconds = itertools.count(0, 40)
    build(PULUMI, layout, environ=variables(go), progress=said.append, clock=lambda: next(seconds))
    assert said[0] == "resolving the Go modules of the Pulumi CLI"
    assert any("1 modules downloaded" in line for line in said)
    assert said[-1] == f"building the Pulumi CLI {VERSION}: 2 of at most 3 packages compiled, 1 min 20 s"


def test_a_cli_of_another_source_leaves_no_companion(layout: Layout, program: Program, said: list[str]) -> None:
    """The language host of a downloaded CLI would be of another version than the one that is built."""
    go = program("go", FAKE_GO.replace("VERSION", f"v{VERSION}"))
    layout.bin.mkdir(parents=True)
    (layout.bin / "pulumi-language-python").touch()
    build(PULUMI, layout, environ=variables(go), progress=said.append)
    assert [path.name for path in layout.bin.iterdir()] == ["pulumi"]


def test_without_go_there_is_no_build(layout: Layout, said: list[str], tmp_path: Path) -> None:
    """This is the usual case on a laptop of somebody who does not write Go."""
    with pytest.raises(Unavailable, match="Go is not on PATH"):
        build(PULUMI, layout, environ={"PATH": str(tmp_path)}, progress=said.append)


def test_what_go_says_about_a_failure_is_the_reason(layout: Layout, program: Program, said: list[str]) -> None:
    """The last lines of Go, without the packages it was compiling."""
    go = program(
        "go", 'echo "example.com/a/b" >&2; echo "go: go.mod requires go >= 1.26.6 (running go 1.22)" >&2; exit 1'
    )
    with pytest.raises(Unavailable) as caught:
        build(PULUMI, layout, environ=variables(go), progress=said.append)
    assert str(caught.value) == "go list failed: go: go.mod requires go >= 1.26.6 (running go 1.22)"


def test_a_failure_without_a_word_is_still_said(layout: Layout, program: Program, said: list[str]) -> None:
    """Go may be killed for want of memory."""
    go = program("go", "exit 3")
    with pytest.raises(Unavailable, match="go list failed: exit status 3"):
        build(PULUMI, layout, environ=variables(go), progress=said.append)


def test_a_cli_that_says_another_version_is_not_installed(layout: Layout, program: Program, said: list[str]) -> None:
    """Without the linker's version the Automation API would refuse the CLI much later."""
    go = program("go", FAKE_GO.replace("VERSION", ""))
    with pytest.raises(Unavailable, match="does not say it is"):
        build(PULUMI, layout, environ=variables(go), progress=said.append)
    assert list(layout.bin.iterdir()) == []


def test_a_full_disk_is_an_error_of_its_own(layout: Layout, program: Program, said: list[str]) -> None:
    """Go writes gigabytes; what it says about a full disk must not look like a failed source."""
    go = program("go", 'echo "write /cache/x: no space left on device" >&2; exit 1')
    with pytest.raises(DriverError, match="no space left on the disk") as caught:
        build(PULUMI, layout, environ=variables(go), progress=said.append)
    assert type(caught.value) is DriverError
    assert str(layout.berth) in caught.value.summary


def test_an_interrupted_build_stops_go_and_leaves_nothing_half(
    layout: Layout, program: Program, tmp_path: Path
) -> None:
    """Go is told to stop, so that no compiler runs on in the background; the old CLI stays."""
    fifo = tmp_path / "fifo"
    fifo.touch()
    script = f'if [ "$1" = build ]; then echo half > {layout.bin}/.pulumi.1; echo a/b; exec tail -f {fifo}; fi'
    go = program("go", script)
    layout.bin.mkdir(parents=True)
    layout.pulumi.write_text("old")

    def interrupt(line: str) -> None:
        if "compiled" in line or "downloaded" in line:
            raise KeyboardInterrupt

    seconds = itertools.count(0, 100)
    with pytest.raises(KeyboardInterrupt):
        build(PULUMI, layout, environ=variables(go), progress=interrupt, clock=lambda: next(seconds))
    assert layout.pulumi.read_text() == "old"
    program("go", FAKE_GO.replace("VERSION", f"v{VERSION}"))
    build(PULUMI, layout, environ=variables(go), progress=lambda _: None)
    assert [path.name for path in layout.bin.iterdir()] == ["pulumi"]


def test_two_processes_do_not_install_at_once(layout: Layout) -> None:
    """The second says that it waits, and goes on when the first is done."""
    lock = PULUMI.place(layout).lock
    lines: SimpleQueue[str] = SimpleQueue()
    done = threading.Event()

    def second() -> None:
        with exclusive(lock, what="the Pulumi CLI", progress=lines.put):
            done.set()

    with exclusive(lock, what="the Pulumi CLI", progress=lines.put):
        thread = threading.Thread(target=second)
        thread.start()
        assert "another process is installing the Pulumi CLI" in lines.get(timeout=30)
        assert not done.is_set()
    thread.join(30)
    assert done.is_set()
    assert lines.empty()
