"""What ``berth get --status`` reads of the state: who is ready, and where."""

from dataclasses import replace

import pytest

from automation.driver.listing import state_cells
from automation.scheduling.existing import ExistingCache
from components.lock import CacheEntry, CacheShape
from tests.support.fake_runner_session import FakeDriver


def test_a_fleet_that_was_never_applied_has_no_cells(fresh: FakeDriver) -> None:
    """Nothing is guessed; only how many replicas a deployment wants is known."""
    cells = state_cells(fresh.read(create=False, missing_ok=True))
    assert cells["InferenceCluster"] == {}
    assert cells["InferenceGateway"] == {}
    assert cells["ModelService"] == {}
    assert {value[0].partition("/")[0] for value in cells["ModelDeployment"].values()} == {"0"}


def test_an_applied_fleet_says_who_is_ready(driver: FakeDriver) -> None:
    """Clusters by their state, deployments by what serves of what they want."""
    situation = driver.read()
    cells = state_cells(situation)
    assert {name: cell[0] for (_, name), cell in cells["InferenceCluster"].items()} == {"a": "True", "b": "True"}
    for (namespace, name), deployment in situation.fleet.deployments.items():
        wanted = deployment.spec.replicas
        assert cells["ModelDeployment"][namespace, name] == (f"{wanted}/{wanted}",)


def test_a_cluster_that_does_not_answer_is_unknown(driver: FakeDriver) -> None:
    """And what is on it does not count as serving."""
    driver.dead["a"] = "dial tcp: i/o timeout"
    cells = state_cells(driver.read())
    assert cells["InferenceCluster"]["", "a"][0] == "Unknown"
    assert cells["InferenceCluster"]["", "b"][0] == "True"


def test_what_failed_does_not_count(driver: FakeDriver) -> None:
    """What is wanted stays."""
    situation = driver.read()
    first, *_ = sorted(situation.existing.replicas)
    replicas = {**situation.existing.replicas}
    replicas[first] = replace(replicas[first], failure="Back-off pulling image")
    existing = replace(situation.existing, replicas=replicas)
    cells = state_cells(replace(situation, existing=existing))["ModelDeployment"]
    wanted = situation.fleet.deployments[first.namespace, first.deployment].spec.replicas
    assert cells[first.namespace, first.deployment] == (f"{wanted - 1}/{wanted}",)


def test_caches_count_the_clusters_that_have_them(driver: FakeDriver) -> None:
    """Staged ones of all copies."""
    situation = driver.read()
    shape = CacheShape(source="HuggingFace", repo="a/b", size_gib=1)
    entries = [CacheEntry(cache="w", cluster=name, shape="sha256:0") for name in ("a", "b")]
    caches = {
        each.id_in("ml"): ExistingCache(each.id_in("ml"), each, shape, ready=each.cluster == "a") for each in entries
    }
    existing = replace(situation.existing, caches=caches)
    assert state_cells(replace(situation, existing=existing))["ModelCache"] == {("ml", "w"): ("1/2",)}


def test_addresses_come_from_the_outputs(driver: FakeDriver) -> None:
    """Of every stack, in one order; what is not known yet is left out."""
    situation = driver.read()
    stack = next(iter(situation.checkpoints))
    outputs = situation.checkpoints[stack].outputs
    assert isinstance(outputs, dict)
    outputs["frontDoors"] = {"b": "192.0.2.2", "a": "192.0.2.1", "c": ""}
    outputs["services"] = {"ml/qwen": {"b": "http://192.0.2.2/ml/qwen/v1", "a": "http://192.0.2.1/ml/qwen/v1"}}
    cells = state_cells(situation)
    assert cells["InferenceGateway"]["", "default"] == ("192.0.2.1, 192.0.2.2",)
    assert cells["ModelService"]["ml", "qwen"] == ("http://192.0.2.1/ml/qwen/v1, http://192.0.2.2/ml/qwen/v1",)


def test_the_command_shows_where_requests_go(driver: FakeDriver, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever word the kind is called by; the way from a cluster's address to a service's is said."""
    assert driver.berth("get", "clusters", "--status") == 0
    said = capsys.readouterr()
    assert "INNER GATEWAY" in said.out.splitlines()[0]
    assert "berth get services --status" in said.err
    assert driver.berth("get", "services", "--status") == 0
    said = capsys.readouterr()
    assert "SEND REQUESTS TO" in said.out.splitlines()[0]
    assert "Clients send" not in said.err
    assert driver.berth("get", "gateways", "--status") == 0
    assert "PUBLIC ADDRESS" in capsys.readouterr().out.splitlines()[0]
