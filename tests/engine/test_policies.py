"""The policy pack on the real engine: each rule with a program that keeps it, one that breaks it, and one that lies.

One program carries many suspects, and what the engine says is compared as a whole: no finding more, none less.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from automation.driver.policy_pack import place_policy_pack
from automation.engine.events import Level
from automation.engine.pulumi import PulumiRunner
from automation.engine.runner import PolicyPackRef, PolicyReport
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Toolchain
from components.errors import PolicyViolation
from components.naming import ReplicaId, StackName
from policies.pack import RULES
from stacks.config import ProgramConfig
from stacks.program import program
from stacks.shard import Shard
from tests.support.lab import STACK, Lab, installed_home
from tests.support.samples import DEV_CACHES, DEV_PLACED, EDGE_SECRETS, environment_files, fleet_of, lock_of
from tests.support.suspects import RAW_TAINT, TOLERATION, Scene

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore:.* has been deprecated in favor of:DeprecationWarning"),
]

ROOT = Path(__file__).resolve().parents[2]
MAINTENANCE = {"key": "maintenance", "value": "", "effect": "NoExecute"}
DEDICATED = {"key": "dedicated", "value": "ml", "effect": "NO_SCHEDULE"}
TOLERATES = [{"key": "maintenance", "operator": "Exists"}]
STAYED = ReplicaId("ml", "stayed", "drained", 0)

Found = set[tuple[str, str]]
"""Rule and subject."""


def in_order() -> None:
    """Keep every rule, up to its limit: full pools, a cache that just fits, taints that are tolerated or came later."""
    _in_order(Scene())


def _in_order(scene: Scene) -> Scene:
    scene.cluster("eks")
    scene.cluster("drained", taints=[MAINTENANCE])
    scene.pool("l4")
    scene.pool("l4", cluster="drained")
    scene.cache("weights")
    scene.replica("qwen", "l4", pods=2, devices=4, cache="weights", cacheFootprint=["eks"])
    scene.replica("tolerant", "l4", cluster="drained", tolerations=TOLERATES)
    scene.replica("stayed", "l4", cluster="drained", stays="maintenance:NoExecute")
    scene.chart("operator", "eks", "gpu-operator", {"devicePlugin": {"enabled": False}})
    return scene


def broken() -> None:
    """Break every rule in the open: descriptions and resources agree."""
    scene = _in_order(Scene())
    scene.pool("bare", taints=(), real_taints=())
    scene.nodes("stray-nodes", pool="stray")
    scene.pool("small", nodes=1)
    scene.replica("intolerant", "small", pod={"tolerations": []})
    scene.replica("repelled", "l4", cluster="drained")
    scene.replica("newcomer", "l4", cluster="drained", stays="maintenance:NoExecute")
    scene.replica("greedy", "small", devices=5)
    limits = {"name": "engine", "image": "vllm:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    scene.pool("spare", nodes=8)
    scene.replica("doubled", "spare", pod={"containers": [limits]})
    scene.replica("sharing", "spare", pod={"resource_claims": [{"name": "x", "resource_claim_name": "y"}]}, devices=0)
    scene.chart("plugin", "eks", "nvidia-device-plugin")
    scene.replica("astray", "spare", cache="weights", cacheFootprint=["drained"])
    scene.replica("unstaged", "spare", cache="other", reads="other")
    scene.cache("cramped", size=20, storage="10Gi")
    scene.volume("stray-volume", "unowned")


BROKEN: Found = {
    ("gpu-pool-tainted", "eks/bare"),
    ("gpu-pool-tainted", "eks/bare-nodes"),
    ("gpu-pool-tainted", "stray-nodes"),
    ("gpu-taint-tolerated", "ml/intolerant/eks/0-workload"),
    ("cluster-taint-tolerated", "ml/repelled/drained/0"),
    ("cluster-taint-tolerated", "ml/newcomer/drained/0"),
    ("devices-within-pool", "ml/greedy/eks/0"),
    ("devices-within-pool", "eks/small"),
    ("device-one-owner", "ml/doubled/eks/0-workload"),
    ("device-one-owner", "ml/sharing/eks/0-workload"),
    ("device-one-owner", "plugin"),
    ("replica-in-cache-footprint", "ml/astray/eks/0"),
    ("replica-in-cache-footprint", "ml/unstaged/eks/0"),
    ("component-truthful", "ml/unstaged/eks/0"),  # there is nothing that its pods could read
    ("cache-fits-volume", "ml/cramped/eks/0"),
    ("cache-fits-volume", "stray-volume"),
}


def lying() -> None:
    """Say what is in order, and register something else."""
    scene = _in_order(Scene())
    scene.pool("untold", real_taints=())
    scene.pool("secretive", real_taints=(RAW_TAINT, DEDICATED))
    scene.pool("boastful", nodes=9, most=2)
    scene.pool("imaginary", made=False)
    scene.pool("two-faced", says={"nodes": 1})
    scene.pool("spare", nodes=8)
    scene.replica("modest", "spare", devices=1, real_devices=40)
    scene.replica("elsewhere", "spare", real_cluster="drained")
    scene.replica("disowned", "spare", owned=False)
    scene.replica("reader", "spare", reads="weights")
    scene.replica(
        "borrower", "spare", pod={"resource_claims": [{"name": "x", "resource_claim_template_name": "qwen-claims"}]}
    )
    scene.cache("imaginary", staged=False)
    scene.replica("timid", "spare", tolerations=[TOLERATION], pod={"tolerations": []})
    scene.replica("pretender", "l4", cluster="drained", stays="maintenance:NoExecute")
    scene.replica("hopeful", "spare", cache="unheard-of", reads="weights", cacheFootprint=["eks"])
    scene.cache("shrunken", storage="1Gi")


LYING: Found = {
    ("gpu-pool-tainted", "eks/untold-nodes"),
    ("component-truthful", "eks/untold"),
    ("component-truthful", "eks/secretive"),
    ("component-truthful", "eks/boastful"),
    ("component-truthful", "eks/imaginary"),
    ("component-truthful", "eks/two-faced"),
    ("component-truthful", "ml/modest/eks/0"),
    ("devices-within-pool", "eks/spare"),
    ("component-truthful", "ml/elsewhere/eks/0"),
    ("devices-within-pool", "drained/spare"),
    ("component-truthful", "ml/disowned/eks/0"),
    ("device-one-owner", "ml/disowned/eks/0-workload"),
    ("component-truthful", "ml/reader/eks/0"),
    ("component-truthful", "ml/borrower/eks/0"),
    ("device-one-owner", "ml/borrower/eks/0-workload"),
    ("component-truthful", "ml/imaginary/eks/0"),
    ("gpu-taint-tolerated", "ml/timid/eks/0-workload"),
    ("cluster-taint-tolerated", "ml/pretender/drained/0"),
    ("replica-in-cache-footprint", "ml/hopeful/eks/0"),
    ("component-truthful", "ml/hopeful/eks/0"),
    ("cache-fits-volume", "ml/shrunken/eks/0"),
}


def undecided() -> None:
    """Make raw values depend on what only the cloud will say."""
    scene = _in_order(Scene())
    scene.pool("late", real_taints=scene.later([RAW_TAINT]))
    scene.cache("late", storage=scene.later("10Gi"))
    scene.pool("spare", nodes=8)
    scene.replica("guarded", "spare", pod={"tolerations": scene.later([TOLERATION])})
    scene.replica("counted", "spare", devices=2, real_devices=scene.later(2))
    scene.pool("bare", taints=(), real_taints=())


UNDECIDED: Found = {
    ("gpu-pool-tainted", "eks/late-nodes"),
    ("component-truthful", "eks/late-nodes"),
    ("cache-fits-volume", "ml/late/eks/0-volume"),
    *(
        (rule, subject)
        for rule in ("gpu-taint-tolerated", "device-one-owner", "devices-within-pool", "component-truthful")
        for subject in ("ml/guarded/eks/0-workload", "ml/counted/eks/0-claims")
    ),
}


@dataclass
class Town:
    """A lab with the pack as the driver places it, and the ordinary program applied."""

    lab: Lab
    runner: PulumiRunner
    pack: PolicyPackRef

    def judge(self, what: Callable[[], None], pack: PolicyPackRef | None = None) -> PolicyReport:
        """Preview a program and give what the policies said."""
        return self.runner.preview(STACK, what, policy_pack=pack or self.pack).policies


@pytest.fixture(scope="module")
def lab(pulumi_cli: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Give a project, a backend and simulated clouds."""
    root = tmp_path_factory.mktemp("policies")
    return Lab(root / "lab", pulumi_cli.pulumi, installed_home(root / "home"))


@pytest.fixture(scope="module")
def first(lab: Lab) -> PolicyReport:
    """Return what is said before anything exists."""
    runner = lab.runner()
    runner.ensure_stack(STACK)
    return runner.preview(STACK, in_order, policy_pack=placed(lab)).policies


@pytest.fixture(scope="module")
def town(lab: Lab, first: PolicyReport) -> Town:
    """Apply the program that is in order."""
    assert not first.blocking, first
    runner = lab.runner()
    applied = runner.up(STACK, in_order)
    assert applied.ok, [(each.name, each.messages) for each in applied.failures]
    return Town(lab, runner, placed(lab, STAYED))


def placed(lab: Lab, *existing: ReplicaId) -> PolicyPackRef:
    """Place the pack as the driver does; nothing exists before the first update but what a test says."""
    return place_policy_pack(Layout(lab.root / f"repo-{len(existing)}"), existing=[*existing] or [STAYED])


def found(report: PolicyReport) -> Found:
    """Return rule and subject of every violation."""
    return {(finding.rule, finding.message.partition(": ")[0]) for finding in report.findings}


def passed(report: PolicyReport) -> set[str]:
    """Return the rules that passed."""
    return {rule for summary in report.summaries for rule in summary.passed}


def test_a_fleet_in_order_passes_before_anything_exists(first: PolicyReport) -> None:
    """No cluster is there yet, so no object on one has outputs; every rule judges all the same, and defers nothing."""
    assert first.findings == ()
    assert first.deferred == ()
    assert passed(first) == {rule.name for rule in RULES}


def test_a_fleet_in_order_passes_once_it_exists(town: Town) -> None:
    """With the real outputs of everything."""
    report = town.judge(in_order)
    assert report.findings == ()
    assert report.deferred == ()
    assert passed(report) == {rule.name for rule in RULES}


def test_every_rule_finds_who_breaks_it_and_nothing_changes(town: Town) -> None:
    """All findings are mandatory; state and clouds are byte for byte as before."""
    before = (town.runner.export(STACK).raw, town.lab.cloud.dump())
    preview = town.runner.preview(STACK, broken, policy_pack=town.pack)
    assert found(preview.policies) == BROKEN
    assert {rule for rule, _ in BROKEN} == {rule.name for rule in RULES}
    assert {finding.level for finding in preview.policies.findings} == {Level.MANDATORY}
    severities = {rule.name: rule.severity for rule in RULES}
    assert all(finding.severity == severities[finding.rule] for finding in preview.policies.findings)
    assert all(
        finding.urn.rpartition("::")[2] == finding.message.partition(": ")[0] for finding in preview.policies.findings
    )
    with pytest.raises(PolicyViolation, match="berth/gpu-pool-tainted"):
        preview.require_ok()
    assert (town.runner.export(STACK).raw, town.lab.cloud.dump()) == before


def test_every_lie_is_found(town: Town) -> None:
    """What a component says is compared with what it registers; every rule has one that lies to it."""
    assert found(town.judge(lying)) == LYING
    assert {rule for rule, _ in LYING} == {rule.name for rule in RULES}


def test_what_is_not_known_is_deferred_and_not_passed(town: Town) -> None:
    """The rules that need the value say so and which it is; the others, and what else can be judged, go on."""
    report = town.judge(undecided)
    assert found(report) == {("gpu-pool-tainted", "eks/bare"), ("gpu-pool-tainted", "eks/bare-nodes")}
    deferred = {(finding.rule, finding.urn.rpartition("::")[2]) for finding in report.deferred}
    assert deferred == UNDECIDED
    assert all("is not known before it is applied" in finding.message for finding in report.deferred)
    assert passed(report) == {"cluster-taint-tolerated", "replica-in-cache-footprint"}


def test_the_pack_runs_as_a_folder(town: Town) -> None:
    """As with plain ``pulumi preview --policy-pack policies``; nobody tells it then which replicas exist."""
    report = town.judge(broken, PolicyPackRef(ROOT / "policies"))
    assert found(report) == BROKEN - {("cluster-taint-tolerated", "ml/newcomer/drained/0")}
    assert list(report.packs.values()) == ["0.1.0"]


def test_the_pack_judges_a_saved_state(town: Town, tmp_path: Path) -> None:
    """Without a program and without a provider: an audit of what an export says."""
    state = town.runner.export(STACK).raw
    assert analyzed(town, state, tmp_path) == set()
    for resource in state["deployment"]["resources"]:
        if resource["urn"].endswith("::eks/l4-nodes"):
            resource["outputs"]["taints"] = []
    assert analyzed(town, state, tmp_path) == {"component-truthful", "gpu-pool-tainted"}


def analyzed(town: Town, state: Any, folder: Path) -> set[str]:
    """Run ``pulumi policy analyze`` on a state and give the rules that it breaks."""
    file = folder / "state.json"
    file.write_text(json.dumps(state))
    done = subprocess.run(
        [town.lab.cli, "policy", "analyze", "--policy-pack", town.pack.path, "--file", file, "--json"],
        cwd=town.lab.project,
        env={**town.lab.environment, "PULUMI_EXPERIMENTAL": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout, done.stderr
    return {rule.name for rule in RULES if rule.name in done.stdout}


def test_berths_own_program_keeps_berths_own_rules(lab: Lab) -> None:
    """The sample environment in its first preview: every rule passes, on everything, with nothing deferred."""
    fleet = fleet_of(environment_files())
    lock = lock_of(fleet, DEV_PLACED, caches=DEV_CACHES)
    shard = Shard.of(StackName(fleet.name), fleet)
    stack = StackName("own")
    runner = lab.runner()
    runner.ensure_stack(stack)
    settings = ProgramConfig(berth_version="0.1.0", secrets=EDGE_SECRETS, simulated=True)
    preview = runner.preview(
        stack,
        lambda: program(fleet, lock, shard, settings),
        policy_pack=placed(lab),
    )
    assert preview.policies.findings == ()
    assert preview.policies.deferred == ()
    assert passed(preview.policies) == {rule.name for rule in RULES}
    assert preview.ok, preview.errors
