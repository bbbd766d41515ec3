"""Clusters of several Kubernetes minors: each judges a selector by its own, and says what it would need."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from automation.scheduling.reason import Reason
from automation.scheduling.schedule import Schedule, schedule
from automation.scheduling.snapshot import Cluster, ClusterState, Options, Snapshot, Strategy, Version, Versions
from automation.scheduling.verdict import Code
from tests.unit.scheduling.builder import NOW, cluster, deployment, engine, live, member, nic, plan, pool, where

NEW = "lists.range(3).exists(i, i == 1) && device.driver == 'gpu.nvidia.com'"
"""Kubernetes has ``lists.range`` for new selectors from 1.35 on."""
WANTED = deployment("d", 2, engine("main", member(8, NEW)))
SAYS = f"request gpu: {NEW} needs Kubernetes 1.35 (1:1: undeclared reference to 'lists'), and "


def at(version: str) -> Versions:
    """Return the versions of a cluster whose manifest says one."""
    return Versions(api_server=Version(version))


def mixed(older: str = "v1.34.4") -> list[Cluster]:
    """Return two clusters with equal pools; the first may have an older Kubernetes."""
    return [cluster("a", pool(nodes=1), versions=at(older)), cluster("b", pool(nodes=1), versions=at("v1.35.1"))]


def made(clusters: list[Cluster], options: Options | None = None) -> Schedule:
    """Place the deployment with the selectors of the language itself."""
    return schedule(Snapshot(tuple(clusters), (WANTED,), now=NOW, options=options or Options()))


@pytest.mark.parametrize("strategy", Strategy)
def test_it_matches_on_the_newer_cluster_and_is_refused_on_the_older(strategy: Strategy) -> None:
    """Equal hardware has two verdicts, in every strategy."""
    found = made(mixed(), Options(strategy=strategy))
    assert where(found) == ["d@b/0"]
    verdict = found.trace["ml", "d"].verdict("a")
    assert (verdict.code, verdict.message) == (Code.SELECTOR_TOO_NEW, f"{SAYS}a runs v1.34.4, as its manifest says")
    assert [(each.code, each.request, each.expression) for each in verdict.pools] == [
        (Code.SELECTOR_TOO_NEW, "gpu", NEW)
    ]
    (short,) = found.shortfalls
    assert "1 with a Kubernetes too old for a selector" in short.message


def test_an_upgraded_cluster_gains_the_match() -> None:
    """The next plan sees the new version, and nothing else has changed."""
    assert where(made(mixed("v1.35.0-eks-1"))) == ["d@a/0", "d@b/0"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a cluster's version, and how the refusal ends."""

    name: str
    versions: Versions
    words: str
    state: ClusterState = ClusterState.READY
    source: str = "Existing"


KNOWN = [
    Known("seen", Versions(api_server=Version("v1.34.4", NOW)), "a runs v1.34.4, as seen at 2026-01-01 00:00 UTC"),
    Known("to be made", at("1.34"), "a is to run 1.34", ClusterState.PLANNED, "EKS"),
    Known(
        "in the middle of its creation, and seen",
        Versions(Version("v1.34.4", NOW)),
        "a runs v1.34.4, as seen at 2026-01-01 00:00 UTC",
        ClusterState.PLANNED,
        "EKS",
    ),
    Known("to be taken into the fleet", at("1.34"), "a runs 1.34, as its manifest says", ClusterState.PLANNED),
    Known(
        "a channel",
        at("latest"),
        "a is said to run `latest`, which names no minor and counts as 1.34: write a version, or observe it",
        source="GKE",
    ),
    Known("nothing", Versions(), "nobody says what a runs: write its `kubernetesVersion`, or observe it"),
    Known(
        "seen too long ago",
        Versions(api_server=Version("v1.35.1", NOW - timedelta(days=2))),
        "nobody says what a runs: write its `kubernetesVersion`, or observe it",
    ),
]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_the_refusal_says_what_is_known_of_the_cluster(case: Known) -> None:
    """A cluster of which nobody says anything is taken for the oldest minor: a wrong match would be worse."""
    one = replace(mixed()[0], versions=case.versions, state=case.state, source=case.source)
    found = made([one], Options(observation_age=timedelta(days=1)))
    assert not where(found)
    assert found.trace["ml", "d"].verdict("a").message == SAYS + case.words


def test_what_runs_stays_where_nobody_says_the_version_any_more() -> None:
    """Its cluster has taken the selector; that nothing is known now is no reason to move."""
    running = [live(WANTED, "a"), live(WANTED, "b")]
    for versions in (Versions(), at("v1.34.4")):
        rows = [replace(mixed()[0], versions=versions), cluster("b", pool(nodes=4), versions=at("v1.36.0"))]
        found = schedule(Snapshot(tuple(rows), (WANTED,), tuple(running), now=NOW))
        assert [(each.id.cluster, each.reason) for each in found.placements] == [
            ("a", Reason.KEPT),
            ("b", Reason.KEPT),
        ]


def test_the_remedy_is_an_upgrade() -> None:
    """It names the minor that all selectors of the deployment need."""
    wanted = deployment("d", 1, engine("one", member(4, "any@1.35")), engine("two", member(4, "any@1.36")))
    rows = [cluster("a", pool(), versions=at("v1.34.4")), cluster("b", pool("x", nic()))]
    found = plan(rows, [wanted])
    assert found.trace["ml", "d"].remedy().message == "would fit on a once it runs Kubernetes 1.36 or newer"
    assert not found.wrong_selectors


def test_no_upgrade_is_named_where_none_would_help() -> None:
    """The devices would not match either."""
    wanted = deployment("d", 1, engine("main", member(8, "none@1.35")))
    found = plan(mixed(), [wanted])
    assert {each.code for each in found.trace["ml", "d"].verdicts} == {Code.NO_MATCH}
    assert found.trace["ml", "d"].remedy().message.startswith("never fits: request gpu: h100 does not satisfy none")
