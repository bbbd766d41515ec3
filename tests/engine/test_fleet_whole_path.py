"""A fleet's whole life by the real command and the real engine: planned, applied, drifted, mended, changed."""

import json
from dataclasses import dataclass

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from tests.support.fleet_run import Answer, FleetRun, deployment, small_fleet

pytestmark = pytest.mark.engine

QWEN, EMBED = "ml/qwen/a/0", "search/embed/b/0"
POOL = "kubernetes:inference.networking.k8s.io/v1:InferencePool"
ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"


@dataclass
class Life:
    """What was seen on the way."""

    run: FleetRun
    first: Answer
    planned_lock: dict[str, bytes]
    by_hand_before: Answer
    check: Answer
    edited_lock: dict[str, bytes]
    up: Answer
    applied_lock: dict[str, bytes]
    outputs: dict[str, object]
    status: Answer
    real_lock: dict[str, bytes]
    again: Answer
    by_hand_after: Answer
    explained: Answer
    drift: Answer
    names: dict[str, str]
    urns: set[str]
    mended: Answer
    urns_after: set[str]
    last_lock: dict[str, bytes]


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory, pulumi_cli: Toolchain) -> Life:
    """Live it once."""
    run = FleetRun.make(tmp_path_factory.mktemp("life"), pulumi_cli.pulumi, small_fleet())
    first = run.berth("plan", "--json")
    planned = run.lock()
    by_hand_before = run.by_hand("preview", "--stack", "dev", "--json")
    shuffle(run)
    place = run.folder / "lock" / "ml.yaml"
    place.write_bytes(place.read_bytes().replace(b"weight: 1", b"weight: 2"))
    edited = run.lock()
    check = run.berth("plan", "--check", code=7)
    assert run.lock() == edited, "a check writes nothing"
    up = run.berth("up", "--yes", "--json")
    checkpoint = run.checkpoint()
    applied = run.lock()
    status = run.berth("status", "--json")
    place = run.folder / "lock" / "platform.yaml"
    place.write_bytes(place.read_bytes().replace(b"simulated: true\n", b""))
    real = run.lock()
    again = run.berth("plan", "--expect-no-changes", "--save-snapshot", str(run.root / "snapshot.yaml"))
    by_hand_after = run.by_hand("preview", "--stack", "dev", "--expect-no-changes")
    explained = run.berth("explain", "qwen", "--json")
    names, urns = {name: run.name_of(name) for name in (QWEN, EMBED)}, run.urns()
    interfere(run, names)
    drift = run.berth("drift", "--json", code=7)
    run.write("models/ml/qwen.yaml", deployment("qwen", labels=", size: small"))
    mended = run.berth("up", "--yes", "--json")
    return Life(
        run, first, planned, by_hand_before, check, edited, up, applied, dict(checkpoint.outputs), status,
        real, again, by_hand_after, explained, drift, names, urns, mended, run.urns(), run.lock(),
    )  # fmt: skip


def shuffle(run: FleetRun) -> None:
    """Put the same manifests into other files in another order, with comments."""
    platform = [(run.folder / f"platform/{name}.yaml") for name in ("b", "gateway", "a", "classes")]
    text = "\n---\n".join(f"# {path.name}\n{path.read_text()}" for path in platform)
    for path in platform:
        path.unlink()
    run.write("platform/everything.yml", text)
    (run.folder / "models/ml/qwen.yaml").rename(run.folder / "models/ml/z.yaml")
    first, second = (run.folder / "models/ml/z.yaml").read_text().split("---\n")
    run.write("models/ml/z.yaml", f"{second}---\n# the deployment\n{first}")
    run.edit("environment.yaml", "spec:", "# a comment\nspec:")
    (run.folder / "models/ml/z.yaml").rename(run.folder / "models/ml/qwen.yaml")


def interfere(run: FleetRun, names: dict[str, str]) -> None:
    """Delete one object and change another behind Berth's back."""
    pool = next(each for each in run.cloud.resources(type=POOL) if names[QWEN] in each.name)
    run.cloud.delete(POOL, pool.id, scope=pool.scope)
    route = next(each for each in run.cloud.resources(type=ROUTE) if names[EMBED] in each.name)
    run.cloud.edit(ROUTE, route.id, {"metadata.labels.app": "somebody-else"}, scope=route.scope)


def test_a_first_plan_shows_everything_and_asks_the_engine_once(life: Life) -> None:
    """Nothing exists, so nothing of the platform has to be asked: one preview, with the policies."""
    plan = life.first.document
    assert life.first.count("preview") == 1
    assert {each["replica"]: each["change"] for each in plan["placements"]} == {QWEN: "new", EMBED: "new"}
    assert plan["simulated"] is True
    assert "SIMULATED" in life.first.stderr
    assert plan["policies"]["violations"] == []
    assert plan["policies"]["passed"]
    assert set(life.planned_lock) == {"ml.yaml", "platform.yaml", "search.yaml"}


def test_the_lock_depends_on_what_manifests_say_alone(life: Life) -> None:
    """Other files, another order, comments, and everything applied: byte by byte the same lock."""
    assert life.applied_lock == life.planned_lock


def test_by_hand_a_preview_shows_the_target_before_and_nothing_after(life: Life) -> None:
    """Plain pulumi in the user's repo builds what the committed lock says."""
    steps = json.loads(life.by_hand_before.stdout)["steps"]
    assert {step["op"] for step in steps} == {"create"}
    assert {urn.rpartition("::")[2] for urn in (step["urn"] for step in steps)} >= {QWEN, EMBED, "a", "b"}
    assert life.by_hand_after.code == 0


def test_a_lock_that_was_edited_by_hand_is_found(life: Life) -> None:
    """CI asks whether the committed lock is what planning gives; the one file that is not is named."""
    assert "what planning gives: lock/ml.yaml\n" in life.check.stderr
    assert "berth plan -e dev" in life.check.stderr
    assert life.edited_lock != life.planned_lock


def test_up_builds_then_shifts(life: Life) -> None:
    """Two steps make a fleet of nothing; everything says that it is simulated."""
    report = life.up.document
    assert report["ok"] is True
    assert [step["kind"] for step in report["steps"]] == ["build", "shift"]
    assert report["simulated"] is True
    assert life.outputs["simulated"] is True
    assert life.outputs["schema"] == 1
    tree = life.status.document["tree"]
    assert {each["name"]: each["condition"] for each in tree if each["kind"] == "cluster"} == {
        "a (Existing)": "Ready",
        "b (Existing)": "Ready",
    }
    assert life.run.replicas() == {QWEN: "Serving", EMBED: "Serving"}


def test_a_plan_of_what_is_there_is_one_preview_and_empty(life: Life) -> None:
    """The platform is as it was applied, so preview 1 is left out."""
    assert life.again.count("preview") == 1
    assert life.again.count("up") == 0


def test_a_lock_of_real_clouds_is_rehearsed_and_left_as_it_is(life: Life) -> None:
    """A plan and an edit that was applied say so and write no lock, though plain pulumi takes it."""
    assert life.real_lock != life.applied_lock
    assert "lock/ was planned for real clouds and is left as it is" in " ".join(life.again.stdout.split())
    assert life.last_lock == life.real_lock


def test_explain_has_a_verdict_for_every_cluster(life: Life) -> None:
    """Why here and not there, without asking the engine for a preview."""
    explanation = life.explained.document
    assert life.explained.count("preview") == 0
    assert explanation["placed"] == explanation["wanted"] == 1
    assert {each["cluster"]: each["taken"] for each in explanation["verdicts"]} == {"a": True, "b": False}


def test_drift_names_what_was_changed_and_changes_nothing(life: Life) -> None:
    """One object is gone, one was edited; both are named, with exit code 7."""
    found = {(each["type"], each["op"]): each["name"] for each in life.drift.document["resources"]}
    assert found.keys() == {(POOL, "delete"), (ROUTE, "update")}
    assert QWEN in found[POOL, "delete"]
    assert EMBED in found[ROUTE, "update"]


def test_the_next_up_restores_what_drifted(life: Life) -> None:
    """What was deleted is made again, what was edited is put right, under the same URNs."""
    assert life.urns_after == life.urns
    live = {each.name: each for each in life.run.cloud.resources(type=ROUTE)}
    route = next(each for name, each in live.items() if life.names[EMBED] in name)
    assert route.inputs["metadata"].get("labels", {}).get("app") != "somebody-else"
    assert any(life.names[QWEN] in each.name for each in life.run.cloud.resources(type=POOL))
    assert life.mended.document["ok"] is True


def test_labels_change_in_place(life: Life) -> None:
    """A label is no reason to move: the same replica, the same name, no new URN."""
    assert life.run.name_of(QWEN) == life.names[QWEN]
    (replica,) = (each for each in life.run.existing().replicas.values() if str(each.id) == QWEN)
    assert replica.entry.labels == {"app": "qwen", "size": "small"}
    assert life.run.replicas() == {QWEN: "Serving", EMBED: "Serving"}


def test_the_saved_snapshot_of_a_plan_answers_as_the_plan_did(life: Life) -> None:
    """By the scheduler alone, from that one file."""
    answer = life.run.berth("schedule", str(life.run.root / "snapshot.yaml")).document
    assert {each["replica"]: each["name"] for each in answer["placements"]} == life.names
    assert all(each["kept"] for each in answer["placements"])
    assert len(answer["deployments"]) == 2
