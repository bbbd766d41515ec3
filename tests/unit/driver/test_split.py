"""One stack for each cluster: which stacks a run works on, in which order, and what they are told of each other."""

import json

from automation.driver.shared import GATEWAYS_KEY
from components.naming import StackName
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import ON_B, cluster, deployment

DOORS = StackName("dev")


def ups(driver: FakeDriver) -> list[str]:
    """Return the stacks that were updated, in order."""
    return [call.split()[1] for call in driver.does() if call.startswith("up ")]


def test_the_front_doors_are_told_where_the_other_gateways_are(split: FakeDriver) -> None:
    """The program reads no state; a plain ``pulumi preview`` sees the same."""
    told = json.loads(split.runner.held[DOORS].config[GATEWAYS_KEY])
    assert told == {"b": "b-serving-gateway.lb.test"}
    name = split.name_of("search/embed/b/0")
    assert split.state_of(f"a/search/{name}-slice")["inputs"]["host"] == "b-serving-gateway.lb.test"
    assert split.plan().empty


def test_a_move_is_built_on_its_cluster_then_routed_then_retired(split: FakeDriver) -> None:
    """Front doors come last while routes are moved, and first when what they led to goes; nobody else is touched."""
    split.write("platform/c.yaml", cluster("c"))
    split.up()
    split.does()
    split.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    assert split.up().ok
    assert ups(split) == ["dev.b", "dev.b", "dev", "dev", "dev.b"]
    assert split.replicas()["search/embed/b/1"] == "Serving"
    assert "search/embed/b/0" not in split.replicas()
    assert split.plan().empty


def test_only_the_stack_of_an_edited_cluster_is_asked_about_the_edit(split: FakeDriver) -> None:
    """A preview costs; the others have nothing to say to it."""
    split.edit("platform/b.yaml", "labels: {cluster: b}", "labels: {cluster: b, tier: gold}")
    split.does()
    split.plan()
    assert split.does() == ["preview dev.b", "preview dev.b", "preview dev"]


def test_a_new_cluster_gets_a_stack_of_its_own(split: FakeDriver) -> None:
    """And the front doors are told of its gateway before anything leads there."""
    split.write("platform/c.yaml", cluster("c"))
    split.write("models/ml/far.yaml", deployment("far", spec="clusterSelector: {matchLabels: {cluster: c}}"))
    assert split.up().ok
    assert json.loads(split.runner.held[DOORS].config[GATEWAYS_KEY]) == {
        "b": "b-serving-gateway.lb.test",
        "c": "c-serving-gateway.lb.test",
    }
    assert split.backends("ml", "far") == {split.name_of("ml/far/c/0"): 1}
    assert {each.name for each in split.checkpoint("dev.c") if each.type == "berth:index:Replica"} == {"ml/far/c/0"}
    assert split.plan().empty


def test_a_cluster_that_fails_holds_up_no_other(split: FakeDriver) -> None:
    """Its own replicas wait for it."""
    split.runner.faults.creations = {"search/embed/b/1-workload-main"}
    split.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    split.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    assert not split.up().ok
    assert split.replicas()["ml/qwen/a/1"] == "Serving"
    assert split.replicas()["search/embed/b/0"] == "Serving"
    assert split.backends("search", "embed") == {split.name_of("search/embed/b/0"): 1}


def test_a_replica_that_moves_between_clusters_is_served_without_a_gap(split: FakeDriver) -> None:
    """Built in one stack, routed in another, retired in a third."""
    split.edit("models/search/embed.yaml", ON_B, "clusterSelector: {matchLabels: {cluster: a}}")
    assert split.up().ok
    assert split.replicas() == {"ml/qwen/a/0": "Serving", "search/embed/a/0": "Serving"}
    assert split.plan().empty
