"""Found: what looking for room has shown of clusters, so that nobody looks there again in vain.

Placing adds pods and takes none away, so what is full stays full, for every replica that asks for the same or for more.
It is remembered by engine, since deployments have many needs and few kinds of engines: where there is no room for one
engine alone, there is none for any replica that has it. The same holds for pods that would have to share a pool with
pods of another size.
"""

from dataclasses import dataclass, field

from automation.scheduling.filters import Clusters
from automation.scheduling.hosting import Hosting
from automation.scheduling.ledger import Ledger
from automation.scheduling.needs import Need


@dataclass(slots=True)
class Found:
    """Sets of clusters, by the number of an engine or of a need."""

    ledger: Ledger
    _full_for_engine: dict[int, Clusters] = field(default_factory=dict)
    _full_for_need: dict[int, Clusters] = field(default_factory=dict)
    """Those with room for each of its engines alone, and not for all of them."""
    _mixing: dict[int, Clusters] = field(default_factory=dict)
    """By engine: those where it shares a pool with pods of another size, whatever option it takes."""
    _dear: dict[int, Clusters] = field(default_factory=dict)
    """By need: those where the budget ends."""

    def full(self, need: Need) -> Clusters:
        """Return the clusters that are known to have no room for a replica."""
        found = self._full_for_need.get(need.number, 0)
        for engine in need.engines:
            found |= self._full_for_engine.get(engine.number, 0)
        return found

    def mark_full(self, need: Need, position: int, hosting: Hosting) -> None:
        """Remember that a cluster has no room for a replica, and for which of its engines it has none at all."""
        bit = 1 << position
        alone = len(hosting) == 1
        found = False
        for engine, options in zip(need.engines, hosting, strict=True):
            if alone or self.ledger.room(position, (options,)) is None:
                self._full_for_engine[engine.number] = self._full_for_engine.get(engine.number, 0) | bit
                found = True
        if not found:
            self._full_for_need[need.number] = self._full_for_need.get(need.number, 0) | bit

    def mixing(self, need: Need) -> Clusters:
        """Return the clusters that are known to mix pods of different sizes if they take a replica."""
        found: Clusters = 0
        for engine in need.engines:
            found |= self._mixing.get(engine.number, 0)
        return found

    def must_mix(self, need: Need, position: int, hosting: Hosting) -> bool:
        """Return whether a cluster mixes pods of different sizes if it takes a replica, and remember it."""
        bit = 1 << position
        if self.mixing(need) & bit:
            return True
        for engine, options in zip(need.engines, hosting, strict=True):
            if self.ledger.must_mix(position, options):
                self._mixing[engine.number] = self._mixing.get(engine.number, 0) | bit
                return True
        return False

    def dear(self, need: Need) -> Clusters:
        """Return the clusters where the budget is known to end before a replica has room."""
        return self._dear.get(need.number, 0)

    def mark_dear(self, need: Need, position: int) -> None:
        """Remember that the budget ends on a cluster."""
        self._dear[need.number] = self.dear(need) | 1 << position

    def freed(self, position: int) -> None:
        """Forget what was found of a cluster, and that the budget ended: pods have left."""
        for known in (self._full_for_engine, self._full_for_need, self._mixing):
            for number, clusters in known.items():
                known[number] = clusters & ~(1 << position)
        self._dear.clear()
