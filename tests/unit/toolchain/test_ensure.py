"""The order of the sources, what is remembered, and the one error when there is none."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from automation.engine.toolchain import disk
from automation.engine.toolchain.ensure import ensure, locate
from automation.engine.toolchain.install import allowed_sources
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source
from automation.engine.toolchain.versions import PULUMI, VERSION
from components.errors import DriverError, ToolchainError, UsageError
from tests.support.releases import PLATFORM, Releases

Program = Callable[..., Path]

GO = f"""
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then printf '#!/bin/sh\\necho v{VERSION}\\n' > "$2"; chmod +x "$2"; fi
    shift
done
"""


@pytest.fixture(autouse=True)
def _test_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the archive that the test server has, whatever this machine is."""
    monkeypatch.setattr("automation.engine.toolchain.download.Platform.current", lambda: PLATFORM)


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Give a switch after which nothing may be started."""

    def forbid() -> None:
        def start(*arguments: object, **options: object) -> None:
            pytest.fail(f"started {arguments[0]}")

        monkeypatch.setattr(subprocess, "run", start)
        monkeypatch.setattr(subprocess, "Popen", start)

    return forbid


def variables(tmp_path: Path, releases: Releases | None = None) -> dict[str, str]:
    """Give the variables of a machine whose PATH has the fake programs and the system's own."""
    address = releases.address if releases else "http://127.0.0.1:1"
    return {"PATH": f"{tmp_path / 'path'}:/usr/bin:/bin", "BERTH_PULUMI_DOWNLOAD_URL": address}


def test_a_new_enough_cli_on_path_is_taken_as_it_is(
    layout: Layout, program: Program, said: list[str], tmp_path: Path
) -> None:
    """Nothing is downloaded or built, and the user's CLI stays where it is."""
    mine = program("pulumi", "echo v3.280.0")
    toolchain = ensure(layout, progress=said.append, environ=variables(tmp_path))
    assert (toolchain.pulumi, toolchain.version, toolchain.source) == (mine, "3.280.0", Source.PATH)
    assert said == []


@pytest.mark.parametrize("answer", ["echo v3.100.0", "echo v4.0.0", "echo", "exit 1"])
def test_an_unfit_cli_on_path_gives_way_to_the_download(  # noqa: PLR0917 - these are fixtures
    layout: Layout, program: Program, said: list[str], tmp_path: Path, releases: Releases, cli_script: str, answer: str
) -> None:
    """Too old, another major version, or silent about its version."""
    program("pulumi", answer)
    releases.publish({"pulumi": cli_script})
    toolchain = ensure(layout, progress=said.append, environ=variables(tmp_path, releases))
    assert (toolchain.pulumi, toolchain.version, toolchain.source) == (layout.pulumi, VERSION, Source.DOWNLOAD)


def test_the_build_comes_last(layout: Layout, program: Program, said: list[str], tmp_path: Path) -> None:
    """It is the slowest; why the download failed is said before it starts."""
    program("go", GO)
    toolchain = ensure(layout, progress=said.append, environ=variables(tmp_path))
    assert (toolchain.pulumi, toolchain.source) == (layout.pulumi, Source.BUILD)
    assert said[0].startswith("no Pulumi CLI by download: http://127.0.0.1:1/ cannot be reached")


def test_an_installed_cli_is_found_again_without_starting_anything(
    layout: Layout, program: Program, said: list[str], tmp_path: Path, no_process: Callable[[], None]
) -> None:
    """The driver calls this at every start: a record and a look at the file have to do."""
    program("go", GO)
    program("pulumi", "echo v3.100.0")
    first = ensure(layout, progress=said.append, environ=variables(tmp_path))
    said.clear()
    no_process()
    assert ensure(layout, progress=said.append, environ=variables(tmp_path)) == first
    assert said == []


def test_a_cli_on_path_is_asked_once(
    layout: Layout, program: Program, said: list[str], tmp_path: Path, no_process: Callable[[], None]
) -> None:
    """Its version is remembered as long as the file is the same."""
    program("pulumi", "echo v3.280.0")
    first = ensure(layout, progress=said.append, environ=variables(tmp_path))
    no_process()
    assert ensure(layout, progress=said.append, environ=variables(tmp_path)) == first


def test_a_cli_on_path_that_was_updated_is_asked_again(
    layout: Layout, program: Program, said: list[str], tmp_path: Path
) -> None:
    """The user's package manager replaces it at any time."""
    program("pulumi", "echo v3.280.0")
    ensure(layout, progress=said.append, environ=variables(tmp_path))
    program("pulumi", "echo v3.281.10")
    assert ensure(layout, progress=said.append, environ=variables(tmp_path)).version == "3.281.10"


def test_berths_own_folder_on_path_does_not_count(
    layout: Layout, program: Program, said: list[str], tmp_path: Path
) -> None:
    """In a shell with the output of ``berth env`` the installed CLI is still the installed one."""
    program("go", GO)
    first = ensure(layout, progress=said.append, environ=variables(tmp_path))
    again = {**variables(tmp_path), "PATH": f"{layout.bin}:{tmp_path / 'path'}"}
    assert ensure(layout, progress=said.append, environ=again) == first


def test_an_installed_cli_with_another_time_is_asked_and_kept(
    layout: Layout, program: Program, said: list[str], tmp_path: Path
) -> None:
    """A cache of a CI system may lose the exact times of files."""
    program("go", GO)
    ensure(layout, progress=said.append, environ=variables(tmp_path))
    record = json.loads(PULUMI.place(layout).record.read_bytes())
    record["installed"]["changed"] -= 1
    PULUMI.place(layout).record.write_text(json.dumps(record))
    (tmp_path / "path" / "go").unlink()
    assert ensure(layout, progress=said.append, environ=variables(tmp_path)).source is Source.BUILD


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda layout: layout.pulumi.write_text("#!/bin/sh\necho\n"), id="another-program"),
        pytest.param(lambda layout: layout.pulumi.unlink(), id="removed"),
        pytest.param(lambda layout: PULUMI.place(layout).record.write_text("{"), id="record-unreadable"),
        pytest.param(lambda layout: PULUMI.place(layout).record.unlink(), id="record-removed"),
        pytest.param(
            lambda layout: PULUMI.place(layout).record.write_text('{"schema": 99}'), id="record-of-another-berth"
        ),
    ],
)
def test_an_installation_that_cannot_be_trusted_is_made_again(
    layout: Layout, program: Program, said: list[str], tmp_path: Path, damage: Callable[[Layout], object]
) -> None:
    """What lies in the folder is taken only with a record that fits it."""
    program("go", GO)
    first = ensure(layout, progress=said.append, environ=variables(tmp_path))
    damage(layout)
    said.clear()
    assert ensure(layout, progress=said.append, environ=variables(tmp_path)) == first
    assert f"building the Pulumi CLI {VERSION}" in said


def test_an_installed_cli_of_an_older_pin_is_replaced(
    layout: Layout, program: Program, said: list[str], tmp_path: Path
) -> None:
    """After an update of Berth the pinned version is another one."""
    program("go", GO)
    ensure(layout, progress=said.append, environ=variables(tmp_path))
    record = json.loads(PULUMI.place(layout).record.read_bytes())
    record["installed"]["version"] = "3.200.0"
    PULUMI.place(layout).record.write_text(json.dumps(record))
    said.clear()
    ensure(layout, progress=said.append, environ=variables(tmp_path))
    assert f"building the Pulumi CLI {VERSION}" in said


def test_one_error_names_everything_that_was_tried(
    layout: Layout, program: Program, said: list[str], tmp_path: Path, releases: Releases
) -> None:
    """Each source with its own reason, and what a person can do."""
    program("pulumi", "echo v3.100.0")
    program("go", "echo 'go: no such module' >&2; exit 1")
    with pytest.raises(ToolchainError) as caught:
        ensure(layout, progress=said.append, environ=variables(tmp_path, releases))
    lines = caught.value.summary.splitlines()
    assert lines[0] == f"no Pulumi CLI {VERSION} to be had"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["path", "download", "build"]
    assert "is 3.100.0, wanted is" in lines[1]
    assert "answered 404" in lines[2]
    assert "go list failed: go: no such module" in lines[3]
    assert "PATH" in caught.value.help


def test_sources_can_be_switched_off(layout: Layout, program: Program, said: list[str], tmp_path: Path) -> None:
    """A source that is switched off is not asked, and the error says that it is."""
    program("pulumi", "echo v3.280.0")
    program("go", GO)
    with pytest.raises(ToolchainError) as caught:
        ensure(layout, progress=said.append, environ={**variables(tmp_path), "BERTH_TOOLCHAIN_SOURCES": "download"})
    assert "path: switched off by BERTH_TOOLCHAIN_SOURCES" in caught.value.summary
    assert "build: switched off by BERTH_TOOLCHAIN_SOURCES" in caught.value.summary
    built = ensure(layout, progress=said.append, sources=[Source.BUILD], environ=variables(tmp_path))
    assert built.source is Source.BUILD


def test_an_installed_cli_of_a_source_that_is_switched_off_is_not_taken(  # noqa: PLR0917 - these are fixtures
    layout: Layout, program: Program, said: list[str], tmp_path: Path, releases: Releases, cli_script: str
) -> None:
    """Somebody who wants the official binary does not get the one that was built before."""
    program("go", GO)
    ensure(layout, progress=said.append, environ=variables(tmp_path, releases))
    releases.publish({"pulumi": cli_script})
    only = {**variables(tmp_path, releases), "BERTH_TOOLCHAIN_SOURCES": "download"}
    assert ensure(layout, progress=said.append, environ=only).source is Source.DOWNLOAD


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("", tuple(Source), id="not-set"),
        pytest.param(" , ", tuple(Source), id="empty-words"),
        pytest.param("build, PATH", (Source.PATH, Source.BUILD), id="the-order-is-fixed"),
    ],
)
def test_the_sources_are_read_from_a_variable(text: str, want: tuple[Source, ...]) -> None:
    """Blanks and capitals do not matter."""
    assert allowed_sources({"BERTH_TOOLCHAIN_SOURCES": text}) == want


def test_a_source_that_does_not_exist_is_a_usage_error() -> None:
    """A misspelt word must not silently switch a source off."""
    with pytest.raises(UsageError, match="names brew; there are path, download, build"):
        allowed_sources({"BERTH_TOOLCHAIN_SOURCES": "path,brew"})


def test_a_look_installs_nothing(layout: Layout, program: Program, tmp_path: Path) -> None:
    """The doctor only looks."""
    program("go", GO)
    found, failures = locate(layout, environ=variables(tmp_path))
    assert found is None
    assert failures == {Source.PATH: "no pulumi on PATH"}
    assert not layout.pulumi.exists()


def test_a_full_disk_is_a_clear_error(
    layout: Layout, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file that is written fails, and nothing is left of it."""

    def full(_path: Path, _content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.Path, "write_bytes", full)
    with pytest.raises(DriverError, match="no space left on the disk") as caught:
        ensure(layout, progress=said.append, environ=variables(tmp_path))
    assert caught.value.help
    assert [path.name for path in layout.berth.iterdir()] == []


def test_a_folder_that_cannot_be_made_is_a_clear_error(layout: Layout, said: list[str], tmp_path: Path) -> None:
    """Something else may have the name already."""
    layout.berth.touch()
    with pytest.raises(DriverError, match="cannot write to"):
        ensure(layout, progress=said.append, environ=variables(tmp_path))


def test_git_does_not_see_the_folder(layout: Layout, program: Program, said: list[str], tmp_path: Path) -> None:
    """A user's repo need not list ``.berth`` in its own ``.gitignore``."""
    program("pulumi", "echo v3.280.0")
    ensure(layout, progress=said.append, environ=variables(tmp_path))
    assert (layout.berth / ".gitignore").read_text() == "*\n"
