"""Tells whether what was read of a resource is what the state says, as far as anything depends on it.

Kubernetes writes its own notes into every object: counters, who set which field, a status. They change by themselves
and nothing here follows from them, but for one thing in the status of a gateway: the address that endpoints lead to
(``components.serving.gateway``). What the provider keeps for itself begins with two underscores.
"""

from collections.abc import Mapping
from typing import Any, Final

_KUBERNETES: Final = "kubernetes:"
GATEWAY_TYPE: Final = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
_NOTES: Final = frozenset({"generation", "managedFields", "resourceVersion"})


def differs(type_: str, state: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether a resource is not as its state says; both as the engine's events have them, ``found`` empty when gone."""
    return _material(type_, state) != _material(type_, found)


def _material(type_: str, state: Mapping[str, Any]) -> tuple[object, ...]:
    outputs = state.get("outputs") or None
    others = tuple(state.get(part) or None for part in ("id", "inputs", "initErrors"))
    if not type_.startswith(_KUBERNETES) or not isinstance(outputs, Mapping):
        return (*others, outputs)
    metadata = outputs.get("metadata")
    kept = {key: value for key, value in outputs.items() if not key.startswith("__") and key != "status"}
    if type_ == GATEWAY_TYPE:
        kept["status"] = address_in(outputs)
    if isinstance(metadata, Mapping):
        kept["metadata"] = {key: value for key, value in metadata.items() if key not in _NOTES}
    return (*others, kept)


def address_in(gateway: Mapping[str, Any]) -> str:
    """Return the first address in the outputs of a gateway, as its program reads it; empty while it has none."""
    status = gateway.get("status")
    addresses = status.get("addresses") if isinstance(status, Mapping) else None
    first = addresses[0] if isinstance(addresses, list) and addresses else None
    return str(first.get("value") or "") if isinstance(first, Mapping) else ""
