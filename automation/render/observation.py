"""What ``berth observe`` answers: every cluster as it was seen, with the age of each fact. PURE.

The document is also what ``berth plan --observation`` takes, so it holds everything that lowers a promise. ``seen``
turns it into what the scheduler knows.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

from automation.render.output_version import API_VERSION
from automation.render.text import Cell, Column, Line, Span, Style, count, line, listed, table
from automation.render.views import View
from automation.scheduling.observation import ClusterObservation, ForeignPod, Observation, PoolObservation

Status = Literal["Observed", "Silent", "Simulated"]

_STYLES: dict[Status, Style] = {"Observed": "ok", "Silent": "bad", "Simulated": "warn"}


class FactView(View):
    """One kind of fact: when it was read, or why not; ``fix`` is what would let it be read."""

    name: str
    at: datetime
    trouble: str = ""
    fix: str = ""


class SeenNodeView(View):
    """One node of a pool. ``why`` says why it can take no pods of a replica; empty when it can."""

    name: str
    usable: bool
    why: tuple[str, ...] = ()


class HolderView(View):
    """A pod outside the fleet, or a claim without one, and the devices of the pool that it holds, by kind."""

    name: str
    devices: dict[str, int]


class SeenPoolView(View):
    """One pool. ``counted`` is False where its nodes could not be read; it then counts as declared."""

    name: str
    counted: bool
    usable: int
    unusable: int
    nodes: tuple[SeenNodeView, ...] = ()
    foreign: tuple[HolderView, ...] = ()


class ReplicaPodsView(View):
    """The pods of a replica in a pool that claim devices, and how many of them are ready."""

    replica: str
    pool: str = ""
    pods: int
    ready: int


class SeenClusterView(View):
    """One cluster. ``at`` is when the oldest of its facts was read, or when nobody answered."""

    name: str
    status: Status
    message: str = ""
    """Why it is silent."""
    fix: str = ""
    at: datetime
    server_ready: bool | None = None
    """What the API server says of itself; null where it may not be asked."""
    api_server: str = ""
    kubelet: str = ""
    """The oldest of the pools' nodes."""
    driver: str = ""
    """The oldest GPU driver of the pools' nodes."""
    pools: tuple[SeenPoolView, ...] = ()
    replicas: tuple[ReplicaPodsView, ...] = ()
    facts: tuple[FactView, ...] = ()


class ObservationView(View):
    """What ``berth observe`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Observation"] = "Observation"
    environment: str
    simulated: bool
    backed: bool = False
    now: datetime
    """When the answer was given; ages are counted from here."""
    clusters: tuple[SeenClusterView, ...] = ()

    @property
    def seen(self) -> Observation:
        """What the scheduler may take from it: clusters that answered; whether one does now is asked anew."""
        return Observation({each.name: _seen(each) for each in self.clusters if each.status == "Observed"})


def observation_lines(view: ObservationView, *, width: int, wide: bool = False) -> list[Line]:
    """Return a row for every pool, or for a cluster without one; ``wide`` adds versions, pods and each fact's age."""
    columns = [Column("CLUSTER"), Column("STATUS"), Column("POOL"), Column("USABLE"), Column("FOREIGN"), Column("AGE")]
    if wide:
        columns += [Column("SERVER"), Column("KUBELET"), Column("DRIVER"), Column("READY PODS")]
    rows: list[list[Cell]] = []
    for cluster in view.clusters:
        rows += _rows(cluster, view.now, wide=wide)
    lines = table([*columns, Column("MESSAGE", wraps=True)], rows, width=width)
    notes = [*(_ages(view) if wide else ()), *(line(f"{name}: {fix}") for name, fix in _fixes(view))]
    mark = "BACKED" if view.backed else "SIMULATED" if view.simulated else ""
    head = [line(Span(view.environment, "strong"), Span(f"  {mark}", "warn"))] if mark else []
    return [*head, *lines, *([Line(), *notes] if notes else [])]


def in_short(age: timedelta) -> str:
    """Return an age as kubectl prints it: ``45s``, ``12m``, ``3h``, ``2d``."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size, most in (("s", 1, 120), ("m", 60, 120), ("h", 3_600, 48)):
        if seconds < size * most:
            return f"{seconds // size}{unit}"
    return f"{seconds // 86_400}d"


def _rows(cluster: SeenClusterView, now: datetime, *, wide: bool) -> Iterator[list[Cell]]:
    status = Span(cluster.status, _STYLES[cluster.status])
    versions: list[Cell] = [cluster.api_server, cluster.kubelet, cluster.driver] if wide else []
    age = in_short(now - cluster.at)
    troubles = [each.trouble for each in cluster.facts if each.trouble]
    if cluster.server_ready is False:
        troubles.insert(0, "the API server says that it is not ready")
    said = cluster.message or "; ".join(troubles)
    if not cluster.pools:
        yield [cluster.name, status, "", "", "", age, *versions, *([""] if wide else []), said]
        return
    for pool in cluster.pools:
        nodes = pool.usable + pool.unusable
        taken = sum(number for each in pool.foreign for number in each.devices.values())
        usable = Span(f"{pool.usable}/{nodes}", "ok" if nodes and not pool.unusable else "warn")
        bad = [f"{each.name} {', '.join(each.why)}" for each in pool.nodes if not each.usable]
        message = "; ".join(part for part in (said, listed(bad)) if part)
        yield [
            cluster.name,
            status,
            pool.name,
            usable if pool.counted else "",
            count(taken, "device") if taken else "",
            age,
            *versions,
            *([_ready(cluster, pool)] if wide else []),
            message,
        ]


def _ready(cluster: SeenClusterView, pool: SeenPoolView) -> str:
    """Return how many pods of replicas in a pool are ready, and how many there are."""
    # An older observation does not say which pool.
    own = [each for each in cluster.replicas if each.pool in {pool.name, ""}]
    return f"{sum(each.ready for each in own)}/{sum(each.pods for each in own)}" if own else ""


def _ages(view: ObservationView) -> Iterator[Line]:
    """Yield when each kind of fact was read, a line for each cluster that answered."""
    for cluster in view.clusters:
        ages = ", ".join(f"{each.name} {in_short(view.now - each.at)}" for each in cluster.facts if not each.trouble)
        if ages:
            yield line(f"{cluster.name}: read {ages} ago")


def _fixes(view: ObservationView) -> Iterator[tuple[str, str]]:
    for cluster in view.clusters:
        found = [cluster.fix, *(each.fix for each in cluster.facts)]
        yield from ((cluster.name, fix) for fix in dict.fromkeys(found) if fix)


def _seen(cluster: SeenClusterView) -> ClusterObservation:
    pools = {
        pool.name: PoolObservation(
            pool.usable,
            pool.unusable,
            tuple(ForeignPod(tuple(sorted(each.devices.items()))) for each in pool.foreign),
        )
        for pool in cluster.pools
        if pool.counted
    }
    return ClusterObservation(
        at=cluster.at.astimezone(UTC),
        pools=pools,
        api_server=cluster.api_server,
        kubelet=cluster.kubelet,
        driver=cluster.driver,
    )
