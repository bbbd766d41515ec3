"""A cluster whose name was edited: the plan and the refusal say that it would be another one, and where."""

import pytest

from automation.driver.view import plan_view
from components.errors import ConfigError, Problem
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import cluster

SAID = "looks like b under a new name; names are identities, so this builds a new cluster and destroys the old one"


def renamed(driver: FakeDriver, name: str, *, again: str = "") -> None:
    """Write the manifest of ``b`` under another name."""
    driver.remove("platform/b.yaml")
    driver.write("platform/b.yaml", again or cluster(name))


def notes(driver: FakeDriver) -> str:
    """Return the lines of a plan that speak of names."""
    found = plan_view(driver.session, driver.plan()).notes
    return "\n".join(each for each in found if "under a new name" in each)


def idle(driver: FakeDriver) -> None:
    """Let nothing be on ``b``."""
    driver.remove("models/search/embed.yaml")
    assert driver.up().ok


def refused(driver: FakeDriver) -> Problem:
    """Return the one problem of a plan."""
    with pytest.raises(ConfigError) as caught:
        driver.plan()
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize("name", ["bb", "something-else"], ids=["a near name", "equal pools"])
def test_a_plan_says_that_a_cluster_seems_to_be_renamed(driver: FakeDriver, name: str) -> None:
    """Where the new name stands, what would happen, and what to do."""
    idle(driver)
    renamed(driver, name)
    said = notes(driver)
    assert "/platform/b.yaml:1: " in said
    assert f"{name} {SAID}; name it b again, or keep both manifests and set `removing: true` on b" in said


def test_a_cluster_that_is_another_one_is_not_taken_for_the_old(driver: FakeDriver) -> None:
    """Other pools under a name that is not near; another region, however near the name."""
    idle(driver)
    renamed(driver, "something-else", again=cluster("something-else", small=3))
    assert notes(driver) == ""
    far = cluster("bb").replace("existing:\n", "existing:\n      region: elsewhere\n", 1)
    renamed(driver, "bb", again=far)
    assert notes(driver) == ""


def test_a_cluster_that_goes_on_purpose_is_no_renamed_one(driver: FakeDriver) -> None:
    """`removing: true` keeps the manifest: somebody swaps two clusters and knows it. Nor is one that only comes."""
    idle(driver)
    driver.write("platform/bb.yaml", cluster("bb"))
    assert notes(driver) == ""
    driver.write("platform/b.yaml", f"{cluster('b')}  removing: true\n")
    assert notes(driver) == ""


def test_one_new_cluster_stands_for_one_old_one(driver: FakeDriver) -> None:
    """The nearer name wins; the other cluster just goes."""
    driver.write("platform/bx.yaml", cluster("bx"))
    idle(driver)
    driver.remove("platform/bx.yaml")
    renamed(driver, "bx-1")
    assert notes(driver).count("under a new name") == 1


def test_the_refusal_of_a_cluster_in_use_stands_where_the_new_name_is(driver: FakeDriver) -> None:
    """File and line, the same words, and the way back first."""
    driver.edit("models/search/embed.yaml", "clusterSelector: {matchLabels: {cluster: b}}", "")
    renamed(driver, "b2")
    problem = refused(driver)
    assert problem.code == "cluster-in-use"
    assert problem.where.endswith("/platform/b.yaml:1")
    assert problem.message.endswith(f"search/embed/b/0 is still on it. b2 {SAID}")
    assert problem.help.startswith("name it b again; if it is another cluster, bring the manifest back")


def test_the_refusal_of_a_pool_in_use_names_the_new_pool(driver: FakeDriver) -> None:
    """A pool is known by its name as well; the error stands at its cluster."""
    driver.edit("platform/b.yaml", "{name: small,", "{name: little,")
    problem = refused(driver)
    assert problem.code == "pool-in-use"
    assert problem.where.endswith("/platform/b.yaml:1")
    assert "little looks like small under a new name" in problem.message
    assert problem.help.startswith("name it small again; if it is another pool, bring the pool back")
