"""The capacity promise (law L1) on the real scheduler and its allocator, with real claims.

What ``Device`` accounting lets on a pool starts there in every order, and again when some of it has been deleted and
made anew. What only ``BestFit`` lets on it may be left pending: for a sample, here is how.

Pools are drawn at random and judged by ``schedule`` itself. The real scheduler chooses among nodes where a pod fits; a
preference of the pod (never a requirement) makes it choose as an adversary would. All cases share one cluster, each
with nodes and a namespace of its own, and run side by side.
"""

import itertools
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random
from typing import Final

import pytest

from automation.rehearsal.kubernetes.local import LocalCluster
from automation.scheduling.snapshot import Accounting, Pool
from tests.support.capacity_cases import (
    EFA,
    HOPPER,
    Pod,
    PodSet,
    accepted,
    deployment,
    draw,
    efa,
    hopper,
    node_name,
    placed_on,
    pod_object,
    pool_objects,
)
from tests.support.packings import whole, worst
from tests.support.pod_watch import PodWatch, node_of, refusal
from tests.support.random_cases import CASES, SEED, again

pytestmark = pytest.mark.kubernetes

REFUSED: Final = max(4, CASES // 4)
MOST_PODS: Final = 8
SIDE_BY_SIDE: Final = 6
PATIENCE: Final = 15.0
"""Seconds: a pod that was refused is tried again after ten at the latest."""

DRA: Final = "/apis/resource.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Case:
    """A set of pods on a pool of the shared cluster."""

    cluster: LocalCluster
    watch: PodWatch
    pods: PodSet
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """No two pods have one name, as with a Deployment's."""

    @property
    def path(self) -> str:
        """The pods of its namespace."""
        return f"/api/v1/namespaces/{self.pods.namespace}/pods"

    def prepare(self) -> None:
        """Create everything but the pods."""
        api = self.cluster.api
        api.create(
            "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.pods.namespace}}
        )
        for each in pool_objects(self.pods.pool):
            api.create("/api/v1/nodes" if each["kind"] == "Node" else f"{DRA}/resourceslices", each)
        for template in self.pods.templates:
            api.create(f"{DRA}/namespaces/{self.pods.namespace}/resourceclaimtemplates", dict(template.body))

    def start(self, pods: Iterable[tuple[Pod, int]]) -> list[str]:
        """Create pods in order, each with the node that it would like best; gives their names."""
        names = []
        for pod, number in pods:
            name = f"{pod.name}-{next(self.numbers)}"
            self.cluster.api.create(self.path, pod_object(pod, name, wish=node_name(self.pods.pool, number)))
            names.append(name)
        return names

    def end(self, names: Iterable[str]) -> None:
        """Delete pods."""
        for name in names:
            self.cluster.api.delete(f"{self.path}/{name}")

    def left(self, names: Iterable[str]) -> list[str]:
        """Wait for pods to be bound; gives those left pending, with what the scheduler says of them."""
        pending = self.watch.bound(self.pods.namespace, names, patience=PATIENCE)
        return [f"{name}: {refusal(pod)}" for name, pod in sorted(pending.items())]

    def nodes(self) -> dict[str, str]:
        """Give the node of each pod."""
        return placed_on(self.watch.wait(self.pods.namespace, lambda _: True))


def side_by_side(work: Callable[[Case], str], cases: Sequence[Case]) -> None:
    """Do the same to all cases, some at a time; fails with what each of them says and how to see it again."""

    def run(case: Case) -> str:
        try:
            return work(case)
        except Exception:  # noqa: BLE001 (one case must not hide the others)
            return traceback.format_exc()

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        said = list(pool.map(run, cases))
    failures = [f"{text}\n{case.pods}" for text, case in zip(said, cases, strict=True) if text]
    assert not failures, "\n\n".join([f"{len(failures)} of {len(cases)} pools", *failures, again(__file__)])


def anyhow(random: Random, pods: PodSet, some: Iterable[Pod]) -> list[tuple[Pod, int]]:
    """Put pods in any order, each with any node."""
    order = [(pod, random.randrange(pods.pool.nodes)) for pod in some]
    random.shuffle(order)
    return order


def drawn(prefix: str, accounting: Accounting) -> Iterator[PodSet]:
    """Draw pools for ever, each with what an accounting lets on it."""
    for number in itertools.count(1):
        random = Random(f"{SEED}/{prefix}/{number}")  # noqa: S311 (repeatable)
        yield accepted(*draw(random, f"{prefix}-{SEED}-{number}"), accounting)


def starts_in_every_order(case: Case) -> str:
    """Start the pods, delete some and make them anew, then start them as an adversary would; says who is left."""
    pods, random = case.pods, Random(case.pods.namespace)  # noqa: S311 (repeatable)
    case.prepare()
    order = anyhow(random, pods, pods.pods)
    names = case.start(order)
    if left := case.left(names):
        return f"left pending when all were created, in the order {names}: {left}; nodes: {case.nodes()}"
    gone = random.sample(range(len(names)), random.randint(1, len(names)))
    case.end(names[each] for each in gone)
    anew = case.start(anyhow(random, pods, [order[each][0] for each in gone]))
    if left := case.left(anew):
        ended = [names[each] for each in gone]
        return f"left pending when {ended} were deleted and {anew} created: {left}; nodes: {case.nodes()}"
    case.end([*(name for number, name in enumerate(names) if number not in gone), *anew])
    attack = worst(pods.has, pods.pool.nodes, pods.takes)
    first = {attack.victim, *(number for number, _ in attack.starts)}
    others = [pod for number, pod in enumerate(pods.pods) if number not in first]
    blockers = case.start((pods.pods[number], node) for number, node in attack.starts)
    said = f"after {blockers}: {case.nodes()}"
    for step in ([(pods.pods[attack.victim], 0)], anyhow(random, pods, others)):
        if left := case.left([*blockers, *case.start(step)]):
            return f"left pending {said}: {left}; nodes: {case.nodes()}"
    return ""


def is_stranded(case: Case) -> str:
    """Let an adversary strand a pod of a set that fits in another order; says so when nobody is stranded."""
    pods = case.pods
    case.prepare()
    fitting = case.start((pods.pods[number], node) for number, node in whole(pods.has, pods.pool.nodes, pods.takes))
    if left := case.left(fitting):
        return f"left pending in the best order, {fitting}: {left}"
    case.end(fitting)
    attack = worst(pods.has, pods.pool.nodes, pods.takes)
    blockers = case.start((pods.pods[number], node) for number, node in attack.starts)
    if left := case.left(blockers):
        return f"the blockers do not start: {left}"
    (victim,) = case.start([(pods.pods[attack.victim], 0)])
    said = case.watch.verdicts(pods.namespace, [victim])[victim]
    if node_of(said) or not re.search("cannot allocate all claims|Insufficient (cpu|memory)", refusal(said)):
        return f"{victim} is on {node_of(said)!r} after {blockers}, and the scheduler says {refusal(said)!r}"
    return ""


def test_what_device_accounting_lets_on_a_pool_starts_in_every_order(shared: LocalCluster, pods: PodWatch) -> None:
    """All at once, again after any have gone, and after the worst that others can do."""
    cases: list[Case] = []
    for sure in drawn("sure", Accounting.DEVICE):
        if 1 < len(sure.pods) <= MOST_PODS:
            cases.append(Case(shared, pods, sure))
        if len(cases) == CASES:
            break
    assert all(case.pods.promised() for case in cases)
    side_by_side(starts_in_every_order, cases)


def test_pods_of_whole_machines_start(shared: LocalCluster, pods: PodWatch) -> None:
    """Eight GPUs and four network interfaces for each: more devices than one claim may hold."""
    devices = (hopper(8), efa(32))
    pool = Pool("whole", "h100", devices, realised=2, maximum=2)
    wanted = deployment("big", 2, [(8, HOPPER), (32, EFA)])
    whole_machines = accepted(pool, (wanted,), Accounting.DEVICE)
    assert len(whole_machines.pods) == 2
    side_by_side(starts_in_every_order, [Case(shared, pods, whole_machines)])


def test_what_only_best_fit_lets_on_a_pool_may_be_left_pending(shared: LocalCluster, pods: PodWatch) -> None:
    """The blockers of a pod start, each where it may, and then it finds no node; in another order all of them start."""
    cases: list[Case] = []
    for bold in drawn("bold", Accounting.BEST_FIT):
        if len(bold.pods) > MOST_PODS or bold.promised() or not all(pod.exact for pod in bold.pods):
            continue
        attack = worst(bold.has, bold.pool.nodes, bold.takes)
        assert attack.blocked == bold.pool.nodes, f"refused, though no packing strands a pod\n{bold}"
        cases.append(Case(shared, pods, bold))
        if len(cases) == REFUSED:
            break
    side_by_side(is_stranded, cases)
