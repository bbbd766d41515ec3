"""What a run refuses before it touches anything, and whom it lets look all the same."""

from collections.abc import Callable

import pytest

from components.errors import ConfigError, DriverError, LockError, MixedState, NewerLock, StackNotFound
from components.naming import ReplicaId, replica_name
from stacks.fit import check_fit
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import cluster


def refused(driver: FakeDriver, code: str) -> str:
    """Return what a run says that is refused with one problem, and that it touched nothing."""
    problem = driver.refused()
    assert problem.code == code
    return f"{problem.message} {problem.help}"


def test_the_manifest_of_a_cluster_in_use_cannot_be_removed(driver: FakeDriver) -> None:
    """Its replicas would be gone without a word; the way out is named."""
    driver.remove("platform/b.yaml")
    driver.edit("models/search/embed.yaml", "clusterSelector: {matchLabels: {cluster: b}}", "")
    said = refused(driver, "cluster-in-use")
    assert "search/embed/b/0 is still on it" in said
    assert "removing: true" in said


def test_a_pool_in_use_cannot_be_removed(driver: FakeDriver) -> None:
    """Nobody could keep what runs on it."""
    driver.edit("platform/b.yaml", "    - {name: small, className: gpu-4x, nodeCount: 1}\n", "")
    assert "pool small is gone" in refused(driver, "pool-in-use")


ENDPOINT = """\
apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {{name: {name}, namespace: ml, labels: {{app: qwen}}}}
spec: {{url: "http://outside.test"}}
"""


def test_an_endpoint_cannot_take_the_name_of_a_replica_that_exists(driver: FakeDriver) -> None:
    """Both are endpoints of the namespace; the error says where the manifest is and whose name it took."""
    name = driver.name_of("ml/qwen/a/0")
    driver.write("models/ml/outside.yaml", ENDPOINT.format(name=name))
    said = refused(driver, "name-in-use")
    assert f"ModelEndpoint ml/{name}" in said
    assert "replica ml/qwen/a/0" in said
    driver.write("models/ml/outside.yaml", ENDPOINT.format(name="outside"))
    assert driver.up().ok
    assert driver.backends("ml", "qwen") == {name: 1, "outside": 1}


def test_a_new_replica_takes_another_name_than_an_endpoint(fresh: FakeDriver) -> None:
    """It has no name yet, so it is the one that yields."""
    usual = replica_name(ReplicaId("ml", "qwen", "a", 0))
    fresh.write("models/ml/outside.yaml", ENDPOINT.format(name=usual))
    assert fresh.up().ok
    assert fresh.name_of("ml/qwen/a/0") != usual
    assert fresh.plan().empty


def test_the_layout_cannot_be_changed_under_a_fleet(driver: FakeDriver) -> None:
    """Its clusters would be built a second time, in other stacks."""
    driver.edit("environment.yaml", "Single", "PerCluster")
    assert "stack dev holds" in refused(driver, "layout-changed")


def test_the_stacks_of_clusters_are_not_taken_into_one(split: FakeDriver) -> None:
    """The same, the other way."""
    split.edit("environment.yaml", "PerCluster", "Single")
    assert "stack dev.b holds cluster b" in refused(split, "layout-changed")


def test_whoever_looks_or_tears_down_is_told_and_not_stopped(driver: FakeDriver) -> None:
    """A manifest that no longer fits must not keep a person from seeing what exists."""
    driver.remove("platform/b.yaml")
    driver.edit("models/search/embed.yaml", "clusterSelector: {matchLabels: {cluster: b}}", "")
    situation = driver.read(create=False, lenient=True)
    assert set(situation.existing.clusters) == {"a", "b"}
    assert any("manifest of cluster b is gone" in note for note in driver.heard.notes)


@pytest.mark.parametrize("simulated", [True, False], ids=["simulated state", "real state"])
def test_simulated_and_real_state_do_not_meet(fresh: FakeDriver, *, simulated: bool) -> None:
    """In either direction, and whatever the run wants."""
    driver = fresh
    driver.simulated = simulated
    driver.up()
    state = driver.facts()
    driver.simulated = not simulated
    for action in (driver.plan, driver.up, lambda: driver.read(create=False, lenient=True)):
        with pytest.raises(MixedState) as caught:
            action()
        assert caught.value.help == ("run with --simulated" if simulated else "run without --simulated")
    assert driver.facts() == state


def test_a_newer_lock_is_not_written_over(driver: FakeDriver) -> None:
    """It says what this Berth cannot read."""
    place = driver.folder / "lock" / "ml.yaml"
    place.write_text(place.read_text().replace("version: 1", "version: 99"))
    state, lock = driver.facts(), driver.lock()
    with pytest.raises(NewerLock):
        driver.up()
    assert (driver.facts(), driver.lock()) == (state, lock)


@pytest.mark.parametrize(
    "tear",
    [
        lambda text: text + "<<<<<<< ours\n",
        lambda text: text.replace("index: 0", "index: 7"),
        lambda text: text.replace("environment: dev", "environment: prod"),
        lambda _: "",
    ],
    ids=["a merge", "an edit by hand", "another environment's", "empty"],
)
def test_a_lock_that_does_not_fit_is_made_anew(driver: FakeDriver, tear: Callable[[str], str]) -> None:
    """Planning goes by the state; what the lock on disk says is only compared."""
    good = driver.lock()
    for path in sorted((driver.folder / "lock").glob("*.yaml")):
        path.write_text(tear(path.read_text()))
    driver.up()
    assert driver.lock() == good
    assert set(driver.replicas()) == {"ml/qwen/a/0", "search/embed/b/0"}


def test_the_written_lock_fits_the_manifests(driver: FakeDriver) -> None:
    """A plain ``pulumi up`` takes it, until a manifest is edited."""
    situation = driver.read()
    assert situation.committed is not None
    check_fit(situation.fleet, situation.committed, simulated=True)
    with pytest.raises(LockError, match="planned for simulated clouds"):
        check_fit(situation.fleet, situation.committed, simulated=False)
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    edited = driver.read()
    assert edited.committed is not None
    with pytest.raises(LockError, match=r"lock/ml\.yaml no longer fits"):
        check_fit(edited.fleet, edited.committed, simulated=True)


def test_an_environment_that_was_never_applied_is_not_found(fresh: FakeDriver) -> None:
    """Whoever only looks makes no stack of it."""
    with pytest.raises(StackNotFound, match="environment dev is not applied"):
        fresh.read(create=False)
    assert fresh.read(create=False, missing_ok=True).nothing_exists
    assert fresh.runner.stacks() == ()


def test_a_state_that_another_version_wrote_is_refused(driver: FakeDriver) -> None:
    """Nothing is guessed about a replica whose description cannot be read."""
    driver.state_of("ml/qwen/a/0")["inputs"].pop("shape")
    with pytest.raises(DriverError, match="describes ml/qwen/a/0 in a way that this Berth cannot read"):
        driver.plan()


def test_a_source_that_changes_is_another_cluster(driver: FakeDriver) -> None:
    """Everything on the old one would be taken for being on the new one."""
    driver.state_of("b")["inputs"]["source"] = "EKS"
    assert "cluster b exists with source EKS" in refused(driver, "source-changed")


def test_an_unused_cluster_may_go_without_a_word(driver: FakeDriver) -> None:
    """Nothing is on it, so removing its manifest removes it."""
    driver.write("platform/c.yaml", cluster("c"))
    driver.up()
    assert "c" in driver.existing().clusters
    driver.remove("platform/c.yaml")
    assert driver.up().ok
    assert "c" not in driver.existing().clusters
    assert driver.plan().empty


UNGUARDED = "device.attributes['gpu.nvidia.com'].mig"


def test_a_selector_that_fails_on_every_candidate_is_refused_with_its_place(driver: FakeDriver) -> None:
    """It is a mistake of a manifest: the run ends before any change, and what runs stays."""
    driver.edit("models/ml/qwen.yaml", '"true"', f'"{UNGUARDED}"')
    driver.edit("models/search/embed.yaml", "vllm:1", "vllm:2")
    assert "on gpu of pool a/small: this device has no attribute" in refused(driver, "selector-fails")
    with pytest.raises(ConfigError) as caught:
        driver.plan()
    (problem,) = caught.value.problems
    assert problem.file.endswith("models/ml/qwen.yaml")
    assert UNGUARDED in problem.text
    line = (driver.folder / "models/ml/qwen.yaml").read_text().splitlines()[problem.line - 1]
    assert line[problem.column - 1 :].startswith(".mig")
    assert problem.path.endswith("selectors[0].cel")
    assert driver.berth("up", "-e", "dev", "--yes") == 2
    assert driver.replicas() == {"ml/qwen/a/0": "Serving", "search/embed/b/0": "Serving"}


def test_a_build_that_fails_takes_no_cluster_away(driver: FakeDriver) -> None:
    """The manifest of an unused cluster goes with an edit elsewhere; what was not built must not cost what is there."""
    driver.write("platform/c.yaml", cluster("c"))
    driver.up()
    driver.remove("platform/c.yaml")
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    there: list[bool] = []
    driver.does()
    driver.runner.before = lambda call: there.append("c" in driver.existing().clusters) if call == "up dev" else None
    assert driver.up().ok
    assert there == [True, True, True]
    assert "c" not in driver.existing().clusters
    driver.runner.before = lambda _: None
    assert driver.plan().empty
