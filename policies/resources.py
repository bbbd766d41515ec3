"""The stack as the rules see it: plain resources, their parents and providers, and values that are not known yet.

A rule reads through :class:`Stack`, never from a resource: what the rule needs and nobody knows yet is remembered
there, and the rule is then reported as deferred, not as passed.

A value comes from what the engine has as the resource's outputs. In a preview those may be missing, because the
provider itself cannot be set up before its cluster exists; the inputs that the program gave stand in for them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from policies.wire import UNKNOWN

COMPONENT_PREFIX: Final = "berth:index:"
CLUSTER_TYPES: Final = ("berth:index:EksCluster", "berth:index:ExistingCluster")
POOL: Final = "berth:index:Pool"
REPLICA: Final = "berth:index:Replica"
CACHE: Final = "berth:index:Cache"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource: ``props`` and ``inputs`` are plain JSON in which a value may be ``UNKNOWN``.

    ``parent`` and ``provider`` are URNs or empty. ``inputs`` is None when nobody saw them, as in a saved state.
    """

    type: str
    name: str
    urn: str
    props: Mapping[str, Any] = field(repr=False)
    inputs: Mapping[str, Any] | None = field(default=None, repr=False)
    parent: str = ""
    provider: str = ""

    @property
    def is_component(self) -> bool:
        """Whether it is one of Berth's own components."""
        return self.type.startswith(COMPONENT_PREFIX)


class Stack:
    """All resources of one stack in a stable order, and what one rule asked for and could not know.

    Every rule gets a stack of its own (:meth:`fresh`); the resources and whatever :meth:`once` made are shared.
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        """Index the resources once; the engine gives them in an order that changes from run to run."""
        self.resources: Sequence[Resource] = sorted(resources, key=lambda each: each.urn)
        self.deferred: dict[tuple[str, str], str] = {}
        """The first unknown path, by logical name and URN of the resource."""
        self._by_urn = {resource.urn: resource for resource in self.resources}
        self._by_type: dict[str, list[Resource]] = {}
        for resource in self.resources:
            self._by_type.setdefault(resource.type, []).append(resource)
        self._shared: dict[Callable[[Stack], Any], tuple[Any, dict[tuple[str, str], str]]] = {}

    def fresh(self) -> "Stack":
        """Return the same stack with nothing deferred yet."""
        other = object.__new__(Stack)
        other.__dict__ = {**self.__dict__, "deferred": {}}
        return other

    def once(self, make: "Callable[[Stack], T]") -> T:
        """Return what ``make`` makes of this stack, made for the first rule that asks.

        What was deferred on the way counts for every rule that uses it.
        """
        if make not in self._shared:
            scratch = self.fresh()
            made = make(scratch)
            self._shared[make] = (made, scratch.deferred)
        made, deferred = self._shared[make]
        self.deferred = {**deferred, **self.deferred}
        return made

    def has_deferred(self, resource: Resource) -> bool:
        """Say whether something of this resource was asked for and is not known."""
        return (resource.name, resource.urn) in self.deferred

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the resources of these types, by type and then by URN."""
        return (resource for each in types for resource in self._by_type.get(each, ()))

    def get(self, urn: str) -> Resource | None:
        """Return the resource with this URN."""
        return self._by_urn.get(urn)

    def owner(self, resource: Resource, *types: str) -> Resource | None:
        """Return the nearest ancestor of one of ``types``; None when there is none."""
        current = self._by_urn.get(resource.parent)
        while current is not None and current.type not in types:
            current = self._by_urn.get(current.parent)
        return current

    def cluster_of(self, resource: Resource) -> Resource | None:
        """Return the cluster component whose provider makes the resource; None when it is nobody's."""
        provider = self._by_urn.get(resource.provider)
        return self.owner(provider, *CLUSTER_TYPES) if provider else None

    def place_of(self, resource: Resource) -> str:
        """Return what names the cluster that something is on; outside Berth's clusters its provider stands for it."""
        cluster = self.cluster_of(resource)
        return cluster.urn if cluster else resource.provider

    def read(self, resource: Resource, *path: str) -> Any:
        """Return the value at ``path``, unknown parts left out and remembered; None when there is nothing."""
        return self.known(resource, self.peek(resource, *path), ".".join(path))

    def peek(self, resource: Resource, *path: str) -> Any:
        """Return the value at ``path`` with ``UNKNOWN`` where it is not known, remembering nothing."""
        if not resource.props:
            # Every resource of a cloud has outputs, unless its provider could not be asked.
            return UNKNOWN if resource.inputs is None else _follow(resource.inputs, path)
        return _filled(_follow(resource.props, path), _follow(resource.inputs or {}, path))

    def known(self, resource: Resource, value: Any, path: str) -> Any:
        """Return ``value`` without unknown parts; that something was left out is remembered."""
        if value is UNKNOWN:
            self.deferred.setdefault((resource.name, resource.urn), path)
            return None
        if isinstance(value, Mapping):
            pairs = ((key, self.known(resource, each, f"{path}.{key}")) for key, each in value.items())
            return {key: each for key, each in pairs if each is not None}
        if _is_list(value):
            kept = (self.known(resource, each, f"{path}[{position}]") for position, each in enumerate(value))
            return [each for each in kept if each is not None]
        return value


def _follow(value: Any, path: Sequence[str]) -> Any:
    for part in path:
        if value is UNKNOWN:
            return UNKNOWN
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _filled(value: Any, stand_in: Any) -> Any:
    """Put what the program gave in the place of what is not known."""
    if value is UNKNOWN:
        return UNKNOWN if stand_in is None else stand_in
    if isinstance(value, Mapping) and isinstance(stand_in, Mapping):
        return {key: _filled(each, stand_in.get(key)) for key, each in value.items()}
    if _is_list(value) and _is_list(stand_in) and len(value) == len(stand_in):
        return [_filled(one, other) for one, other in zip(value, stand_in, strict=True)]
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
