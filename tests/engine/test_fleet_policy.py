"""A change that breaks a policy is blocked before anything is applied, whichever command meets it."""

from pathlib import Path

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.support.fleet_run import applied, cluster, small_fleet

pytestmark = pytest.mark.engine


def test_a_violation_changes_nothing(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain
) -> None:
    """A pool is shrunk under its replicas: exit code 5, and state, clouds and (after ``up``) lock are as before.

    A plan that may not be applied is not written as a target either.
    """
    run = applied(tmp_path_factory, pulumi_cli.pulumi, "small", small_fleet()).copy(tmp_path / "fleet")
    before, lock = run.facts(), run.lock()
    run.write("platform/a.yaml", cluster("a", small=0, big=0))

    plan = run.berth("plan", "--json", code=5)
    assert run.facts() == before
    assert run.lock() == lock
    violations = plan.document["policies"]["violations"]
    assert {(each["rule"], each["subject"]) for each in violations} == {("devices-within-pool", "a/small")}
    assert plan.count("preview") == 2, "the platform was edited: one preview of it, one of the target"

    up = run.berth("up", "--yes", code=5)
    assert run.facts() == before
    assert run.lock() == lock
    assert "devices-within-pool" in up.said
    assert up.count("up") == 0
    assert up.count("preview") == 2
