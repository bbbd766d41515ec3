"""A fleet that is scaled, drained, robbed of nodes, edited and cut off, by the real engine and the real provider.

In every round one thing happens to a fleet that is up, and in half of them the run that follows is killed in its
middle: the driver, or the engine. A run that is over before it can be killed is no test of that: the victim is owed,
and its turn comes in a later round, or after the last one. Then ``berth up`` is run until it is content. After that
every replica of the lock has ready pods with devices of their own, and Berth's objects on the API servers are those of
the state: none more, none less. At the end a teardown leaves nothing.
"""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

import pytest

from automation.engine.toolchain.toolchain import Toolchain
from automation.rehearsal.backing.keeper import Keeper
from tests.support.backed_run import BackedRun, cluster, gpu_class, two_clusters
from tests.support.crash_run import Started, end, leases, pending
from tests.support.fleet_run import deployment
from tests.support.kept_clusters import NODES, Object, kept_clusters, lose_node, problems
from tests.support.kubernetes_minor import MINOR
from tests.support.processes import of_session, soon
from tests.support.random_cases import CASES, SEED, again

pytestmark = pytest.mark.kubernetes

ROUNDS: Final = max(4, CASES // 6)
"""At least as many as there are things that can happen."""
VICTIMS: Final = ("driver", "engine")
ATTEMPTS: Final = 4
"""How many rounds more there may be for victims that are owed."""
RUNS: Final = 4
"""How often ``berth up`` may be run after something happened until nothing is left to do."""
SECONDS_TO_SETTLE: Final = 120.0
PATIENCE: Final = 900.0
"""Seconds after which a run has hung, on a machine that does many other things."""
DRAINED: Final = "  taints: [{key: maintenance, effect: NoExecute}]\n"
FEWER, MORE = 2, 3
"""Sizes of a pool: one that holds all replicas, and one that does so after the loss of a node."""
CONTENT: Final = frozenset({0})
NOT_YET: Final = frozenset({1, 4})
"""Exit codes of runs in which something was not done: room that was not free yet, a resource that failed."""


class Churn:
    """The fleet, what can happen to it, and what did."""

    def __init__(self, run: BackedRun, random: Random) -> None:
        self.run, self.random = run, random
        self.replicas = 2
        self.nodes = {"a": MORE, "b": MORE}
        self.disks = {"a": 200, "b": 200}
        self.drained = ""
        self.lost: list[tuple[str, Object]] = []
        self.owed: list[str] = []
        """Victims whose run was over before they could be killed."""
        self.killed = Counter[str]()
        self.story: list[str] = []

    def rounds(self, number: int) -> Iterator[None]:
        """Let things happen, each kind once before any comes again; yields after each, with everything up again."""
        happenings = (self.scale, self.drain, self.lose, self.edit_class)
        victims = ("", *VICTIMS, "")
        for index in range(number):
            if index % len(happenings) == 0:
                happens = self.random.sample(happenings, len(happenings))
                killed = self.random.sample(victims, len(victims))
            victim = killed[index % len(killed)] or (self.owed.pop(0) if self.owed else "")
            yield from self._round(f"{index}", happens[index % len(happens)], victim)
        for attempt in range(ATTEMPTS):
            if self.owed:
                yield from self._round(f"owed {attempt}", self.scale, self.owed.pop(0))

    def _round(self, name: str, happens: Callable[[], str], victim: str) -> Iterator[None]:
        self.story.append(f"{name}: {happens()}")
        if victim:
            self.cut_off(victim)
        self.converge()
        yield
        self.bring_back()

    # What happens

    def scale(self) -> str:
        """Ask for another number of replicas."""
        self.replicas = self.random.choice([number for number in (1, 2, 3) if number != self.replicas])
        self.run.write("models/ml/qwen.yaml", deployment("qwen", replicas=self.replicas))
        return f"{self.replicas} replicas"

    def drain(self) -> str:
        """Drain a cluster, or let it be used again."""
        self.drained = "" if self.drained else self.random.choice(sorted(self.nodes))
        self._write_clusters()
        return f"{self.drained or 'nothing'} is drained"

    def lose(self) -> str:
        """Take a node away behind everybody's back, or change the size of a pool."""
        name = self.random.choice(sorted(self.nodes))
        if self.nodes[name] == FEWER or self.random.random() < 0.3:
            self.nodes[name] = FEWER + MORE - self.nodes[name]
            self._write_clusters()
            return f"{name} has {self.nodes[name]} nodes"
        with kept_clusters(self.run) as clusters:
            nodes = clusters[name].items(NODES)
            gone = self.random.choice(sorted(each["metadata"]["name"] for each in nodes if each["spec"].get("taints")))
            self.lost.append((name, lose_node(clusters[name], gone)))
        return f"{name} lost {gone}"

    def edit_class(self) -> str:
        """Edit what the nodes of a cluster are, which replaces them; of the one that is empty, if one is."""
        name = self.drained or self.random.choice(sorted(self.disks))
        self.disks[name] += 100
        classes = [gpu_class(each, disk=disk) for each, disk in self.disks.items()]
        self.run.write("platform/classes.yaml", "---\n".join(classes))
        return f"the nodes of {name} get disks of {self.disks[name]} GB"

    def bring_back(self) -> None:
        """Let the cloud replace the nodes that were lost, unless their pool is another one by now."""
        with kept_clusters(self.run) as clusters:
            for name, node in self.lost:
                if group_of(node) in {group_of(each) for each in clusters[name].items(NODES)}:
                    clusters[name].create(NODES, node)
        self.lost.clear()

    def _write_clusters(self) -> None:
        for name, nodes in self.nodes.items():
            more = DRAINED if name == self.drained else ""
            self.run.write(f"platform/{name}.yaml", cluster(name, nodes=nodes, more=more))

    # What follows

    def cut_off(self, victim: str) -> None:
        """Begin a run and kill its driver or its engine at some moment after the engine began to change something."""
        started = Started(self.run, ["up", "--yes"])
        try:
            self._kill(victim, started)
        finally:
            end(self.run, started)

    def _kill(self, victim: str, started: Started) -> None:
        wait = self.random.random() * 2
        begun = soon(lambda: pending(self.run) or started.process.poll() is not None, seconds=PATIENCE, pause=0.2)
        assert begun, started.said
        time.sleep(wait)
        held = leases(self.run)
        if started.process.poll() is not None or not held:
            started.process.wait(PATIENCE)
            self._missed(victim)
            return
        engine = held[0]["pid"]
        if victim == "engine":
            hit = _kill(engine)
            hit = started.process.wait(PATIENCE) != 0 and hit
        else:
            started.kill()
            hit = started.process.returncode == -signal.SIGKILL
        # A driver's engine finishes what it had begun; of a killed one the providers end by themselves.
        assert soon(lambda: not of_session(engine), seconds=PATIENCE, pause=0.2), f"{of_session(engine)} are left"
        if not hit:
            self._missed(victim)
            return
        self.killed[victim] += 1
        self.story.append(f"the {victim} was killed; cut off: {[str(each) for each in pending(self.run)]}")

    def _missed(self, victim: str) -> None:
        self.owed.append(victim)
        self.story.append(f"the {victim} was not killed: its run was over")

    def converge(self) -> None:
        """Run ``berth up`` until it is content."""
        for _ in range(RUNS):
            answer = self.run.berth("up", "--yes", code=CONTENT | NOT_YET)
            self.story.append(f"berth up ended with {answer.code} after {answer.seconds:.0f} s")
            if answer.code in CONTENT:
                return
        raise AssertionError(f"berth up is not content:\n{answer.said}")

    def assert_sound(self) -> None:
        """See that servers, state and lock agree; what Kubernetes' own controllers still do is waited for."""
        with kept_clusters(self.run) as clusters:
            agree = soon(lambda: not list(problems(self.run, clusters)), seconds=SECONDS_TO_SETTLE, pause=0.5)
            assert agree, "\n".join(problems(self.run, clusters))
        wanted = {"ml/qwen": self.replicas, "search/embed": 1}
        assert counted(self.run.replicas()) == wanted
        on_drained = [name for name in self.run.replicas() if name.split("/")[2] == self.drained]
        assert not on_drained, f"{on_drained} did not leave {self.drained}"


def _kill(pid: int) -> bool:
    """Kill a process; gives whether there was one."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def assert_looks_close(run: BackedRun) -> None:
    """See that an object of Berth's that no state knows is noticed, and replicas and objects that are not there."""
    with kept_clusters(run) as clusters:
        api, maps = clusters["a"], "/api/v1/namespaces/default/configmaps"
        stray = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stray"}, "data": {"a": "b"}}
        applied = "application/apply-patch+yaml"
        api._do("PATCH", f"{maps}/stray?fieldManager=pulumi-kubernetes-0", body=stray, kind=applied)
        assert "a: ConfigMap default/stray is there and in no state" in list(problems(run, clusters))
        api.delete(f"{maps}/stray")
        exchanged = list(problems(run, {"a": clusters["b"], "b": clusters["a"]}))
    assert [text for text in exchanged if "has 0 ready pods" in text]
    assert [text for text in exchanged if "is in the state and not there" in text]


def counted(replicas: Mapping[str, str]) -> dict[str, int]:
    """Count replicas by deployment."""
    found: dict[str, int] = {}
    for name in replicas:
        key = name.rsplit("/", 2)[0]
        found[key] = found.get(key, 0) + 1
    return found


def group_of(node: Object) -> str:
    """Name the node group of a node."""
    return str(node["metadata"]["labels"].get("eks.amazonaws.com/nodegroup", ""))


@pytest.fixture
def run(programs: Mapping[str, Path], provider: Path, pulumi_cli: Toolchain, tmp_path: Path) -> Iterator[BackedRun]:
    """Give a repo whose control planes are kept, with nothing applied."""
    made = BackedRun.with_provider(tmp_path / "fleet", pulumi_cli.pulumi, two_clusters(), provider=provider)
    with Keeper(programs, made.layout, say=lambda _: None, minor=MINOR.name):
        yield made


def test_a_fleet_comes_through_churn_and_leaves_nothing(run: BackedRun) -> None:
    """A bounded number of rounds; ``make soak-kubernetes`` has more of them."""
    churn = Churn(run, Random(f"{SEED}/fleet"))  # noqa: S311 (repeatable)
    try:
        churn.converge()
        churn.assert_sound()
        assert_looks_close(run)
        for _ in churn.rounds(ROUNDS):
            churn.assert_sound()
        assert churn.killed.keys() == set(VICTIMS), f"were killed: {dict(churn.killed)}"
        run.berth("plan", "--expect-no-changes")
        run.berth("destroy", "--yes")
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *churn.story, again(__file__)])) from error
    assert run.stacks() == []
    assert run.cloud.resources() == ()
    assert soon(lambda: run.door.ask("list")["clusters"] == [], seconds=60), "a control plane has not ended"
