"""A change that breaks a policy is blocked before anything is applied, whichever command meets it."""

from pathlib import Path

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.support.fleet_run import applied, deployment, small_fleet

pytestmark = pytest.mark.engine


def test_a_violation_changes_nothing(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain
) -> None:
    """A container would see devices past its claim: exit code 5, and state, clouds and lock are as before.

    A plan that may not be applied is not written as a target either.
    """
    run = applied(tmp_path_factory, pulumi_cli.pulumi, "small", small_fleet()).copy(tmp_path / "fleet")
    before, lock = run.facts(), run.lock()
    run.write("models/ml/qwen.yaml", deployment("qwen", env="{name: NVIDIA_VISIBLE_DEVICES, value: all}"))

    plan = run.berth("plan", "--json", code=5)
    assert run.facts() == before
    assert run.lock() == lock
    violations = plan.document["policies"]["violations"]
    assert {each["rule"] for each in violations} == {"device-one-owner"}
    assert all(each["subject"].startswith("ml/qwen/a/1") for each in violations)
    assert plan.count("preview") == 1, "the platform is as it was: one preview of the target"

    up = run.berth("up", "--yes", code=5)
    assert run.facts() == before
    assert run.lock() == lock
    assert "device-one-owner" in up.said
    assert up.count("up") == 0
    assert up.count("preview") == 1
