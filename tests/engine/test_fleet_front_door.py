"""A front door that moves from one cluster to another: clients find every service at one address or the other."""

from dataclasses import dataclass

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.scenario import Failure, Fault
from tests.support.fleet_run import Answer, FleetRun, applied, deployment, environment, small_fleet

pytestmark = [pytest.mark.engine, pytest.mark.lives]

ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
SERVICES = {"ml/qwen", "search/embed"}


@dataclass
class Stage:
    """What was there after one command."""

    answer: Answer
    gateways: set[str]
    """The clusters with a public gateway in the clouds."""
    leads: dict[str, dict[str, list[str]]]
    """By front door and service, the objects that its route in the clouds leads to."""
    old: list[str]
    new: list[str]
    """Where the service of the edited deployment leads before and after it moves."""


@dataclass
class Moved:
    """What was seen on the way."""

    run: FleetRun
    closed: Stage
    half: Stage
    done: Stage


def stage(run: FleetRun, answer: Answer) -> Stage:
    """Look at what the clouds have."""
    leads: dict[str, dict[str, list[str]]] = {}
    for each in run.cloud.resources(type=ROUTE):
        door, _, service = each.urn.rpartition("::")[2].removesuffix("-route").partition("/")
        if service in SERVICES:
            rule = each.inputs["spec"]["rules"][0]
            leads.setdefault(door, {})[service] = [backend["name"] for backend in rule["backendRefs"]]
    names = (each.urn.rpartition("::")[2] for each in run.cloud.resources(type=GATEWAY))
    gateways = {name.partition("/")[0] for name in names if name.endswith("/front-door-gateway")}
    placed = {str(key): each.entry.name for key, each in run.existing().replicas.items()}
    old, new = ([placed[key]] if key in placed else [] for key in ("ml/qwen/a/0", "ml/qwen/a/1"))
    return Stage(answer, gateways, leads, old, new)


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Moved:
    """Move it: first the new gateway gets no address, then the old route cannot be deleted, then all goes well."""
    base = applied(tmp_path_factory, pulumi_cli.pulumi, "small", small_fleet())
    run = base.copy(tmp_path_factory.mktemp("doors") / "fleet")
    run.write("environment.yaml", environment(doors="b"))
    run.scenario(Fault(urn="*::b/front-door-gateway", fail=Failure.CREATED_BUT_FAILED, reasons=("no address yet",)))
    closed = stage(run, run.berth("up", "--yes", code=4))

    run.write("models/ml/qwen.yaml", deployment("qwen", image="vllm:2"))
    run.scenario(Fault(urn="*::a/ml/qwen-route", call="delete", fail=Failure.PERMISSION))
    half = stage(run, run.berth("up", "--yes", code=4))

    run.scenario()
    done = stage(run, run.berth("up", "--yes", "--json"))
    return Moved(run, closed, half, done)


def test_the_plan_says_which_address_goes(moved: Moved) -> None:
    """Before anything else, because clients have to follow."""
    said = moved.closed.answer.said
    assert "Public addresses change" in said
    assert said.index("Public addresses change") < said.index("Placements")


def test_without_an_address_the_old_front_door_stays(moved: Moved) -> None:
    """The new gateway is there and failed, the old one serves everything, and the run says what it waits for."""
    assert moved.closed.gateways == {"a", "b"}
    assert set(moved.closed.leads["a"]) == SERVICES
    assert "the front door on a stays until another one serves (b: gateway: no address yet" in moved.closed.answer.said


def test_both_front_doors_lead_to_the_new_replica_before_the_old_one_goes(moved: Moved) -> None:
    """Between shift and retirement, here because the old route could not be deleted."""
    assert moved.half.gateways == {"a", "b"}
    assert moved.half.new
    assert set(moved.half.leads["b"]) == SERVICES
    assert moved.half.leads["b"]["ml/qwen"] == moved.half.new
    assert moved.half.leads["a"]["ml/qwen"] == moved.half.new


def test_routes_of_the_new_front_door_are_made_before_any_of_the_old_one_is_deleted(moved: Moved) -> None:
    """In the order in which the engine did it."""
    lines = moved.half.answer.stderr.splitlines()
    retirement = next(number for number, line in enumerate(lines) if line.startswith("retire: "))
    before, after = lines[:retirement], lines[retirement:]
    assert sum(f"created {ROUTE} b/" in line for line in before) == len(SERVICES)
    assert not any("deleted " in line for line in before)
    assert not any("created " in line for line in after)


def test_then_only_the_new_front_door_is_left(moved: Moved) -> None:
    """Nothing of the old one remains but the cluster."""
    assert moved.done.gateways == {"b"}
    assert set(moved.done.leads) == {"b"}
    assert (moved.done.old, moved.done.leads["b"]["ml/qwen"]) == ([], moved.done.new)
    assert set(moved.run.existing().front_doors) == {"b"}
