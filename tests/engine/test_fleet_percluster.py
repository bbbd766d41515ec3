"""One stack per cluster: built before the front door that leads to it, and gone with the cluster."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from automation.engine.read_back import GATEWAY_TYPE
from automation.engine.toolchain.toolchain import Toolchain
from tests.support.fleet_run import Answer, FleetRun, cluster, deployment, environment, front_door, small_fleet

pytestmark = [pytest.mark.engine, pytest.mark.lives]

STACKS = ["dev", "dev.a", "dev.b"]
SLICE = "kubernetes:discovery.k8s.io/v1:EndpointSlice"
ELSEWHERE = "203.0.113.250"


def files() -> dict[str, str]:
    """Return two clusters and a front door of its own."""
    return {
        **small_fleet(),
        "environment.yaml": environment(doors="edge", layout="PerCluster"),
        "platform/edge.yaml": front_door("edge"),
    }


@dataclass
class Sharded:
    """What was seen on the way."""

    run: FleetRun
    built: Answer
    held: dict[str, set[str]]
    """By stack, the clusters and replicas in it."""
    gateways: dict[str, Any]
    addresses: dict[str, str | None]
    led_to: set[str]
    """Where the routes of the front door lead."""
    moved: Answer
    """The run after the load balancer of ``b`` was made anew under another address."""
    led_anew: set[str]
    by_hand: dict[str, Answer]
    removed: Answer
    stacks: list[str]


def routes(run: FleetRun) -> set[str]:
    """Return where the routes of the front door lead."""
    return {
        address
        for each in run.cloud.resources(type=SLICE, scope="https://edge.simulated.invalid")
        for end in each.inputs["endpoints"]
        for address in end["addresses"]
    }


def operations(answer: Answer, kind: str) -> list[str]:
    """Return the stacks for which the engine was started for an operation, in order."""
    starts = (start.split() for start in answer.starts if f" {kind} " in f" {start} ")
    return [words[words.index("--stack") + 1] for words in starts]


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Sharded:
    """Build it, look at it, give one cluster's gateway another address, and take that cluster out."""
    run = FleetRun.make(tmp_path_factory.mktemp("sharded"), pulumi_cli.pulumi, files())
    built = run.berth("up", "--yes", "--json")
    held = {
        stack: {each.name for each in run.checkpoint(stack) if each.type.endswith(("Cluster", "Replica", "Endpoint"))}
        for stack in run.stacks()
    }
    config = (run.layout.simulated_project / "Pulumi.dev.yaml").read_text()
    gateways = json.loads(config.partition("berth:gateways:")[2].strip().splitlines()[0].strip("'"))
    addresses = {name: each.gateway_address for name, each in run.existing().clusters.items()}
    led_to = routes(run)
    (gateway,) = run.cloud.resources(type=GATEWAY_TYPE, scope="https://b.simulated.invalid")
    address = {"type": "IPAddress", "value": ELSEWHERE}
    run.cloud.edit(gateway.type, gateway.id, {"status.addresses": [address]}, scope=gateway.scope)
    moved = run.berth("up", "--yes", "--json")
    led_anew = routes(run)
    by_hand = {stack: run.by_hand("preview", "--stack", stack, "--expect-no-changes") for stack in run.stacks()}
    run.write("platform/b.yaml", cluster("b", more="  removing: true\n"))
    run.write("models/search/embed.yaml", deployment("embed", namespace="search"))
    removed = run.berth("up", "--yes", "--json")
    stacks = run.stacks()
    return Sharded(run, built, held, gateways, addresses, led_to, moved, led_anew, by_hand, removed, stacks)


def test_clusters_are_built_before_the_front_door(sharded: Sharded) -> None:
    """Three stacks, each with its share; routes are made where the front door is, once the replicas are ready."""
    assert sharded.held == {
        "dev": {"edge", "edge/ml/qwen-107f2", "edge/search/embed-f2491"},
        "dev.a": {"a", "ml/qwen/a/0"},
        "dev.b": {"b", "search/embed/b/0"},
    }
    assert operations(sharded.built, "up") == ["dev.a", "dev.b", "dev", "dev.a", "dev.b", "dev"]


def test_the_front_door_is_told_where_gateways_are(sharded: Sharded) -> None:
    """The addresses come from the other stacks' states into its configuration, and from there into the routes."""
    assert sharded.gateways == {name: sharded.addresses[name] for name in ("a", "b")}
    assert all(sharded.gateways.values())
    assert sharded.led_to == set(sharded.gateways.values())


def test_a_gateway_with_another_address_is_followed(sharded: Sharded) -> None:
    """Its own stack stores it and the front doors' leads there, in one build; plain pulumi then finds nothing to do."""
    assert sharded.led_anew == {sharded.gateways["a"], ELSEWHERE}
    assert [(each["kind"], each["stack"]) for each in sharded.moved.document["steps"]] == [
        ("build", "dev.b"),
        ("build", "dev"),
    ]
    assert (sharded.moved.count("preview"), sharded.moved.count("up")) == (3, 2)


def test_a_hand_preview_of_every_stack_is_empty(sharded: Sharded) -> None:
    """Plain pulumi sees the same configuration, so it finds nothing to do."""
    assert sorted(sharded.by_hand) == STACKS


def test_only_stacks_with_something_to_do_are_asked(sharded: Sharded) -> None:
    """Preview 1 asks the stack whose cluster was edited; every step works on the stacks that it concerns."""
    assert operations(sharded.removed, "preview")[:1] == ["dev.b"]
    assert sorted(operations(sharded.removed, "preview")[1:4]) == STACKS
    assert operations(sharded.removed, "up") == ["dev.a", "dev.a", "dev.b", "dev", "dev", "dev.b"]


def test_a_removed_cluster_leaves_no_stack_behind(sharded: Sharded) -> None:
    """Its replica moved, everything of it is gone, and so is its stack."""
    assert sharded.stacks == ["dev", "dev.a"]
    assert sharded.run.replicas() == {"ml/qwen/a/0": "Serving", "search/embed/a/0": "Serving"}
    assert "removed stack dev.b" in sharded.removed.stderr
