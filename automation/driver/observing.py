"""Observes an environment: reads every cluster's API server at once, and says what each answered.

A cluster that is silent, forbidden or not built is a row with a reason and holds up nobody. A simulated cluster has no
API server: whether it answers is known, and nothing else is made up. One that is backed has a real one.
"""

from collections.abc import Iterable

from automation.driver.kubeconfigs import accesses
from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.observe.api import ClusterApi, NoAnswer
from automation.observe.facts import Fact
from automation.observe.lowering import SeenCluster, seen_cluster
from automation.observe.parallel import ask_each
from automation.observe.reading import read_cluster
from automation.render.observation import (
    FactView,
    HolderView,
    ObservationView,
    ReplicaPodsView,
    SeenClusterView,
    SeenNodeView,
    SeenPoolView,
)
from components.clusters.pool_facts import PoolFacts


def observe(session: Session, situation: Situation, names: Iterable[str], *, seconds: float) -> ObservationView:
    """Observe clusters of the manifests, by name; one may take ``seconds``, its login included."""
    chosen = sorted(names)
    workspace = session.workspace
    if workspace.simulated and not workspace.backed:
        clusters = [_simulated(session, situation, name) for name in chosen]
    else:
        clusters = _asked(session, situation, chosen, seconds)
    return ObservationView(
        environment=workspace.environment,
        simulated=workspace.simulated,
        backed=workspace.backed,
        now=session.clock(),
        clusters=tuple(clusters),
    )


def _asked(session: Session, situation: Situation, names: Iterable[str], seconds: float) -> list[SeenClusterView]:
    ways = accesses(session, situation, list(names))

    def ask(name: str) -> SeenCluster:
        way = ways[name]
        if isinstance(way, NoAnswer):
            raise way
        with ClusterApi(way, seconds=seconds) as api:
            facts = read_cluster(api, environment=situation.fleet.name, clock=session.clock)
        return seen_cluster(facts, PoolFacts.of_cluster(situation.fleet, name))

    answers = ask_each(ask, ways, seconds=seconds)
    return [
        SeenClusterView(name=name, status="Silent", message=str(answer), fix=answer.fix, at=session.clock())
        if isinstance(answer, NoAnswer)
        else _view(name, answer)
        for name, answer in answers.items()
    ]


def _simulated(session: Session, situation: Situation, name: str) -> SeenClusterView:
    why = situation.unreachable.get(name, "")
    if why:
        return SeenClusterView(name=name, status="Silent", message=why, at=session.clock())
    message = "it has no API server to ask"
    return SeenClusterView(name=name, status="Simulated", message=message, at=session.clock())


def _view(name: str, seen: SeenCluster) -> SeenClusterView:
    found = seen.observation
    pools = tuple(
        SeenPoolView(
            name=pool.name,
            counted=pool.name in found.pools,
            usable=pool.usable,
            unusable=pool.unusable,
            nodes=tuple(
                SeenNodeView(name=each.node.name, usable=each.usable, why=each.why_unusable) for each in pool.nodes
            ),
            foreign=tuple(
                HolderView(name=each.name, devices=dict(each.devices))
                for each in seen.holders
                if each.pool == pool.name
            ),
        )
        for pool in seen.pools
    )
    return SeenClusterView(
        name=name,
        status="Observed",
        at=found.at,
        server_ready=seen.facts.ready.value,
        api_server=found.api_server,
        kubelet=found.kubelet,
        driver=found.driver,
        pools=pools,
        replicas=tuple(
            ReplicaPodsView(replica=each.replica, pool=each.pool, pods=each.pods, ready=each.ready)
            for each in seen.replicas
        ),
        facts=tuple(_fact(label, fact) for label, fact in seen.facts.named.items()),
    )


def _fact(name: str, fact: Fact[object]) -> FactView:
    trouble = fact.trouble
    return FactView(name=name, at=fact.at, trouble=str(trouble) if trouble else "", fix=trouble.fix if trouble else "")
