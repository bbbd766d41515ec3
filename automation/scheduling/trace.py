"""The trace: the whole record of one scheduling decision, a verdict for every cluster of every deployment.

It is computed when somebody looks, from the frozen state in which the decision ended; a fleet of thousands of clusters
gets its schedule without paying for millions of texts that nobody reads. Law L8: trace and decision agree.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from automation.scheduling.existing import NamespacedName
from automation.scheduling.remedy import Remedy
from automation.scheduling.verdict import Verdict


@dataclass(frozen=True, slots=True)
class DeploymentTrace:
    """One deployment's record; ``verdicts`` holds every cluster of the snapshot, sorted by name."""

    namespace: str
    deployment: str
    wanted: int
    placed: int
    verdicts: tuple[Verdict, ...]
    summary: str
    """One line as of kube-scheduler: ``0/5 clusters: 2 tainted, 1 not ready, 2 full``."""
    beyond: Remedy
    """What one more replica than those placed would need."""

    def verdict(self, cluster: str) -> Verdict:
        """Return the verdict of one cluster; KeyError when the snapshot had no such cluster."""
        for verdict in self.verdicts:
            if verdict.cluster == cluster:
                return verdict
        raise KeyError(cluster)


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
