"""What pods take of all that may be limited: devices by accelerator, parts of nodes, US dollars per hour.

A vector of amounts, exact, and worked out once for each kind of pod. What is allowed of it is ``limits``' business.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from automation.scheduling.filters import Clusters, Filters
from automation.scheduling.hardware import Hardware
from automation.scheduling.hosting import Add, Option
from automation.scheduling.needs import EngineNeed
from automation.scheduling.patterns import Demand

Kind = tuple[str, str]
"""What is limited: devices of an accelerator, nodes, cost, or pods of unknown price."""
Amounts = Mapping[Kind, Fraction]

NODES: Kind = ("nodes", "")
COST: Kind = ("cost", "")
UNPRICED: Kind = ("unpriced", "")
NOTHING: Amounts = MappingProxyType({})


def devices(accelerator: str) -> Kind:
    """Return the kind that stands for the devices of an accelerator."""
    return ("devices", accelerator)


class Takes:
    """Says what pods take, each kind of pod computed once."""

    def __init__(self, filters: Filters, *, whole_nodes: bool) -> None:
        self._filters = filters
        self._whole_nodes = whole_nodes
        self._pods: dict[tuple[int, Decimal | None, Demand], Amounts] = {}
        self._options: dict[int, tuple[Option, Amounts]] = {}
        self._sums: dict[tuple[int, ...], Amounts] = {}
        self._equal: dict[tuple[tuple[Kind, Fraction], ...], Amounts] = {}
        self._ways: dict[int, tuple[tuple[Amounts, Clusters], ...]] = {}

    def of(self, position: int, adds: Iterable[Add]) -> Amounts:
        """Return what pods take together on the cluster at ``position``."""
        hardware, pools = self._filters.hardware[position], self._filters.clusters[position].pools
        return self._of_pods((hardware[pool], pools[pool].price, demand, pods) for pool, demand, pods in adds)

    def of_options(self, position: int, options: Sequence[Option]) -> Amounts:
        """Return what engines take together on the cluster at ``position``, whose pools ``options`` are for.

        Equal amounts are one object, so that what follows from them can be looked up by identity.
        """
        return self.together([self._of_option(position, option) for option in options])

    def unpriced(self, position: int, adds: Iterable[Add]) -> list[str]:
        """Return the pools of unknown price that pods are on, each once."""
        pools = self._filters.clusters[position].pools
        numbers = sorted({number for number, _, _ in adds if pools[number].price is None})
        return [self._filters.pool_name(position, pools[number]) for number in numbers]

    def ways(self, engine: EngineNeed) -> tuple[tuple[Amounts, Clusters], ...]:
        """Return the different amounts that an engine could take, room aside, and where."""
        known = self._ways.get(engine.number)
        if known is None:
            found: dict[int, tuple[Amounts, Clusters]] = {}
            for way, clusters in self._filters.ways(engine).items():
                pods = ((kind.hardware, kind.price, demand, number) for kind, demand, number in way)
                amounts = self._one(self._of_pods(pods))
                found[id(amounts)] = (amounts, found.get(id(amounts), (amounts, 0))[1] | clusters)
            known = self._ways[engine.number] = tuple(found.values())
        return known

    def together(self, parts: Sequence[Amounts]) -> Amounts:
        """Return the sum of what engines take; equal amounts are one object, as ``parts`` are."""
        if len(parts) == 1:
            return parts[0]
        key = tuple(map(id, parts))
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = self._one(_sum((each, 1) for each in parts))
        return total

    def _one(self, amounts: Amounts) -> Amounts:
        return self._equal.setdefault(tuple(sorted(amounts.items())), amounts)

    def _of_option(self, position: int, option: Option) -> Amounts:
        """Look it up by identity: the clusters that share an option have pools of the same kinds and prices."""
        known = self._options.get(id(option))
        if known is None:  # holding the option keeps its id from being reused
            known = self._options[id(option)] = (option, self._one(self.of(position, option.adds)))
        return known[1]

    def _of_pods(self, pods: Iterable[tuple[Hardware, Decimal | None, Demand, int]]) -> Amounts:
        return _sum((self._known_pod(hardware, price, demand), times) for hardware, price, demand, times in pods)

    def _known_pod(self, hardware: Hardware, price: Decimal | None, demand: Demand) -> Amounts:
        key = (hardware.number, price, demand)
        known = self._pods.get(key)
        if known is None:
            known = self._pods[key] = self._of_pod(hardware, price, demand)
        return known

    def _of_pod(self, hardware: Hardware, price: Decimal | None, demand: Demand) -> Amounts:
        share = Fraction(1) if self._whole_nodes else hardware.share(demand)
        taken = {devices(name): Fraction(count) for name, count in hardware.accelerators(demand).items()}
        kind, cost = (UNPRICED, Fraction(1)) if price is None else (COST, Fraction(price) * share)
        return {**taken, NODES: share, kind: cost}


def _sum(parts: Iterable[tuple[Amounts, int]]) -> Amounts:
    """Add up amounts, each so many times."""
    total: dict[Kind, Fraction] = {}
    for amounts, times in parts:
        for kind, number in amounts.items():
            total[kind] = total.get(kind, Fraction(0)) + number * times
    return total
