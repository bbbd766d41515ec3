"""Asks a real API server and a real scheduler what they make of selectors: by dry runs, and by pods with claims.

A trial is a claim for one device of a node where all devices are alike, or where their order is what is asked about.
Pods that were refused are deleted once they have an answer: after an error the scheduler tries them for ever.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from automation.rehearsal.kubernetes.api import ApiError
from automation.rehearsal.kubernetes.local import LocalCluster
from automation.rehearsal.kubernetes.machines import machine
from automation.rehearsal.kubernetes.nodes import node
from components.cel.selector import Outcome
from tests.support.pod_watch import PodWatch, node_of, refusal

Object = dict[str, Any]

COPIES: Final = 100
"""Devices of a node, and so trials on it: it takes at most 110 pods, and a slice at most 128 devices."""

_DRA: Final = "/apis/resource.k8s.io/v1"
SLICES: Final = f"{_DRA}/resourceslices"
_API: Final = "resource.k8s.io/v1"
_AT_ONCE: Final = 6
_REFUSED: Final = frozenset({400, 422})
"""Status of an object that cannot be read as one of its kind, or whose content is refused."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A request: its selectors, and those of the DeviceClass that it names, which come first."""

    selectors: tuple[str, ...]
    of: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """The selectors in the order in which they are tried."""
        return (*self.of, *self.selectors)


@dataclass(frozen=True, slots=True)
class Said:
    """What the scheduler made of a trial, and its words unless it found a device."""

    outcome: Outcome
    words: str = ""


@dataclass(slots=True)
class Asker:
    """Asks on one cluster."""

    cluster: LocalCluster
    watch: PodWatch
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """No two trials share a node or a namespace."""

    def admits(self, expressions: Sequence[str]) -> list[str]:
        """Give why the API server refuses each expression; empty when it takes it."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            classes = [device_class("trial", each) for each in expressions]
            return list(pool.map(lambda each: self.refuses(f"{_DRA}/deviceclasses", each), classes))

    def refuses(self, path: str, body: Object, *, again: bool = False) -> str:
        """Give why the API server refuses an object; empty when it takes it.

        It breaks off where it fails on an expression, as it does on some; twice, because it may also end a connection
        that was about to be used again.
        """
        try:
            self.cluster.api.create(path, body, dry_run=True)
        except ApiError as error:
            if error.status in _REFUSED or (not error.status and again):
                return error.summary
            if error.status:
                raise
            return self.refuses(path, body, again=True)
        return ""

    def ask(self, driver: str, devices: Sequence[Object], trials: Sequence[Trial]) -> list[Said]:
        """Give the answer to every trial on nodes with these devices; one device is repeated for all trials."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            parts = [trials[start : start + COPIES] for start in range(0, len(trials), COPIES)]
            return [said for part in parts for said in self._ask(pool, driver, devices, part)]

    def _ask(
        self, pool: ThreadPoolExecutor, driver: str, devices: Sequence[Object], trials: Sequence[Trial]
    ) -> list[Said]:
        api, name = self.cluster.api, f"trial-{next(self.numbers)}"
        api.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        api.create("/api/v1/nodes", node(name, machine("aws", "p5.48xlarge")))
        offered = list(devices) if len(devices) > 1 else [devices[0]] * len(trials)
        api.create(SLICES, device_slice(name, driver, offered))
        names = [f"{name}-{number}" for number in range(len(trials))]
        list(pool.map(lambda each: self._start(name, *each), zip(names, trials, strict=True)))
        pods = self.watch.verdicts(name, names)
        said = [_said(pods[each]) for each in names]
        waiting = [each for each, what in zip(names, said, strict=True) if what.outcome is not Outcome.MATCH]
        list(pool.map(lambda each: api.delete(f"/api/v1/namespaces/{name}/pods/{each}"), waiting))
        return said

    def _start(self, where: str, name: str, trial: Trial) -> None:
        api = self.cluster.api
        api.create(f"{_DRA}/deviceclasses", device_class(name, *trial.of))
        selectors = [{"cel": {"expression": each}} for each in trial.selectors]
        request = {"name": "one", "exactly": {"deviceClassName": name, "count": 1, "selectors": selectors}}
        claim = {
            "apiVersion": _API,
            "kind": "ResourceClaim",
            "metadata": {"name": name},
            "spec": {"devices": {"requests": [request]}},
        }
        api.create(f"{_DRA}/namespaces/{where}/resourceclaims", claim)
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "nodeSelector": {"kubernetes.io/hostname": where},
                "tolerations": [{"operator": "Exists"}],
                "resourceClaims": [{"name": "device", "resourceClaimName": name}],
                "containers": [{"name": "engine", "image": "e", "resources": {"claims": [{"name": "device"}]}}],
            },
        }
        api.create(f"/api/v1/namespaces/{where}/pods", pod)


def device_class(name: str, *expressions: str) -> Object:
    """Make a DeviceClass."""
    spec = {"selectors": [{"cel": {"expression": each}} for each in expressions]}
    return {"apiVersion": _API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def device_slice(name: str, driver: str, devices: Sequence[Object]) -> Object:
    """Make the slice of a node: its devices, in this order, as ``{"attributes": ..., "capacity": ...}``."""
    return {
        "apiVersion": _API,
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"device-{number}", **each} for number, each in enumerate(devices)],
        },
    }


def as_device(entry: Mapping[str, Any]) -> Object:
    """Make a device of a slice from one of a case table."""
    capacity = {name: {"value": value} for name, value in (entry.get("capacity") or {}).items()}
    return {"attributes": entry.get("attributes") or {}, "capacity": capacity}


def _said(pod: Mapping[str, Any]) -> Said:
    if node_of(pod):
        return Said(Outcome.MATCH)
    words = refusal(pod)
    if "cannot allocate all claims" in words:
        return Said(Outcome.NO_MATCH, words)
    if "selector #" in words:
        return Said(Outcome.ERROR, words)
    raise AssertionError(f"the scheduler says something else: {words or 'nothing in time'}")
