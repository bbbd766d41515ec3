"""The real Pulumi CLI and the simulated providers, found or installed once for all engine tests."""

import os
import sys
from pathlib import Path

import pytest

from automation.engine.pulumi import PulumiRunner
from automation.engine.toolchain.ensure import ensure
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source, Toolchain
from tests.support.lab import STACK, Lab, installed_home

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def pulumi_cli(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """Give the CLI of this checkout, or the one that ``BERTH_TEST_PULUMI`` names; installs it when there is none."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        # Past pytest's capture: a build takes minutes, and whoever waits wants to see that it goes on.
        with capture.global_and_fixture_disabled():
            print(line, file=sys.stderr, flush=True)  # noqa: T201 (a terminal)

    given = os.environ.get("BERTH_TEST_PULUMI")
    if not given:
        return ensure(Layout(ROOT), progress=say)
    folder = tmp_path_factory.mktemp("given")
    (folder / "pulumi").symlink_to(Path(given).resolve())
    return ensure(Layout(ROOT), progress=say, sources=[Source.PATH], environ={"PATH": str(folder)})


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the simulated providers once."""
    return installed_home(tmp_path_factory.mktemp("simulated"))


@pytest.fixture
def lab(tmp_path: Path, pulumi_cli: Toolchain, home: Path) -> Lab:
    """Give a project, a backend and a cloud of their own."""
    return Lab(tmp_path / "lab", pulumi_cli.pulumi, home)


@pytest.fixture
def runner(lab: Lab) -> PulumiRunner:
    """Give a runner whose stack exists."""
    runner = lab.runner()
    runner.ensure_stack(STACK)
    return runner
