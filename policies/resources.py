"""The stack as the rules see it: plain resources, their parents and providers, and values that are not known yet.

A value that the engine only learns while it applies is ``UNKNOWN`` here. A rule never passes on one: it asks through
:class:`Stack`, which remembers what could not be judged, and the pack reports the rule as deferred.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

COMPONENT_PREFIX: Final = "berth:index:"
CLUSTER_TYPES: Final = ("berth:index:EksCluster", "berth:index:ExistingCluster")
POOL: Final = "berth:index:Pool"
REPLICA: Final = "berth:index:Replica"
CACHE: Final = "berth:index:Cache"


class _Unknown:
    """The one value that stands for what is not known during a preview."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource: ``props`` is plain JSON in which a value may be ``UNKNOWN``; ``provider`` is a URN or empty."""

    type: str
    name: str
    urn: str
    props: Mapping[str, Any] = field(repr=False)
    parent: str = ""
    provider: str = ""


@dataclass(slots=True)
class Stack:
    """All resources of one stack, and what was asked for and not known."""

    resources: Sequence[Resource]
    deferred: list[str] = field(default_factory=list)
    """Places (``<name>: <path>``) that a rule needed and could not read yet."""
    _index: dict[str, Resource] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the resources once; every rule walks up to parents often."""
        self._index = {resource.urn: resource for resource in self.resources}

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the resources of these types, in order."""
        return (resource for resource in self.resources if resource.type in types)

    def owner(self, resource: Resource, *types: str) -> Resource | None:
        """Return the nearest ancestor of one of ``types``; None when there is none."""
        current: Resource | None = resource
        while current is not None and current.parent:
            current = self._index.get(current.parent)
            if current is not None and current.type in types:
                return current
        return None

    def read(self, resource: Resource, *path: str | int) -> Any:
        """Return the value at ``path``; None when it is absent or not known, which is then remembered."""
        value: Any = resource.props
        for position, part in enumerate(path):
            value = _step(value, part)
            if value is UNKNOWN:
                self.deferred.append(f"{resource.name}: {'.'.join(str(each) for each in path[: position + 1])}")
                return None
            if value is None:
                return None
        return self.known(resource, value, ".".join(str(each) for each in path))

    def known(self, resource: Resource, value: Any, path: str) -> Any:
        """Return ``value`` without unknown parts; what was left out is remembered."""
        if value is UNKNOWN:
            self.deferred.append(f"{resource.name}: {path}")
            return None
        if isinstance(value, Mapping):
            pairs = ((key, self.known(resource, each, f"{path}.{key}")) for key, each in value.items())
            return {key: each for key, each in pairs if each is not None}
        if isinstance(value, Sequence) and not isinstance(value, str):
            kept = (self.known(resource, each, f"{path}[{position}]") for position, each in enumerate(value))
            return [each for each in kept if each is not None]
        return value


def _step(value: Any, part: str | int) -> Any:
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(part, int):
        return value[part] if isinstance(value, Sequence) and part < len(value) else None
    return value.get(part) if isinstance(value, Mapping) else None
