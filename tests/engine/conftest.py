"""The simulated providers, installed once for all engine tests, and a lab on them."""

from pathlib import Path

import pytest

from automation.engine.pulumi import PulumiRunner
from automation.engine.toolchain.toolchain import Toolchain
from tests.support.lab import STACK, Lab, installed_home


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
