"""Scenarios: which calls fail or wait, how often, before or after the cloud acts, and how they are written and read."""

import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.provider.faults import BACKINGS, FAILURES, FIELDS
from automation.rehearsal.scenario import Backing, Failure, Fault, Scenario, environment
from components.errors import UsageError
from tests.support.simulated import VPC, Provider, Refusal

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
NET = {"cidrBlock": "10.0.0.0/16"}


def workload(image: str) -> dict[str, Any]:
    """Write a deployment's inputs."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"metadata": {"name": "w", "namespace": "default"}, "spec": spec}


WORDS = {
    Failure.QUOTA: "LimitExceededException",
    Failure.CAPACITY: "InsufficientInstanceCapacity",
    Failure.TIMEOUT: "timeout while waiting for state",
    Failure.THROTTLED: "ThrottlingException: Rate exceeded",
    Failure.UNREACHABLE: "lookup us-east-1.amazonaws.com: no such host",
    Failure.PERMISSION: "AccessDenied",
}


@pytest.mark.parametrize(("failure", "says"), WORDS.items(), ids=[str(failure) for failure in WORDS])
def test_failures_speak_the_clouds_words(
    failure: Failure, says: str, aws: Provider, cloud: SimulatedCloud, scenario: Path
) -> None:
    """The text is what the real cloud would say, and nothing was created."""
    Scenario.of(Fault(fail=failure)).write(scenario)
    with pytest.raises(Refusal, match=says) as caught:
        aws.create(VPC, "net", NET)
    assert caught.value.reasons == ()
    assert cloud.resources() == ()


def test_created_but_failed_leaves_the_resource(aws: Provider, cloud: SimulatedCloud, scenario: Path) -> None:
    """The engine learns id, outputs and reasons of what exists but does not work."""
    Scenario.of(Fault(fail=Failure.CREATED_BUT_FAILED, reasons=("no route", "no luck"), times=1)).write(scenario)
    with pytest.raises(Refusal, match="no route") as caught:
        aws.create(VPC, "net", NET)
    assert caught.value.reasons == ("no route", "no luck")
    assert caught.value.outputs["cidrBlock"] == "10.0.0.0/16"
    assert [item.id for item in cloud.resources()] == [caught.value.id]
    assert aws.update(VPC, "net", caught.value.id, olds=caught.value.outputs, news=NET)


def test_broken_images_never_become_available(existing: Provider, scenario: Path) -> None:
    """Creation and update fail with the reason; a read still says so; it heals when the rule is gone."""
    Scenario.of(Fault(fail=Failure.IMAGE_PULL, image="*:broken*")).write(scenario)
    id_, outputs = existing.create(DEPLOYMENT, "w", workload("i:1"))
    with pytest.raises(Refusal, match="ImagePullBackOff") as caught:
        existing.update(DEPLOYMENT, "w", id_, olds=outputs, news=workload("i:broken-1"))
    assert 'pulling image "i:broken-1"' in caught.value.reasons[-1]
    assert caught.value.outputs["status"]["availableReplicas"] == 0
    with pytest.raises(Refusal, match="ImagePullBackOff"):
        existing.read(DEPLOYMENT, "w", id_, inputs=workload("i:broken-1"), outputs=caught.value.outputs)
    scenario.unlink()
    read = existing.read(DEPLOYMENT, "w", id_, inputs=workload("i:broken-1"), outputs=caught.value.outputs)
    assert read is not None
    assert read[1]["status"]["availableReplicas"] == 1


def test_an_ordered_failure_lasts_until_the_next_update(existing: Provider, scenario: Path) -> None:
    """What was created but failed stays so when it is read, and an update tries again."""
    Scenario.of(Fault(fail=Failure.CREATED_BUT_FAILED, type="*:ConfigMap", times=1)).write(scenario)
    config = {"metadata": {"name": "c", "namespace": "default"}}
    with pytest.raises(Refusal, match="did not become ready") as caught:
        existing.create("kubernetes:core/v1:ConfigMap", "c", config)
    with pytest.raises(Refusal, match="did not become ready"):
        existing.read("kubernetes:core/v1:ConfigMap", "c", caught.value.id, inputs=config, outputs=caught.value.outputs)
    existing.update("kubernetes:core/v1:ConfigMap", "c", caught.value.id, olds=caught.value.outputs, news=config)
    assert existing.read("kubernetes:core/v1:ConfigMap", "c", caught.value.id, inputs=config)


class Match(NamedTuple):
    """A rule and whether it strikes the creation of a VPC named ``net``."""

    rule: Fault
    strikes: bool


RULES = {
    "everything": Match(Fault(fail=Failure.QUOTA), strikes=True),
    "package": Match(Fault(fail=Failure.QUOTA, package="aws"), strikes=True),
    "another package": Match(Fault(fail=Failure.QUOTA, package="kubernetes"), strikes=False),
    "type": Match(Fault(fail=Failure.QUOTA, type="aws:ec2/*:Vpc"), strikes=True),
    "another type": Match(Fault(fail=Failure.QUOTA, type="aws:eks/*"), strikes=False),
    "logical name": Match(Fault(fail=Failure.QUOTA, name="ne?"), strikes=True),
    "another name": Match(Fault(fail=Failure.QUOTA, name="NET"), strikes=False),
    "urn": Match(Fault(fail=Failure.QUOTA, urn="urn:pulumi:dev::*::net"), strikes=True),
    "another urn": Match(Fault(fail=Failure.QUOTA, urn="urn:pulumi:prod::*"), strikes=False),
    "call": Match(Fault(fail=Failure.QUOTA, call="create"), strikes=True),
    "another call": Match(Fault(fail=Failure.QUOTA, call=("delete", "read")), strikes=False),
    "an image": Match(Fault(fail=Failure.QUOTA, image="*"), strikes=False),
    "a cluster": Match(Fault(fail=Failure.UNREACHABLE, cluster="*"), strikes=False),
}


@pytest.mark.parametrize("match", RULES.values(), ids=RULES)
def test_rules_match_by_all_their_patterns(match: Match, aws: Provider, scenario: Path) -> None:
    """A rule strikes when every pattern it has matches, and only then."""
    Scenario.of(match.rule).write(scenario)
    try:
        aws.create(VPC, "net", NET)
    except Refusal:
        struck = True
    else:
        struck = False
    assert struck is match.strikes


@pytest.mark.parametrize("call", ["configure", "check", "create", "read", "update", "delete"])
def test_every_call_can_fail(call: str, aws: Provider, scenario: Path) -> None:
    """Each call of the protocol is in reach of a scenario, with a text of one's own."""
    vpc, outputs = aws.create(VPC, "net", NET)
    Scenario.of(Fault(fail=Failure.TIMEOUT, call=call, message="as ordered")).write(scenario)
    calls = {
        "configure": lambda: aws.configure(region="us-east-1"),
        "check": lambda: aws.check(VPC, "net", NET),
        "create": lambda: aws.create(VPC, "net2", NET),
        "read": lambda: aws.read(VPC, "net", vpc),
        "update": lambda: aws.update(VPC, "net", vpc, olds=outputs, news=NET),
        "delete": lambda: aws.delete(VPC, "net", vpc),
    }
    for other, act in calls.items():
        if other == call:
            with pytest.raises(Refusal, match="as ordered"):
                act()
        elif other in {"check", "read"}:
            act()


def test_names_are_logical_or_physical(aws: Provider, scenario: Path) -> None:
    """A role may be meant by the name it has in the cloud."""
    Scenario.of(Fault(fail=Failure.QUOTA, name="east-nodes-*")).write(scenario)
    with pytest.raises(Refusal):
        aws.create("aws:iam/role:Role", "r", {"name": "east-nodes-1", "assumeRolePolicy": "{}"})


def test_counting_rules_count_over_processes(aws: Provider, cloud: SimulatedCloud, scenario: Path) -> None:
    """The second and third creation fail, whoever asks; a changed file counts anew."""
    Scenario.of(Fault(fail=Failure.CAPACITY, type=VPC, nth=2, times=2)).write(scenario)
    outcomes = []
    for number in range(5):
        try:
            aws.configure(region="us-east-1").create(VPC, f"net-{number}", NET)
        except Refusal:
            outcomes.append(False)
        else:
            outcomes.append(True)
    assert outcomes == [True, False, False, True, True]
    Scenario.of(Fault(fail=Failure.CAPACITY, type=VPC, times=1)).write(scenario)
    with pytest.raises(Refusal):
        aws.create(VPC, "net-5", NET)
    aws.create(VPC, "net-6", NET)
    assert len(cloud.resources()) == 4


def test_previews_are_spared_unless_told(aws: Provider, scenario: Path) -> None:
    """Clouds are not asked in previews; a rule may say otherwise."""
    Scenario.of(Fault(fail=Failure.QUOTA)).write(scenario)
    aws.preview(VPC, "net", NET)
    Scenario.of(Fault(fail=Failure.QUOTA, preview=True)).write(scenario)
    with pytest.raises(Refusal):
        aws.preview(VPC, "net", NET)


def test_a_fault_after_the_act_leaves_an_orphan(aws: Provider, cloud: SimulatedCloud, scenario: Path) -> None:
    """The cloud did it, and the engine hears of a failure: nobody's state knows the resource."""
    Scenario.of(Fault(fail=Failure.TIMEOUT, when="after")).write(scenario)
    with pytest.raises(Refusal, match="timeout"):
        aws.create(VPC, "net", NET)
    assert [item.urn.rpartition("::")[2] for item in cloud.orphans(())] == ["net"]


@pytest.mark.parametrize(("when", "created"), [("before", 0), ("after", 1)])
def test_a_cancelled_engine_does_not_wait(
    when: str, created: int, aws: Provider, cloud: SimulatedCloud, scenario: Path
) -> None:
    """Cancel ends a long delay at once; whether the resource exists depends on when the delay was."""
    Scenario.of(Fault(delay=600, when=when)).write(scenario)
    ended: list[str] = []

    def create() -> None:
        try:
            aws.create(VPC, "net", NET)
        except Refusal as refusal:
            ended.append(str(refusal))

    thread = threading.Thread(target=create)
    thread.start()
    aws.cancel()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert len(cloud.resources()) == created
    assert len(ended) == 1 - created


def test_taking_a_delay_back_ends_it(aws: Provider, cloud: SimulatedCloud, scenario: Path) -> None:
    """Whoever waits for a call to be reached can then let it go on, without waiting for the clock."""
    Scenario.of(Fault(delay=600, when="after")).write(scenario)
    thread = threading.Thread(target=aws.create, args=(VPC, "net", NET))
    thread.start()
    Scenario.of().write(scenario)
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert len(cloud.resources()) == 1


def test_scenarios_are_read_again_when_they_change(aws: Provider, scenario: Path) -> None:
    """A missing file is no scenario; it may come, change and go while providers run."""
    aws.create(VPC, "a", NET)
    Scenario.of(Fault(fail=Failure.QUOTA)).write(scenario)
    with pytest.raises(Refusal):
        aws.create(VPC, "b", NET)
    scenario.unlink()
    aws.create(VPC, "b", NET)


def test_scenarios_may_be_written_by_hand(aws: Provider, scenario: Path) -> None:
    """YAML is read as well, and Berth reads it into the same rules."""
    text = "# more room is needed\nrules:\n- type: 'aws:ec2/*'\n  fail: quota\n  call: [create]\n"
    scenario.write_text(text)
    with pytest.raises(Refusal, match="LimitExceeded"):
        aws.create(VPC, "net", NET)
    assert Scenario.read(scenario) == Scenario.of(Fault(type="aws:ec2/*", fail=Failure.QUOTA, call=("create",)))


WRONG = {
    "not YAML": ("rules: [", "neither JSON nor YAML"),
    "no rules": ("{}", "holds no list of rules"),
    "not rules": ("rules: [1]", "holds no list of rules"),
    "unknown field": ("rules: [{typ: a, fail: quota}]", "rule 1: unknown field 'typ'"),
    "unknown failure": ("rules: [{fail: quotas}]", "unknown failure 'quotas'"),
    "unknown call": ("rules: [{fail: quota, call: creat}]", "unknown call in 'creat'"),
    "unknown time": ("rules: [{fail: quota, when: during}]", "when is 'before' or 'after'"),
    "nothing": ("rules: [{type: a}]", "the rule does nothing"),
    "unknown part": ("{rules: [], baking: kubernetes}", "unknown field 'baking'; known are backing, rules"),
    "unknown backing": ("backing: docker", "unknown backing 'docker'; known is kubernetes"),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_what_a_scenario_does_not_know_is_an_error(text: str, says: str, aws: Provider, scenario: Path) -> None:
    """A rule that would never match hides a test; providers and Berth both refuse it."""
    scenario.write_text(text)
    with pytest.raises(Refusal) as caught:
        aws.create(VPC, "net", NET)
    assert says in str(caught.value)
    with pytest.raises(UsageError) as refused:
        Scenario.read(scenario)
    assert says in refused.value.summary


def test_an_unreadable_scenario_is_a_usage_error(scenario: Path) -> None:
    """A file that is not there, or not text, is named."""
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        Scenario.read(scenario)
    scenario.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(UsageError, match="cannot be used"):
        Scenario.read(scenario)


def test_the_model_and_the_loader_agree(scenario: Path) -> None:
    """Every field and failure that can be written can be read, and comes back the same."""
    full = Fault(
        fail=Failure.CAPACITY,
        package="a",
        type="b",
        name="c",
        urn="d",
        cluster="e",
        image="f",
        call=("create", "delete"),
        nth=2,
        times=3,
        preview=True,
        when="after",
        delay=0.5,
        message="m",
        reasons=("r",),
    )
    assert set(full.document()) == FIELDS
    assert {failure.value for failure in Failure} == set(FAILURES)
    assert {backing.value for backing in Backing} == set(BACKINGS)
    for backing in (None, *Backing):
        written = Scenario.of(full, backing=backing)
        assert Scenario.read(written.write(scenario)) == written
    assert dict(environment(scenario)) == {"BERTH_SIMULATION_SCENARIO": os.fspath(scenario)}
    assert dict(environment(None)) == {}
