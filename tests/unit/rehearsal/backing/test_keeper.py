"""The keeper of control planes, with control planes that only pretend."""

import itertools
import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing import keeper as keepers
from automation.rehearsal.backing import token_program
from automation.rehearsal.backing.door import RECORD, Door, KeeperRefused, NotKept, write_record
from automation.rehearsal.backing.eks import CLUSTER, LAUNCH_TEMPLATE, NODE_GROUP
from automation.rehearsal.backing.keeper import Keeper
from automation.rehearsal.kubernetes.api import ApiError
from automation.rehearsal.kubernetes.local import Kit
from automation.rehearsal.provider.backing import back
from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.store import Row, Store
from components.errors import DriverError, UsageError
from tests.support.fake_objects import FakeApi
from tests.support.processes import soon

ISSUER = "https://oidc.test/id/1"


@dataclass
class FakeCluster:
    """A control plane that does not run."""

    name: str
    folder: Path
    number: int
    api: FakeApi = field(default_factory=FakeApi)
    kit: Kit | None = None
    pids: dict[str, int] = field(default_factory=dict)
    token: str = "t-1"
    version: str = "v1.34.4"

    def __post_init__(self) -> None:
        """Write what a real one writes."""
        self.api.server = self.server
        self.certificate.write_text("authority")

    @property
    def server(self) -> str:
        """Give an address."""
        return f"https://127.0.0.1:{20000 + self.number}"

    @property
    def certificate(self) -> Path:
        """Name the file."""
        return self.folder / f"{self.number}.crt"

    @property
    def files(self) -> Self:
        """Stand for its files too."""
        return self

    kubeconfig = certificate


class FakeKubernetes:
    """Starts and stops such clusters."""

    def __init__(self, programs: Any, *, parent: Path, minor: str) -> None:
        self.folder = parent
        self.minor = minor
        parent.mkdir(parents=True)
        self.warden = 1
        self.running: list[FakeCluster] = []
        self.issuers: list[str] = []
        self.broken = False
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.running.clear()
        shutil.rmtree(self.folder)

    def start(self, name: str, *, issuer: str, kit: Kit) -> FakeCluster:
        """Start one."""
        if self.broken:
            raise DriverError("kube-apiserver ended with status 1 instead of starting")
        self.issuers.append(issuer)
        self.running.append(FakeCluster(name, self.folder, next(self._numbers), kit=kit))
        return self.running[-1]

    def stop(self, cluster: FakeCluster) -> None:
        """End one."""
        self.running.remove(cluster)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Give the project."""
    return Layout(tmp_path, backed=True)


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Callable[[], FakeKubernetes]:
    """Put the pretended control planes in place; gives those of the last keeper."""
    made: list[FakeKubernetes] = []

    def make(programs: Any, *, parent: Path, minor: str) -> FakeKubernetes:
        made.append(FakeKubernetes(programs, parent=parent, minor=minor))
        return made[-1]

    monkeypatch.setattr(keepers, "LocalKubernetes", make)
    return lambda: made[-1]


@pytest.fixture
def keeper(layout: Layout, local: Callable[[], FakeKubernetes]) -> Generator[Keeper]:
    """Keep control planes, and look only when the test does."""
    kept = Keeper({}, layout, say=lambda _: None)
    kept._follow = lambda: None
    with kept:
        yield kept


@pytest.fixture
def door(keeper: Keeper, layout: Layout) -> Door:
    """Give the way to it."""
    return Door(layout.simulated / RECORD)


@pytest.fixture
def store(layout: Layout, keeper: Keeper) -> Store:
    """Open the simulated cloud."""
    return Store(layout.simulated_clouds)


def put(store: Store, type_: str, id_: str, **outputs: Any) -> Row:
    """Make a resource of the simulated cloud."""
    row = Row(
        "aws", type_, "aws/1/us-east-1", id_, None, id_.rpartition(":")[2].removeprefix("sim-"), "u", "", {}, outputs
    )
    with store.transaction() as transaction:
        transaction.insert(row)
    return row


def make_cluster(store: Store, door: Door, version: str = "") -> dict[str, Any]:
    """Make a simulated cluster as the provider does; gives the outputs that change."""
    identities = [{"oidcs": [{"issuer": ISSUER}]}]
    row = put(store, CLUSTER, "sim-east", endpoint="https://sim-1", identities=identities, version=version)
    return back(door, store, row, {"endpoint": "https://sim-1", "name": "east"})


def make_nodes(store: Store, door: Door, count: int = 2) -> Row:
    """Make a node group as the provider does."""
    row = put(
        store,
        NODE_GROUP,
        "sim-east:gpu",
        clusterName="east",
        scalingConfig={"desiredSize": count},
        instanceTypes=["g6.xlarge"],
    )
    assert back(door, store, row, {}) == {}
    return row


def test_a_simulated_cluster_gets_a_control_plane_and_its_address(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes]
) -> None:
    """Once, however often it is asked for; with the issuer that the cloud gave out."""
    changed = make_cluster(store, door)
    (cluster,) = local().running
    assert changed == {"endpoint": cluster.server, "certificateAuthority": {"data": "YXV0aG9yaXR5"}}
    assert local().issuers == [ISSUER]
    with store.reading() as transaction:
        (row,) = transaction.select(type_=CLUSTER)
        assert transaction.recall(f"cluster/{cluster.server}")
        assert transaction.recall("cluster/https://sim-1") is None
    assert row.outputs["endpoint"] == cluster.server
    door.ask("cluster", key="aws/1/us-east-1|sim-east", name="east", issuer=ISSUER)
    assert local().running == [cluster]


def test_a_control_plane_can_describe_itself_before_anybody_needs_that(
    store: Store, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider waits for it once; here the server is asked again while it is busy, and has answered in the end."""
    asked: list[str] = []

    def busy(_: FakeApi, path: str) -> dict[str, Any]:
        asked.append(path)
        if len(asked) < 3:
            raise ApiError(f"GET {path}: the API server did not answer: timed out", status=0)
        return {}

    monkeypatch.setattr(FakeApi, "get", busy)
    make_cluster(store, door)
    assert asked == ["/openapi/v2"] * 3


def test_a_cluster_that_cannot_be_started_is_refused_and_nothing_is_left(
    store: Store, door: Door, local: Callable[[], FakeKubernetes]
) -> None:
    """The engine would take it for made otherwise."""
    local().broken = True
    with pytest.raises(Refused, match="kube-apiserver ended with status 1"):
        make_cluster(store, door)
    with store.reading() as transaction:
        assert transaction.select(type_=CLUSTER) == []


def test_nodes_join_with_their_group_and_follow_it(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes]
) -> None:
    """When it is made, scaled, and deleted, by whomever."""
    make_cluster(store, door)
    row = make_nodes(store, door)
    (cluster,) = local().running
    assert cluster.api.names("nodes") == {"gpu-0", "gpu-1"}
    with store.transaction() as transaction:
        transaction.update(replace(row, outputs={**row.outputs, "scalingConfig": {"desiredSize": 1}}))
    keeper.look()
    assert cluster.api.names("nodes") == {"gpu-0"}
    with store.transaction() as transaction:
        transaction.delete(row)
    keeper.look()
    assert cluster.api.names("nodes") == set()


def test_what_runs_on_a_node_goes_with_it(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes]
) -> None:
    """A cloud drains the nodes that it takes away; and it does so later when the server is down."""
    make_cluster(store, door)
    row = make_nodes(store, door)
    (cluster,) = local().running
    for number in (0, 1):
        pod = {"metadata": {"name": f"p-{number}"}, "spec": {"nodeName": f"gpu-{number}"}}
        cluster.api.create("/api/v1/namespaces/a/pods", pod)
    cluster.api.create("/api/v1/namespaces/a/pods", {"metadata": {"name": "waits"}, "spec": {}})
    with store.transaction() as transaction:
        transaction.update(replace(row, outputs={**row.outputs, "scalingConfig": {"desiredSize": 1}}))
    cluster.api.down = True
    keeper.look()
    assert cluster.api.names("pods") == {"p-0", "p-1", "waits"}
    cluster.api.down = False
    keeper.look()
    assert cluster.api.names("pods") == {"p-0", "waits"}
    assert cluster.api.names("nodes") == {"gpu-0"}


def test_nodes_that_join_during_a_look_stay(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look has read the cloud before their group was there; they are not what has gone from it."""
    make_cluster(store, door)
    (cluster,) = local().running
    gone: list[str] = []
    monkeypatch.setattr(cluster.api, "delete", gone.append)
    reading = keeper._store.reading

    @contextmanager
    def joined_meanwhile() -> Generator[Any]:
        with reading() as transaction:
            found = {kind: transaction.select(type_=kind) for kind in (CLUSTER, NODE_GROUP, LAUNCH_TEMPLATE)}
        monkeypatch.setattr(keeper._store, "reading", reading)
        make_nodes(store, door)
        yield SimpleNamespace(select=lambda type_: found[type_])

    monkeypatch.setattr(keeper._store, "reading", joined_meanwhile)
    keeper.look()
    assert gone == []
    assert cluster.api.names("nodes") == {"gpu-0", "gpu-1"}


def delete(store: Store, row: Row) -> None:
    """Delete a resource from the simulated cloud."""
    with store.transaction() as transaction:
        transaction.delete(row)


def test_nodes_that_join_anew_during_a_look_stay(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their group was deleted when the look read the cloud, and made again before the look removed its nodes."""
    make_cluster(store, door)
    (cluster,) = local().running
    delete(store, make_nodes(store, door))
    gone: list[str] = []
    monkeypatch.setattr(cluster.api, "delete", gone.append)
    reading = keeper._store.reading

    @contextmanager
    def joined_anew() -> Generator[Any]:
        with reading() as transaction:
            yield transaction
        monkeypatch.setattr(keeper._store, "reading", reading)
        make_nodes(store, door)

    monkeypatch.setattr(keeper._store, "reading", joined_anew)
    keeper.look()
    assert gone == []


def test_nodes_that_go_while_their_server_is_down_are_removed_when_it_is_back(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be removed is not forgotten; what is gone already is no trouble."""
    make_cluster(store, door)
    (cluster,) = local().running
    delete(store, make_nodes(store, door))
    remove = cluster.api.delete

    def down(path: str) -> None:
        raise ApiError(f"DELETE {path}: the API server did not answer", status=0)

    monkeypatch.setattr(cluster.api, "delete", down)
    keeper.look()
    assert cluster.api.names("nodes") == {"gpu-0", "gpu-1"}
    monkeypatch.setattr(cluster.api, "delete", remove)
    remove("/api/v1/nodes/gpu-0")
    keeper.look()
    assert cluster.api.names("nodes") == set()


def test_nodes_whose_devices_are_not_known_are_refused(store: Store, door: Door) -> None:
    """As a cloud refuses a machine type that it does not have."""
    make_cluster(store, door)
    row = put(
        store, NODE_GROUP, "sim-east:x", clusterName="east", scalingConfig={"desiredSize": 1}, instanceTypes=["p9.huge"]
    )
    with pytest.raises(Refused, match=r"no machine type p9\.huge of aws"):
        back(door, store, row, {})


def test_a_control_plane_ends_with_its_cluster(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes]
) -> None:
    """Whoever deletes it from the cloud."""
    make_cluster(store, door)
    keeper.look()
    assert local().running
    with store.transaction() as transaction:
        for row in transaction.select(type_=CLUSTER):
            transaction.delete(row)
    keeper.look()
    assert local().running == []
    with pytest.raises(KeeperRefused, match="no control plane is kept for a cluster east"):
        door.ask("token", cluster="east")


def test_there_is_one_keeper_and_a_new_one_begins_a_new_world(
    keeper: Keeper, layout: Layout, store: Store, door: Door, local: Callable[[], FakeKubernetes]
) -> None:
    """State and clouds that speak of ended control planes would only mislead."""
    make_cluster(store, door)
    layout.simulated_state.mkdir()
    with pytest.raises(UsageError, match="another process keeps the control planes"):
        Keeper({}, layout, say=lambda _: None)
    assert door.is_kept()
    keeper.__exit__(None, None, None)
    assert not door.is_kept()
    assert not door.record.exists()
    with Keeper({}, layout, say=lambda _: None, minor="1.35") as again:
        assert local().minor == "1.35"
        assert again.answer({"do": "list"})["clusters"] == []
        assert not layout.simulated_state.exists()
        with again._store.reading() as transaction:
            assert transaction.select() == []


def test_gangs_have_their_controller_as_long_as_its_chart_is_installed(
    store: Store, door: Door, local: Callable[[], FakeKubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the cluster that the release is for; other charts bring none."""
    said: list[tuple[str, str]] = []
    for name in ("start_gangs", "stop_gangs"):
        monkeypatch.setattr(keepers, name, lambda _, cluster, name=name: said.append((name, cluster.name)))
    monkeypatch.setattr(keepers.charts, "definitions", lambda _: ())
    server = make_cluster(store, door)["endpoint"]
    for chart in ("oci://registry.test/lws", "kueue"):
        release = {"name": "r", "namespace": "n", "chart": chart}
        door.ask("install", server=server, release=release)
        door.ask("uninstall", server=server, namespace="n", name="r")
    assert said == [("start_gangs", "east"), ("stop_gangs", "east")]


def test_nobody_answers_without_a_keeper(tmp_path: Path) -> None:
    """Neither without a record, nor behind one that was left, nor where its port went to somebody else."""
    door = Door(tmp_path / RECORD)
    with pytest.raises(NotKept):
        door.ask("ping")
    write_record(door.record, port=1, key=b"k")
    assert door.record.stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotKept):
        door.ask("ping")


def test_whoever_does_not_know_the_key_is_not_answered(door: Door) -> None:
    """It lies where only the user can read it; and the keeper goes on."""
    port = json.loads(door.record.read_text())["port"]
    stranger = Door(door.record.with_name("other.json"))
    write_record(stranger.record, port=port, key=os.urandom(32))
    assert not stranger.is_kept()
    assert door.is_kept()


def test_who_calls_and_says_nothing_holds_up_nobody(door: Door) -> None:
    """However many they are: whoever found no room to wait in would never hear that he was not heard."""
    port = json.loads(door.record.read_text())["port"]
    heard: list[bool] = []
    asking = [threading.Thread(target=lambda: heard.append(door.is_kept()), daemon=True) for _ in range(16)]
    with ExitStack() as silent:
        for _ in range(16):
            silent.enter_context(socket.create_connection(("127.0.0.1", port)))
        for each in asking:
            each.start()
        assert soon(lambda: len(heard) == len(asking))
    assert all(heard)


def test_the_stand_in_of_a_clouds_program_gives_the_token(
    store: Store, door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    """As kubectl expects it; and it knows nothing else."""
    make_cluster(store, door)
    arguments = ["eks", "get-token", "--region", "us-east-1", "--cluster-name", "east", "--output", "json"]
    assert token_program.main(arguments, door.record) == 0
    credential = json.loads(capsys.readouterr().out)
    assert (credential["kind"], credential["status"]["token"]) == ("ExecCredential", "t-1")
    assert token_program.main([*arguments[:5], "west"], door.record) == 254
    assert "no control plane is kept for a cluster west" in capsys.readouterr().err
    assert token_program.main(["s3", "ls"], door.record) == 252


def test_a_cluster_is_of_the_version_that_the_cloud_says(
    layout: Layout, local: Callable[[], FakeKubernetes], tmp_path: Path
) -> None:
    """With programs of its own; without them it is refused, which leaves nothing, and the keeper says what there is."""
    newer = {"kube-apiserver": tmp_path}
    kept = Keeper({}, layout, say=lambda _: None, look=lambda minor: newer if minor.name == "1.36" else None)
    kept._follow = lambda: None
    door, store = Door(layout.simulated / RECORD), Store(layout.simulated_clouds)
    with kept:
        assert door.ask("minors") == {"minors": ["1.34", "1.36"]}
        make_cluster(store, door, version="1.36")
        (cluster,) = local().running
        assert cluster.kit == Kit("1.36", newer)
        assert door.ask("list")["clusters"][0]["minor"] == "1.36"
        with store.transaction() as transaction:
            transaction.delete(transaction.select(type_=CLUSTER)[0])
        kept.look()
        with pytest.raises(Refused, match=r"1\.35.*berth doctor --kubernetes 1\.35 --install"):
            make_cluster(store, door, version="1.35")
        with store.reading() as transaction:
            assert transaction.select(type_=CLUSTER) == []


def test_a_node_group_that_cannot_be_read_stops_nothing_else(
    layout: Layout, local: Callable[[], FakeKubernetes]
) -> None:
    """It is said once, keeps the nodes it has, and the others follow the cloud; nor does a fault with one cluster."""
    said: list[str] = []
    kept = Keeper({}, layout, say=said.append)
    kept._follow = lambda: None
    door, store = Door(layout.simulated / RECORD), Store(layout.simulated_clouds)
    with kept:
        make_cluster(store, door)
        good = make_nodes(store, door)
        bad = put(
            store,
            NODE_GROUP,
            "sim-east:x",
            clusterName="east",
            scalingConfig={"desiredSize": 1},
            instanceTypes=["g6.xlarge"],
        )
        assert back(door, store, bad, {}) == {}
        with store.transaction() as transaction:
            transaction.update(replace(bad, outputs={**bad.outputs, "instanceTypes": ["p9.huge"]}))
            transaction.update(replace(good, outputs={**good.outputs, "scalingConfig": {"desiredSize": 1}}))
        (cluster,) = local().running
        for _ in range(3):
            kept.look()
        assert cluster.api.names("nodes") == {"gpu-0", "x-0"}
        faults = [each for each in said if "stays as it was" in each]
        assert len(faults) == 1
        assert faults[0].startswith("node group x of east stays as it was: no machine type p9.huge of aws")
        delete(store, bad)
        kept.look()
        assert cluster.api.names("nodes") == {"gpu-0"}


def test_a_fault_with_one_cluster_stops_no_other(
    keeper: Keeper, store: Store, door: Door, local: Callable[[], FakeKubernetes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is: the other's nodes follow the cloud."""
    make_cluster(store, door)
    west = put(store, CLUSTER, "sim-west", endpoint="https://sim-2", identities=[{"oidcs": [{"issuer": ISSUER}]}])
    back(door, store, west, {"endpoint": "https://sim-2", "name": "west"})
    east, other = local().running
    for first in (east, other):  # whichever is looked at first
        played: list[str] = []

        def play(api: FakeApi, _: object, broken: FakeCluster = first, played: list[str] = played) -> None:
            if api is broken.api:
                raise KeyError("spec")
            played.append(api.server)

        monkeypatch.setattr(keepers.stand_ins, "play", play)
        keeper.look()
        assert played == [each.server for each in (east, other) if each is not first]
