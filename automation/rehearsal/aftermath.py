"""What disappears together with a resource of the simulated cloud, whoever deletes it.

A cluster takes everything on it along; a namespace what is in it; an object the cloud resources that controllers made
for it (a load balancer for a Service). The last does not happen when the whole cluster goes: its controllers are dead
by then, and the load balancer stays behind, costs money and blocks its network. That is how real clouds behave.
"""

import json
from typing import Any, Final

from automation.rehearsal.store import Row, Transaction

NAMESPACE: Final = "kubernetes:core/v1:Namespace"
OWNER: Final = "owner"
"""The object that something was made for; it goes with it."""
MADE_BY: Final = "madeBy"
"""The URN of the release that made a namespace; it stays behind."""


def cluster_key(server: str) -> str:
    """Name the fact under which the store remembers the cluster behind a server address."""
    return f"cluster/{server}"


def identifier_key(identifier: str) -> str:
    """Name the fact under which the store remembers the server that a cluster identifier last meant."""
    return f"identifier/{identifier}"


def is_simulated_server(server: str) -> bool:
    """Say whether a simulated cloud gave out a server address; such a host exists only as long as its cluster."""
    return server.partition("://")[2].startswith("sim-")


def owner_of(row: Row) -> dict[str, str]:
    """Describe a row so that what controllers make for it can name it."""
    return {"package": row.package, "type": row.type, "scope": row.scope, "id": row.id, "urn": row.urn}


def remove(transaction: Transaction, row: Row, *, controlled: bool = True) -> None:
    """Delete a resource and everything that goes with it.

    With ``controlled`` false the controller that would clean up after it is gone, and what it made stays.
    """
    transaction.delete(row)
    if row.type == NAMESPACE:
        for other in transaction.select(scope=row.scope):
            if _namespace(other) == row.name:
                remove(transaction, other)
    known = transaction.recall(f"server/{row.package}/{row.scope}/{row.id}")
    if known:
        transaction.forget(f"server/{row.package}/{row.scope}/{row.id}")
        transaction.forget(cluster_key(known))
        for other in transaction.select(scope=known):
            transaction.delete(other)
    elif controlled:
        for made in transaction.select(owned=True):
            if made.inputs.get(OWNER) == owner_of(row):
                transaction.delete(made)


def register_cluster(transaction: Transaction, row: Row, facts: dict[str, Any]) -> None:
    """Remember that a row is a Kubernetes cluster, by the address of its server."""
    server = str(facts["endpoint"])
    transaction.remember(cluster_key(server), json.dumps(facts, sort_keys=True))
    transaction.remember(f"server/{row.package}/{row.scope}/{row.id}", server)


def _namespace(row: Row) -> str:
    metadata = row.outputs.get("metadata")
    found = metadata.get("namespace") if isinstance(metadata, dict) else row.outputs.get("namespace")
    return str(found or "")
