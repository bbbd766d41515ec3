"""The same environment planned on simulated and on real Kubernetes: the same plan, before anything exists and after.

Two repos with the same files, one with simulated clusters and one with control planes behind them. Both are planned,
applied, planned again as they are, and planned with an edit: more replicas, another image, and a cluster to drain.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from automation.driver.planner import Plan
from automation.engine.events import Op
from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.backing.keeper import Keeper
from tests.support.backed_run import BackedRun, cluster, plan_of, two_clusters
from tests.support.fleet_run import FleetRun, deployment
from tests.support.previews import ALLOWED, allowed, differences

pytestmark = [
    pytest.mark.kubernetes,
    # SDK modules announce deprecated classes when they are loaded, whoever uses them.
    pytest.mark.filterwarnings("ignore:.* has been deprecated in favor of:DeprecationWarning"),
]

EDIT = {
    "models/ml/qwen.yaml": deployment("qwen", replicas=3),
    "models/search/embed.yaml": deployment("embed", namespace="search", image="vllm:2"),
    "platform/a.yaml": cluster("a", more="  taints: [{key: maintenance, effect: NoExecute}]\n"),
}
MOMENTS = ("before anything exists", "after it was applied", "with an edit")

Plans = Mapping[str, tuple[Plan, Plan]]
"""By the moment, the plan on simulated and the one on real Kubernetes."""


@pytest.fixture(scope="module")
def plans(
    programs: Mapping[str, Path], provider: Path, pulumi_cli: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Plans:
    """Make both fleets and plan them at every moment."""
    root, files = tmp_path_factory.mktemp("equal"), two_clusters()
    simulated = FleetRun.make(root / "simulated", pulumi_cli.pulumi, files)
    backed = BackedRun.with_provider(root / "backed", pulumi_cli.pulumi, files, provider=provider)
    runs = (simulated, backed)

    def both() -> tuple[Plan, Plan]:
        return plan_of(simulated), plan_of(backed)

    with Keeper(programs, backed.layout, say=lambda _: None):
        before = both()
        for run in runs:
            run.berth("up", "--yes")
        applied = both()
        for run in runs:
            for path, text in EDIT.items():
                run.write(path, text)
        return dict(zip(MOMENTS, (before, applied, both()), strict=True))


@pytest.mark.parametrize("moment", MOMENTS)
def test_plans_on_simulated_and_on_real_kubernetes_are_equal(plans: Plans, moment: str) -> None:
    """Lock, steps, operations, differences of properties and verdicts; ``ALLOWED`` says what may differ, and why."""
    found = differences(*plans[moment])
    assert found == []


def test_the_plans_that_are_compared_are_not_empty(plans: Plans) -> None:
    """The first creates everything, the second does nothing, and the third moves, adds and replaces replicas."""
    for plan in (each for _, each in plans.values()):
        assert all(preview.ok for preview in plan.previews.values())
    first, second, third = (
        {step.op for preview in plan.previews.values() for step in preview.changed} for _, plan in plans.values()
    )
    assert first == {Op.CREATE}
    assert second == set()
    assert third >= {Op.CREATE, Op.UPDATE, Op.DELETE}
    assert [step.kind.value for step in plans[MOMENTS[2]][1].steps] == ["build", "shift", "retire"]


def test_what_may_differ_is_no_more_than_what_is_listed() -> None:
    """A place that is not listed is a difference, also one beside a listed one."""
    assert allowed("berth:index:FrontDoor a/front-door same.outputs.address")
    assert not allowed("berth:index:FrontDoor a/front-door same.inputs.address")
    assert not allowed("kubernetes:core/v1:Service a/x create.inputs.spec.type")
    assert all(ALLOWED.values())
