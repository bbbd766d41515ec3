"""What a lock promises of every pod, and what schedulers made of it.

A promise is read from the lock alone: from the placement of a replica its cluster, its pool and the requests that are
claimed, from its shape the image and how many devices a request asks for. What is found is read from API servers alone.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from automation.demonstration.pods import Pod
from components.lock import EnginePlacement, EngineShape, Lock

Key = tuple[str, str, str]
"""A replica: its cluster, its namespace, the name of its objects there."""


@dataclass(frozen=True, slots=True)
class Promise:
    """One pod of a replica as the lock has it."""

    pool: str
    image: str
    requests: tuple[tuple[str, int], ...]
    """The requests that are claimed, sorted, and how many devices each of them gets."""

    def __str__(self) -> str:
        """Return what is bound: the pool, and the devices by request."""
        return ", ".join([self.pool or "-", *(f"{count} x {request}" for request, count in self.requests)])

    @classmethod
    def kept_by(cls, pod: Pod) -> Self:
        """Return the promise that a pod would keep, as it is bound now."""
        return cls(pod.pool, pod.image, tuple(sorted(pod.counts.items())))


@dataclass(frozen=True, slots=True)
class Row:
    """A pod beside what was promised of it; None where no plan of this fleet promised such a pod."""

    pod: Pod
    promise: Promise | None
    earlier: bool = False
    """Whether only an earlier plan promised it."""


class Promises:
    """The promises of the plan that was applied last, and those of the plans before it.

    Of a replica that is to leave the lock says nothing any more; while it serves on, its own plan's promise holds.
    """

    def __init__(self) -> None:
        self.now: dict[Key, Counter[Promise]] = {}
        self._earlier: dict[Key, Counter[Promise]] = {}

    def renew(self, lock: Lock) -> None:
        """Take the promises of another plan."""
        self._earlier |= self.now
        self.now = {
            (identity.cluster, identity.namespace, entry.name): Counter(
                promise
                for engine, placement in zip(shape.engines, entry.placement, strict=True)
                for promise in _of_engine(engine, placement)
            )
            for identity, entry, shape in lock.replicas()
        }

    def rows(self, pods: Iterable[Pod]) -> list[Row]:
        """Put every pod beside a promise of its replica: one that it keeps, if there is one."""
        open_ = {key: promises.copy() for key, promises in (self._earlier | self.now).items()}
        return [self._row(pod, open_.get(_key(pod), Counter())) for pod in pods]

    def _row(self, pod: Pod, open_: Counter[Promise]) -> Row:
        kept = Promise.kept_by(pod)
        left = [each for each, count in open_.items() if count]
        promise = kept if kept in left else next(iter(left), None)
        if promise is not None:
            open_[promise] -= 1
        return Row(pod, promise, earlier=promise is not None and _key(pod) not in self.now)

    def broken(self, rows: Collection[Row], *, silent: Collection[str] = ()) -> Iterator[str]:
        """Say what is not as it was promised; nothing is known of clusters that are ``silent``."""
        for row in rows:
            pod, name = row.pod, f"{row.pod.namespace}/{row.pod.name} on {row.pod.cluster}"
            if row.promise is None:
                yield f"no plan promised {name}"
            elif row.promise != Promise.kept_by(pod):
                found = Promise.kept_by(pod)
                yield f"{name}: promised were {row.promise}, {row.promise.image}; found are {found}, {found.image}"
            if not pod.node or any(each.node != pod.node for each in pod.devices):
                yield f"{name}: its node is {pod.node or 'none'}, its devices are {_places(pod) or 'none'}"
        found_pods = Counter(_key(row.pod) for row in rows)
        for key, promises in self.now.items():
            cluster, namespace, replica = key
            if cluster not in silent and found_pods[key] != promises.total():
                yield f"{namespace}/{replica} on {cluster} has {found_pods[key]} pods of {promises.total()}"
        owners = Counter((row.pod.cluster, each.node, each.name) for row in rows for each in row.pod.devices)
        yield from (f"{'/'.join(device)} has {count} owners" for device, count in owners.items() if count > 1)


def _of_engine(engine: EngineShape, placement: EnginePlacement) -> Iterator[Promise]:
    for member, placed in zip(engine.members, placement.members, strict=True):
        counts = {each.name: each.count for each in member.requests}
        requests = tuple(sorted((claim.request, counts[claim.request]) for claim in placed.claims))
        image = member.template["spec"]["containers"][0]["image"]
        for _ in range(engine.copies * member.pods):
            yield Promise(placed.pool, image, requests)


def _key(pod: Pod) -> Key:
    return pod.cluster, pod.namespace, pod.replica


def _places(pod: Pod) -> str:
    return " ".join(f"{each.node}/{each.name}" for each in pod.devices)
