"""Where the language host is put, and when."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from automation.engine.toolchain.host import NAME, find_host, is_ours, launcher, place_host
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source
from automation.engine.toolchain.versions import VERSION

Program = Callable[..., Path]


def test_a_built_cli_gets_our_host_beside_it(layout: Layout, program: Program) -> None:
    """There the CLI looks first."""
    pulumi = program("pulumi", "", folder="repo/.berth/bin")
    host = place_host(layout, pulumi, Source.BUILD)
    assert host == layout.bin / NAME
    assert is_ours(host)
    assert os.access(host, os.X_OK)
    assert find_host(layout, pulumi, simulated=True) == host


def test_a_host_that_comes_with_the_cli_is_left_alone(layout: Layout, program: Program) -> None:
    """The official archive has its own, and so may a CLI on PATH."""
    pulumi = program("pulumi", "")
    official = program(NAME, "echo official")
    for source in Source:
        assert place_host(layout, pulumi, source) == official
    assert "official" in official.read_text()
    assert not layout.home.exists()


def test_a_cli_on_path_without_a_host_finds_ours_in_the_plugin_caches(layout: Layout, program: Program) -> None:
    """Its folder belongs to somebody else; real and simulated runs have caches of their own."""
    pulumi = program("pulumi", "")
    host = place_host(layout, pulumi, Source.PATH)
    folder = f"plugins/language-python-v{VERSION}/{NAME}"
    assert host == layout.home / folder
    assert is_ours(host)
    assert is_ours(layout.simulated_home / folder)
    assert list(pulumi.parent.iterdir()) == [pulumi]
    assert find_host(layout, pulumi, simulated=True) == layout.simulated_home / folder


def test_a_link_to_a_cli_leads_to_the_host_beside_the_real_one(
    layout: Layout, program: Program, tmp_path: Path
) -> None:
    """The CLI looks beside the real path of its own program, as package managers install it."""
    official = program(NAME, "", folder="real")
    program("pulumi", "", folder="real")
    link = tmp_path / "path" / "pulumi"
    link.parent.mkdir()
    link.symlink_to(official.with_name("pulumi"))
    assert place_host(layout, link, Source.PATH) == official


def test_a_launcher_of_another_interpreter_is_written_anew(layout: Layout, program: Program) -> None:
    """A virtual environment that was moved or made again has another path."""
    pulumi = program("pulumi", "", folder="repo/.berth/bin")
    host = place_host(layout, pulumi, Source.BUILD)
    host.write_text(launcher("/gone/python"))
    place_host(layout, pulumi, Source.BUILD)
    assert host.read_text() == launcher()


def test_a_launcher_that_fits_is_not_written_again(layout: Layout, program: Program) -> None:
    """A CLI may be starting it right now."""
    pulumi = program("pulumi", "", folder="repo/.berth/bin")
    host = place_host(layout, pulumi, Source.BUILD)
    before = host.stat().st_mtime_ns
    place_host(layout, pulumi, Source.BUILD)
    assert host.stat().st_mtime_ns == before


def test_the_launcher_passes_its_arguments_on(tmp_path: Path) -> None:
    """A path of the interpreter may hold blanks and quotes."""
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    python = folder / "python"
    python.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    python.chmod(0o755)
    script = tmp_path / "host"
    script.write_text(launcher(str(python)))
    script.chmod(0o755)
    out = subprocess.run([script, "-v", "1 2"], capture_output=True, text=True, check=True).stdout
    assert out == "<-P><-u><-m><automation.engine.language_host><-v><1 2>"


def test_the_interpreter_of_the_launcher_is_our_own() -> None:
    """Programs then run in the environment that has Berth and the SDKs."""
    assert sys.executable in launcher()


def test_without_any_host_none_is_found(layout: Layout, program: Program) -> None:
    """The doctor says so."""
    assert find_host(layout, program("pulumi", ""), simulated=False) is None
