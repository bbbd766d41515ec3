"""Runs the preflight of one cluster; what may not be read hides nothing else."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from automation.engine.toolchain.finding import Check, Status
from automation.observe.api import ClusterApi, NoAnswer
from automation.observe.facts import Node
from automation.observe.pool import seen_pool
from automation.observe.preflight.devices import check_devices
from automation.observe.preflight.nodes import check_nodes
from automation.observe.preflight.server import (
    check_definitions,
    check_owner,
    check_permissions,
    check_server,
    owner_of,
)
from automation.observe.preflight.storage import check_storage
from automation.observe.preflight.wanted import Wanted
from automation.observe.reading import NODES, read_devices

_T = TypeVar("_T")

_CLASSES: Final = "/apis/resource.k8s.io/v1/deviceclasses"
_STORAGE: Final = "/apis/storage.k8s.io/v1/storageclasses"

_UNREAD: Final = "?"
"""No environment has this name."""
_OF_CLAIMS: Final = frozenset({"devices", "device classes"})


def preflight(api: ClusterApi, wanted: Wanted) -> tuple[Check, ...]:
    """Return every finding about a cluster. Raises NoAnswer when its server does not answer, or not to who asks."""
    return tuple(_Preflight(api, wanted).checks())


class _Preflight:
    def __init__(self, api: ClusterApi, wanted: Wanted) -> None:
        self._api = api
        self._wanted = wanted
        self._unread: list[Check] = []

    def checks(self) -> Iterator[Check]:
        api, wanted = self._api, self._wanted
        yield from self._each("api server", lambda: check_server(api, wanted))
        owner = self._read("owner", lambda: owner_of(api), default=_UNREAD)
        if owner is not _UNREAD:
            yield check_owner(owner, wanted)
        built = owner == wanted.environment
        yield from self._each("definitions", lambda: check_definitions(api, wanted, built=built))
        nodes = self._read("nodes", lambda: [Node.read(each) for each in api.items(NODES)], default=None)
        devices = self._read("devices", lambda: read_devices(api), default=None) if wanted.pools else ()
        if nodes is not None:
            pools = [seen_pool(each.facts, nodes, devices) for each in wanted.pools]
            yield from check_nodes(wanted, pools, nodes, devices or ())
            classes = self._read("device classes", lambda: self._names(_CLASSES), default=None)
            if devices is not None and classes is not None:
                yield from check_devices(wanted, pools, classes, built=built)
        storage = self._read("storage class", lambda: api.items(_STORAGE), default=None)
        if storage is not None:
            yield check_storage(wanted, storage, built=built)
        yield from self._each("permissions", lambda: check_permissions(api))
        yield from self._unread

    def _names(self, path: str) -> set[str]:
        return {str(each["metadata"]["name"]) for each in self._api.items(path)}

    def _each(self, name: str, checks: Callable[[], Iterable[Check]]) -> Iterable[Check]:
        return self._read(name, lambda: list(checks()), default=[])

    def _read(self, name: str, read: Callable[[], _T], *, default: _T) -> _T:
        """Return what can be read; what cannot becomes a finding, unless the server says nothing at all."""
        try:
            return read()
        except NoAnswer as error:
            if error.final:
                raise
            if name not in _OF_CLAIMS or not error.not_found:  # without the API there are none, and that is said
                self._unread.append(Check(name, Status.PROBLEM, str(error), "readable", error.fix))
            return default
