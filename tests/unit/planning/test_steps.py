"""Steps: build, shift and retire, from the state that each step really left."""

from dataclasses import replace

import pytest

from automation.planning.standing import standing_lock
from automation.planning.step import StepKind
from automation.planning.steps import steps
from automation.scheduling.changes import Change, PlatformChanges
from automation.scheduling.existing import Existing
from components.checks import check_lock
from components.lock import Lock, Phase, dump_lock
from tests.unit.planning.world import (
    World,
    cache,
    cluster,
    deployment,
    external,
    fleet,
    phases_of,
    service,
    short,
)

BUILD, SHIFT, RETIRE = StepKind.BUILD, StepKind.SHIFT, StepKind.RETIRE
STARTING, SERVING, DRAINING = Phase.STARTING, Phase.SERVING, Phase.DRAINING

A, B = cluster("a"), cluster("b")
CHAT = service("chat", (1, {"app": "d"}))


def running(*documents: dict[str, object]) -> World:
    """Return a world in which everything of some manifests serves; ``a`` is its front door."""
    world = World(fleet(*documents, doors=["a"]))
    world.up()
    return world


def edit(world: World, *documents: dict[str, object]) -> Lock:
    """Change the manifests and plan."""
    world.fleet = fleet(*documents, doors=["a"])
    return world.target()


def run(world: World, target: Lock, kind: StepKind, **mishaps: list[str]) -> dict[str, Phase]:
    """Apply one step towards a target, and return the phases that it left."""
    world.apply(world.step(kind, target), **mishaps)
    return world.phases()


def test_a_first_plan_builds_and_then_serves() -> None:
    """Nothing is routed before it is ready; the service leads nowhere until then."""
    world = World(fleet(A, B, deployment("d", 2), CHAT, doors=["a"]))
    target = world.target()
    step = world.step(BUILD, target)
    assert step is not None
    assert step.continue_on_error
    assert phases_of(step) == {"d@a/0": STARTING, "d@b/0": STARTING}
    assert step.lock.namespaces["ml"].services == ()
    assert (step.summary.created, step.summary.clusters_built) == (2, 2)
    assert world.step(SHIFT, target) is None
    assert run(world, target, BUILD) == {"d@a/0": STARTING, "d@b/0": STARTING}
    assert run(world, target, SHIFT) == {"d@a/0": SERVING, "d@b/0": SERVING}
    assert world.backends() == {"d@a/0": 1, "d@b/0": 1}
    assert world.step(RETIRE, target) is None


def test_nothing_to_do_has_no_steps() -> None:
    """A second plan is empty, and all of it stands."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = world.target()
    assert steps(world.existing, target, world.fleet) == ()
    assert dump_lock(standing_lock(world.existing, world.fleet, berth="1.0")) == dump_lock(target)


def test_a_surge_builds_beside_shifts_and_retires() -> None:
    """The new shape starts while the old one serves; traffic moves when it is ready; then the old one goes."""
    world = running(A, deployment("d"), CHAT)
    target = edit(world, A, deployment("d", image="vllm:2"), CHAT)
    assert run(world, target, BUILD) == {"d@a/0": SERVING, "d@a/1": STARTING}
    assert world.backends() == {"d@a/0": 1}
    assert run(world, target, SHIFT) == {"d@a/0": DRAINING, "d@a/1": SERVING}
    assert world.backends() == {"d@a/1": 1}
    assert run(world, target, RETIRE) == {"d@a/1": SERVING}
    assert steps(world.existing, world.target(), world.fleet) == ()


def test_a_failed_successor_never_costs_its_predecessor() -> None:
    """The old one keeps serving through all steps and through another plan; once repaired, the move ends."""
    world = running(A, deployment("d"), CHAT)
    target = edit(world, A, deployment("d", image="broken"), CHAT)
    run(world, target, BUILD, failing=["d@a/1"])
    assert world.step(SHIFT, target) is None
    assert world.step(RETIRE, target) is None
    assert world.phases() == {"d@a/0": SERVING, "d@a/1": STARTING}
    assert dump_lock(world.target()) == dump_lock(target)
    again = world.step(BUILD, target)
    assert again is not None
    assert again.summary.retried == 1
    assert world.up() == [BUILD, SHIFT, RETIRE]
    assert world.phases() == {"d@a/1": SERVING}


def test_one_failure_does_not_stop_the_others() -> None:
    """Of two successors one fails: the other takes over, and one old replica keeps serving in its place."""
    one = cluster("a", nodes=3)
    world = running(one, B, deployment("d", 2), deployment("e"), CHAT)
    target = edit(world, one, B, deployment("d", 2, image="vllm:2"), deployment("e", image="vllm:2"), CHAT)
    run(world, target, BUILD, failing=["d@b/1"])
    phases = run(world, target, SHIFT)
    assert phases == {
        "d@a/0": DRAINING,
        "d@a/1": SERVING,
        "d@b/0": SERVING,
        "d@b/1": STARTING,
        "e@a/0": SERVING,
    }
    assert world.backends() == {"d@a/1": 1, "d@b/0": 1}
    assert set(run(world, target, RETIRE)) >= {"d@a/1", "d@b/0", "d@b/1"}
    assert "d@a/0" not in world.phases()


def test_a_drain_moves_and_the_successor_serves_first() -> None:
    """The replica under the taint stays marked until it is retired, so that the rules let the lock pass."""
    world = running(A, B, deployment("d"), CHAT)
    tainted = cluster("a", taints=["k=v:NoExecute"])
    target = edit(world, tainted, B, deployment("d"), CHAT)
    for kind, phases in (
        (BUILD, {"d@a/0": SERVING, "d@b/0": STARTING}),
        (SHIFT, {"d@a/0": DRAINING, "d@b/0": SERVING}),
        (RETIRE, {"d@b/0": SERVING}),
    ):
        step = world.step(kind, target)
        assert step is not None
        assert check_lock(world.fleet, step.lock) == ()
        assert phases_of(step) == phases
        world.apply(step)


def test_a_removed_deployment_drains_and_goes() -> None:
    """Its namespace on clusters goes with it; the service, gone too, is led elsewhere first."""
    world = running(A, deployment("d"), deployment("e", count=1), CHAT)
    target = edit(world, A, deployment("e", count=1))
    assert world.step(BUILD, target) is None
    assert run(world, target, SHIFT) == {"d@a/0": DRAINING, "e@a/0": SERVING}
    assert run(world, target, RETIRE) == {"e@a/0": SERVING}
    assert world.existing.services == {}


def test_scaling_down_drains_before_it_retires() -> None:
    """The one that goes gets no more requests first."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = edit(world, A, B, deployment("d", 1), CHAT)
    assert run(world, target, SHIFT) == {"d@a/0": SERVING, "d@b/0": DRAINING}
    assert world.backends() == {"d@a/0": 1}
    assert run(world, target, RETIRE) == {"d@a/0": SERVING}


def test_labels_change_in_place_and_routes_follow() -> None:
    """No replica restarts; services choose by the new labels in the shift."""
    world = running(A, deployment("d"), CHAT, service("other", (1, {"app": "x"})))
    target = edit(world, A, deployment("d", labels={"app": "x"}), CHAT, service("other", (1, {"app": "x"})))
    step = world.step(BUILD, target)
    assert step is not None
    assert (step.summary.changed, step.summary.created) == (1, 0)
    assert run(world, target, BUILD) == {"d@a/0": SERVING}
    assert world.backends() == {"d@a/0": 1}
    run(world, target, SHIFT)
    assert (world.backends(), world.backends("other")) == ({}, {"d@a/0": 1})


def test_a_change_in_place_takes_the_replica_out_of_the_routes_meanwhile() -> None:
    """Its pods restart, so its service leads to the other; afterwards it is back, and the other one follows."""
    one, two = cluster("a", nodes=1), cluster("b", nodes=1)
    world = running(one, two, deployment("d", 2), CHAT)
    edited = (one, two, deployment("d", 2, image="vllm:2"), CHAT)
    target = edit(world, *edited)
    assert run(world, target, BUILD) == {"d@a/0": DRAINING, "d@b/0": SERVING}
    assert world.backends() == {"d@b/0": 1}
    assert dump_lock(world.target()) == dump_lock(target)
    assert run(world, target, SHIFT) == {"d@a/0": SERVING, "d@b/0": SERVING}
    assert world.backends() == {"d@a/0": 1, "d@b/0": 1}
    assert world.up() == [BUILD, SHIFT]
    images = {
        each.shape.engines[0].members[0].template["spec"]["containers"][0]["image"]
        for each in world.existing.replicas.values()
    }
    assert images == {"vllm:2"}
    assert world.up() == []


def test_a_failed_change_in_place_stays_out_of_the_routes_and_the_other_is_left_alone() -> None:
    """One broken replica is the price, not two."""
    one, two = cluster("a", nodes=1), cluster("b", nodes=1)
    world = running(one, two, deployment("d", 2), CHAT)
    edit(world, one, two, deployment("d", 2, image="broken"), CHAT)
    for _ in range(3):
        world.up(failing=["d@a/0"])
        assert world.phases() == {"d@a/0": STARTING, "d@b/0": SERVING}
        assert world.backends() == {"d@b/0": 1}


def test_a_lone_replica_changes_in_place_only_with_leave_and_keeps_its_route() -> None:
    """Nothing better can be led to, so the route stays."""
    one = cluster("a", nodes=1)
    world = running(one, deployment("d"), CHAT)
    assert steps(world.existing, edit(world, one, deployment("d", image="vllm:2"), CHAT), world.fleet) == ()
    target = edit(world, one, deployment("d", image="vllm:2", gap=True), CHAT)
    assert run(world, target, BUILD) == {"d@a/0": DRAINING}
    assert world.backends() == {"d@a/0": 1}
    assert run(world, target, SHIFT) == {"d@a/0": SERVING}


def test_the_last_replica_is_not_taken_out_of_the_routes_for_being_unready() -> None:
    """Two that are unready: both stay while nothing else serves; once one is ready the other is left out."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = world.target()
    sick = {key: replace(each, ready=False) for key, each in world.existing.replicas.items()}
    world.existing = replace(world.existing, replicas=sick)
    assert world.step(SHIFT, target) is None
    first = min(sick)
    world.existing = replace(world.existing, replicas={**sick, first: replace(sick[first], ready=True)})
    assert run(world, target, SHIFT) == {"d@a/0": SERVING, "d@b/0": STARTING}
    assert world.backends() == {"d@a/0": 1}


def test_a_new_cache_revision_is_staged_first_and_the_old_copy_goes_last() -> None:
    """The replica that reads the old copy keeps it until it is retired."""
    one = cluster("a", storage=True)
    world = running(one, cache("w"), deployment("d", cache="w"), CHAT)
    target = edit(world, one, cache("w", revision="v2"), deployment("d", cache="w"), CHAT)
    step = world.step(BUILD, target)
    assert step is not None
    assert step.summary.caches_staged == 1
    run(world, target, BUILD)
    assert sorted(map(str, world.existing.caches)) == ["ml/w/a/0", "ml/w/a/1"]
    run(world, target, SHIFT)
    assert sorted(map(str, world.existing.caches)) == ["ml/w/a/0", "ml/w/a/1"]
    assert run(world, target, RETIRE) == {"d@a/1": SERVING}
    assert sorted(map(str, world.existing.caches)) == ["ml/w/a/1"]


def test_a_cluster_on_its_way_out_leaves_last() -> None:
    """Its replica moves first; it leaves in the retire step, with its namespaces."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = edit(world, A, cluster("b", removing=True), deployment("d", 2), CHAT)
    for kind, clusters in ((BUILD, ["a", "b"]), (SHIFT, ["a", "b"]), (RETIRE, ["a"])):
        step = world.step(kind, target)
        assert step is not None
        assert [entry.name for entry in step.lock.platform.clusters] == clusters
        world.apply(step)
    assert world.phases() == {"d@a/0": SERVING, "d@a/1": SERVING}
    assert {key for key in world.existing.namespaces if key[1] == "b"} == set()


def test_a_cluster_on_its_way_out_waits_for_a_failed_successor() -> None:
    """It is not deleted under a replica that serves."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = edit(world, A, cluster("b", removing=True), deployment("d", 2), CHAT)
    run(world, target, BUILD, failing=["d@a/1"])
    assert world.step(SHIFT, target) is None
    assert world.step(RETIRE, target) is None
    assert world.phases() == {"d@a/0": SERVING, "d@a/1": STARTING, "d@b/0": SERVING}


def test_a_lost_cluster_is_in_no_step() -> None:
    """What was on it is left out at once, and services stop leading there."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = edit(world, A, cluster("b", lost=True), deployment("d", 2), CHAT)
    step = world.step(BUILD, target)
    assert step is not None
    assert [entry.name for entry in step.lock.platform.clusters] == ["a"]
    assert phases_of(step) == {"d@a/0": SERVING, "d@a/1": STARTING}
    run(world, target, BUILD)
    assert world.backends() == {"d@a/0": 1}
    run(world, target, SHIFT)
    assert world.backends() == {"d@a/0": 1, "d@a/1": 1}


def test_a_cluster_whose_manifest_is_gone_is_deleted_by_the_retirement() -> None:
    """Even when nothing else changes; what builds and routes takes nothing away."""
    world = running(A, B, deployment("d"), CHAT)
    target = edit(world, A, deployment("d"), CHAT)
    assert world.step(BUILD, target) is None
    assert world.step(SHIFT, target) is None
    step = world.step(RETIRE, target)
    assert step is not None
    assert step.summary.clusters_removed == 1


def test_a_cluster_that_goes_is_counted_in_the_retirement_alone() -> None:
    """Whatever is built and routed before."""
    world = running(A, B, deployment("d"), CHAT)
    target = edit(world, A, deployment("d", image="vllm:2"), CHAT)
    shown = steps(world.existing, target, world.fleet)
    assert [(step.kind, step.summary.clusters_removed) for step in shown] == [(BUILD, 0), (SHIFT, 0), (RETIRE, 1)]


def test_a_superseded_successor_that_never_served_just_goes() -> None:
    """An edit taken back retires the half-built replica without a shift."""
    world = running(A, deployment("d"), CHAT)
    target = edit(world, A, deployment("d", image="vllm:2"), CHAT)
    run(world, target, BUILD, failing=["d@a/1"])
    target = edit(world, A, deployment("d"), CHAT)
    assert world.step(BUILD, target) is None
    assert world.step(SHIFT, target) is None
    assert run(world, target, RETIRE) == {"d@a/0": SERVING}


def test_services_and_endpoints_come_in_the_shift_and_go_in_the_retire() -> None:
    """Nothing leads to what is not there, and nothing is taken away that something leads to."""
    world = running(A, deployment("d"), CHAT)
    more = service("more", (1, {"app": "d"}), (1, {"kind": "saas"}))
    target = edit(world, A, deployment("d"), more, external("saas", kind="saas"))
    assert world.step(BUILD, target) is None
    run(world, target, SHIFT)
    assert set(world.existing.services) == {("ml", "chat"), ("ml", "more")}
    assert world.backends("more") == {"d@a/0": 1, "saas": 1}
    run(world, target, RETIRE)
    assert set(world.existing.services) == {("ml", "more")}
    target = edit(world, A, deployment("d"), service("more", (1, {"app": "d"})))
    run(world, target, SHIFT)
    assert world.backends("more") == {"d@a/0": 1}
    assert ("ml", "saas") in world.existing.endpoints
    run(world, target, RETIRE)
    assert ("ml", "saas") not in world.existing.endpoints


@pytest.mark.parametrize(
    ("change", "steps_wanted"),
    [
        (PlatformChanges(touched=True), [BUILD]),
        (PlatformChanges(clusters={"a": Change.UPDATE}), [BUILD]),
        (PlatformChanges(pools={("a", "gpus"): Change.NONE}), []),
    ],
    ids=["something else", "a cluster", "nothing"],
)
def test_a_change_of_the_platform_alone_is_a_build_step(change: PlatformChanges, steps_wanted: list[StepKind]) -> None:
    """No lock asks for it, the preview does."""
    world = running(A, deployment("d"))
    found = steps(world.existing, world.target(), world.fleet, changes=change)
    assert [step.kind for step in found] == steps_wanted


def test_what_an_interrupted_run_left_in_doubt_is_a_build_step() -> None:
    """The update that repairs it."""
    world = running(A, deployment("d"))
    world.existing = replace(world.existing, pending=("urn:pulumi:dev::x",))
    assert [step.kind for step in steps(world.existing, world.target(), world.fleet)] == [BUILD]


def test_a_pool_that_would_be_replaced_is_withheld_while_replicas_are_on_it() -> None:
    """The replica moves first; the step that retires it lets the pool go."""
    world = running(A, B, deployment("d"), CHAT)
    world.changes = PlatformChanges(pools={("a", "gpus"): Change.REPLACE})
    target = world.target()
    assert [short(identity) for identity, _, _ in target.replicas()] == ["d@b/0"]
    for kind, withheld in ((BUILD, ("a/gpus",)), (SHIFT, ("a/gpus",)), (RETIRE, ())):
        step = world.step(kind, target)
        assert step is not None
        assert step.withheld == withheld
        world.apply(step)


def test_a_cluster_that_would_be_replaced_is_withheld_as_a_whole() -> None:
    """And stays withheld when its replica has nowhere to go."""
    world = running(A, deployment("d"), CHAT)
    world.changes = PlatformChanges(clusters={"a": Change.REPLACE_REFUSED})
    (step,) = steps(world.existing, world.target(), world.fleet, changes=world.changes)
    assert step.withheld == ("a",)


CRASHES = [(kind, unbuilt) for kind in (BUILD, SHIFT, RETIRE) for unbuilt in ([], ["d@a/1"], ["d@b/1"])]


@pytest.mark.parametrize(("kind", "unbuilt"), CRASHES, ids=str)
def test_a_run_that_is_cut_short_is_taken_up_again(kind: StepKind, unbuilt: list[str]) -> None:
    """Stopped in the middle of any step, the next run has the same target and ends where the first would have."""
    world = running(A, B, deployment("d", 2), CHAT)
    target = edit(world, A, B, deployment("d", 2, image="vllm:2"), CHAT)
    for each in (BUILD, SHIFT, RETIRE):
        if each is kind:
            run(world, target, each, unbuilt=unbuilt)
            break
        run(world, target, each)
    assert dump_lock(world.target()) == dump_lock(target)
    world.up()
    assert world.phases() == {"d@a/1": SERVING, "d@b/1": SERVING}
    assert world.up() == []


def test_an_empty_fleet_has_no_steps() -> None:
    """Nothing exists and nothing is wanted."""
    world = World(fleet())
    assert steps(Existing(), world.target(), world.fleet) == ()


def test_standing_holds_what_exists_on_the_platform_as_edited() -> None:
    """Replicas as they are; a new cluster is in it, a lost one and what is on a removed pool are not."""
    world = running(A, B, deployment("d", 2), CHAT)
    other = cluster("b", nodePools=[{"name": "other", "className": "h100"}])
    world.fleet = fleet(A, other, cluster("c"), deployment("d", 2, image="vllm:2"), CHAT, doors=["a"])
    lock = standing_lock(world.existing, world.fleet, berth="1.0")
    assert [entry.name for entry in lock.platform.clusters] == ["a", "b", "c"]
    assert [short(identity) for identity, _, _ in lock.replicas()] == ["d@a/0"]
    assert {
        shape.engines[0].members[0].template["spec"]["containers"][0]["image"] for _, _, shape in lock.replicas()
    } == {"vllm:1"}
    world.fleet = fleet(cluster("a", lost=True), B, cluster("c", removing=True), deployment("d", 2), doors=["b"])
    lock = standing_lock(world.existing, world.fleet, berth="1.0")
    assert [entry.name for entry in lock.platform.clusters] == ["b"]
    assert [short(identity) for identity, _, _ in lock.replicas()] == ["d@b/0"]


@pytest.mark.parametrize("doors", [["a", "b"], ["b"]], ids=["one more", "another"])
def test_a_cluster_that_becomes_a_front_door_gets_the_namespaces_of_all_routes(doors: list[str]) -> None:
    """Preview 1 and every step build the routes that exist on the new front door, also of what is on its way out."""
    late = service("late", (1, {"app": "late"}), namespace="leaving")
    world = running(A, B, deployment("d"), CHAT, deployment("late", namespace="leaving"), late)
    world.fleet = fleet(A, B, deployment("d"), CHAT, doors=doors)
    target = world.target()
    locks = [standing_lock(world.existing, world.fleet, berth="1.0")]
    locks += [step.lock for step in steps(world.existing, target, world.fleet)]
    for lock in locks:
        for name, part in lock.namespaces.items():
            routed = part.services or part.endpoints or any(each.phase is not STARTING for each in part.replicas)
            there = {each.cluster for each in part.namespaces}
            assert not routed or set(lock.platform.front_doors) <= there, name
