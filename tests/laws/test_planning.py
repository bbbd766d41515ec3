"""Laws of planning, over random histories of edits, failures and interrupted runs.

P1 A build step takes nothing away. P2 A service leads only to endpoints that are there. P3 No step costs a deployment
replicas that serve, below what it wants, except one that changes in place. P4 A retire step removes nothing that
serves. P5 Every step keeps the rules that the program and the policies check. P6 Without failures a fleet comes to
rest, at its target. P7 A plan that is shown is the plan that is carried out. P8 Where a front door served there is one
that serves, after every step, as long as one is wanted. P9 Nothing is retired that a service which stays leads to, on
any front door, though that door was silent while the others were told.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from automation.planning.standing import standing_lock
from automation.planning.step import Step, StepKind
from automation.planning.steps import steps
from automation.scheduling.existing import Existing
from components.checks import check_lock
from components.lock import Phase, dump_lock
from tests.support.effort import law
from tests.unit.planning.world import World, cache, cluster, deployment, fleet, service, short

CLUSTERS = ("a", "b", "c")
DEPLOYMENTS = ("d", "e")
CHAT = service("chat", (2, {"app": "d"}), (1, {"app": "e"}))


def serving(existing: Existing) -> Counter[str]:
    """Count the replicas of each deployment that serve and are ready."""
    return Counter(
        identity.deployment
        for identity, each in existing.replicas.items()
        if each.ready and each.entry.phase is Phase.SERVING
    )


class Histories(RuleBasedStateMachine):
    """A fleet of three clusters and two deployments, edited and run at random."""

    @initialize()
    def begin(self) -> None:
        """Start with an empty state and everything wanted once."""
        self.taints: dict[str, list[str]] = {name: [] for name in CLUSTERS}
        self.removing = ""
        self.lost = ""
        self.sizes = {"d": 2, "e": 1}
        self.counts = {"d": 8, "e": 4}
        self.images = dict.fromkeys(DEPLOYMENTS, 1)
        self.labels = dict.fromkeys(DEPLOYMENTS, 1)
        self.revision = 1
        self.gap = False
        self.doors = {"a"}
        self.world = World(fleet())
        self.load()

    def load(self) -> None:
        """Write the manifests anew."""
        clusters = [
            cluster(
                name,
                taints=self.taints[name],
                storage=True,
                labels={"x": "y"},
                **({"removing": True} if name == self.removing else {}),
                **({"lost": True} if name == self.lost else {}),
            )
            for name in CLUSTERS
        ]
        wanted = [
            deployment(
                name,
                self.sizes[name],
                image=f"vllm:{self.images[name]}",
                count=self.counts[name],
                labels={"app": name, "edition": str(self.labels[name])},
                cache="w" if name == "d" else "",
                gap=self.gap,
            )
            for name in DEPLOYMENTS
            if self.sizes[name]
        ]
        weights = cache("w", revision=f"v{self.revision}")
        self.world.fleet = fleet(*clusters, *wanted, weights, CHAT, doors=sorted(self.doors))

    @rule(name=st.sampled_from(DEPLOYMENTS), size=st.integers(0, 3))
    def scale(self, name: str, size: int) -> None:
        """Want more or fewer; none removes the manifest."""
        self.sizes[name] = size
        self.load()

    @rule(name=st.sampled_from(DEPLOYMENTS), kind=st.sampled_from(["image", "labels", "size", "cache", "gap"]))
    def edit(self, name: str, kind: str) -> None:
        """Edit a deployment or the cache that it reads."""
        if kind == "image":
            self.images[name] += 1
        elif kind == "labels":
            self.labels[name] += 1
        elif kind == "size":
            self.counts[name] = 12 - self.counts[name]
        elif kind == "cache":
            self.revision += 1
        else:
            self.gap = not self.gap
        self.load()

    @rule(name=st.sampled_from(CLUSTERS), taint=st.sampled_from(["", "k=v:NoSchedule", "k=v:NoExecute"]))
    def taint(self, name: str, taint: str) -> None:
        """Taint a cluster or take its taint away."""
        self.taints[name] = [taint] if taint else []
        self.load()

    @rule(name=st.sampled_from(["", "b", "c"]), lost=st.booleans())
    def remove(self, name: str, *, lost: bool) -> None:
        """Take a cluster out, or back in; another one is front door in its place."""
        self.removing, self.lost = ("", name) if lost else (name, "")
        self.doors = self.doors - {name} or {"a"}
        self.load()

    @rule(doors=st.sets(st.sampled_from(CLUSTERS), min_size=1))
    def move_the_door(self, doors: set[str]) -> None:
        """Want other front doors; none on a cluster that leaves."""
        self.doors = doors - {self.removing, self.lost} or {"a"}
        self.load()

    @rule(
        failing=st.sets(st.sampled_from([f"{d}@{c}/{i}" for d in DEPLOYMENTS for c in CLUSTERS for i in range(3)])),
        shut=st.sets(st.sampled_from(CLUSTERS)),
        silent=st.sets(st.sampled_from(CLUSTERS)),
        stop=st.sampled_from([None, *StepKind]),
    )
    def run(self, failing: set[str], shut: set[str], silent: set[str], stop: StepKind | None) -> None:
        """Plan and apply; some successors fail, some front doors too, and the run may be cut short after a step.

        Front doors that are silent cannot be told anything meanwhile.
        """
        self.hear(silent)
        target = self.world.target()
        wanted = Counter(identity.deployment for identity, _, _ in target.replicas())
        for kind in StepKind:
            step = self.world.step(kind, target)
            if step is not None:
                running = {short(key) for key, each in self.world.existing.replicas.items() if each.ready}
                self.check(step, wanted)
                before, open_before = serving(self.present()), self.open_doors()
                self.world.apply(step, failing=failing - running, shut=shut - open_before, silent=silent)
                self.keeps_serving(step, before, wanted)
                assert self.open_doors() or not open_before
            if kind is stop:
                break
        self.hear(set())

    def hear(self, silent: set[str]) -> None:
        """Let front doors on some clusters not answer, and all others."""
        doors = self.world.existing.front_doors
        found = {name: replace(door, answers=name not in silent) for name, door in doors.items()}
        self.world.existing = replace(self.world.existing, front_doors=found)

    def present(self) -> Existing:
        """Return what exists and is not lost."""
        lost = [key for key in self.world.existing.replicas if key.cluster == self.lost]
        left = {key: each for key, each in self.world.existing.replicas.items() if key not in lost}
        return Existing(replicas=left)

    def open_doors(self) -> set[str]:
        """Return the front doors that serve, on clusters that are not lost."""
        doors = self.world.existing.front_doors
        return {name for name, door in doors.items() if door.ready and name != self.lost}

    def check(self, step: Step, wanted: Counter[str]) -> None:
        """P1, P2, P4, P5 and P9 for one step."""
        before = {key: each for key, each in self.world.existing.replicas.items() if key.cluster != self.lost}
        after = {identity: entry.phase for identity, entry, _ in step.lock.replicas()}
        gone = before.keys() - after.keys()
        if step.kind is not StepKind.RETIRE:
            assert not gone
            assert self.world.existing.front_doors.keys() - {self.lost} <= set(step.lock.platform.front_doors)
        assert not [key for key in gone if before[key].entry.phase is Phase.SERVING]
        part = step.lock.namespaces["ml"]
        stay = {("ml", entry.name) for entry in part.services}
        led = {
            backend.endpoint
            for name, door in self.world.existing.front_doors.items()
            for key, each in door.services.items()
            for backend in each.entry.backends
            if name != self.lost and key in stay
        }
        assert not [key for key in gone if before[key].entry.name in led]
        routed = {entry.name for entry in part.replicas if entry.phase is not Phase.STARTING}
        assert {each.endpoint for entry in part.services for each in entry.backends} <= routed
        assert check_lock(self.world.fleet, step.lock) == ()
        del wanted

    def keeps_serving(self, step: Step, before: Counter[str], wanted: Counter[str]) -> None:
        """P3 for one step: below what is wanted only a build step may go, by what it changes in place."""
        after = serving(self.world.existing)
        for name, number in before.items():
            spared = step.summary.changed if step.kind is StepKind.BUILD else 0
            assert after[name] >= min(number, wanted[name]) - spared, (step.kind, name)

    @invariant()
    def a_shown_plan_is_the_one_that_is_carried_out(self) -> None:
        """P7: shown from here, with everything succeeding, the steps are those that come."""
        target = self.world.target()
        shown = steps(self.world.existing, target, self.world.fleet)
        copy = World(self.world.fleet, self.world.existing)
        done = []
        for kind in StepKind:
            step = copy.step(kind, target)
            if step is not None:
                done.append(dump_lock(step.lock))
                copy.apply(step)
        assert [dump_lock(step.lock) for step in shown] == done

    def teardown(self) -> None:
        """P6: left alone, the fleet comes to rest at its target within a few runs."""
        if not hasattr(self, "world"):
            return
        for _ in range(12):
            if not self.world.up():
                break
        target = self.world.target()
        assert steps(self.world.existing, target, self.world.fleet) == ()
        assert dump_lock(standing_lock(self.world.existing, self.world.fleet, berth="1.0")) == dump_lock(target)


Histories.TestCase.settings = law(25, steps=12, suppress=[HealthCheck.too_slow])
TestHistories = Histories.TestCase
