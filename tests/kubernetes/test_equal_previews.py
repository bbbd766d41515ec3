"""The same environment planned on simulated and on real Kubernetes: the same plan, before anything exists and after.

Two repos with the same files, one with simulated clusters and one with control planes behind them. Both are planned,
applied, planned again as they are, and planned with an edit: more replicas, another image, and a cluster to drain.
At last somebody edits and deletes objects behind the back of the one on real Kubernetes.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from automation.driver.planner import Plan
from automation.engine.events import Op
from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.backing.keeper import Keeper
from tests.support.backed_run import BackedRun, cluster, plan_of, two_clusters
from tests.support.fleet_run import FleetRun, deployment
from tests.support.kept_clusters import kept_clusters, problems
from tests.support.kubernetes_minor import MINOR
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


Runs = tuple[FleetRun, BackedRun]
"""The fleet on simulated and the one on real Kubernetes."""


@pytest.fixture(scope="module")
def runs(
    programs: Mapping[str, Path], provider: Path, pulumi_cli: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runs]:
    """Give both repos, with nothing applied."""
    root, files = tmp_path_factory.mktemp("equal"), two_clusters()
    simulated = FleetRun.make(root / "simulated", pulumi_cli.pulumi, files)
    backed = BackedRun.with_provider(root / "backed", pulumi_cli.pulumi, files, provider=provider)
    with Keeper(programs, backed.layout, say=lambda _: None, minor=MINOR.name):
        yield simulated, backed


@pytest.fixture(scope="module")
def plans(runs: Runs) -> Plans:
    """Plan both at every moment."""

    def both() -> tuple[Plan, Plan]:
        simulated, backed = map(plan_of, runs)
        return simulated, backed

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


MAPS, SERVICES = "/api/v1/namespaces/ml/configmaps", "/api/v1/namespaces/ml/services"


def test_what_somebody_edits_and_deletes_on_a_cluster_is_put_right(plans: Plans, runs: Runs) -> None:
    """The API server lets whoever edits a field own it from then on; Berth takes it back, as the plan says."""
    assert plans  # that is: both were applied
    _, backed = runs
    for path, text in two_clusters().items():
        backed.write(path, text)
    with kept_clusters(backed) as clusters:
        settings = [each for each in clusters["a"].items(MAPS) if "picker.yaml" in each.get("data", {})]
        name, text = settings[0]["metadata"]["name"], settings[0]["data"]["picker.yaml"]
        clusters["a"].patch(f"{MAPS}/{name}", {"data": {"picker.yaml": "plugins: []"}})
        clusters["a"].delete(f"{SERVICES}/{name}")
        plan = plan_of(backed)
        found = {(step.op, step.type.rpartition(":")[2]) for each in plan.previews.values() for step in each.changed}
        assert found == {(Op.UPDATE, "ConfigMap"), (Op.CREATE, "Service")}
        assert [step.kind.value for step in plan.steps] == ["build"]
        backed.berth("up", "--yes")
        assert clusters["a"].get(f"{MAPS}/{name}")["data"]["picker.yaml"] == text
        assert list(problems(backed, clusters)) == []
    assert plan_of(backed).empty
