"""Kill the driver or the engine in the middle of each step of ``berth up``: the next one repairs it.

Whatever is killed and whenever: traffic goes on, the next run says what was cut off, settles it, and ends with every
simulated resource in the state, none there twice, the fleet serving, and nothing left to plan. Those marked ``crash``
take too long for every ``make test``; ``make crash`` runs them.
"""

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.support.crash_run import (
    Cut,
    Hold,
    Started,
    Victim,
    assert_sound,
    cut_off,
    dead_ends,
    held,
    leases,
    orphans,
    pending,
    plugins,
    tiny_fleet,
    until,
)
from tests.support.fleet_run import FleetRun, applied

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="sees by /proc that a killed engine left nothing behind"),
]

ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
SLICE = "kubernetes:discovery.k8s.io/v1:EndpointSlice"
WORKLOAD = "kubernetes:apps/v1:Deployment"
CONFIG = "kubernetes:core/v1:ConfigMap"
VPC = "aws:ec2/vpc:Vpc"
ROLE = "aws:iam/role:Role"

EKS = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: l4-1x}
spec:
  provisioning:
    provider: EKS
    eks: {instanceType: g6.xlarge, diskSizeGb: 200, accelerator: {type: nvidia-l4, count: 1}}
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: 1
      capacity: {memory: {value: 23034Mi}}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: e}
spec:
  cluster: {source: EKS, eks: {region: us-east-1}}
  nodePools: [{name: l4, className: l4-1x, nodeCount: 1, zones: [us-east-1a]}]
"""


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> FleetRun:
    """Give a fleet that is up, in a repo of its own."""
    made = applied(tmp_path_factory, pulumi_cli.pulumi, "tiny", tiny_fleet())
    return made.copy(tmp_path_factory.mktemp("crash") / "run")


def another_image(run: FleetRun) -> None:
    """Edit the image: a successor is built, traffic shifts to it, the old replica is retired."""
    run.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")


def another_cluster(run: FleetRun) -> None:
    """Edit the image, and add a cluster in a cloud, whose resources have ids that nobody can guess."""
    another_image(run)
    run.write("platform/e.yaml", EKS)


BUILD = (Hold("create", WORKLOAD, "a/1-workload-main", "after"), Hold("create", CONFIG, "a/1-picker-config"))
NETWORK = (*BUILD, Hold("create", VPC, "e-vpc", "after"), Hold("create", ROLE, "e-cluster-role"))
ROUTES = (Hold("create", SLICE, "-slice", "after"),)
TURN = (Hold("update", ROUTE, "a/ml/qwen-route"),)
TURNED = (Hold("update", ROUTE, "a/ml/qwen-route", "after"),)
RETIRE = (Hold("delete", WORKLOAD, "a/0-picker"),)
RETIRED = (Hold("delete", WORKLOAD, "a/0-workload-main", "after"),)


@dataclass(frozen=True)
class Point:
    """Where a run is cut off, and what is killed there."""

    name: str
    holds: tuple[Hold, ...]
    victim: Victim
    edit: Callable[[FleetRun], None] = another_image


STEPS = {"build": BUILD, "routes": ROUTES, "turn": TURN, "turned": TURNED, "retire": RETIRE, "retired": RETIRED}
POINTS = (
    *(Point(f"{step}, {victim}", holds, victim) for step, holds in STEPS.items() for victim in Victim),
    *(Point(f"network, {victim}", NETWORK, victim, another_cluster) for victim in Victim),
)
MARKS: Mapping[str, Sequence[pytest.MarkDecorator]] = {
    f"network, {Victim.ENGINE}": [pytest.mark.lives],
    f"retire, {Victim.DRIVER}": [],
}
"""The two that show most: what has no name in the cloud is made twice first, traffic is lost first."""


@pytest.mark.parametrize(
    "point",
    [pytest.param(point, id=point.name, marks=MARKS.get(point.name, [pytest.mark.crash])) for point in POINTS],
)
def test_a_run_that_is_cut_off_is_repaired_by_the_next(run: FleetRun, point: Point) -> None:
    """Nothing is lost, doubled or orphaned, traffic goes on, and the second run ends what the first one began."""
    point.edit(run)
    cut = cut_off(run, *point.holds, victim=point.victim)
    assert dead_ends(run, of="berth:index:Service") == []
    if point.victim is Victim.DRIVER:
        assert (pending(run), leases(run)) == ((), []), "the engine ended what it had begun"
    else:
        assert_said(run, point, cut)
    done = run.berth("up", "--yes", "--json")
    if point.victim is not Victim.DRIVER:
        freed = f"freed stack dev: nothing is left of the run that held it, {holder(cut)}"
        assert any(note.startswith(freed) for note in done.document["notes"])
    assert leases(run) == []
    assert_sound(run)
    assert run.berth("plan", "--expect-no-changes", "--json").document["empty"]


FIRST = (Hold("create", VPC, "e-vpc", "after"), Hold("create", ROLE, "e-cluster-role"))
TEARDOWN = (Hold("delete", WORKLOAD, "a/0-workload-main", "after"),)


@pytest.mark.crash
@pytest.mark.parametrize("victim", Victim)
def test_a_first_run_that_is_cut_off_is_repaired_by_the_next(
    tmp_path: Path, pulumi_cli: Toolchain, victim: Victim
) -> None:
    """There was no state before it, and half a network is in the cloud: the next run takes it over."""
    run = FleetRun.make(tmp_path, pulumi_cli.pulumi, {**tiny_fleet(), "platform/e.yaml": EKS})
    cut_off(run, *FIRST, victim=victim)
    assert run.berth("up", "--yes", "--json").document["ok"]
    assert leases(run) == []
    assert_sound(run)
    assert len(run.cloud.resources(type=VPC)) == 1


@pytest.mark.crash
@pytest.mark.parametrize("victim", Victim)
def test_a_teardown_that_is_cut_off_is_ended_by_the_next(run: FleetRun, victim: Victim) -> None:
    """Nothing is left in the cloud but what is retained on purpose, no stack, no lease."""
    cut_off(run, *TEARDOWN, victim=victim, arguments=("destroy", "--yes"))
    if run.stacks():  # with the driver alone killed, the engine may have come to the end of its work
        kept = run.berth("destroy", "--yes", "--json").document["retained"]
        assert all(each.startswith("NamespacePatch ") for each in kept)
    left = {each.type for each in run.cloud.resources()}
    assert left <= {"kubernetes:core/v1:Namespace"}
    assert (run.stacks(), leases(run)) == ([], [])


def assert_said(run: FleetRun, point: Point, cut: Cut) -> None:
    """See that it is said what was cut off, and by whom the stack is held."""
    status = run.berth("status", "--json").document
    for hold in point.holds:
        assert any(hold.type in said and hold.name in said for said in status["pending"])
    (lease,) = status["leases"]
    assert lease.startswith(f"dev by {holder(cut)} since 20")
    assert lease.endswith("nothing is left of that run; the next `berth up` frees it")
    if point.victim is Victim.ENGINE:
        assert cut.code == 1
        assert "the next run says which, and repairs them" in cut.stderr
        assert "Traceback" not in cut.stderr


def holder(cut: Cut) -> str:
    """Return who held the stack, as Berth says it."""
    lease = cut.lease
    return f"{lease['username']}@{lease['hostname']} (pid {lease['pid']}, `berth up --yes`)"


@pytest.mark.lives
def test_an_interrupt_ends_a_run_with_care(run: FleetRun) -> None:
    """What had begun is finished and in the state; exit code 8, no lease, and the next run goes on."""
    another_image(run)
    started = held(run, *BUILD, arguments=("up", "--yes", "--json"))
    started.process.send_signal(signal.SIGINT)
    assert_cancelled(run, started, "interrupted: what has begun is finished, nothing new is started")
    assert pending(run) == ()
    assert orphans(run) == []
    run.scenario()
    assert run.berth("up", "--yes", "--json").document["ok"]
    assert_sound(run)


@pytest.mark.crash
def test_a_second_interrupt_ends_it_at_once(run: FleetRun) -> None:
    """Although a provider does not answer any more; what was cut off is repaired by the next run."""
    another_image(run)
    started = held(run, *BUILD, arguments=("up", "--yes", "--json"))
    (lease,) = leases(run)
    for plugin in plugins(lease["pid"]):
        os.kill(plugin, signal.SIGSTOP)
    started.process.send_signal(signal.SIGINT)
    until(lambda: "interrupt again to stop at once" in started.said)
    started.process.send_signal(signal.SIGINT)
    assert_cancelled(run, started, "stopping at once")
    run.scenario()
    assert run.berth("up", "--yes", "--json").document["ok"]
    assert_sound(run)


def assert_cancelled(run: FleetRun, started: Started, said: str) -> None:
    """See that a run ends as one that was interrupted, and leaves no lease."""
    code, stdout, stderr = started.end()
    assert code == 8, stderr
    assert json.loads(stdout)["code"] == "cancelled"
    assert said in stderr
    assert "Traceback" not in stderr
    assert leases(run) == []
    assert dead_ends(run, of="berth:index:Service") == []
