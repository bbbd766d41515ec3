"""Fake programs, a local server of releases, and a layout in a temporary folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.versions import VERSION
from tests.support.releases import Releases, serving


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Give a repo with nothing in it."""
    (tmp_path / "repo").mkdir()
    return Layout(tmp_path / "repo")


@pytest.fixture
def said() -> list[str]:
    """Collect what a progress callback is told: pass ``said.append``."""
    return []


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:
    """Write an executable shell script into a folder that may be put on PATH."""

    def write(name: str, script: str, *, folder: str = "path") -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def cli_script() -> str:
    """Write a CLI that is of the pinned version, as far as it says."""
    return f"#!/bin/sh\necho v{VERSION}\n"


@pytest.fixture
def releases() -> Iterator[Releases]:
    """Run the server for one test."""
    with serving() as state:
        yield state
