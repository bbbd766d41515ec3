"""The runner on the real engine: results, errors, secrets, policies, recordings."""

import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from automation.engine.events import Level, Op
from automation.engine.failures import failures_by_component
from automation.engine.interruption import Interruption
from automation.engine.pulumi import PulumiRunner
from automation.engine.recording import Tap, recording
from automation.engine.replay import ReplayRunner
from automation.engine.runner import PolicyPackRef
from automation.engine.state import is_simulated
from automation.engine.toolchain.toolchain import Toolchain
from components.errors import (
    AuthError,
    BerthError,
    Cancelled,
    InternalError,
    LockError,
    PolicyViolation,
    ResourceFailed,
    StackLeased,
    StackNotFound,
    TimedOut,
    ToolchainError,
    UsageError,
)
from components.naming import StackName
from tests.support.lab import PASSPHRASE, STACK, TOKEN, Lab, Town

pytestmark = pytest.mark.engine

PACK = """\
#!{python} -u
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy, Severity

def roles(args, report):
    if args.resource_type == "aws:iam/role:Role":
        report("a role was seen")

def arns(args, report):
    if args.resource_type == "kubernetes:core/v1:ServiceAccount":
        report(f"an account named {{args.props['metadata']['name']}}")

MANDATORY, ADVISORY = EnforcementLevel.MANDATORY, EnforcementLevel.ADVISORY
PolicyPack("town", policies=[
    ResourceValidationPolicy("no-role", "roles are refused", roles, MANDATORY, severity=Severity.HIGH),
    ResourceValidationPolicy("account-seen", "accounts are noted", arns, ADVISORY, severity=Severity.LOW),
])
"""


def changes(steps: Any) -> dict[str, Op]:
    """Return what is done to each custom resource that changes, by name."""
    return {step.name: step.op for step in steps if step.op.changes and step.custom and not step.is_provider}


def test_a_stack_lives_from_its_first_plan_to_its_removal(lab: Lab) -> None:
    """Plan, apply, plan nothing, find drift and mend it, delete everything, remove the stack."""
    runner = lab.runner()
    assert runner.ensure_stack(STACK) is True
    assert runner.ensure_stack(STACK) is False
    assert runner.stacks() == (STACK,)
    assert runner.export(STACK).is_empty

    planned = runner.preview(STACK, Town())
    assert planned.ok
    assert set(changes(planned.steps).values()) == {Op.CREATE}
    assert runner.export(STACK).is_empty, "a preview changes nothing"

    applied = runner.up(STACK, Town())
    assert applied.ok
    assert changes(applied.steps) == changes(planned.steps)
    assert runner.preview(STACK, Town()).changed == ()

    lab.cloud.delete("kubernetes:core/v1:ServiceAccount", "default/a-main", scope="*west*")
    before = runner.export(STACK).raw["deployment"]["resources"]
    assert changes(runner.drift(STACK).steps) == {"ml/a/west/0-workload-main": Op.DELETE}
    assert runner.export(STACK).raw["deployment"]["resources"] == before, "looking for drift changes nothing"
    assert changes(runner.preview(STACK, Town(), refresh=True).steps) == {"ml/a/west/0-workload-main": Op.CREATE}
    assert runner.up(STACK, Town(), refresh=True).ok
    assert runner.drift(STACK).changed == ()

    assert set(changes(runner.preview_destroy(STACK).steps).values()) == {Op.DELETE}
    assert runner.destroy(STACK).ok
    assert runner.export(STACK).is_empty
    assert lab.cloud.resources() == ()
    runner.set_config(STACK, "town:kept", "yes")
    runner.remove_stack(STACK)
    assert runner.stacks() == ()
    runner.ensure_stack(STACK)
    assert runner.get_config(STACK, "town:kept") == "yes", "configuration is the user's, and may hold secrets"


def test_the_state_keeps_descriptions_and_no_secret_in_clear(lab: Lab, runner: PulumiRunner) -> None:
    """Component inputs are in the export; a token is in no file, not even after the export."""
    runner.set_config(STACK, "town:secrets", json.dumps({"ml/hub": {"token": TOKEN}}), secret=True)
    runner.up(STACK, Town())
    checkpoint = runner.export(STACK)
    (replica,) = (r for r in checkpoint.of_type("berth:index:Replica") if r.inputs["cluster"] == "east")
    assert replica.inputs == {"cluster": "east", "namespace": "ml", "image": "server:1"}
    assert [part.name for part in checkpoint.subtree(replica.urn)] == [replica.name, f"{replica.name}-workload-main"]
    assert is_simulated(checkpoint) is True
    assert TOKEN not in json.dumps(checkpoint.raw)
    text = runner.get_secret(STACK, "town:secrets")
    assert text is not None
    assert json.loads(text) == {"ml/hub": {"token": TOKEN}}
    assert runner.get_secret(STACK, "town:nothing") is None
    shown = runner.export(STACK, show_secrets=True)
    provider = next(each for each in shown if each.name == "east-kubernetes")
    assert "https://east.test:6443" in json.loads(provider.inputs["kubeconfig"]["plaintext"])
    assert lab.files_with(TOKEN) == [], "what is asked for in clear is written nowhere"


def test_a_failing_update_keeps_descriptions_and_says_why(lab: Lab, runner: PulumiRunner) -> None:
    """One team's broken workload does not stop the others, and the state still describes it."""
    reasons = ["[ImagePullBackOff] Back-off pulling image"]
    lab.faults(
        {"type": "*ServiceAccount", "cluster": "west", "fail": "created-but-failed", "reasons": reasons},
        {"type": "aws:iam/role:Role", "fail": "quota", "message": "LimitExceeded: no more roles"},
    )
    applied = runner.up(STACK, Town(), continue_on_error=True)
    assert not applied.ok
    assert {failure.name for failure in applied.failures} == {"ml/a/west/0-workload-main", "role-nodes"}
    checkpoint = runner.export(STACK)
    said = failures_by_component(applied.failures, checkpoint)
    assert said == {
        "ml/a/west/0": "workload-main: ImagePullBackOff: Back-off pulling image",
        "role-nodes": "LimitExceeded: no more roles",
    }
    assert {r.name for r in checkpoint.of_type("berth:index:Replica")} == {"ml/a/east/0", "ml/a/west/0"}
    with pytest.raises(ResourceFailed, match="LimitExceeded") as raised:
        applied.require_ok()
    assert raised.value.exit_code == 4

    lab.faults()
    assert runner.up(STACK, Town(), continue_on_error=True).ok, "the next update heals it"


def test_policy_findings_come_whole_and_change_nothing(lab: Lab, runner: PulumiRunner, tmp_path: Path) -> None:
    """A finding has pack, rule, level, severity, message and resource; a mandatory one ends the plan with code 5."""
    pack = tmp_path / "pack"
    pack.write_text(PACK.format(python=sys.executable))
    pack.chmod(pack.stat().st_mode | stat.S_IXUSR)
    preview = runner.preview(STACK, Town(), policy_pack=PolicyPackRef(pack))
    assert not preview.ok
    (blocking,) = preview.policies.blocking
    assert (blocking.pack, blocking.rule, blocking.level, blocking.severity) == (
        "town",
        "no-role",
        Level.MANDATORY,
        "high",
    )
    assert blocking.message.endswith("a role was seen")
    assert blocking.urn.endswith("::role-nodes")
    noted = [finding for finding in preview.policies.findings if finding.rule == "account-seen"]
    assert {(finding.level, finding.severity) for finding in noted} == {(Level.ADVISORY, "low")}
    assert len(noted) == 2
    assert preview.policies.packs.keys() == {"town"}
    assert preview.failures == ()
    with pytest.raises(PolicyViolation, match="town/no-role") as raised:
        preview.require_ok()
    assert raised.value.exit_code == 5
    assert runner.export(STACK).is_empty
    assert lab.cloud.resources() == ()
    assert runner.preview(STACK, Town(roles=()), policy_pack=PolicyPackRef(pack)).ok


def test_a_protected_resource_refuses_and_is_named(runner: PulumiRunner) -> None:
    """What would be deleted or replaced in spite of its protection is listed, and is no failure of a resource."""
    runner.up(STACK, Town(protect=True))
    for town in (Town(protect=True, path="/other/"), Town(protect=True, roles=())):
        preview = runner.preview(STACK, town)
        assert not preview.ok
        assert [urn.rpartition("::")[2] for urn in preview.refused] == ["role-nodes"]
        assert preview.failures == ()
        with pytest.raises(ResourceFailed, match="role-nodes is protected"):
            preview.require_ok()


def _wrong(lab: Lab) -> PulumiRunner:
    return lab.runner(PULUMI_CONFIG_PASSPHRASE="wrong")


def _no_passphrase(lab: Lab) -> PulumiRunner:
    environment = {name: value for name, value in lab.environment.items() if name != "PULUMI_CONFIG_PASSPHRASE"}
    return PulumiRunner(lab.cli, project=lab.project, environment=environment)


def _plain(lab: Lab) -> PulumiRunner:
    return lab.runner()


ELSEWHERE = StackName("elsewhere")


@dataclass(frozen=True)
class Trouble:
    """Something that goes wrong, and the error it must be."""

    name: str
    make: Callable[[Lab], PulumiRunner]
    act: Callable[[PulumiRunner], object]
    error: type[BerthError]
    words: str


TROUBLES = [
    Trouble("wrong-preview", _wrong, lambda r: r.preview(STACK, Town()), AuthError, "passphrase does not fit"),
    Trouble("wrong-up", _wrong, lambda r: r.up(STACK, Town()), AuthError, "passphrase does not fit"),
    Trouble("wrong-destroy", _wrong, lambda r: r.destroy(STACK), AuthError, "passphrase does not fit"),
    Trouble("no-passphrase", _no_passphrase, lambda r: r.drift(STACK), AuthError, "no passphrase was given"),
    Trouble("no-stack", _plain, lambda r: r.preview(ELSEWHERE, Town()), StackNotFound, "no stack elsewhere"),
    Trouble("no-stack-export", _plain, lambda r: r.export(ELSEWHERE), StackNotFound, "no stack elsewhere"),
    Trouble(
        "no-plugin",
        lambda lab: lab.runner(PULUMI_HOME=str(lab.root / "empty")),
        lambda r: r.preview(STACK, Town()),
        ToolchainError,
        "no resource plugin 'pulumi-resource-",
    ),
    Trouble(
        "no-cli",
        lambda lab: PulumiRunner(lab.root / "none", project=lab.project, environment=lab.environment),
        lambda r: r.preview(STACK, Town()),
        ToolchainError,
        "cannot be started",
    ),
    Trouble(
        "no-project",
        lambda lab: PulumiRunner(lab.cli, project=lab.root, environment=lab.environment),
        lambda r: r.preview(STACK, Town()),
        UsageError,
        "holds no Pulumi.yaml",
    ),
    Trouble(
        "no-pack",
        _plain,
        lambda r: r.preview(STACK, Town(), policy_pack=PolicyPackRef(Path("nowhere"))),
        ToolchainError,
        "policy pack cannot run",
    ),
    Trouble("program-refuses", _plain, lambda r: r.up(STACK, Town(raises=LockError("no"))), LockError, "no"),
    Trouble("program-breaks", _plain, lambda r: r.preview(STACK, Town(raises=KeyError("oops"))), InternalError, "oops"),
]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain, home: Path) -> Lab:
    """Give one lab to all tests that change nothing in it."""
    lab = Lab(tmp_path_factory.mktemp("calm") / "lab", pulumi_cli.pulumi, home)
    lab.runner().ensure_stack(STACK)
    return lab


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_what_goes_wrong_has_an_error_of_its_own(calm: Lab, trouble: Trouble) -> None:
    """Each failure of the engine, its toolchain or the program is its own error, and nothing was changed."""
    with pytest.raises(trouble.error, match=trouble.words):
        trouble.act(trouble.make(calm))
    assert calm.runner().export(STACK).is_empty
    assert calm.runner().leases(STACK) == ()


def test_a_lease_names_its_holder_and_is_never_broken_silently(lab: Lab, runner: PulumiRunner) -> None:
    """A second run says who holds the stack, since when, whether that process lives, and how to free it."""
    folder = lab.state / ".pulumi" / "locks" / "organization" / "town" / "dev"
    folder.mkdir(parents=True, exist_ok=True)
    content = {"pid": 4194304, "username": "sam", "hostname": os.uname().nodename, "timestamp": "2026-11-02T08:00:00Z"}
    (folder / "0a.json").write_text(json.dumps(content))
    with pytest.raises(StackLeased) as raised:
        runner.up(STACK, Town())
    assert "sam@" in raised.value.summary
    assert "pid 4194304" in raised.value.summary
    assert "2026-11-02T08:00:00" in raised.value.summary
    assert "no longer runs" in raised.value.consequence
    assert "pulumi cancel --yes --stack dev" in raised.value.help
    assert [lease.user for lease in runner.leases(STACK) or ()] == ["sam"]
    runner.cancel(STACK)
    assert runner.leases(STACK) == ()
    assert runner.up(STACK, Town()).ok


def test_a_run_that_takes_too_long_is_stopped(lab: Lab, runner: PulumiRunner) -> None:
    """After its time an operation is asked to stop, and says so; the lease is free."""
    lab.faults({"type": "aws:iam/role:Role", "call": "create", "delay": 20})
    with pytest.raises(TimedOut) as raised:
        lab.runner(timeout=2.0).up(STACK, Town())
    assert raised.value.exit_code == 9
    assert runner.leases(STACK) == ()


def test_an_interrupt_finishes_what_began_and_frees_the_stack(lab: Lab) -> None:
    """The first interrupt is graceful: what had begun is in the state, nothing is pending, the lease is free."""
    interruption = Interruption()
    runner = lab.runner(interruption=interruption)
    runner.ensure_stack(STACK)
    lab.faults({"type": "aws:iam/role:Role", "call": "create", "when": "after", "delay": 3})

    def stop(event: Any) -> None:
        step = getattr(event, "step", None)
        if step is not None and step.name == "role-nodes" and not interruption.requests:
            interruption.request()

    with pytest.raises(Cancelled) as raised:
        runner.up(STACK, Town(), listener=stop)
    assert raised.value.exit_code == 8
    assert "finished" in raised.value.consequence
    calm = lab.runner()
    assert calm.export(STACK).pending == ()
    assert calm.leases(STACK) == ()
    assert lab.orphans(calm) == []


def test_a_recording_plays_back_what_the_engine_said(lab: Lab, tmp_path: Path) -> None:
    """The replaying runner gives the same values as the real one did, from files that hold no secret."""
    tap, folder = Tap(), tmp_path / "recording"
    real = recording(lab.runner(tap=tap), folder, tap=tap)

    def play(runner: Any) -> list[Any]:
        answers = [runner.ensure_stack(STACK), runner.preview(STACK, Town()), runner.up(STACK, Town())]
        answers += [runner.export(STACK), runner.drift(STACK), runner.leases(STACK)]
        try:
            runner.export(StackName("elsewhere"))
        except StackNotFound as error:
            answers.append((error.summary, error.help))
        return [replace(a, seconds=0) if hasattr(a, "seconds") else a for a in answers]

    recorded = play(real)
    replayed = ReplayRunner.of_folder(folder)
    assert play(replayed) == recorded
    assert replayed.finished
    texts = "".join(path.read_text() for path in folder.iterdir())
    assert TOKEN not in texts
    assert PASSPHRASE not in texts
