"""What a simulated cloud does when its clusters are backed by real control planes: it asks their keeper.

A cluster that was made gets the address and the authority of a control plane that runs by then; its service accounts
have the issuer that the cloud gave out. A node group's nodes have joined when it is there. What the keeper cannot do,
the cloud refuses, and nothing is left of it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from automation.rehearsal.aftermath import cluster_key, register_cluster, remove
from automation.rehearsal.backing.door import Door, KeeperRefused, NotKept
from automation.rehearsal.backing.eks import CLUSTER, NODE_GROUP, cluster_key_of
from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.store import Row, Store
from automation.rehearsal.wire import lookup
from components.checks.versions import minor_words


def back(door: Door, store: Store, row: Row, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Put a real cluster, or nodes, behind what was just made; give the outputs that change.

    ``facts`` are what the simulated cloud remembers about the cluster. Raises ``Refused``.
    """
    try:
        if row.type == CLUSTER:
            issuer = lookup(row.outputs, "identities.0.oidcs.0.issuer")
            version = str(row.outputs.get("version") or "")
            answer = door.ask("cluster", key=cluster_key_of(row), name=row.name, issuer=issuer, version=version)
            return _meet(store, row, facts, server=answer["server"], authority=answer["authority"])
        if row.type == NODE_GROUP:
            door.ask("nodes", group_id=row.id)
    except (NotKept, KeeperRefused) as error:
        with store.transaction() as transaction:
            remove(transaction, row)
        raise Refused(f"creating {row.type} ({row.name}): {error}") from error
    return {}


def refuse_upgrade(row: Row, inputs: Mapping[str, Any]) -> None:
    """Raise ``Refused`` when a cluster would get another minor: the control plane behind it keeps the one it has."""
    if row.type != CLUSTER:
        return
    before, after = minor_words(str(row.outputs.get("version") or "")), minor_words(str(inputs.get("version") or ""))
    if before and after and before != after:
        raise Refused(
            f"updating {row.type} ({row.name}): the control plane behind it keeps Kubernetes {before}, and is not"
            f" made to be {after}"
        )


def _meet(store: Store, row: Row, facts: Mapping[str, Any], *, server: str, authority: str) -> dict[str, Any]:
    changed = {"endpoint": server, "certificateAuthority": {"data": authority}}
    with store.transaction() as transaction:
        transaction.forget(cluster_key(str(facts["endpoint"])))
        register_cluster(transaction, row, {**facts, "endpoint": server})
        transaction.update(replace(row, outputs={**row.outputs, **changed}))
    return changed
