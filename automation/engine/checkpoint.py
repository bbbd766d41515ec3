"""A stack's exported state as values: resources, pending operations, outputs.

The checkpoint is what Pulumi knows to exist; Berth reads it instead of stack outputs, because the engine keeps old
outputs after a failed update and none after an aborted one. Secrets in it are still encrypted, and nothing here can
decrypt them. What the resources mean for the fleet is ``state``'s work.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from automation.engine.events import EMPTY, PROVIDER_PREFIX, empty
from components.errors import DriverError
from components.naming import StackName

STACK_TYPE = "pulumi:pulumi:Stack"
SECRET_MARK = "4dabf18193072939515e22adb298388d"  # noqa: S105 (Pulumi's mark of a special value, not a secret)
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 (as above: the mark's value for secrets)


def is_secret(value: Any) -> bool:
    """Return whether ``value`` is an encrypted secret."""
    return isinstance(value, Mapping) and value.get(SECRET_MARK) == _SECRET


class PendingKind(StrEnum):
    """What the engine was doing to a resource when it was interrupted."""

    CREATING = "creating"
    UPDATING = "updating"
    DELETING = "deleting"
    READING = "reading"
    IMPORTING = "importing"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the state. ``provider`` is its provider's URN; ``dependencies`` are URNs, without the parent.

    ``pending_deletion`` marks the old half of a replacement, which has the same URN as the new one.
    """

    urn: str
    type: str
    id: str = ""
    custom: bool = False
    parent: str = ""
    provider: str = ""
    inputs: Mapping[str, Any] = field(default_factory=empty, repr=False)
    outputs: Mapping[str, Any] = field(default_factory=empty, repr=False)
    dependencies: frozenset[str] = frozenset()
    init_errors: tuple[str, ...] = ()
    protected: bool = False
    retained: bool = False
    external: bool = False
    pending_deletion: bool = False
    pending_replacement: bool = False

    @property
    def name(self) -> str:
        """The logical name, the last part of the URN."""
        return self.urn.rpartition("::")[2]

    @property
    def is_provider(self) -> bool:
        """Whether the resource is itself a provider."""
        return self.type.startswith(PROVIDER_PREFIX)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read one entry of a checkpoint."""
        dependencies = set(raw.get("dependencies") or ())
        for urns in (raw.get("propertyDependencies") or {}).values():
            dependencies.update(urns or ())
        return cls(
            urn=raw["urn"],
            type=raw["type"],
            id=raw.get("id") or "",
            custom=bool(raw.get("custom")),
            parent=raw.get("parent") or "",
            provider=(raw.get("provider") or "").rpartition("::")[0],
            inputs=raw.get("inputs") or EMPTY,
            outputs=raw.get("outputs") or EMPTY,
            dependencies=frozenset(dependencies),
            init_errors=tuple(raw.get("initErrors") or ()),
            protected=bool(raw.get("protect")),
            retained=bool(raw.get("retainOnDelete")),
            external=bool(raw.get("external")),
            pending_deletion=bool(raw.get("delete")),
            pending_replacement=bool(raw.get("pendingReplacement")),
        )


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """An operation that was interrupted: nobody knows whether the cloud carried it out."""

    kind: PendingKind
    resource: Resource

    def __str__(self) -> str:
        """Return it in words: what was interrupted, and what may be left of it."""
        return f"{self.resource.type} {self.resource.name}: interrupted while {self.kind}{_MEANING[self.kind]}"


_MEANING = {
    PendingKind.CREATING: "; it may exist without being in the state",
    PendingKind.UPDATING: "; it may hold the old or the new settings",
    PendingKind.DELETING: "; it may be gone already",
    PendingKind.READING: "",
    PendingKind.IMPORTING: "; its id is known, its state is not read yet",
}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The exported state of one stack; ``resources`` stand in dependency order, as the engine keeps them."""

    stack: StackName
    resources: tuple[Resource, ...] = ()
    pending: tuple[PendingOperation, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=empty, repr=False)
    _index: Mapping[str, Resource] = field(default_factory=empty, repr=False, compare=False)
    _children: Mapping[str, tuple[str, ...]] = field(default_factory=empty, repr=False, compare=False)

    @classmethod
    def from_json(cls, stack: StackName, raw: Mapping[str, Any]) -> Self:
        """Read what ``pulumi stack export`` prints; raises DriverError when it is something else."""
        try:
            deployment = raw.get("deployment") or {}
            resources = tuple(Resource.from_json(entry) for entry in deployment.get("resources") or ())
            pending = tuple(
                PendingOperation(PendingKind(entry["type"]), Resource.from_json(entry["resource"]))
                for entry in deployment.get("pending_operations") or ()
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DriverError(
                f"the state of stack {stack} cannot be read: {error!r}",
                consequence="Nothing was changed.",
                help=f"pulumi stack export --stack {stack}",
            ) from error
        children: dict[str, list[str]] = {}
        for resource in resources:
            if resource.parent and not resource.pending_deletion:
                children.setdefault(resource.parent, []).append(resource.urn)
        index = {resource.urn: resource for resource in resources if not resource.pending_deletion}
        return cls(stack, resources, pending, raw, index, {urn: tuple(below) for urn, below in children.items()})

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the resources that are not waiting to be deleted."""
        return iter(self._index.values())

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left but the stack itself."""
        return not self.pending and all(resource.type == STACK_TYPE for resource in self.resources)

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The stack's outputs as of the last update that finished; encrypted where secret."""
        return next((resource.outputs for resource in self if resource.type == STACK_TYPE), EMPTY)

    def get(self, urn: str) -> Resource | None:
        """Return the resource with ``urn``, None when the state has none."""
        return self._index.get(urn)

    def of_type(self, type: str) -> tuple[Resource, ...]:  # noqa: A002 (Pulumi's word)
        """Return the resources of one type token."""
        return tuple(resource for resource in self if resource.type == type)

    def subtree(self, urn: str) -> tuple[Resource, ...]:
        """Return the resource and everything under it, parents first."""
        found: list[Resource] = []
        waiting = [urn]
        while waiting:
            resource = self._index.get(waiting.pop())
            if resource:
                found.append(resource)
                waiting.extend(reversed(self._children.get(resource.urn, ())))
        return tuple(found)

    def ancestors(self, urn: str) -> Iterator[Resource]:
        """Yield the parent of ``urn``, its parent, and so on up to the stack."""
        resource = self._index.get(urn)
        while resource and resource.parent:
            resource = self._index.get(resource.parent)
            if resource:
                yield resource

    def provided_by(self, urns: Iterable[str]) -> tuple[Resource, ...]:
        """Return the resources whose provider is one of ``urns``."""
        wanted = frozenset(urns)
        return tuple(resource for resource in self.resources if resource.provider in wanted)

    def without(self, urns: Iterable[str]) -> "Checkpoint":
        """Return a state that forgets ``urns``, everything under them and everything their providers provide.

        Nothing is deleted anywhere. Edges of what stays to what is forgotten are cut, so that the engine accepts the
        result. Other stacks' secrets and everything else stay as they are.
        """
        gone = self._closure(urns)
        raw = copy.deepcopy(dict(self.raw))
        deployment = raw.get("deployment") or {}
        deployment["resources"] = [_cut(r, gone) for r in deployment.get("resources") or () if r["urn"] not in gone]
        if "pending_operations" in deployment:
            deployment["pending_operations"] = [
                entry for entry in deployment["pending_operations"] or () if entry["resource"]["urn"] not in gone
            ]
        return Checkpoint.from_json(self.stack, raw)

    def _closure(self, urns: Iterable[str]) -> frozenset[str]:
        """Follow children and provided resources until nothing is added."""
        gone: set[str] = set()
        waiting = list(urns)
        provided: dict[str, list[str]] = {}
        for resource in self.resources:
            if resource.provider:
                provided.setdefault(resource.provider, []).append(resource.urn)
        below: dict[str, list[str]] = {}
        for resource in self.resources:
            if resource.parent:
                below.setdefault(resource.parent, []).append(resource.urn)
        while waiting:
            urn = waiting.pop()
            if urn not in gone:
                gone.add(urn)
                waiting += below.get(urn, ())
                waiting += provided.get(urn, ())
        return frozenset(gone)


def _cut(raw: dict[str, Any], gone: frozenset[str]) -> dict[str, Any]:
    for key in ("dependencies", "replaceWith"):
        if raw.get(key):
            raw[key] = [urn for urn in raw[key] if urn not in gone]
    if raw.get("propertyDependencies"):
        raw["propertyDependencies"] = {
            name: [urn for urn in urns or () if urn not in gone] for name, urns in raw["propertyDependencies"].items()
        }
    for key in ("deletedWith", "viewOf"):
        if raw.get(key) in gone:
            del raw[key]
    return raw
