"""A kubeconfig that leads to another server than before, or to a server that another cluster has, is refused."""

import json

import pytest

from components.errors import ConfigError
from components.naming import StackName
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import cluster
from tests.support.simulated import kubeconfig

OTHER = "https://other.example.test"


def hold(driver: FakeDriver, stack: str = "dev", **servers: str) -> None:
    """Put kubeconfigs into a stack's secrets, each leading its cluster to a server."""
    secrets = {
        f"modelplane-system/{name}-kubeconfig": {"kubeconfig": kubeconfig(server, name=name)}
        for name, server in servers.items()
    }
    driver.runner.ensure_stack(StackName.parse(stack))
    driver.runner.set_config(StackName.parse(stack), "berth:secrets", json.dumps(secrets), secret=True)


def refused(driver: FakeDriver) -> ConfigError:
    """Plan, and return why that was refused."""
    with pytest.raises(ConfigError) as caught:
        driver.plan()
    return caught.value


def test_a_kubeconfig_for_another_server_is_refused_before_anything_changes(driver: FakeDriver) -> None:
    """Everything would be made anew there, and what runs on the old cluster would be forgotten."""
    hold(driver, b=OTHER)
    (problem,) = refused(driver).problems
    assert problem.code == "server-changed"
    assert "b is at https://b.simulated.invalid, and its kubeconfig leads to https://other.example.test" in (
        problem.message
    )
    assert "platform/b.yaml" in problem.where
    assert "removing: true" in problem.help
    assert "lost: true" in problem.help
    assert "token" not in str(problem)
    with pytest.raises(ConfigError):
        driver.up()
    assert set(driver.replicas()) == {"ml/qwen/a/0", "search/embed/b/0"}


@pytest.mark.parametrize(
    "server",
    ["https://b.simulated.invalid", "https://B.simulated.invalid:443/"],
    ids=["the same text", "another spelling"],
)
def test_a_new_credential_for_the_same_server_passes(driver: FakeDriver, server: str) -> None:
    """A token is rotated every few weeks; the cluster stays the one it is."""
    hold(driver, b=server)
    assert driver.up().ok
    assert driver.plan().empty


def test_a_cluster_that_is_lost_may_lead_anywhere(driver: FakeDriver) -> None:
    """Nothing is built on it, and the way out must not be barred by what it leads away from."""
    hold(driver, b=OTHER)
    driver.edit("platform/b.yaml", "spec:\n", "spec:\n  lost: true\n")
    driver.up()
    assert "b" not in driver.existing().clusters


def test_two_clusters_with_one_server_are_refused_at_once(fresh: FakeDriver) -> None:
    """Each would take the other's objects for its own; the two kubeconfigs are different texts."""
    hold(fresh, a="https://one.example.test", b="https://one.example.test:443")
    (problem,) = refused(fresh).problems
    assert problem.code == "cluster-twice"
    assert "the clusters a (" in problem.message
    assert "lead to https://one.example.test" in problem.message
    assert "platform/b.yaml" in problem.where


def test_two_clusters_with_one_server_in_two_stacks_are_refused(fresh: FakeDriver) -> None:
    """No stack holds both kubeconfigs, so the run puts them side by side."""
    fresh.edit("environment.yaml", "Single", "PerCluster")
    hold(fresh, "dev", a=OTHER)
    hold(fresh, "dev.b", b=OTHER)
    (problem,) = refused(fresh).problems
    assert problem.code == "cluster-twice"


def test_a_kubeconfig_for_a_cluster_that_berth_made_is_refused(cloud: FakeDriver) -> None:
    """It is the same cluster under a second name, with everything on it."""
    made = next(each for each in cloud.existing().clusters.values() if each.source == "EKS")
    cloud.write("platform/twin.yaml", cluster("twin").replace("gpu-4x", "h100-8x").replace("gpu-8x", "h100-8x"))
    hold(cloud, next(iter(cloud.runner.held)).environment, twin=made.endpoint or "")
    (problem,) = refused(cloud).problems
    assert problem.code == "cluster-twice"
    assert f"the clusters {made.name} (" in problem.message


@pytest.mark.parametrize("proxy", ["", "https://proxy.example.test"], ids=["no proxy", "its own proxy"])
def test_one_private_address_behind_two_proxies_is_two_servers(fresh: FakeDriver, proxy: str) -> None:
    """Networks of one company often use the same addresses."""
    hold(fresh, a="https://10.0.0.1", b="https://10.0.0.1")
    config = fresh.runner.held[StackName("dev")].config
    secrets = json.loads(config["berth:secrets"])
    text = json.loads(secrets["modelplane-system/b-kubeconfig"]["kubeconfig"])
    text["clusters"][0]["cluster"]["proxy-url"] = proxy
    secrets["modelplane-system/b-kubeconfig"]["kubeconfig"] = json.dumps(text)
    config["berth:secrets"] = json.dumps(secrets)
    if proxy:
        fresh.plan()
    else:
        refused(fresh)
