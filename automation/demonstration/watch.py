"""Looking at pods again and again while something runs: who was there, who came and who went, and when."""

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from automation.demonstration.meanwhile import meanwhile
from automation.demonstration.pods import Pod
from automation.rehearsal.kubernetes.api import ApiError
from components.errors import DriverError

_SECONDS_BETWEEN_LOOKS: Final = 0.1


class Cluster(Protocol):
    """What is looked at."""

    @property
    def name(self) -> str:
        """Its name in the environment."""

    def pods(self) -> Iterable[Pod]:
        """Give its pods; raises ApiError when its API server does not answer."""


class Watch:
    """Looks at the ready pods of clusters, and remembers when each was first seen and when it was no longer."""

    def __init__(self, clusters: Sequence[Cluster]) -> None:
        self.before: tuple[Pod, ...] = ()
        self.came: dict[Pod, float] = {}
        self.went: dict[Pod, float] = {}
        self._clusters = clusters
        self._known: dict[tuple[str, str, str], Pod] = {}

    @contextmanager
    def watching(self) -> Generator[None]:
        """Look while the block runs; what is there before it did not come.

        Raises ApiError unless every cluster answers before and after. One that is silent in between is left as it was
        last seen, and is no reason not to look at the others.
        """
        self._look(patient=False)
        self.before = tuple(self._known.values())
        self.came.clear()
        with meanwhile(lambda: self._look(patient=True), every=_SECONDS_BETWEEN_LOOKS):
            yield
        self._look(patient=False)

    def _look(self, *, patient: bool) -> None:
        for cluster in self._clusters:
            try:
                ready = {(each.cluster, each.namespace, each.name): each for each in cluster.pods() if each.ready}
            except ApiError:
                if not patient:
                    raise
                continue
            now = time.monotonic()
            known = {key for key in self._known if key[0] == cluster.name}
            for key in ready.keys() - self._known.keys():
                self._known[key] = ready[key]
                self.came[ready[key]] = now
            for key in known - ready.keys():
                self.went.setdefault(self._known[key], now)

    def moved(self, *, away: str, to: str) -> Iterator[tuple[Pod, float]]:
        """Give every pod that left the cluster ``away``, and how long before its successor was ready on ``to``.

        Raises DriverError unless exactly the pods that were on ``away`` went, each after a successor was ready.
        """
        leaving = {each for each in self.before if each.cluster == away}
        if not leaving or self.went.keys() != leaving:
            raise DriverError(
                f"from {away} were to go: {_names(leaving)}; seen to go were: {_names(self.went)}",
            )
        for old, left in self.went.items():
            successors = [at for new, at in self.came.items() if (new.namespace, new.cluster) == (old.namespace, to)]
            if not successors or max(successors) > left:
                raise DriverError(f"{old.namespace}/{old.name} on {away} went before a successor was ready on {to}")
            yield old, left - max(successors)


def _names(pods: Iterable[Pod]) -> str:
    return ", ".join(sorted(f"{each.namespace}/{each.name} on {each.cluster}" for each in pods)) or "none"
