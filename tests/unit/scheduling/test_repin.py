"""Re-pinning: replicas leave a cluster that stays not ready, but only for a place that is there, and when asked."""

from datetime import timedelta

import pytest

from automation.scheduling.existing import ExistingReplica
from automation.scheduling.reason import Reason
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Accounting, Cluster, Deployment, Options, Strategy
from components.lock import Phase
from tests.unit.scheduling.builder import (
    NOW,
    after,
    cluster,
    deployment,
    engine,
    evaluate,
    live,
    member,
    snapshot,
    where,
)

WHOLE = deployment("d", 1, engine("main", member(8)))
DWELL = timedelta(minutes=30)


def sick(minutes: int = 30, *, state: str = "not ready") -> Cluster:
    """Return a cluster that has not been ready for some time."""
    return cluster("a", state=state, not_ready_since=NOW - timedelta(minutes=minutes))


def repin(
    clusters: list[Cluster], wanted: Deployment, replicas: list[ExistingReplica], dwell: timedelta | None = DWELL
) -> Schedule:
    """Schedule with a dwell time."""
    return schedule(snapshot(clusters, [wanted], replicas, Options(repin_dwell=dwell)), evaluate=evaluate)


@pytest.mark.parametrize(
    ("one", "dwell", "moves"),
    [
        (sick(), DWELL, True),
        (sick(29), DWELL, False),
        (sick(), None, False),
        (cluster("a", state="not ready"), DWELL, False),
        (cluster("a", state="not ready"), timedelta(), True),
        (sick(state="ready"), DWELL, False),
        (sick(state="ready"), timedelta(), False),
    ],
    ids=["long enough", "not yet", "not asked for", "nobody knows since when", "at once", "ready again", "ready"],
)
def test_a_replica_leaves_a_cluster_that_stays_not_ready(one: Cluster, dwell: timedelta | None, moves: bool) -> None:
    """Its successor is on another cluster, and it goes after that one serves."""
    made = repin([one, cluster("b")], WHOLE, [live(WHOLE, "a")], dwell)
    assert where(made) == (["d@b/0"] if moves else ["d@a/0"])
    assert [(each.reason, str(each.successor)) for each in made.leaving] == (
        [(Reason.REPINNED, "ml/d/b/0")] if moves else []
    )
    assert not made.shortfalls


def test_a_replica_is_never_sent_to_nowhere() -> None:
    """Without room elsewhere it stays where it is, as kept, and nothing is reported as missing."""
    made = repin([sick()], WHOLE, [live(WHOLE, "a")])
    assert [each.reason for each in made.placements] == [Reason.KEPT]
    assert not made.shortfalls
    old = live(WHOLE, "a", version="v0")
    made = repin([sick()], WHOLE, [old])
    assert [each.reason for each in made.placements] == [Reason.EDIT_WAITS]


def test_planning_again_while_the_successor_starts_changes_nothing() -> None:
    """Until it serves, and when the cluster has come back meanwhile, one replica is wanted and one is left."""
    before = [live(WHOLE, "a", ready=False, failure="node lost")]
    clusters = [sick(), cluster("b")]
    built = after(repin(clusters, WHOLE, before), before, phase=Phase.STARTING, ready=False)
    assert where(repin(clusters, WHOLE, built)) == ["d@b/0"]
    served = after(repin(clusters, WHOLE, before), before, phase=Phase.SERVING)
    assert len(where(repin([cluster("a"), cluster("b")], WHOLE, served))) == 1


def test_the_predecessor_re_pins_nothing() -> None:
    """`Compatible` makes its choices, and a replica stayed where it was for it."""
    options = Options(Strategy.COMPATIBLE, Accounting.NODE, repin_dwell=DWELL)
    made = schedule(snapshot([sick(), cluster("b")], [WHOLE], [live(WHOLE, "a")], options), evaluate=evaluate)
    assert where(made) == ["d@a/0"]
    assert not made.leaving
