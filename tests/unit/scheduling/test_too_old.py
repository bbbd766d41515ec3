"""Clusters whose Kubernetes is too old for device claims: nothing begins there, and what runs stays."""

from dataclasses import replace
from datetime import timedelta

import pytest

from automation.scheduling.reason import Reason
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Cluster, ClusterState, Options, Snapshot, Version, Versions
from automation.scheduling.verdict import Code
from components.lock import Phase
from tests.unit.scheduling.builder import NOW, cluster, deployment, engine, evaluate, live, member, plan, pool, where

WHOLE = engine("main", member(8))
OLD = Versions(api_server=Version("v1.33.1"))


def test_nothing_is_changed_in_place_there() -> None:
    """The pod that serves would end, and its successor never start; one on a cluster that is new enough changes."""
    rows = [cluster("a", pool(nodes=1), versions=OLD), cluster("b", pool(nodes=1))]
    before, after = deployment("d", 2, WHOLE), deployment("d", 2, WHOLE, version="v2")
    made = plan(rows, [after], [live(before, "a"), live(before, "b")])
    assert {each.id.cluster: each.reason for each in made.placements} == {
        "a": Reason.EDIT_WAITS,
        "b": Reason.EDITED_IN_PLACE,
    }


def test_one_that_has_never_served_goes_elsewhere() -> None:
    """As from a cluster that is not ready."""
    rows = [cluster("a", pool(nodes=1), versions=OLD), cluster("b", pool(nodes=1))]
    starting = live(deployment("d"), "a", phase=Phase.STARTING, ready=False)
    assert where(plan(rows, [deployment("d", version="v2")], [starting])) == ["d@b/0"]


@pytest.mark.parametrize(("hours", "code"), [(1, Code.TOO_OLD), (9, Code.FITS)], ids=["lately", "too long ago"])
def test_a_version_counts_as_long_as_what_was_seen_does(hours: int, code: Code) -> None:
    """The cluster may have been upgraded since."""
    seen = NOW - timedelta(hours=hours)
    one: Cluster = cluster("a", seen=seen, versions=Versions(api_server=Version("v1.33.1", seen)))
    made = schedule(
        Snapshot((one,), (deployment("d", 0),), options=Options(observation_age=timedelta(hours=8)), now=NOW),
        evaluate=evaluate,
    )
    assert made.trace["ml", "d"].verdict("a").code is code


def test_the_refusal_says_when_it_was_seen() -> None:
    """What the manifest says was not seen."""
    seen = cluster("a", versions=Versions(api_server=Version("v1.33.1", NOW)))
    message = plan([seen], [deployment("d")]).trace["ml", "d"].verdict("a").message
    assert message == "its API server is v1.33.1, as seen at 2026-01-01 00:00 UTC, and device claims need 1.34 or newer"
    declared = replace(seen, versions=OLD)
    message = plan([declared], [deployment("d")]).trace["ml", "d"].verdict("a").message
    assert message == "its API server is v1.33.1, and device claims need 1.34 or newer"
    planned = replace(declared, state=ClusterState.PLANNED, source="EKS")
    message = plan([planned], [deployment("d")]).trace["ml", "d"].verdict("a").message
    assert message == "its API server is to be v1.33.1, and device claims need 1.34 or newer"
