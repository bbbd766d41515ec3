"""Snapshots as files: everything goes out and comes back, short ones can be written by hand, mistakes have a place."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from automation.cli.main import run as berth
from automation.cli.snapshot_file import save_snapshot
from automation.document.read_snapshot import read_snapshot
from automation.document.snapshot_document import SnapshotDocument
from automation.document.write_snapshot import snapshot_document
from automation.render.problems import problem_lines
from automation.render.schedule_view import schedule_view
from automation.scheduling.existing import ExistingCache
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import (
    Accounting,
    Budget,
    CacheNeed,
    Cluster,
    ClusterState,
    Deployment,
    Device,
    FabricKind,
    FabricNeed,
    Options,
    Pool,
    PoolBefore,
    Purchase,
    Quota,
    Refusal,
    Snapshot,
    Strategy,
    Version,
    Versions,
)
from components.api.codes import Code
from components.checks.facts import Taint, Toleration
from components.errors import ConfigError, UsageError
from components.lock import CacheEntry, CacheShape, shape_digest
from tests.unit.scheduling.builder import deployment, engine, evaluate, live, member
from tests.unit.scheduling.random_fleets import Story, stories

WRITTEN = """\
hardware:
  h100:
    - {name: gpu, driver: gpu.nvidia.com, deviceClass: gpu.nvidia.com, count: 8, capacity: {memory: 80Gi}}
shapes:
  whole:
    kind: Replica
    engines:
      - name: main
        members:
          - role: Standalone
            template: {}
            requests: [{name: gpu, count: 8, selectors: ["device.driver == 'gpu.nvidia.com'"]}]
clusters:
  - {name: a, pools: [{name: gpus, hardware: h100, realised: 2}]}
deployments:
  - {namespace: ml, name: chat, replicas: 3, shape: whole}
"""


def again(snapshot: Snapshot) -> Snapshot:
    """Write a snapshot and read it."""
    return read_snapshot("it.json", json.dumps(snapshot_document(snapshot).to_json()).encode())


def full_cluster() -> Cluster:
    """Return a cluster in which no field has its usual value."""
    device = Device(
        "gpu",
        "gpu.nvidia.com",
        count=8,
        device_class="gpu.nvidia.com",
        claimable=False,
        attributes=(
            ("cores", "int", 132),
            ("mig", "bool", True),
            ("model", "string", "H100"),
            ("v", "version", "1.2.3"),
        ),
        capacity=(("memory", "80Gi"),),
        accelerator="nvidia-h100",
    )
    pool = Pool(
        "gpus",
        "h100",
        (device,),
        realised=2,
        maximum=4,
        scales=True,
        fabric="EFA a",
        fabric_kind=FabricKind.EFA,
        leaving="it goes",
        price=Decimal("98.32"),
        observed=PoolObservation(1, 1, (ForeignPod((("gpu", 2),), (("cpu", 250),)),)),
        purchase=Purchase.SPOT,
        before=PoolBefore(6, "h200"),
        allocatable=(("cpu", 63_500), ("memory", 2**39)),
        refused=Refusal(datetime(2026, 3, 4, tzinfo=UTC), "no capacity in the zone"),
    )
    return Cluster(
        "a",
        ClusterState.NOT_READY,
        "it failed",
        "EKS",
        "us-east-1",
        {"tier": "gold"},
        (Taint("k", "v", "NoExecute"),),
        (pool, Pool("other", "h100", (Device("gpu", "x", device_class="x"),))),
        "efs",
        datetime(2026, 1, 2, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=UTC),
        "us-east-1a",
        Versions(Version("1.36"), Version("v1.35.1", datetime(2026, 1, 2, tzinfo=UTC)), Version("580.1")),
    )


def full() -> Snapshot:
    """Return a snapshot in which no field has its usual value."""
    weights = CacheShape(source="HuggingFace", repo="org/model", revision="main", sizeGiB=10)
    wanted = deployment("d", 2, engine("main", member(4)), labels={"app": "d"})
    more = Deployment(
        "ml",
        "e",
        3,
        wanted.shape,
        wanted.digest,
        {"app": "e"},
        {"tier": "gold"},
        (Toleration("k", "Equal", "v", "NoSchedule"),),
        CacheNeed("weights", shape_digest(weights), {"tier": "gold"}),
        5,
        True,
        True,
        Strategy.COST,
        Decimal(40),
        FabricNeed.INFINIBAND,
        2,
    )
    entry = CacheEntry(cache="weights", cluster="a", index=1, shape=shape_digest(weights))
    replica = live(wanted, "a", 1, version="v0", ready=False, failure="no image")
    return Snapshot(
        (full_cluster(),),
        (wanted, more),
        (replica,),
        (ExistingCache(entry.id_in("ml"), entry, weights, ready=False, failure="disk full"),),
        frozenset({("ml", "broken")}),
        Options(
            Strategy.PACK,
            Accounting.BEST_FIT,
            timedelta(minutes=30),
            preemption=True,
            observation_age=timedelta(hours=1),
            max_surge=4,
            max_surge_per_cluster=2,
            fabric=FabricNeed.INFINIBAND,
        ),
        datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
        {"ml": frozenset({"outside", "beyond"}), "search": frozenset({"else"})},
        {"ml": Quota({"nvidia-h100": 16}, 4, Decimal(100)), "search": Quota(nodes=2)},
        Budget(Decimal(500), advisory=True),
    )


def test_every_field_of_a_snapshot_comes_back() -> None:
    """Also those that are added later: a part of ``full`` that has its usual value fails here."""
    snapshot = full()
    assert again(snapshot) == snapshot
    cluster, more = snapshot.clusters[0], snapshot.deployments[1]
    usual: list[Any] = [
        (snapshot, Snapshot()),
        (snapshot.options, Options()),
        (cluster, Cluster("")),
        (cluster.pools[0], Pool("", "", ())),
        (cluster.pools[0].devices[0], Device("", "")),
        (cluster.pools[0].refused, Refusal(datetime(1970, 1, 1, tzinfo=UTC))),
        (snapshot.quotas["ml"], Quota()),
        (snapshot.budget, Budget(Decimal(0))),
        (more, Deployment("", "", 0, more.shape, "")),
    ]
    for value, default in usual:
        same = {
            each.name
            for each in fields(value)
            if each.name != "shape" and getattr(value, each.name) == getattr(default, each.name)
        }
        assert not same, type(value).__name__


@settings(deadline=None, max_examples=40)
@given(stories())
def test_a_snapshot_that_was_saved_gives_the_same_schedule(story: Story) -> None:
    """The file is a whole bug report. What is built from manifests and state has every cluster that something is on."""
    places = {each.id.cluster for each in story.after.replicas} - {each.name for each in story.after.clusters}
    lost = [Cluster(name, ClusterState.LOST) for name in sorted(places)]
    whole = replace(story.after, clusters=(*story.after.clusters, *lost))
    read = again(whole)
    assert read == whole
    assert schedule_view(schedule(read, evaluate=evaluate)) == schedule_view(schedule(whole, evaluate=evaluate))


def test_a_snapshot_can_be_written_by_hand() -> None:
    """What has a usual value is left out, and shapes have names that a person gives."""
    made = schedule(read_snapshot("it.yaml", WRITTEN.encode()))
    assert [str(each.id) for each in made.placements] == ["ml/chat/a/0", "ml/chat/a/1"]
    assert made.shortfalls[0].message.startswith("2 of 3 placed; 0/1 clusters: 1 full")


MISTAKES = [
    ("realised: 2", "realized: 2", "it.yaml:14:52 field-unknown", "did you mean `realised`?"),
    (
        "shape: whole}",
        "shape: whole, strategy: Compatible}",
        "deployments[0].strategy",
        "`Compatible` is not allowed for strategy",
    ),
    (
        "  - {namespace: ml, name: chat, replicas: 3, shape: whole}",
        "  - {namespace: ml, name: chat, replicas: 3, shape: whole, strategy: Pack}\noptions: {strategy: Compatible}",
        "field-conflict deployments[0].strategy",
        "holds for all deployments, so none has its own",
    ),
    ("realised: 2", "realised: -1", "it.yaml:14:62 value-out-of-range", "realised must be at least 0, and is -1"),
    ("hardware: h100", "hardware: h200", "clusters[0].pools[0].hardware", "there is no hardware 'h200'"),
    ("shape: whole", "shape: half", "deployments[0].shape", "there is no ReplicaShape 'half' in shapes"),
    ("{name: a,", "{name: a, state: redy,", "it.yaml:14:22 value-not-allowed", "did you mean `ready`?"),
    ("    kind: Replica\n", "", "it.yaml:5:3 value-invalid", "the value of whole is not valid here"),
    ("  - {name: a,", "  - {name: a}\n  - {name: a,", "name-duplicate clusters[1]", "cluster a stands twice"),
    ("clusters:", "clusters: [", "yaml-syntax", "it.yaml"),
    ("shapes:\n", "now: 2026-11-30T10:00:00\nshapes:\n", "value-invalid", "write `2026-11-30T10:00:00Z` for UTC"),
    (
        "      - name: main\n",
        "      - name: main\n        copies: 0\n",
        "shapes.whole.engines[0].copies",
        "must be at least 1",
    ),
    ("count: 8, selectors", "count: 0, selectors", "engines[0].members[0].requests[0].count", "at least 1, and is 0"),
    (
        WRITTEN,
        WRITTEN[: WRITTEN.index("      - name: main")].replace("engines:", "engines: []")
        + WRITTEN[WRITTEN.index("clusters:") :],
        "shapes.whole.engines",
        "at least 1 engine",
    ),
    (
        "    - {name: gpu,",
        "    - {name: gpu, driver: x, deviceClass: x}\n    - {name: gpu,",
        "name-duplicate hardware.h100[1]",
        "device h100/gpu stands twice",
    ),
    (
        "realised: 2",
        "realised: 2, maximum: 1",
        "value-out-of-range clusters[0].pools[0].maximum",
        "at least realised, 2, and is 1",
    ),
    ("deviceClass: gpu.nvidia.com, ", "", "field-missing hardware.h100[0].deviceClass", "or `claimable: false`"),
    (
        "capacity: {memory: 80Gi}",
        "attributes: {x: {int: 1, bool: true}}",
        "field-conflict hardware.h100[0].attributes.x",
        "must have one value, and has 2",
    ),
    ("shapes:\n", "options: {repinDwell: -5}\nshapes:\n", "value-out-of-range", "at least 0 seconds, and is -5"),
    ("shapes:\n", "options: {observationAge: -PT1M}\nshapes:\n", "value-out-of-range", "0 seconds, and is -60"),
    (
        "clusters:\n  - {name: a,",
        "now: 2026-03-01T00:00:00Z\nclusters:\n  - {name: a, seen: 2026-03-01T00:05:01Z,",
        "value-out-of-range clusters[0].seen",
        "2026-03-01T00:05:01+00:00 is later than now, 2026-03-01T00:00:00+00:00",
    ),
    (
        "{name: a,",
        "{name: a, state: not ready, notReadySince: 2026-03-01T00:05:00Z,",
        "value-out-of-range clusters[0].notReadySince",
        "write `now`, the moment that the snapshot is of",
    ),
    (
        "{name: a,",
        "{name: a, versions: {kubelet: {text: '1.35', seen: 2026-03-01T00:05:00Z}},",
        "value-out-of-range clusters[0].versions.kubelet.seen",
        "is later than now",
    ),
    (
        "      - name: main\n",
        "      - {name: main, members: []}\n      - name: main\n",
        "name-duplicate shapes.whole.engines[1]",
        "engine whole/main stands twice",
    ),
    (
        "requests: [{name: gpu,",
        "requests: [{name: gpu, count: 1, selectors: []}, {name: gpu,",
        "name-duplicate shapes.whole.engines[0].members[0].requests[1]",
        "request whole/main/0/gpu stands twice",
    ),
    (
        "count: 8, selectors",
        "selectors",
        "it.yaml:12:24 field-missing shapes.whole.engines[0].members[0].requests[0]",
        "`count` is missing in item 0 of requests",
    ),
    (
        "count: 8, selectors",
        "cuont: 8, selectors",
        "it.yaml:12:36 field-unknown shapes.whole.engines[0].members[0].requests[0].cuont",
        "did you mean `count`?",
    ),
    ("realised: 2", "realised: 2, price: cheap", "it.yaml:14:", "price must be a number, and is text"),
    ("shapes:\n", "now: yesterday\nshapes:\n", "type-wrong now", "must be a time (2026-01-31T08:00:00Z), and is text"),
    (
        "shapes:\n",
        "options: {repinDwell: long}\nshapes:\n",
        "type-wrong options.repinDwell",
        "a length of time (PT10M)",
    ),
    (WRITTEN, "[1, 2]", "document-shape", "one document, a mapping"),
]


@pytest.mark.parametrize(("old", "new", "place", "said"), MISTAKES, ids=[each[3] for each in MISTAKES])
def test_a_mistake_in_a_snapshot_has_a_place_and_a_reason(old: str, new: str, place: str, said: str) -> None:
    """As in a manifest."""
    with pytest.raises(ConfigError) as caught:
        read_snapshot("it.yaml", WRITTEN.replace(old, new).encode())
    lines = [f"{each.where} {each.code} {each.path} {each.message} {each.help}" for each in caught.value.problems]
    assert place in lines[0]
    assert said in lines[0]
    assert all(each.line for each in caught.value.problems if each.path)


@pytest.mark.parametrize(
    ("options", "counted"),
    [
        ("{}", Accounting.DEVICE),
        ("{strategy: Compatible}", Accounting.NODE),
        ("{strategy: Compatible, accounting: BestFit}", Accounting.BEST_FIT),
    ],
)
def test_room_is_counted_as_the_strategy_usually_has_it(options: str, counted: Accounting) -> None:
    """As in an Environment that leaves it out: the predecessor counts whole nodes."""
    read = read_snapshot("it.yaml", f"options: {options}\n{WRITTEN}".encode())
    assert read.options.accounting is counted
    assert read_snapshot("it.json", json.dumps(snapshot_document(read).to_json()).encode()) == read


RUNNING = """\
replicas:
  - namespace: ml
    deployment: chat
    cluster: a
    name: chat-1
    shape: whole
    placement:
      - engine: main
        members: [{pool: gpus, claims: [{request: gpu, deviceClass: gpu.nvidia.com}]}]
"""


def test_a_live_replica_holds_what_its_placement_says() -> None:
    """Of two nodes one is left."""
    made = schedule(read_snapshot("it.yaml", (WRITTEN + RUNNING).encode()))
    assert [(str(each.id), each.kept) for each in made.placements] == [("ml/chat/a/0", True), ("ml/chat/a/1", False)]


CLAIMS = "[{pool: gpus, claims: [{request: gpu, deviceClass: gpu.nvidia.com}]}]"


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        (RUNNING[RUNNING.index("    placement:") :], "", "field-missing replicas[0]", "`placement` is missing"),
        (
            RUNNING[RUNNING.index("    placement:") :],
            "    placement: []\n",
            "field-missing replicas[0].placement",
            "of 1 members of engine 'main' 0 have a pool",
        ),
        ("engine: main", "engine: man", "reference-missing replicas[0].placement[0].engine", "did you mean `main`?"),
        (CLAIMS, "[]", "field-missing replicas[0].placement", "0 have a pool"),
        (
            ", claims: [{request: gpu, deviceClass: gpu.nvidia.com}]",
            "",
            "field-missing replicas[0].placement",
            "asks for devices and has no claims",
        ),
        (
            ", deviceClass: gpu.nvidia.com}",
            "}",
            "field-missing replicas[0].placement[0].members[0].claims[0]",
            "`deviceClass` is missing in item 0 of claims",
        ),
        (
            "request: gpu",
            "request: gpus",
            "reference-missing replicas[0].placement[0].members[0].claims[0].request",
            "the member has no request 'gpus' did you mean `gpu`?",
        ),
        (
            "claims: [{",
            "claims: [{request: gpu, deviceClass: x}, {",
            "name-duplicate replicas[0].placement[0].members[0].claims[1]",
            "request gpu has a claim already",
        ),
        (
            "deviceClass: gpu.nvidia.com}",
            "deviceClass: ''}",
            "field-missing replicas[0].placement[0].members[0].claims[0].deviceClass",
            "names no DeviceClass",
        ),
        (
            "      - engine: main\n",
            "      - {engine: main, members: []}\n      - engine: main\n",
            "name-duplicate replicas[0].placement[1].engine",
            "engine main stands twice",
        ),
        (
            "cluster: a",
            "cluster: b",
            "reference-missing replicas[0].cluster",
            "there is no cluster 'b' one that is gone for good stands there with `state: lost`",
        ),
        (
            RUNNING[RUNNING.index("  - namespace") :],
            RUNNING[RUNNING.index("  - namespace") :] + RUNNING[RUNNING.index("  - namespace") :] + "    index: 1\n",
            "name-duplicate replicas[1].name",
            "the name of replica ml/chat-1 stands twice",
        ),
    ],
    ids=lambda text: text if " " in text and "\n" not in text else "",
)
def test_a_live_replica_that_does_not_say_what_it_holds_is_refused(old: str, new: str, place: str, said: str) -> None:
    """It would count for nothing, or for something else, and its room would be promised to others."""
    assert old in RUNNING
    with pytest.raises(ConfigError) as caught:
        read_snapshot("it.yaml", (WRITTEN + RUNNING.replace(old, new)).encode())
    found = [f"{each.code} {each.path} {each.message} {each.help}" for each in caught.value.problems]
    assert any(each.startswith(place) and said in each for each in found)
    assert all(each.line and each.text for each in caught.value.problems)


def test_a_cache_is_on_a_cluster_that_is_there() -> None:
    """Another one is a slip of the pen, and its failure would refuse nothing."""
    staged = (
        "  weights: {kind: Cache, source: HuggingFace, repo: a/b, sizeGiB: 1}\nclusters:\n",
        "caches:\n  - {namespace: ml, cache: weights, cluster: west, shape: weights, failure: no token}\n",
    )
    with pytest.raises(ConfigError) as caught:
        read_snapshot("it.yaml", (WRITTEN.replace("clusters:\n", staged[0]) + staged[1]).encode())
    (problem,) = caught.value.problems
    assert (problem.code, problem.path, problem.help) == (
        Code.REFERENCE_MISSING,
        "caches[0].cluster",
        "one that is gone for good stands there with `state: lost`",
    )


def test_a_snapshot_larger_than_any_manifest_is_read_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its mistakes have a path."""
    value = yaml.safe_load(WRITTEN)
    monkeypatch.setattr("automation.document.read_snapshot.MAX_BYTES", 10)
    assert read_snapshot("it.json", json.dumps(value).encode()).clusters[0].pools[0].realised == 2
    value["clusters"][0]["pools"][0]["realised"] = "many"
    with pytest.raises(ConfigError) as caught:
        read_snapshot("it.json", json.dumps(value).encode())
    assert [each.path for each in caught.value.problems] == ["clusters[0].pools[0].realised"]
    value["clusters"][0]["pools"][0] |= {"realised": 2, "hardware": "h200"}
    with pytest.raises(ConfigError) as dangling:
        read_snapshot("it.json", json.dumps(value).encode())
    ((first, *_),) = [problem_lines(each) for each in dangling.value.problems]
    assert first.plain.startswith("it.json: clusters[0].pools[0].hardware: error[reference-missing]")
    with pytest.raises(ConfigError) as refused:
        read_snapshot("it.yaml", WRITTEN.encode())
    assert "not JSON" in refused.value.problems[0].message


def test_the_verb_prints_the_whole_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Placements as in a lock, and a verdict for every cluster and pool."""
    file = tmp_path / "it.yaml"
    file.write_text(WRITTEN)
    assert berth(["schedule", str(file)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "Schedule"
    assert document["placements"][0]["placement"][0]["members"][0]["pool"] == "gpus"
    (trace,) = document["deployments"]
    assert [(each["cluster"], each["code"], each["taken"]) for each in trace["verdicts"]] == [("a", "taken", 2)]
    assert trace["verdicts"][0]["pools"][0]["code"] == "no-room"


def test_a_dash_reads_the_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For both verbs; and another word with a dash is no file."""
    file = tmp_path / "it.yaml"
    file.write_text(WRITTEN)
    for words in (["schedule", "-"], ["capacity", "--snapshot", "-", "--json"]):
        with file.open() as text:
            monkeypatch.setattr("sys.stdin", text)
            assert berth(words) == 0
        assert json.loads(capsys.readouterr().out)
    assert berth(["schedule", "--nope"]) == 2
    assert "unknown option --nope" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["it.yaml", "it.json"])
def test_the_snapshot_of_a_plan_is_saved_in_the_form_that_its_name_says(tmp_path: Path, name: str) -> None:
    """Both are read again by the same verb."""
    save_snapshot(tmp_path / name, full())
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"{") is name.endswith("json")
    assert read_snapshot(name, content) == full()
    with pytest.raises(UsageError, match="cannot be written"):
        save_snapshot(tmp_path / "none" / name, full())


def test_capacity_is_counted_from_a_snapshot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a table for people, and as a document."""
    monkeypatch.setenv("COLUMNS", "160")
    file = tmp_path / "it.yaml"
    file.write_text(WRITTEN.replace("replicas: 3", "replicas: 1"))
    assert berth(["capacity", "--snapshot", str(file)]) == 0
    (row,) = capsys.readouterr().out.splitlines()[1:]
    assert row.split(maxsplit=4)[:4] == ["ml/chat", "1", "1", "1"]
    assert row.endswith("would fit on a with pool gpus from 2 to 3 nodes (price unknown)")
    assert berth(["capacity", "--snapshot", str(file), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["deployments"]
    assert found["nextReplica"]["growth"] == [{"pool": "gpus", "nodes": 2, "needed": 3, "costPerHour": None}]


def test_a_snapshot_that_is_not_there_is_a_mistake_in_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """With exit code 2."""
    assert berth(["schedule", "/nowhere/it.yaml"]) == 2
    assert "/nowhere/it.yaml cannot be read" in capsys.readouterr().err


def test_the_schema_takes_what_is_written() -> None:
    """The published schema describes what is saved."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(snapshot_document(full()).to_json(), SnapshotDocument.model_json_schema())
    jsonschema.validate(yaml.safe_load(WRITTEN), SnapshotDocument.model_json_schema())
