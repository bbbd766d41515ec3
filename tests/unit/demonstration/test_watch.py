"""Who went before whose successor was ready, by whoever watches."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from automation.demonstration.pods import Pod
from automation.demonstration.watch import Watch
from automation.rehearsal.kubernetes.api import ApiError
from components.errors import DriverError
from tests.support.processes import soon

OLD = Pod("gpu-a", "chat", "old", "old", "engine:v1", "n", "l4", (), ready=True)
NEW = replace(OLD, cluster="gpu-b", name="new", replica="new")


@dataclass
class FakeCluster:
    """A cluster with pods, unless it is silent."""

    name: str
    shown: list[Pod] = field(default_factory=list)
    silent: bool = False
    looks: int = 0

    def pods(self) -> list[Pod]:
        """Give them."""
        self.looks += 1
        if self.silent:
            raise ApiError("no answer", status=0)
        return self.shown


class Story:
    """Two clusters, what happens to them, and the watch; each event is seen before the next one happens."""

    def __init__(self) -> None:
        self.left, self.right = FakeCluster("gpu-a", [OLD]), FakeCluster("gpu-b")
        self.watch = Watch([self.left, self.right])

    def tell(self, *events: Callable[["Story"], object]) -> list[tuple[Pod, float]]:
        """Let events happen, and give who moved."""
        with self.watch.watching():
            for each in events:
                each(self)
                looks = self.right.looks
                assert soon(lambda looks=looks: self.right.looks > looks + 1)  # type: ignore[misc]
        return list(self.watch.moved(away="gpu-a", to="gpu-b"))


def comes(story: Story) -> None:
    """Let the successor be ready."""
    story.right.shown = [NEW]


def goes(story: Story) -> None:
    """Let the old one be there no more."""
    story.left.shown = []


def silence(story: Story) -> None:
    """Let the first cluster be silent."""
    story.left.silent = True


def answers(story: Story) -> None:
    """Let it answer again."""
    story.left.silent = False


def test_a_pod_that_goes_after_its_successor_is_ready_has_moved() -> None:
    """By the time between the two."""
    ((old, before),) = Story().tell(comes, goes)
    assert old == OLD
    assert before > 0


def test_one_that_goes_first_is_a_failure() -> None:
    """A gap is what a drain must not have."""
    with pytest.raises(DriverError, match="went before a successor was ready"):
        Story().tell(goes, comes)


@pytest.mark.parametrize("events", [(), (comes,)], ids=["nothing", "only-came"])
def test_whoever_sees_nobody_go_does_not_call_it_a_drain(events: tuple[Callable[[Story], object], ...]) -> None:
    """A check of nobody passes; this one must not."""
    with pytest.raises(DriverError, match="were to go: chat/old on gpu-a; seen to go were: none"):
        Story().tell(*events)


def test_whoever_was_elsewhere_must_not_go() -> None:
    """Only what was to move moves."""
    story = Story()
    other = replace(NEW, name="other")
    story.right.shown = [other]

    def both(story: Story) -> None:
        story.right.shown = [NEW, other]

    with pytest.raises(DriverError, match="seen to go were: chat/old on gpu-a, chat/other on gpu-b"):
        story.tell(both, goes, comes)


def test_a_silent_cluster_hides_nothing_of_the_others() -> None:
    """The successor is seen when it comes, and a pod of a silent cluster has not gone."""
    story = Story()
    ((_, before),) = story.tell(silence, comes, answers, goes)
    assert before > 0
    with pytest.raises(ApiError):
        Story().tell(comes, goes, silence)
