"""Verdicts: a code, words and numbers for every cluster and pool, and one summary line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest

from automation.scheduling.existing import ExistingCache
from automation.scheduling.matching import Said
from automation.scheduling.observation import ForeignPod, PoolObservation
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import (
    Accounting,
    CacheNeed,
    Cluster,
    Deployment,
    Device,
    Options,
    Purchase,
    Strategy,
    Version,
    Versions,
)
from automation.scheduling.trace import Trace, Verdicts
from automation.scheduling.verdict import Code, Score, Verdict
from components.lock import CacheEntry, CacheShape
from components.naming import CacheId
from tests.unit.scheduling.builder import (
    NOW,
    cluster,
    deployment,
    engine,
    evaluate,
    gang,
    gpu,
    live,
    member,
    nic,
    plan,
    pool,
    snapshot,
    synthetic,
    where,
)

WHOLE = engine("main", member(8))
GOLD = {"tier": "gold"}
CACHE = CacheNeed("weights", "sha256:1", GOLD)


def only(made: Schedule) -> Verdict:
    """Return the verdict of cluster ``a`` for deployment ``d``."""
    return made.trace["ml", "d"].verdict("a")


@dataclass(frozen=True)
class Case:
    """A cluster, and why it is refused."""

    name: str
    one: Cluster
    wanted: Deployment
    code: Code
    words: str


CASES = [
    Case("lost", cluster("a", state="lost", why="it is marked as lost"), deployment("d"), Code.LOST, "marked as lost"),
    Case("going away", cluster("a", state="going away"), deployment("d"), Code.GOING_AWAY, "the cluster is going away"),
    Case("not ready", cluster("a", state="not ready", why="quota"), deployment("d"), Code.NOT_READY, "quota"),
    Case(
        "an API server that is too old",
        cluster("a", versions=Versions(api_server=Version("v1.33.9"), kubelet=Version("v1.33.9"))),
        deployment("d"),
        Code.TOO_OLD,
        "its API server is v1.33.9, and device claims need 1.34 or newer",
    ),
    Case(
        "a node that is too old",
        cluster("a", versions=Versions(api_server=Version("v1.34.3"), kubelet=Version("v1.34.1"))),
        deployment("d"),
        Code.TOO_OLD,
        "its oldest kubelet is v1.34.1, and device claims need 1.34.2 or newer",
    ),
    Case("tainted", cluster("a", taints=["k=v:NoSchedule"]), deployment("d"), Code.TAINTED, "taint k=v:NoSchedule"),
    Case(
        "not selected",
        cluster("a", labels={"tier": "iron"}),
        deployment("d", selector=GOLD),
        Code.DESELECTED,
        "asks for tier=gold (the cluster has iron)",
    ),
    Case(
        "a label that is missing",
        cluster("a"),
        deployment("d", selector=GOLD),
        Code.DESELECTED,
        "asks for tier=gold (the cluster has no such label)",
    ),
    Case(
        "outside the cache",
        cluster("a", storage_class="s"),
        deployment("d", cache=CACHE),
        Code.OUTSIDE_CACHE,
        "the clusterSelector of cache weights",
    ),
    Case("no storage", cluster("a", labels=GOLD), deployment("d", cache=CACHE), Code.NO_STORAGE, "cannot be staged"),
    Case("no pools", Cluster("a"), deployment("d"), Code.NO_POOLS, "no GPU pools"),
    Case(
        "a selector that fails",
        cluster("a"),
        deployment("d", 1, engine("e", member(1, "boom"))),
        Code.SELECTOR_ERROR,
        "boom cannot be evaluated on h100: no such key: x",
    ),
    Case(
        "no match",
        cluster("a"),
        deployment("d", 1, engine("e", member(1, "140"))),
        Code.NO_MATCH,
        "h100 does not satisfy 140",
    ),
    Case(
        "what came closest is told",
        cluster("a", pool("l4", gpu("l4", 1)), pool("a100", gpu("a100", 4, 160))),
        deployment("d", 1, engine("e", member(8, "140"))),
        Code.POD_TOO_LARGE,
        "a node has 4 of a100",
    ),
    Case(
        "only described",
        cluster("a", pool("x", gpu(memory=40), synthetic())),
        deployment("d", 1, engine("e", member(1, "name=ib"))),
        Code.NO_MATCH,
        "none of its members claims a device",
    ),
    Case(
        "no common fabric, room or not",
        cluster("a", pool("x", gpu(), fabric="x"), pool("y", gpu("big", 8, 160), fabric="y")),
        deployment("d", 1, engine("e", member(8, "name=h100", role="Leader"), member(8, "140", role="Worker"))),
        Code.NO_FABRIC,
        "pools x (x) and y (y) together",
    ),
    Case(
        "full",
        cluster("a", pool(nodes=0)),
        deployment("d", 1, WHOLE),
        Code.NO_ROOM,
        "wanted 8 devices of h100, free 0 of 0",
    ),
    Case(
        "the scarcest kind is told",
        cluster("a", pool("gpus", gpu(), nic(count=4))),
        deployment("d", 1, engine("e", member(1, "any", pods=1), copies=9)),
        Code.NO_ROOM,
        "wanted 9 devices of h100, free 8 of 8",
    ),
    Case(
        "its pool is going away",
        cluster("a", pool("gpus", leaving="this change would replace it")),
        deployment("d"),
        Code.GOING_AWAY,
        "this change would replace it",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_refused_cluster_says_why(case: Case) -> None:
    """Code and words are those of the first failing filter."""
    verdict = only(plan([case.one], [case.wanted]))
    assert verdict.code is case.code
    assert case.words in verdict.message
    assert verdict.taken == 0


def test_a_live_replica_stays_on_a_cluster_that_is_too_old() -> None:
    """Nothing new is put there, and nothing is taken away."""
    old = cluster("a", pool(nodes=4), versions=Versions(kubelet=Version("v1.34.1")))
    wanted = deployment("d", 2)
    made = plan([old], [wanted], [live(wanted, "a")])
    assert where(made) == ["d@a/0"]
    assert made.shortfalls[0].message == "1 of 2 placed; 0/1 clusters: 1 too old"
    assert "its Kubernetes is upgraded" in made.trace["ml", "d"].beyond.message


def test_the_predecessors_strategy_asks_for_no_version() -> None:
    """It would have put it there."""
    old = cluster("a", versions=Versions(kubelet=Version("v1.34.1")))
    assert where(plan([old], [deployment("d")], strategy=Strategy.COMPATIBLE)) == ["d@a/0"]


def test_the_worst_filter_hides_the_others() -> None:
    """A lost cluster with a taint and no devices is lost."""
    worst = cluster("a", pool(nodes=0), state="lost", taints=["k=v:NoSchedule"])
    assert only(plan([worst], [deployment("d", selector=GOLD)])).code is Code.LOST
    assert [code.rank for code in Code] == sorted(code.rank for code in Code)


def test_a_cache_that_failed_to_stage_refuses_its_cluster_only_in_that_revision() -> None:
    """Another revision, or another cluster, is another try."""
    shape = CacheShape(source="HuggingFace", repo="a/b", size_gib=1)
    identity = CacheId("ml", "weights", "a", 0)
    failed = ExistingCache(identity, CacheEntry(cache="weights", cluster="a", shape="sha256:1"), shape, failure="token")
    one = cluster("a", labels=GOLD, storage_class="s")
    refused = only(plan([one], [deployment("d", cache=CACHE)], caches=(failed,)))
    assert (refused.code, refused.message) == (Code.CACHE_FAILED, "staging cache weights failed on it: token")
    renewed = CacheNeed("weights", "sha256:2", GOLD)
    assert only(plan([one], [deployment("d", cache=renewed)], caches=(failed,))).code is Code.TAKEN


def test_a_refusal_for_the_promise_names_its_victim_and_the_ways_out() -> None:
    """Four small pods are free of two nodes by sum, and could strand somebody's whole-node pod."""
    big, small = deployment("big", 1, WHOLE), deployment("d", 3, engine("e", member(1)))
    made = plan([cluster("a", pool(nodes=2))], [big, small], [live(big, "a")])
    assert len(made.placements) == 2
    pool_verdict = only(made).pools[0]
    assert (pool_verdict.code, pool_verdict.wanted, pool_verdict.free) == (Code.NO_ROOM, 1, 7)
    assert "could strand ml/big's 8-device pod" in pool_verdict.message
    assert "one size per pool" in pool_verdict.message


def test_a_refusal_may_protect_the_pod_itself() -> None:
    """A whole-node pod beside small ones has no node to be sure of."""
    small, big = deployment("small", 2, engine("e", member(1))), deployment("d", 1, WHOLE)
    made = plan([cluster("a", pool(nodes=2))], [small, big], [live(small, "a"), live(small, "a", 1)])
    verdict = only(made)
    assert (verdict.code, verdict.wanted, verdict.free) == (Code.NO_ROOM, 8, 14)
    assert "no node is sure to have 8 free for its own pod" in verdict.message


def test_a_victim_that_this_very_plan_places_is_named() -> None:
    """New ones are protected as live ones are; those of another pool are not mixed up with them."""
    two = cluster("a", pool("gpus", nodes=2), pool("other", gpu("l4", 8, 24)))
    elsewhere = deployment("before", 1, engine("main", member(8, "24")), priority=2)
    big = deployment("big", 1, engine("main", member(8, "80")), priority=1)
    small = deployment("d", 3, engine("e", member(1, "80")))
    made = plan([two], [elsewhere, big, small])
    assert [each.placement[0].members[0].pool for each in made.placements] == ["other", "gpus", "gpus"]
    assert "could strand ml/big's 8-device pod" in only(made).pools[0].message


def test_a_foreign_victim_is_somebody_elses() -> None:
    """A pod that nobody of the fleet owns is protected all the same."""
    seen = PoolObservation(2, 0, (ForeignPod((("h100", 8),)),))
    made = plan([cluster("a", pool(nodes=2, observed=seen))], [deployment("d", 3, engine("e", member(1)))])
    assert "could strand somebody else's 8-device pod" in only(made).pools[0].message


@pytest.mark.parametrize(
    ("held", "placed"),
    [((("h100", 4),), 4), ((("gpu", 4),), 4), ((("gpu", 20),), 0), ((("described", 4),), 8), ((("efa", 4),), 8)],
    ids=["a kind", "an unknown kind", "more than a node has", "one that nobody claims", "another kind"],
)
def test_devices_of_an_unknown_name_may_be_of_any_kind(held: tuple[tuple[str, int], ...], placed: int) -> None:
    """A class that was edited since they were seen gives its devices other names; they are held all the same."""
    seen = PoolObservation(1, 0, (ForeignPod(held),))
    one = cluster("a", pool("gpus", gpu(), nic(), synthetic("described"), observed=seen))
    made = plan([one], [deployment("d", 9, engine("e", member(1, "80")))])
    assert (len(made.placements), made.overfull) == (placed, ())


def test_best_fit_gives_numbers_without_a_victim() -> None:
    """Nobody is in danger under the best packing; there is only too little."""
    three = deployment("d", 1, engine("e", member(5), copies=3))
    verdict = only(plan([cluster("a", pool(nodes=2))], [three], accounting=Accounting.BEST_FIT))
    assert verdict.message == "wanted 15 devices of h100, free 16 of 16"


def test_node_accounting_counts_nodes() -> None:
    """The numbers are nodes, as the predecessor counts."""
    verdict = only(plan([cluster("a", pool(fabric="x"))], [deployment("d", 1, gang())], accounting=Accounting.NODE))
    assert (verdict.code, verdict.wanted, verdict.free) == (Code.NO_ROOM, 2, 1)
    assert "wanted 2 nodes, free 1 of 1" in verdict.message


def test_taken_and_spare_clusters_are_told_apart() -> None:
    """One holds the replica, the other would have; a planned one is marked."""
    trace = plan([cluster("a"), cluster("b", state="planned")], [deployment("d", 1, WHOLE)]).trace["ml", "d"]
    assert [(each.code, each.planned, each.taken) for each in trace.verdicts] == [
        (Code.TAKEN, False, 1),
        (Code.FITS, True, 0),
    ]
    assert trace.summary == "1 of 1 placed on a"
    with pytest.raises(KeyError):
        trace.verdict("c")


def test_a_taken_cluster_that_gets_no_more_says_so() -> None:
    """A tainted cluster keeps what it has."""
    wanted = deployment("d", 1, WHOLE)
    verdict = only(plan([cluster("a", taints=["k=v:NoSchedule"])], [wanted], [live(wanted, "a")]))
    assert verdict.code is Code.TAKEN
    assert "gets no more" in verdict.message


SUMMARIES: list[tuple[str, Sequence[Cluster], str]] = [
    ("no clusters", [], "there are no clusters"),
    (
        "one line as of kube-scheduler",
        [
            cluster("a", taints=["k=v:NoSchedule"]),
            cluster("b", taints=["k=v:NoExecute"]),
            cluster("c", state="not ready"),
            cluster("d", pool("x", gpu(memory=40))),
            cluster("e", pool(nodes=0)),
        ],
        "0/5 clusters: 1 not ready, 2 tainted, 1 no matching device, 1 full",
    ),
    (
        "what lacks a network or is on spot nodes is neither full nor without devices",
        [
            cluster("a", pool("x", fabric="x"), pool("y", fabric="y")),
            cluster("b", pool(nodes=2)),
            cluster("c", pool(nodes=2, fabric="x", purchase=Purchase.SPOT)),
            cluster("d", pool("x", gpu(memory=40), purchase=Purchase.SPOT)),
            cluster("e", pool(fabric="x")),
            cluster("f", pool("x", fabric="x", nodes=0), pool("y", fabric="y", nodes=1)),
        ],
        "0/6 clusters: 1 no matching device, 1 only on spot nodes, 2 no common fabric, 2 full",
    ),
    ("only planned and full", [cluster("a", pool(nodes=0), state="planned")], "0/1 clusters: 1 full"),
]


@pytest.mark.parametrize(("clusters", "line"), [each[1:] for each in SUMMARIES], ids=[each[0] for each in SUMMARIES])
def test_a_shortfall_is_summarised(clusters: Sequence[Cluster], line: str) -> None:
    """Counts by reason, worst first."""
    wanted = gang(8, 1, "80") if "fabric" in line else engine("e", member(8, "80"))
    made = plan(clusters, [deployment("d", 2, wanted)])
    assert made.trace["ml", "d"].summary == line
    assert made.shortfalls[0].message == f"0 of 2 placed; {line}"


def test_the_engine_that_has_no_place_decides_for_its_cluster() -> None:
    """Not one that is too large for one pool and has another: its verdict is no reason."""
    both = deployment("d", 1, engine("e", member(8)), engine("f", member(1, "none")))
    verdict = only(plan([cluster("a", pool("small", gpu("l4", 1)), pool())], [both]))
    assert (verdict.code, verdict.message) == (Code.NO_MATCH, "request gpu: l4 does not satisfy none")
    larger = deployment("d", 1, engine("e", member(8)), engine("f", member(9)))
    verdict = only(plan([cluster("a", pool("small", gpu("l4", 1)), pool())], [larger]))
    assert (verdict.code, verdict.message) == (Code.POD_TOO_LARGE, "request gpu wants 9 devices, a node has 1 of l4")
    worst = deployment("d", 1, engine("e", member(9)), engine("f", member(1, "none")))
    assert only(plan([cluster("a")], [worst])).code is Code.NO_MATCH


def test_each_pool_is_told_once_per_distinct_answer() -> None:
    """Two engines with the same answer share a line, different ones have their own."""
    both = deployment("d", 1, engine("e", member(1, "140")), engine("f", member(1, "140")), engine("g", member(9)))
    verdict = only(plan([cluster("a")], [both]))
    assert [(each.engine, each.code) for each in verdict.pools] == [
        ("e", Code.NO_MATCH),
        ("g", Code.POD_TOO_LARGE),
    ]
    first = verdict.pools[0]
    assert (first.request, first.expression, first.device, first.wanted) == ("gpu", "140", "h100", 1)


def test_engines_that_fit_only_one_by_one() -> None:
    """Each alone has room; the message says which one has none beside which others, and what is missing."""
    both = deployment("d", 1, engine("e", member(8)), engine("f", member(8)))
    verdict = only(plan([cluster("a")], [both]))
    assert verdict.code is Code.NO_ROOM
    assert verdict.message == (
        "its engines fit one by one, and not together: beside e, f has no room on gpus"
        " (wanted 8 devices of h100, free 0 of 8)"
    )


def test_an_engine_that_another_of_the_same_replica_could_strand_is_named() -> None:
    """There are enough devices, but no node is sure to have them; the victim is the replica's own."""
    three = deployment("d", 1, engine("e", member(4)), engine("f", member(6)), engine("g", member(4)))
    verdict = only(plan([cluster("a", pool(nodes=2))], [three]))
    assert verdict.message.startswith("its engines fit one by one, and not together: beside e and f, g has no room on ")
    assert "it could strand its own other engine's 6-device pod" in verdict.message


def test_a_trace_is_a_mapping_that_computes_once() -> None:
    """It lists its deployments, and refuses others."""
    trace = plan([cluster("a")], [deployment("e"), deployment("d")]).trace
    assert list(trace) == [("ml", "d"), ("ml", "e")]
    assert len(trace) == 2
    assert trace["ml", "d"] is trace["ml", "d"]
    with pytest.raises(KeyError):
        trace["ml", "x"]
    assert not Trace()


def test_a_verdict_is_worked_out_when_it_is_looked_at() -> None:
    """Once, and no other with it; slices, negative positions and unknown clusters are those of a sequence."""
    asked: list[int] = []

    def judge(position: int) -> Verdict:
        asked.append(position)
        return Verdict("ab"[position], Code.FITS, "has room")

    verdicts = Verdicts({"a": 0, "b": 1}, judge)
    assert (len(verdicts), verdicts.of("b").cluster, verdicts[-1].cluster) == (2, "b", "b")
    assert asked == [1]
    assert verdicts.get("c") is None
    assert [each.cluster for each in verdicts[:]] == ["a", "b"]
    assert asked == [1, 0]
    assert verdicts == Verdicts({"a": 0, "b": 1}, judge)
    assert verdicts != ()


def test_deployments_that_ask_the_same_share_what_pools_say() -> None:
    """A record of hundreds of deployments on thousands of clusters says the same thing once."""
    trace = plan([cluster("a", pool(nodes=0))], [deployment("d", 1, WHOLE), deployment("e", 2, WHOLE)]).trace
    (first,), (second,) = (trace["ml", name].verdict("a").pools for name in "de")
    assert first is second


def test_the_chosen_have_scores() -> None:
    """What each cluster was compared by when it was its turn, live replicas counted, as if nothing came after."""
    wanted = deployment("d", 4, engine("main", member(4)), engine("other", member(4)))
    clusters = [
        cluster("a", pool(nodes=9, price=Decimal(10)), region="east"),
        cluster("b", pool(nodes=9), region="east"),
        cluster("c", pool(nodes=9, price=Decimal(30)), pool("spare", gpu(count=4)), region="west"),
        cluster("d", pool(nodes=0)),
    ]
    trace = plan(clusters, [wanted], [live(wanted, "a")]).trace["ml", "d"]
    assert [(str(each.replica), each.score) for each in trace.chosen] == [
        ("ml/d/c/0", Score(own=0, region=0, mixes=False, cost=Decimal(30), wanted=16)),
        ("ml/d/b/0", Score(own=0, region=1, mixes=False, cost=None, wanted=16)),
        ("ml/d/c/1", Score(own=1, region=1, mixes=False, cost=Decimal(30), wanted=16)),
    ]
    assert trace.order[:2] == ("fewest own replicas", "fewest own replicas in the region")
    assert trace.verdict("a").score == Score(own=1, region=2, mixes=False, cost=Decimal(10), wanted=16)
    assert trace.verdict("d").score is None


def test_a_score_says_where_sizes_are_mixed() -> None:
    """A second size on the pool costs room, and so it is said."""
    small, large = deployment("a", 1, engine("main", member(1))), deployment("b", 1, engine("main", member(4)))
    trace = plan([cluster("x", pool(nodes=3))], [small, large]).trace
    assert [each.score.mixes for key in trace for each in trace[key].chosen] == [True, True]


GUARDED = pool("gpus", gpu(capacity=()))
"""A pool whose devices have no memory, so that a selector that asks for it fails."""


@dataclass(frozen=True)
class Wrong:
    """A fleet, and where the selector ``80`` is found to be wrong; empty where it is not."""

    name: str
    clusters: Sequence[Cluster]
    where: str = ""
    selector: Mapping[str, str] | None = None


WRONGS = [
    Wrong("fails on every candidate", [cluster("a", GUARDED), cluster("b", GUARDED)], "a/gpus"),
    Wrong(
        "fails on one, and the other has none of these",
        [cluster("b", GUARDED), cluster("a", pool("x", nic()))],
        "b/gpus",
    ),
    Wrong("matches on one that is full", [cluster("a", GUARDED), cluster("b", pool("gpus", nodes=0))], ""),
    Wrong("matches on one that is drained", [cluster("a", GUARDED), cluster("b", taints=["k=v:NoExecute"])], ""),
    Wrong("matches on one that is not asked for", [cluster("a", GUARDED, labels=GOLD), cluster("b")], "a/gpus", GOLD),
    Wrong("fails on one that is silent", [cluster("a", GUARDED, state="not ready")], "a/gpus"),
    Wrong("matches and is too large", [cluster("a", GUARDED), cluster("b", pool("gpus", gpu(count=4)))], ""),
    Wrong("fails on devices of others alone", [cluster("a", pool("gpus", nic()))], ""),
]


def about_gpus(expression: str, device: Device, minor: str) -> Said:
    """Answer the toy selector, written so that it names the driver it is about."""
    return evaluate(expression.removeprefix("gpu.nvidia.com "), device, minor)


@pytest.mark.parametrize("case", WRONGS, ids=lambda case: case.name)
def test_a_selector_is_wrong_where_it_fails_on_its_own_devices_and_matches_nowhere(case: Wrong) -> None:
    """It is named with the first pool; a cluster with a match makes it one of many verdicts, whatever its state."""
    wanted = deployment("d", 1, engine("main", member(8, "gpu.nvidia.com 80")), selector=case.selector)
    made = schedule(snapshot(case.clusters, [wanted]), evaluate=about_gpus)
    assert [f"{each.cluster}/{each.pool}" for each in made.wrong_selectors] == ([case.where] if case.where else [])
    for each in made.wrong_selectors:
        assert (each.expression, each.device) == ("gpu.nvidia.com 80", "h100")
        assert each.message == "no such key: memory"


def test_a_selector_of_a_deployment_that_has_all_it_wants_is_not_wrong() -> None:
    """Nothing is asked of it now."""
    wanted = deployment("d", 0, engine("main", member(8, "gpu.nvidia.com 80")))
    assert not schedule(snapshot([cluster("a", GUARDED)], [wanted]), evaluate=about_gpus).wrong_selectors


@pytest.mark.parametrize(
    ("age", "room", "said"),
    [
        (None, 1, "(nodes as seen at 2025-12-31 23:00 UTC)"),
        (timedelta(hours=2), 1, "(nodes as seen at 2025-12-31 23:00 UTC)"),
        (timedelta(minutes=30), 2, "(nodes as declared: what was seen at 2025-12-31 23:00 UTC is too old to count)"),
    ],
    ids=["any age", "young enough", "too old"],
)
def test_what_the_nodes_are_counted_by_is_said(age: timedelta | None, room: int, said: str) -> None:
    """By what was seen, unless that is too old; without a word by what is declared."""
    seen = cluster("a", pool(nodes=2, observed=PoolObservation(1)), seen=NOW - timedelta(hours=1))
    wanted = [deployment("a-first", room, WHOLE), deployment("d", 1, WHOLE)]
    made = schedule(snapshot([seen], wanted, options=Options(observation_age=age)), evaluate=evaluate)
    assert len(made.placements) == room
    assert only(made).message.endswith(said)
    (holds,) = made.trace["ml", "a-first"].verdicts
    assert holds.message == f"holds {room} of its replicas; gets no more {said}"
    assert "nodes as" not in only(plan([cluster("a")], wanted)).message
