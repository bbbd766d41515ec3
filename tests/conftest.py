"""What all tests share: the same random examples in every run, and the CLI, whose installation is told aloud."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from automation.engine.toolchain.ensure import ensure
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source, Toolchain
from tests.support.comparisons import TIMES
from tests.support.spread import Spread

ROOT = Path(__file__).resolve().parents[1]

# Without BERTH_FUZZ, the profile that hypothesis itself takes in continuous integration: no chance, and no deadline.
settings.register_profile("new examples", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("new examples" if TIMES else "ci")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Spread | None:
    """Share tests out by files where ``--dist loadfile`` is asked for, but by whole files only where they share."""
    return Spread(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Give a way to say something past pytest's capture: a build takes minutes, and whoever waits wants to see it."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(line, file=sys.stderr, flush=True)  # noqa: T201 (a terminal)

    return say


@pytest.fixture(scope="session")
def pulumi_cli(tell: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """Give the CLI of this checkout, or the one that ``BERTH_TEST_PULUMI`` names; installs it when there is none."""
    given = os.environ.get("BERTH_TEST_PULUMI")
    if not given:
        return ensure(Layout(ROOT), progress=tell)
    folder = tmp_path_factory.mktemp("given")
    (folder / "pulumi").symlink_to(Path(given).resolve())
    return ensure(Layout(ROOT), progress=tell, sources=[Source.PATH], environ={"PATH": str(folder)})
