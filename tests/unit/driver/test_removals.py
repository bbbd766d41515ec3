"""Taking things away: a whole environment, a lost cluster, the stack of a cluster that is gone."""

from collections import Counter

import pytest

from automation.cli.progress import Progress
from automation.cli.sinks import Sinks
from automation.driver.teardown import Teardown, tear_down
from automation.driver.view import plan_view
from components.errors import ResourceFailed
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import ON_B, cluster, deployment


def destroy(driver: FakeDriver) -> Teardown:
    """Tear an environment down."""
    return tear_down(driver.session, driver.read(create=False, lenient=True))


def test_a_teardown_takes_everything_and_the_stacks(split: FakeDriver) -> None:
    """Routes first: the front doors' stack before those of the clusters it leads to."""
    done = destroy(split)
    assert done.ok
    assert done.deleted > 0
    assert split.does() == [
        "destroy dev",
        "remove_stack dev",
        "destroy dev.b",
        "remove_stack dev.b",
    ]
    assert split.runner.stacks() == ()


def test_namespaces_on_clusters_that_stay_are_said_to_stay(driver: FakeDriver) -> None:
    """Deleting one deletes every volume claim in it; a person must know that it is there."""
    assert "NamespacePatch a/ml-namespace on cluster a" in destroy(driver).retained


def test_what_is_left_is_neither_counted_nor_shown_as_deleted(
    driver: FakeDriver, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for every deletion, and as many in the end; what stays is let go of."""
    driver.heard.events.clear()
    done = destroy(driver)
    shown = Progress(Sinks())
    for event in driver.heard.events:
        shown.event(event)
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert sum(line[0] == "deleted" for line in lines) == done.deleted
    left = [line for line in lines if line[:3] == ["let", "go", "of"]]
    assert len(left) == len(done.retained) > 0
    assert all(line[3].endswith(":NamespacePatch") for line in left)


def test_a_plan_counts_what_it_lets_go_of_apart(driver: FakeDriver) -> None:
    """The count of deletions is that of the lines that say so, and so is that of the run."""
    driver.remove("models/search/embed.yaml")
    view = plan_view(driver.session, driver.plan())
    ops = Counter(each.op for each in view.resources)
    assert ops["retain"] > 0
    assert {op: view.counts[op] for op in ("delete", "retain")} == {op: ops[op] for op in ("delete", "retain")}


def test_a_teardown_that_fails_leaves_the_rest_for_the_next(driver: FakeDriver) -> None:
    """The stack stays with what could not be deleted, by the name of the replica it belongs to."""
    driver.runner.faults.deletions = {"search/embed/b/0-workload-main"}
    done = destroy(driver)
    assert not done.ok
    assert list(done.failures) == ["search/embed/b/0"]
    assert set(driver.replicas()) == {"search/embed/b/0"}
    driver.runner.faults.deletions.clear()
    assert destroy(driver).ok
    assert driver.runner.stacks() == ()


def test_what_is_protected_is_not_torn_down(driver: FakeDriver) -> None:
    """Not even the rest of it."""
    driver.edit("environment.yaml", "frontDoors: [a]", "frontDoors: [a], protect: true")
    driver.up()
    state = driver.facts()
    with pytest.raises(ResourceFailed, match="a/front-door-gateway"):
        destroy(driver)
    assert driver.facts() == state


def test_the_stacks_of_another_layout_are_torn_down_too(split: FakeDriver) -> None:
    """Whatever the manifests say by now, nothing is left behind."""
    split.edit("environment.yaml", "PerCluster", "Single")
    assert destroy(split).ok
    assert split.runner.stacks() == ()


def test_a_lost_cluster_is_forgotten_without_a_call_to_it(driver: FakeDriver) -> None:
    """Its resources leave the state, its replicas are placed elsewhere."""
    driver.dead = {"b": "no route to host"}
    driver.runner.faults.deletions = {each.name for each in driver.checkpoint() if "b-kubernetes" in each.provider}
    driver.edit("models/search/embed.yaml", ON_B, "")
    driver.edit("platform/b.yaml", "spec:\n", "spec:\n  lost: true\n")
    assert driver.up().ok
    assert set(driver.existing().clusters) == {"a"}
    assert driver.replicas() == {"ml/qwen/a/0": "Serving", "search/embed/a/0": "Serving"}
    assert any(note.startswith("cluster b is lost: ") for note in driver.heard.notes)
    assert driver.plan().empty


def test_a_plan_alone_forgets_nothing(driver: FakeDriver) -> None:
    """It says what a run would forget."""
    driver.edit("platform/b.yaml", "spec:\n", "spec:\n  lost: true\n")
    state = driver.facts()
    driver.berth("plan")
    assert driver.facts() == state


@pytest.mark.parametrize("mark", ["lost", "removing"])
def test_the_stack_of_a_cluster_that_is_gone_goes_too(split: FakeDriver, mark: str) -> None:
    """Nothing of a cluster is left behind, in the clouds or in the backend."""
    split.edit("models/search/embed.yaml", ON_B, "")
    split.edit("platform/b.yaml", "spec:\n", f"spec:\n  {mark}: true\n")
    assert split.up().ok
    assert [str(each) for each in split.runner.stacks()] == ["dev"]
    assert "removed stack dev.b: its cluster is gone" in split.heard.notes
    assert split.plan().empty
    assert [str(each) for each in split.runner.stacks()] == ["dev"]


def test_an_empty_stack_of_a_cluster_to_come_stays(split: FakeDriver) -> None:
    """Its cluster could not be built yet; the next run does it."""
    split.write("platform/c.yaml", cluster("c"))
    split.runner.faults.creations = {"c-kubernetes"}
    assert not split.up().ok
    assert "dev.c" in [str(each) for each in split.runner.stacks()]
    split.runner.faults.creations.clear()
    assert split.up().ok
    assert split.existing().clusters["c"].ready


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (["ml/qwen"], ["there is no manifest in namespace ml any more: 1 replica of ml is retired"]),
        (
            ["ml/qwen", "search/embed"],
            [
                "there is no manifest anywhere any more: 1 replica of ml is retired",
                "there is no manifest anywhere any more: 1 replica of search is retired",
            ],
        ),
    ],
    ids=["one namespace", "all of them"],
)
def test_a_folder_of_manifests_that_is_gone_is_said_first(driver: FakeDriver, gone: list[str], said: list[str]) -> None:
    """A folder is lost in one slip: a merge, a wrong checkout, a link that was not copied."""
    for name in gone:
        driver.remove(f"models/{name}.yaml")
    assert list(plan_view(driver.session, driver.plan()).notes)[: len(said)] == said


def test_a_manifest_that_goes_beside_others_needs_no_word_of_its_own(driver: FakeDriver) -> None:
    """The plan lists it among what leaves; that is an edit like any other."""
    driver.write("models/ml/second.yaml", deployment("second"))
    driver.up()
    driver.remove("models/ml/second.yaml")
    assert not plan_view(driver.session, driver.plan()).notes
