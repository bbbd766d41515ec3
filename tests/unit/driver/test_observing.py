"""Observing an environment, and planning with what was seen: it lowers what is promised and moves nobody."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from automation.observe.access import Access
from automation.observe.api import ClusterApi
from automation.rehearsal.kubernetes.machines import machine
from components.naming import StackName
from tests.support.fake_api import NODES, SLICES, FakeApi
from tests.support.fake_runner_session import NOW, FakeDriver
from tests.support.fleet_run import deployment, small_fleet
from tests.support.simulated import kubeconfig

SMALL, BIG = machine("aws", "g6e.12xlarge"), machine("aws", "g6e.48xlarge")


class Fleet:
    """The API servers of clusters ``a`` and ``b``, and the environment on them."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.apis = {"a": FakeApi(), "b": FakeApi()}
        for name, api in self.apis.items():
            api.join(f"{name}-small", SMALL, pool="small")
            api.join(f"{name}-big", BIG, pool="big")

    def open(self, access: Access, *, seconds: float) -> ClusterApi:
        """Open a client of the cluster that a kubeconfig leads to."""
        api = self.apis[access.server.removeprefix("https://").partition(".")[0]]
        return ClusterApi(access, seconds=seconds, transport=httpx.MockTransport(api.answer))

    def observe(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
        """Run the command and return its document."""
        capsys.readouterr()
        assert self.driver.berth("observe", "-o", "json", *arguments) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    def kept(self, capsys: pytest.CaptureFixture[str], path: Path) -> str:
        """Write what the command says into a file; return its path."""
        path.write_text(json.dumps(self.observe(capsys)))
        return str(path)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """Return an applied environment whose clusters have API servers."""
    driver = FakeDriver.of(tmp_path, small_fleet())
    driver.simulated = False
    stack = StackName("dev")
    driver.runner.ensure_stack(stack)
    secrets = {
        f"modelplane-system/{name}-kubeconfig": {"kubeconfig": kubeconfig(f"https://{name}.test", name=name)}
        for name in ("a", "b")
    }
    driver.runner.set_config(stack, "berth:secrets", json.dumps(secrets), secret=True)
    assert driver.up().ok
    driver.does()
    made = Fleet(driver)
    monkeypatch.setattr("automation.driver.observing.ClusterApi", made.open)
    return made


def test_every_cluster_is_a_row_with_its_pools(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Usable nodes, what strangers hold, and how old each fact is."""
    fleet.apis["b"].lists[NODES][0]["spec"]["unschedulable"] = True
    fleet.apis["b"].allocate("theirs", "b-big", "gpu-0", "gpu-1")
    seen = fleet.observe(capsys)
    assert (seen["kind"], seen["environment"], seen["simulated"]) == ("Observation", "dev", False)
    a, b = seen["clusters"]
    assert (a["name"], a["status"], a["apiServer"], a["serverReady"]) == ("a", "Observed", "v1.34.4", True)
    assert [(each["name"], each["usable"], each["unusable"]) for each in b["pools"]] == [("small", 0, 1), ("big", 1, 0)]
    assert b["pools"][0]["nodes"] == [{"name": "b-small", "usable": False, "why": ["cordoned"]}]
    assert b["pools"][1]["foreign"] == [{"name": "ml/theirs", "devices": {"gpu": 2}}]
    assert [each["name"] for each in b["facts"]] == [
        "version", "readiness", "nodes", "devices", "claims", "claim templates", "pods",
    ]  # fmt: skip
    assert not fleet.driver.does()
    assert not [call for api in fleet.apis.values() for call in api.asked if not call.startswith("GET ")]


def test_a_silent_cluster_is_a_row_and_no_failure(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is read all the same; what may not be read comes with the permission that it takes."""

    def hang(request: httpx.Request) -> None:
        raise httpx.ConnectTimeout("", request=request)

    monkeypatch.setenv("COLUMNS", "250")
    fleet.apis["a"].before = hang
    fleet.apis["b"].refused[SLICES] = 403
    assert fleet.driver.berth("observe", "-o", "wide") == 0
    said = capsys.readouterr().out
    rows = [row.split() for row in said.splitlines()]
    assert rows[0][:6] == ["CLUSTER", "STATUS", "POOL", "USABLE", "FOREIGN", "AGE"]
    assert rows[1][:6] == ["a", "Silent", "-", "-", "-", "0s"]
    assert rows[2][:4] == ["b", "Observed", "small", "1/1"]
    assert "did not answer in the time" in said
    assert "b: kubectl create clusterrole berth-resourceslices --verb=list" in said


def test_who_asks_why_gets_the_answer_of_the_plan(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An explanation and a count of room by the same file."""
    for api in fleet.apis.values():
        api.lists[NODES].clear()
    file = fleet.kept(capsys, tmp_path / "seen.json")
    assert fleet.driver.berth("capacity", "-o", "json") == 0
    assert any(each["more"] for each in json.loads(capsys.readouterr().out)["deployments"])
    assert fleet.driver.berth("capacity", "-o", "json", "--observation", file) == 0
    assert not any(each["more"] for each in json.loads(capsys.readouterr().out)["deployments"])
    fleet.driver.edit("models/ml/qwen.yaml", "replicas: 1", "replicas: 2")
    assert fleet.driver.berth("explain", "ml/qwen", "-o", "json", "--observation", file) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["placed"], answer["wanted"]) == (1, 2)


def test_the_other_forms(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Names for a loop, YAML for people, some clusters only; and no other."""
    assert fleet.driver.berth("observe", "b", "-o", "name") == 0
    assert capsys.readouterr().out == "inferencecluster/b\n"
    assert fleet.driver.berth("observe", "-o", "yaml") == 0
    assert [each["name"] for each in yaml.safe_load(capsys.readouterr().out)["clusters"]] == ["a", "b"]
    assert fleet.driver.berth("observe", "c") == 2
    assert "there is no InferenceCluster 'c' in dev" in capsys.readouterr().err


def test_a_simulated_cluster_has_nothing_to_ask(driver: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether it answers is known; nodes are not made up."""
    driver.dead["b"] = "the scenario has it down"
    assert driver.berth("observe", "-o", "json") == 0
    seen = json.loads(capsys.readouterr().out)
    assert [(each["status"], each["pools"]) for each in seen["clusters"]] == [("Simulated", []), ("Silent", [])]
    assert seen["clusters"][1]["message"] == "the scenario has it down"


def test_a_plan_promises_no_more_than_was_seen(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new replica finds no room where strangers hold a device of each node, and the plan says since when."""
    fleet.driver.write("models/ml/more.yaml", deployment("more", gpus=8))
    assert fleet.driver.berth("plan", "--dry-run", "-o", "json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert not plan["shortfalls"]
    for name, api in fleet.apis.items():
        api.allocate("theirs", f"{name}-big", "gpu-0")
    file = fleet.kept(capsys, tmp_path / "seen.json")
    assert fleet.driver.berth("plan", "--dry-run", "-o", "json", "--observation", file) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [each["deployment"] for each in plan["shortfalls"]] == ["ml/more"]
    assert f"a: nodes as seen at {NOW:%Y-%m-%d %H:%M} UTC, 0s ago" in plan["notes"]


def test_an_observation_never_drops_a_live_replica(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not one node can take pods; those that run stay, and nothing changes."""
    for api in fleet.apis.values():
        for node in api.lists[NODES]:
            node["spec"]["unschedulable"] = True
    file = fleet.kept(capsys, tmp_path / "seen.json")
    assert fleet.driver.berth("plan", "--expect-no-changes", "-o", "json", "--observation", file) == 0
    plan = json.loads(capsys.readouterr().out)
    assert not plan["leaving"]
    assert {each["change"] for each in plan["placements"]} == {"kept"}
    assert fleet.driver.berth("up", "--yes", "--observation", file) == 0
    assert set(fleet.driver.replicas().values()) == {"Serving"}


def test_what_is_too_old_does_not_count(fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The environment says how old an observation may be."""
    fleet.driver.edit("environment.yaml", "layout: Single", "observation: {maxAge: 10m}, layout: Single")
    fleet.driver.write("models/ml/more.yaml", deployment("more", gpus=8))
    seen = fleet.observe(capsys)
    for cluster in seen["clusters"]:
        cluster["at"] = (NOW - timedelta(minutes=30)).isoformat()
        cluster["pools"][1]["usable"] = 0
    path = tmp_path / "seen.json"
    path.write_text(json.dumps(seen))
    assert fleet.driver.berth("plan", "--dry-run", "-o", "json", "--observation", str(path)) == 0
    plan = json.loads(capsys.readouterr().out)
    assert not plan["shortfalls"]
    assert any("is too old to count, 30m ago" in note for note in plan["notes"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "is no observation that this Berth can read", id="not-yaml"),
        pytest.param("kind: Plan", "is no observation that this Berth can read", id="another-document"),
        pytest.param(
            "{environment: prod, simulated: false, now: 2026-11-01T00:00:00Z}",
            "is an observation of the environment prod, not of dev",
            id="another-environment",
        ),
        pytest.param(
            "{environment: dev, simulated: true, now: 2026-11-01T00:00:00Z}",
            "is an observation of the simulated environment dev",
            id="simulated",
        ),
        pytest.param(
            "{environment: dev, simulated: true, backed: true, now: 2026-11-01T00:00:00Z}",
            "is an observation of the backed environment dev",
            id="backed",
        ),
        pytest.param(
            "{environment: dev, simulated: false, now: 2999-01-01T00:00:00Z,"
            " clusters: [{name: eks-a, status: Observed, at: 2999-01-01T00:00:00Z}]}",
            "says that eks-a was seen at 2999-01-01 00:00 UTC, which is later than now",
            id="from-the-future",
        ),
        pytest.param(None, "cannot be read: No such file", id="missing"),
    ],
)
def test_a_file_that_is_no_observation_of_this_is_refused(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    """Before the engine is started, with the command that writes one."""
    path = tmp_path / "seen.json"
    if text is not None:
        path.write_text(text)
    fleet.driver.runner.calls.clear()
    assert fleet.driver.berth("plan", "--observation", str(path)) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "berth observe -e dev -o json >" in said
    assert not fleet.driver.runner.calls
