"""The trace: the whole record of one scheduling decision, a verdict for every cluster of every deployment.

A verdict is worked out when somebody looks at it, from the frozen state in which the decision ended, and kept; a fleet
of thousands of clusters gets its schedule without paying for millions of texts that nobody reads. Law L8: trace and
decision agree.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from automation.scheduling.existing import NamespacedName
from automation.scheduling.remedy import Remedy
from automation.scheduling.verdict import Score, Verdict
from components.naming import ReplicaId


class Verdicts(Sequence[Verdict]):  # noqa: PLW1641 (nobody keys by a record, and None as its hash is no type)
    """The verdicts of one deployment by cluster, in order of names; equal when all of them are."""

    def __init__(self, positions: Mapping[str, int], judge: Callable[[int], Verdict]) -> None:
        self._positions = positions
        self._judge = judge
        self._made: dict[int, Verdict] = {}

    def of(self, cluster: str) -> Verdict:
        """Return the verdict of one cluster; KeyError when the snapshot had no such cluster."""
        return self[self._positions[cluster]]

    def get(self, cluster: str) -> Verdict | None:
        """Return the verdict of one cluster; None when the snapshot had no such cluster."""
        return self.of(cluster) if cluster in self._positions else None

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(len(self))[index])
        position = range(len(self))[index]
        if position not in self._made:
            self._made[position] = self._judge(position)
        return self._made[position]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdicts) and tuple(self) == tuple(other)


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a new replica went, and what its cluster scored when it was its turn."""

    replica: ReplicaId
    score: Score


@dataclass(frozen=True, slots=True)
class DeploymentTrace:
    """One deployment's record; ``verdicts`` holds every cluster of the snapshot, sorted by name."""

    namespace: str
    deployment: str
    wanted: int
    placed: int
    verdicts: Verdicts
    summary: str
    """One line as of kube-scheduler: ``0/5 clusters: 2 tainted, 1 not ready, 2 full``."""
    order: tuple[str, ...]
    """What clusters with room are compared by, what counts first before the rest."""
    chosen: tuple[Choice, ...]
    """The new replicas, in the order in which they were placed."""
    remedy: Callable[[], Remedy] = field(compare=False, repr=False)

    @property
    def beyond(self) -> Remedy:
        """What one more replica than those placed would need; worked out on each look."""
        return self.remedy()

    def verdict(self, cluster: str) -> Verdict:
        """Return the verdict of one cluster; KeyError when the snapshot had no such cluster."""
        return self.verdicts.of(cluster)


class Trace(Mapping[NamespacedName, DeploymentTrace]):
    """Every deployment's trace by namespace and name; each is computed once, when it is first asked for."""

    def __init__(
        self,
        keys: tuple[NamespacedName, ...] = (),
        explain: Callable[[NamespacedName], DeploymentTrace] | None = None,
    ) -> None:
        self._keys = dict.fromkeys(sorted(keys))
        self._explain = explain
        self._made: dict[NamespacedName, DeploymentTrace] = {}

    def __getitem__(self, key: NamespacedName) -> DeploymentTrace:
        if key not in self._keys or self._explain is None:
            raise KeyError(key)
        if key not in self._made:
            self._made[key] = self._explain(key)
        return self._made[key]

    def __iter__(self) -> Iterator[NamespacedName]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
