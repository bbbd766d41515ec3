"""Two runs on one environment, and leases of runs that are gone or elsewhere: named, never broken silently."""

import json
import os
import socket
from datetime import UTC, datetime, timedelta

import pytest

from automation.engine.repair import ORPHANS_TAG
from automation.engine.toolchain.toolchain import Toolchain
from tests.support.crash_run import Hold, Started, assert_sound, held, lease_folder, leases, tiny_fleet, until
from tests.support.fleet_run import FleetRun, applied

pytestmark = pytest.mark.engine

WORKLOAD = "kubernetes:apps/v1:Deployment"
HERE = socket.gethostname()


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> FleetRun:
    """Give a fleet that is up, in a repo of its own, with an edit that is to be applied."""
    made = applied(tmp_path_factory, pulumi_cli.pulumi, "tiny", tiny_fleet())
    run = made.copy(tmp_path_factory.mktemp("leases") / "run")
    run.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    return run


def hold(run: FleetRun, *, host: str, pid: int, since: datetime) -> None:
    """Write a lease as an engine does that runs elsewhere, or was started by hand."""
    folder = lease_folder(run)
    folder.mkdir(parents=True, exist_ok=True)
    content = {"pid": pid, "username": "sam", "hostname": host, "timestamp": since.isoformat()}
    (folder / "7f3c.json").write_text(json.dumps(content))


def test_a_lease_of_somebody_else_is_named_and_kept(run: FleetRun) -> None:
    """A living process here, and any on another host: who, since when, and the command; a plan needs no lease."""
    long_ago = datetime(2026, 11, 2, 8, tzinfo=UTC)
    for host, pid, since in ((HERE, os.getpid(), datetime.now(UTC) + timedelta(seconds=1)), ("far", 41, long_ago)):
        hold(run, host=host, pid=pid, since=since)
        before = run.facts(), leases(run)
        who = f"sam@{host} (pid {pid}) since {since.isoformat(timespec='seconds')}"
        refused = run.berth("up", "--yes", "--json", code=1)
        assert refused.document["code"] == "stack-leased"
        assert refused.document["summary"] == f"stack dev is leased by {who}"
        assert refused.document["help"] == "berth unlock -e dev --simulated"
        kept = run.berth("unlock", "--json", code=1)
        assert who in kept.document["summary"]
        assert kept.document["help"] == "berth unlock -e dev --simulated --force"
        status = run.berth("status", "--json").document
        assert status["leases"] == [f"dev by {who}: wait for it to end"]
        assert (run.facts(), leases(run)) == before
    assert not run.berth("plan", "--json").document["empty"]
    assert run.berth("unlock", "--force", "--json").document["holders"] == [who]
    assert leases(run) == []


def test_a_dead_lease_without_a_mark_waits_for_a_person(run: FleetRun) -> None:
    """Somebody ran plain pulumi and was killed: no proof, but enough to say how to free it."""
    gone = Started(run, ["version"])
    gone.end()
    hold(run, host=HERE, pid=gone.process.pid, since=datetime.now(UTC))
    refused = run.berth("up", "--yes", "--json", code=1).document
    assert "no longer runs on this machine" in refused["consequence"]
    assert "`berth unlock -e dev --simulated`" in refused["consequence"]
    (said,) = run.berth("status", "--json").document["leases"]
    assert said.endswith("no such process runs here; `berth unlock -e dev --simulated` frees it")
    assert f"freed dev, which sam@{HERE} (pid {gone.process.pid}) since" in run.berth("unlock").stdout
    assert run.berth("unlock").stdout == "No stack is leased.\n"


@pytest.mark.lives
def test_of_two_runs_at_once_one_wins(run: FleetRun) -> None:
    """The other ends with who it is and what it does; nothing is doubled."""
    first = held(run, Hold("create", WORKLOAD, "a/1-workload-main", "after"))
    (lease,) = leases(run)
    refused = run.berth("up", "--yes", "--json", code=1).document
    who = f"{lease['username']}@{lease['hostname']} (pid {lease['pid']}, `berth up --yes`) since"
    assert refused["summary"].startswith(f"stack dev is leased by {who}")
    assert refused["consequence"].startswith("Nothing was changed. It is still at work here: wait for it to end.")
    assert run.berth("unlock", "--json", code=1).document["code"] == "stack-leased"
    status = run.berth("status", "--json").document
    assert status["pending"] == [], "what a living run does is not interrupted"
    assert [said for said in status["leases"] if said.endswith("wait for it to end")]
    run.scenario()
    code, _, said = first.end()
    assert code == 0, said
    assert leases(run) == []
    assert_sound(run)


@pytest.mark.lives
def test_a_plan_that_waited_is_not_applied_to_another_state(run: FleetRun) -> None:
    """Somebody leaves the question open while another run changes the fleet; answered late, nothing is undone."""
    ours, theirs = os.openpty()
    first = Started(run, ["up"], stdin=theirs)
    until(lambda: "Only 'yes' is accepted" in first.said, but=lambda: first.said)
    run.berth("up", "--yes")
    before = run.existing(), run.urns(), run.cloud.dump()
    os.write(ours, b"yes\n")
    code, _, said = first.end()
    os.close(ours)
    os.close(theirs)
    assert code == 1, said
    assert "error[driver] stack dev was changed by another run since this one planned" in said
    assert "Traceback" not in said
    assert (run.existing(), run.urns(), run.cloud.dump()) == before
    assert leases(run) == []
    assert_sound(run)


def test_an_orphan_is_listed_until_it_is_dealt_with(run: FleetRun) -> None:
    """By status, and by destroy, which keeps the stack for it; a person crosses it out."""
    entry = {"urn": "urn:pulumi:dev::berth::aws:ec2/vpc:Vpc::e-vpc", "type": "aws:ec2/vpc:Vpc", "name": "e-vpc"}
    run.by_hand("stack", "tag", "set", ORPHANS_TAG, json.dumps([entry]), "--stack", "dev")
    said = "aws:ec2/vpc:Vpc e-vpc may exist and is not in the state: look for it and delete it by hand"
    assert run.berth("status", "--json").document["orphans"] == [said]
    assert run.berth("destroy", "--yes", "--json").document["notes"] == [said]
    assert run.berth("orphans", "--json").document["orphans"] == [entry]
    wrong = run.berth("orphans", "--dealt-with", "vpc", "--json", code=2).document
    assert "e-vpc" in wrong["summary"]
    assert run.berth("orphans", "--dealt-with", "e-vpc").stdout == "No orphans.\n"
    assert run.berth("status", "--json").document["orphans"] == []
    run.berth("destroy", "--yes")
    assert run.stacks() == []
