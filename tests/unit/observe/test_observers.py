"""Clusters that answer and clusters that do not, over a network and in a simulated cloud."""

import socket
import threading
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from automation.engine.checkpoint import Resource
from automation.engine.repair import CannotTell
from automation.observe.live import LiveObserver
from automation.observe.reachability import Reachability, observation, unreachable
from automation.observe.simulated import SimulatedFinder, SimulatedObserver
from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.store import Row, Store
from tests.unit.engine.samples import SECRET

NOW = datetime(2026, 11, 2, 8, tzinfo=UTC)
ROLE = "aws:iam/role:Role"


def clock() -> datetime:
    """Give the only moment."""
    return NOW


@pytest.fixture
def speaker() -> Generator[str]:
    """Serve what accepts a connection and answers a TLS greeting with an alert, as a picky server does."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(4096)
            connection.sendall(b"\x15\x03\x03\x00\x02\x02\x28")  # a fatal alert: handshake failure

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"127.0.0.1:{server.getsockname()[1]}"
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


@pytest.fixture
def mute() -> Generator[str]:
    """Serve what accepts a connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed() -> str:
    """Give an address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_a_server_that_answers_is_reachable(speaker: str) -> None:
    """Who refuses a handshake in proper TLS is there."""
    (answer,) = LiveObserver(clock=clock).reachable({"east": f"https://{speaker}"}).values()
    assert answer == Reachability("east", reachable=True, at=NOW)


def test_a_server_without_tls_is_only_connected_to(mute: str) -> None:
    """A plain address needs no greeting."""
    assert LiveObserver(clock=clock).reachable({"east": f"http://{mute}"})["east"].reachable


def test_all_clusters_are_asked_and_each_says_what_stood_in_the_way(closed: str, mute: str) -> None:
    """Nobody listening, silence, no host, no URL: each has its own words, in the order of names."""
    answers = LiveObserver(timeout=0.2, clock=clock).reachable(
        {
            "mute": mute,
            "closed": f"https://{closed}",
            "odd": "https://",
            "worse": "https://h:port",
            "far": "no-such.invalid",
        }
    )
    assert list(answers) == ["closed", "far", "mute", "odd", "worse"]
    assert unreachable(answers) == set(answers)
    assert "Connection refused" in answers["closed"].why
    assert "did not answer within 0.2 s" in answers["mute"].why
    assert "names no host" in answers["odd"].why
    assert "is not a URL" in answers["worse"].why
    assert answers["far"].why


def test_no_cluster_costs_nothing_and_a_proxied_network_asks_nobody() -> None:
    """There is nothing to ask, or no direct way to ask."""
    assert LiveObserver(clock=clock).reachable({}) == {}
    assert LiveObserver(direct=False, clock=clock).reachable({"east": "no-such.invalid"})["east"].reachable


def test_an_answer_has_an_age_and_becomes_an_observation() -> None:
    """The scheduler gets the moment, not the age."""
    answer = Reachability("east", reachable=False, at=NOW, why="silence")
    assert answer.age(NOW + timedelta(minutes=5)) == timedelta(minutes=5)
    seen = observation({"east": answer}).clusters["east"]
    assert (seen.at, seen.reachable) == (NOW, False)


def test_a_simulated_cluster_answers_unless_the_scenario_cuts_it_off(tmp_path: Path) -> None:
    """The cluster may be named by its own name or its server's address."""
    scenario = tmp_path / "scenario.json"
    scenario.write_text(
        '{"rules": [{"fail": "unreachable", "cluster": "west"}, {"fail": "unreachable", "cluster": "*north*"}]}'
    )
    cloud = SimulatedCloud(tmp_path / "cloud.db", scenario=scenario)
    endpoints = {name: f"https://{name}.test:6443" for name in ("east", "west", "north")}
    answers = SimulatedObserver(cloud, clock=clock).reachable(endpoints)
    assert unreachable(answers) == {"west", "north"}
    assert answers["west"].why == "dial tcp: i/o timeout"


def put(store: Store, identifier: str, **inputs: object) -> None:
    """Put a role into the simulated cloud."""
    row = Row("aws", ROLE, "account", identifier, identifier, identifier, f"urn::{identifier}", "", dict(inputs), {})
    with store.transaction() as transaction:
        transaction.insert(row)


def test_a_simulated_search_goes_by_settings_and_owner(tmp_path: Path) -> None:
    """Everything asked for must be there; what is encrypted is not compared; what a state knows is no candidate."""
    store = Store(tmp_path / "cloud.db")
    put(store, "sim-1", path="/", tags={"berth:component": "x", "extra": "1"}, zones=["a", "b"], key={"$sealed": "ab"})
    put(store, "sim-2", path="/", tags={"berth:component": "y"}, zones=["a"])
    finder = SimulatedFinder(SimulatedCloud(tmp_path / "cloud.db"))

    def find(known: tuple[str, ...] = (), **inputs: object) -> str | None:
        return finder.find(Resource(urn="u", type=ROLE, inputs=inputs), known=known)

    assert find(path="/", tags={"berth:component": "x"}, zones=["a", "b"], key=SECRET, __defaults=[]) == "sim-1"
    assert find(tags={"berth:component": "y"}) == "sim-2"
    assert find(path="/") == "sim-1"
    assert find(("sim-1",), path="/") == "sim-2"
    assert find(("sim-1", "sim-2"), path="/") is None
    assert find(zones=["a", "c"]) is None
    assert find(tags="x") is None
    with pytest.raises(CannotTell):
        finder.find(Resource(urn="u", type="kubernetes:core/v1:Secret"), known=())
