"""The snapshot of a plan, saved and scheduled again by itself."""

import json
from pathlib import Path

import pytest

from automation.cli.main import run as berth
from automation.cli.snapshot_file import save_snapshot
from automation.render.schedule_view import schedule_view
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import deployment


@pytest.mark.parametrize("name", ["it.json", "it.yaml"])
def test_the_schedule_of_a_saved_snapshot_is_that_of_the_plan(
    driver: FakeDriver, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Placements, what is missing, what leaves and why, and every verdict: with the selectors of the manifests."""
    driver.write("models/ml/qwen.yaml", deployment("qwen", gpus=8, replicas=9, labels=", size: small"))
    driver.dead["b"] = "dial tcp: i/o timeout"
    plan = driver.plan()
    assert plan.schedule.placements
    assert plan.schedule.shortfalls
    save_snapshot(tmp_path / name, plan.snapshot)
    assert berth(["schedule", str(tmp_path / name)]) == 0
    assert json.loads(capsys.readouterr().out) == schedule_view(plan.schedule).to_json()
