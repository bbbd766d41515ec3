"""An environment with two clusters on a fake engine, once empty and once applied."""

from pathlib import Path

import pytest

from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import small_fleet
from tests.support.samples import environment_files


@pytest.fixture
def fresh(tmp_path: Path) -> FakeDriver:
    """Return an environment that was never applied."""
    return FakeDriver.of(tmp_path, small_fleet())


@pytest.fixture
def driver(fresh: FakeDriver) -> FakeDriver:
    """Return an environment that was applied, with nothing left to do."""
    assert fresh.up().ok
    assert fresh.plan().empty
    fresh.does()
    fresh.heard.notes.clear()
    return fresh


@pytest.fixture
def split(tmp_path: Path) -> FakeDriver:
    """Return an applied environment with one stack for each cluster."""
    files = {path: text.replace("Single", "PerCluster") for path, text in small_fleet().items()}
    driver = FakeDriver.of(tmp_path, files)
    assert driver.up().ok
    driver.does()
    driver.heard.notes.clear()
    return driver


@pytest.fixture
def cloud(tmp_path: Path) -> FakeDriver:
    """Return an applied environment with clusters that Berth made in a cloud."""
    files = {path: content.decode() for path, content in environment_files().items()}
    made = FakeDriver.of(tmp_path, files)
    assert made.up().steps
    made.does()
    return made
