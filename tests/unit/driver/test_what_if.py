"""What-if questions: the answer beside what holds now, without asking the engine or writing anything."""

from pathlib import Path

import pytest

from automation.cli.asking_what_if import question_of
from automation.driver.what_if import Question, answer
from automation.render.what_if import WhatIfDeploymentView, WhatIfView, what_if_lines
from components.errors import ConfigError, UsageError
from tests.support.fake_runner_session import FakeDriver
from tests.support.fleet_run import ON_B, cluster, deployment

QWEN, EMBED = "ml/qwen", "search/embed"


def ask(driver: FakeDriver, question: Question) -> WhatIfView:
    """Answer a question about an applied environment; nothing may come of it."""
    lock = driver.lock()
    driver.does()
    view, _ = answer(driver.session, driver.read(create=False), question)
    assert driver.does() == []
    assert driver.lock() == lock
    return view


def of(view: WhatIfView, name: str) -> WhatIfDeploymentView:
    """Return the answer for one deployment."""
    return next(each for each in view.deployments if each.deployment == name)


def text(view: WhatIfView) -> str:
    """Return the answer as a person reads it."""
    return "\n".join(each.plain for each in what_if_lines(view, width=120))


def test_without_a_cluster_its_replicas_are_elsewhere_or_missing(driver: FakeDriver) -> None:
    """One deployment moves, the other may not: both are said with numbers."""
    view = ask(driver, Question(without=("a",)))
    assert (of(view, QWEN).clusters_now, of(view, QWEN).clusters) == ({"a": 1}, {"b": 1})
    assert view.new == ("ml/qwen/b/0",)
    assert [(each.replica, each.reason) for each in view.leaving] == [("ml/qwen/a/0", "cluster-lost")]
    view = ask(driver, Question(without=("b",)))
    assert (of(view, EMBED).placed_now, of(view, EMBED).placed) == (1, 0)
    assert of(view, EMBED).message.startswith("0 of 1 placed; 0/2 clusters: 1 lost, 1 not selected")
    assert "search/embed  1       1           0     b 1 -> 0" in text(view)


def test_manifests_of_a_file_are_added_or_stand_in(driver: FakeDriver, tmp_path: Path) -> None:
    """Several replicas of what is there, a deployment that is new, and a cluster with more room."""
    more = tmp_path / "more.yaml"
    more.write_text(
        f"{deployment('qwen', gpus=8, replicas=3)}---\n{deployment('new', spec=ON_B)}---\n{cluster('a', big=2)}"
    )
    view = ask(driver, Question(files=(more,)))
    assert (of(view, QWEN).wanted_now, of(view, QWEN).wanted, of(view, QWEN).placed) == (1, 3, 3)
    assert (of(view, "ml/new").wanted_now, of(view, "ml/new").clusters) == (None, {"b": 1})
    assert view.assumptions == (f"the manifests of {more} are applied",)
    assert {name for name in view.new if "/new/" in name} == {"ml/new/b/0"}
    assert "beyond what a plan would do now. Nothing was written." in text(view)


def test_a_mistake_in_such_a_file_has_its_place(driver: FakeDriver, tmp_path: Path) -> None:
    """In that file, by line and column."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(deployment("new").replace("replicas:", "replicsa:"))
    with pytest.raises(ConfigError) as caught:
        ask(driver, Question(files=(wrong,)))
    assert {Path(each.file).name for each in caught.value.problems} == {"wrong.yaml"}
    assert any("did you mean `replicas`" in each.help for each in caught.value.problems)


def test_a_pool_of_another_size_takes_more_or_lets_go(driver: FakeDriver) -> None:
    """A smaller one is left by what it cannot hold, with the reason of an edit."""
    view = ask(driver, Question(capacity={"a/small": 0}))
    assert [(each.replica, each.reason) for each in view.leaving] == [("ml/qwen/a/0", "pool-shrinks")]
    assert view.assumptions == ("pool a/small has 0 nodes",)
    driver.write("models/ml/qwen.yaml", deployment("qwen", gpus=8, replicas=4))
    assert of(ask(driver, Question(capacity={"b/big": 3})), QWEN).placed == 4
    assert of(ask(driver, Question(capacity={"b/big": 1})), QWEN).placed == 3


def test_a_pool_that_only_one_cluster_has_needs_no_cluster(driver: FakeDriver) -> None:
    """Its own name says which it is."""
    driver.write("platform/c.yaml", cluster("c", big=0).replace("name: big", "name: only"))
    driver.write("models/ml/qwen.yaml", deployment("qwen", gpus=8, replicas=9))
    one = of(ask(driver, Question(capacity={"only": 1})), QWEN)
    two = of(ask(driver, Question(capacity={"c/only": 2})), QWEN)
    assert (one.clusters["c"], two.clusters["c"]) == (1, 2)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (Question(without=("c",)), "there is no cluster 'c'"),
        (Question(capacity={"a/smal": 1}), "there is no pool 'a/smal'"),
        (Question(capacity={"smal": 1}), "there is no pool 'smal'"),
        (Question(capacity={"small": 1}), "2 clusters have a pool 'small'"),
    ],
    ids=["cluster", "pool", "pool alone", "several pools"],
)
def test_what_is_not_there_cannot_be_asked_about(driver: FakeDriver, question: Question, message: str) -> None:
    """With what was probably meant."""
    with pytest.raises(UsageError, match=message):
        ask(driver, question)


@pytest.mark.parametrize("given", ["a/small", "=2", "a/small=two", "a/=2", "/small=2", "a/small=-1", "a/small=\u0661"])
def test_a_capacity_that_cannot_be_read_is_refused(given: str) -> None:
    """With the form that it should have."""
    with pytest.raises(UsageError, match="cannot be read"):
        question_of((), (), (given,))


def test_a_question_is_read_from_its_options() -> None:
    """A cluster twice is once; the last size of a pool counts."""
    question = question_of(("a", "a"), (), ("a/small=2", "a/small=3"))
    assert (question.without, question.capacity) == (("a",), {"a/small": 3})
