"""Which component a resource belongs to, and on which cluster it lives.

Steps of a preview and resources of a state say the same things about themselves (URN, type, parent, provider, inputs),
so one index answers for both. A component says where it is by its plain description (``cluster``, or ``frontDoor`` for
what is on a front door); a resource belongs to the nearest component above it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

COMPONENT_PREFIX = "berth:index:"
_CLUSTER = re.compile(r"^berth:index:[A-Za-z0-9]+Cluster$")
POOL_TYPE = "berth:index:Pool"
REPLICA_TYPE = "berth:index:Replica"
CACHE_TYPE = "berth:index:Cache"
NAMESPACE_TYPE = "berth:index:Namespace"
SERVING_TYPE = "berth:index:ServingStack"
ENDPOINT_TYPE = "berth:index:Endpoint"
SERVICE_TYPE = "berth:index:Service"
FRONT_DOOR_TYPE = "berth:index:FrontDoor"
KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"


class Member(Protocol):
    """What a resource says about itself."""

    @property
    def urn(self) -> str:
        """Its URN."""
        ...

    @property
    def type(self) -> str:
        """Its type token."""
        ...

    @property
    def parent(self) -> str:
        """The URN of its parent."""
        ...

    @property
    def provider(self) -> str:
        """The URN of its provider."""
        ...

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Its inputs."""
        ...


def is_cluster(type_: str) -> bool:
    """Return whether a type token is a cluster's component, of whatever provider."""
    return bool(_CLUSTER.match(type_))


class Family:
    """An index of resources by parentage; later members replace earlier ones with the same URN."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._members = {member.urn: member for member in members}

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def get(self, urn: str) -> Member | None:
        """Return one member."""
        return self._members.get(urn)

    def component(self, urn: str) -> Member | None:
        """Return the nearest component of ours at or above ``urn``; None when there is none."""
        member = self._members.get(urn)
        while member is not None and not member.type.startswith(COMPONENT_PREFIX):
            member = self._members.get(member.parent)
        return member

    def cluster(self, urn: str) -> str:
        """Return the name of the cluster on which ``urn`` lives, or that it is part of; empty for none."""
        component = self.component(urn)
        if component is None:
            member = self._members.get(urn)
            return self.cluster(member.provider) if member is not None and member.provider else ""
        return str(component.inputs.get("cluster") or component.inputs.get("frontDoor") or "")
