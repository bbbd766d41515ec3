"""What looking for room has shown of clusters: it holds for whoever asks for the same engine, until pods leave."""

from automation.scheduling.found import Found
from automation.scheduling.hosting import Hosting
from automation.scheduling.needs import Need
from automation.scheduling.schedule import Pass
from automation.scheduling.snapshot import Deployment
from tests.unit.scheduling.builder import cluster, deployment, engine, evaluate, member, pool, snapshot

SMALL = deployment("small", 1, engine("main", member(1)))
WHOLE = deployment("whole", 1, engine("main", member(8)))
PAIR = deployment("pair", 1, engine("big", member(8)), engine("small", member(1)))
TWICE = deployment("twice", 1, engine("one", member(8)), engine("two", member(8)))


class Scene:
    """Clusters of one node of eight, and what was found of them."""

    def __init__(self, *deployments: Deployment, clusters: int = 2, nodes: int = 1) -> None:
        made = [cluster(f"c{number}", pool(nodes=nodes)) for number in range(clusters)]
        self.passed = Pass(snapshot(made, deployments), evaluate)
        self.passed.run()
        self.found = Found(self.passed.ledger)

    def need(self, wanted: Deployment) -> Need:
        """Return what a deployment needs."""
        fabric = self.passed.snapshot.options.fabric_for(wanted)
        return self.passed.needs.of(wanted.shape, wanted.digest, fabric=fabric)

    def hosting(self, wanted: Deployment, position: int) -> Hosting:
        """Return how a cluster hosts it."""
        hosting = self.passed.filters.hosting(self.need(wanted), position)
        assert hosting is not None
        return hosting

    def look(self, wanted: Deployment, position: int) -> None:
        """Find that there is no room for it."""
        assert self.passed.ledger.room(position, self.hosting(wanted, position)) is None
        self.found.mark_full(self.need(wanted), position, self.hosting(wanted, position))

    def full(self, wanted: Deployment) -> int:
        """Return the clusters that are known to be full for it."""
        return self.found.full(self.need(wanted))

    def must_mix(self, wanted: Deployment, position: int) -> bool:
        """Say whether it mixes sizes there, and remember it."""
        return self.found.must_mix(self.need(wanted), position, self.hosting(wanted, position))


def test_what_is_full_for_an_engine_is_full_for_whoever_has_it() -> None:
    """What lacks room for one engine lacks it for every replica with that engine, and for no other."""
    scene = Scene(WHOLE)
    scene.look(WHOLE, 0)
    assert (scene.full(WHOLE), scene.full(PAIR), scene.full(TWICE), scene.full(SMALL)) == (0b01, 0b01, 0b01, 0)


def test_engines_that_are_refused_room_together_are_not_refused_it_alone() -> None:
    """Two whole nodes do not fit on one; one does."""
    scene = Scene(clusters=1)
    scene.look(TWICE, 0)
    assert (scene.full(TWICE), scene.full(WHOLE)) == (0b1, 0)


def test_of_several_engines_the_one_without_room_is_remembered() -> None:
    """A look for a pair tells of the engine that is too large."""
    scene = Scene(WHOLE)
    scene.look(PAIR, 0)
    assert scene.full(WHOLE) == 0b01


def test_pods_of_another_size_are_remembered_by_engine() -> None:
    """Whoever has the engine would mix sizes there too."""
    scene = Scene(SMALL, nodes=2)
    assert scene.must_mix(WHOLE, 0)
    assert not scene.must_mix(SMALL, 0)
    assert scene.found.mixing(scene.need(PAIR)) == 0b01
    assert scene.found.mixing(scene.need(SMALL)) == 0


def test_a_cluster_is_looked_at_again_when_pods_have_left() -> None:
    """Nothing of what was found of it holds any longer."""
    scene = Scene(WHOLE, SMALL, clusters=1)
    scene.look(WHOLE, 0)
    scene.look(TWICE, 0)
    scene.found.mark_dear(scene.need(SMALL), 0)
    assert scene.must_mix(WHOLE, 0)
    scene.found.freed(0)
    assert scene.full(WHOLE) == scene.full(TWICE) == 0
    assert scene.found.mixing(scene.need(WHOLE)) == scene.found.dear(scene.need(SMALL)) == 0
