"""The target lock: what is wanted in the end, the same bytes each time."""

import random

import pytest

from automation.scheduling.existing import Existing, ExistingNamespace
from components.checks import check_lock
from components.lock import Lock, Phase, dump_lock, load_lock
from stacks.fit import misfits
from tests.unit.planning.world import World, cache, cluster, deployment, external, fleet, service, short

DOCUMENTS = (
    cluster("a", storage=True, labels={"tier": "gold"}),
    cluster("b"),
    cache("weights", selector={"tier": "gold"}),
    deployment("d", 2),
    deployment("e", cache="weights", labels={"app": "e"}),
    service("chat", (3, {"app": "d"}), (1, {"app": "e"}), (1, {"tier": "saas"})),
    external("saas", tier="saas"),
)


def caches(lock: Lock) -> list[str]:
    """Return the staged copies of a lock."""
    return [str(identity) for identity, _, _ in lock.caches()]


def test_a_target_holds_everything_that_is_wanted() -> None:
    """Clusters, replicas that serve, caches, namespaces where they are used, services led to all of it."""
    lock = World(fleet(*DOCUMENTS, doors=["b"])).target()
    assert [entry.name for entry in lock.platform.clusters] == ["a", "b"]
    assert lock.platform.front_doors == ("b",)
    assert [(short(identity), entry.phase) for identity, entry, _ in lock.replicas()] == [
        ("d@a/0", Phase.SERVING),
        ("d@b/0", Phase.SERVING),
        ("e@a/0", Phase.SERVING),
    ]
    assert caches(lock) == ["ml/weights/a/0"]
    part = lock.namespaces["ml"]
    assert [(entry.cluster, entry.created) for entry in part.namespaces] == [("a", True), ("b", True)]
    names = {entry.name: short(entry.id_in("ml")) for entry in part.replicas}
    assert [(names.get(each.endpoint, each.endpoint), each.weight) for each in part.services[0].backends] == [
        ("d@a/0", 2),
        ("d@b/0", 1),
        ("e@a/0", 1),
        ("saas", 1),
    ]
    assert [entry.name for entry in part.endpoints] == ["saas"]


def test_a_target_fits_its_manifests_and_keeps_the_rules() -> None:
    """The very checks of program and policies find nothing, and the digests are those of the manifests."""
    loaded = fleet(*DOCUMENTS, doors=["b"])
    lock = World(loaded).target()
    assert misfits(loaded, lock) == ()
    assert check_lock(loaded, lock) == ()


def test_planning_twice_gives_the_same_bytes_in_any_order() -> None:
    """Shuffled documents change nothing; what is written reads back."""
    first = dump_lock(World(fleet(*DOCUMENTS, doors=["b"])).target())
    mixed = random.Random(3).sample(DOCUMENTS, len(DOCUMENTS))  # noqa: S311 (an order, not a secret)
    assert dump_lock(World(fleet(*mixed, doors=["b"])).target()) == first
    again = load_lock(first)
    assert again is not None
    assert dump_lock(again) == first


def test_what_runs_gives_the_same_target() -> None:
    """After everything is applied, planning changes no byte."""
    world = World(fleet(*DOCUMENTS, doors=["b"]))
    first = dump_lock(world.target())
    world.up()
    assert dump_lock(world.target()) == first


def test_a_namespace_without_placements_has_its_file() -> None:
    """Or the target would not fit the manifests."""
    loaded = fleet(cluster("a", nodes=0), deployment("d", namespace="lonely"))
    lock = World(loaded).target()
    assert lock.namespaces["lonely"].replicas == ()
    assert misfits(loaded, lock) == ()


@pytest.mark.parametrize(("namespace", "created"), [("ml", True), ("default", False)])
def test_a_namespace_is_created_unless_every_cluster_has_it(namespace: str, *, created: bool) -> None:
    """What is recorded once stays as recorded."""
    loaded = fleet(cluster("a"), deployment("d", namespace=namespace))
    world = World(loaded)
    assert [entry.created for entry in world.target().namespaces[namespace].namespaces] == [created]
    known = ExistingNamespace(namespace, "a", created=not created)
    world.existing = Existing(namespaces={(namespace, "a"): known})
    assert [entry.created for entry in world.target().namespaces[namespace].namespaces] == [not created]


def test_a_cluster_on_its_way_out_stays_while_a_replica_has_nowhere_else() -> None:
    """With room elsewhere it is not wanted any more, without it it is, and its caches are staged no more."""
    world = World(fleet(cluster("a", storage=True), deployment("d"), cache("weights")))
    world.up()
    leaving = cluster("a", storage=True, removing=True)
    world.fleet = fleet(leaving, deployment("d"), cache("weights"))
    lock = world.target()
    assert [entry.name for entry in lock.platform.clusters] == ["a"]
    assert caches(lock) == []
    world.fleet = fleet(leaving, cluster("b"), deployment("d"), cache("weights"))
    lock = world.target()
    assert [entry.name for entry in lock.platform.clusters] == ["b"]
    assert [short(identity) for identity, _, _ in lock.replicas()] == ["d@b/0"]


def test_a_lost_cluster_is_forgotten() -> None:
    """Its replicas are placed elsewhere, and nothing of it is wanted."""
    world = World(fleet(cluster("a"), cluster("b"), deployment("d")))
    world.up()
    world.fleet = fleet(cluster("a", lost=True), cluster("b"), deployment("d"))
    lock = world.target()
    assert [entry.name for entry in lock.platform.clusters] == ["b"]
    assert [short(identity) for identity, _, _ in lock.replicas()] == ["d@b/0"]


def test_another_revision_is_staged_beside_the_old_one_while_a_replica_reads_it() -> None:
    """The new copy has the next index; the old one goes when nobody reads it."""
    before = (cluster("a", storage=True, nodes=1), cache("weights"), deployment("d", cache="weights"))
    world = World(fleet(*before))
    world.up()
    after = (cluster("a", storage=True, nodes=1), cache("weights", revision="v2"), deployment("d", cache="weights"))
    world.fleet = fleet(*after)
    assert caches(world.target()) == ["ml/weights/a/0", "ml/weights/a/1"]
    world.fleet = fleet(cluster("a", storage=True, nodes=2), *after[1:])
    assert caches(world.target()) == ["ml/weights/a/1"]


def test_a_replica_that_was_there_first_is_marked_and_a_new_one_never() -> None:
    """The checks let a marked one stay under a taint, or outside its cache; a new one is not placed there."""
    gold = {"tier": "gold"}
    old = (
        cluster("a", storage=True, labels=gold, nodes=2),
        cache("weights", selector=gold),
        deployment("d", cache="weights"),
    )
    world = World(fleet(*old))
    world.up()
    tainted = cluster("a", storage=True, labels=gold, nodes=2, taints=["k=v:NoSchedule"])
    world.fleet = fleet(tainted, *old[1:])
    lock = world.target()
    assert [entry.stays for _, entry, _ in lock.replicas()] == ["k=v:NoSchedule"]
    assert check_lock(world.fleet, lock) == ()
    narrowed = (cluster("a", storage=True, nodes=2), *old[1:])
    world.fleet = fleet(*narrowed)
    lock = world.target()
    assert [entry.stays for _, entry, _ in lock.replicas()] == ["cache-footprint"]
    assert check_lock(world.fleet, lock) == ()


def test_a_held_replica_is_in_the_target_as_it_is() -> None:
    """Its manifest cannot be used; it stays, and its cache copy with it."""
    world = World(fleet(cluster("a", storage=True), cache("weights"), deployment("d", cache="weights")))
    world.up()
    before = world.existing.replicas
    world.fleet = fleet(cluster("a", storage=True))
    assert list(world.target().replicas()) == []
    world.held = frozenset({("ml", "d")})
    lock = world.target()
    assert {identity: (entry, shape) for identity, entry, shape in lock.replicas()} == {
        identity: (each.entry, each.shape) for identity, each in before.items()
    }
    assert caches(lock) == ["ml/weights/a/0"]


def test_a_replica_on_a_cluster_without_a_manifest_is_never_dropped_by_planning() -> None:
    """With nowhere to go it stays in the target; that the manifest is missing is the driver's to refuse."""
    world = World(fleet(cluster("a"), cluster("b", nodes=0), deployment("d")))
    world.up()
    world.fleet = fleet(cluster("b", nodes=0), deployment("d"))
    assert [short(identity) for identity, _, _ in world.target().replicas()] == ["d@a/0"]
