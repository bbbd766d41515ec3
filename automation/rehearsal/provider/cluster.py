"""The connection of a Kubernetes provider: which cluster its settings mean, and whether that cluster answers."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from automation.rehearsal import aftermath
from automation.rehearsal.provider.base import Difference, World, difference, settings
from automation.rehearsal.provider.kubeconfig import Endpoint, Unreadable, endpoint
from automation.rehearsal.store import Transaction
from automation.rehearsal.wire import has_unknown, plain

IDENTIFIER: Final = "clusterIdentifier"
_WHERE: Final = ("kubeconfig", "context", "cluster")


class Cluster:
    """A configured cluster, by the address of its server; nothing is ever dialled."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.config: dict[str, Any] = {}
        self.endpoint = Endpoint(server="")
        self._broken = ""

    def configure(self, config: Mapping[str, Any]) -> None:
        """Take the settings; an unreadable kubeconfig makes the cluster unreachable, as in the real provider."""
        self.config = settings(config)
        try:
            self.endpoint = endpoint(
                self.config.get("kubeconfig"),
                context=self.config.get("context") or "",
                cluster=self.config.get("cluster") or "",
            )
        except Unreadable as error:
            self._broken = f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {error}"
            return
        if identifier := self.config.get(IDENTIFIER):
            with self._world.store.transaction() as transaction:
                transaction.remember(aftermath.identifier_key(str(identifier)), self.endpoint.server)

    @property
    def server(self) -> str:
        """The address of the API server; the scope of everything on the cluster."""
        return self.endpoint.server

    @property
    def namespace(self) -> str:
        """The namespace of objects that name none."""
        return str(self.config.get("namespace") or self.endpoint.namespace or "default")

    def facts(self, transaction: Transaction) -> dict[str, Any]:
        """Read what a simulated cloud remembers about this cluster; empty for a cluster made elsewhere."""
        found = transaction.recall(aftermath.cluster_key(self.server))
        return dict(json.loads(found)) if found else {}

    def names(self, facts: Mapping[str, Any]) -> tuple[str, ...]:
        """List every name by which a scenario may mean this cluster."""
        names = (
            self.config.get(IDENTIFIER),
            facts.get("name"),
            self.endpoint.cluster,
            self.endpoint.context,
            self.server,
        )
        return tuple(name for name in names if isinstance(name, str) and name)

    def trouble(self) -> str:
        """Say why the cluster cannot be reached; empty when it can."""
        if self._broken:
            return self._broken
        with self._world.store.reading() as transaction:
            facts = self.facts(transaction)
        why = self._world.faults.unreachable(self.names(facts))
        if not why and aftermath.is_simulated_server(self.server) and not facts:
            host = self.server.partition("://")[2].partition(":")[0].partition("/")[0]
            why = f"dial tcp: lookup {host}: no such host"
        text = "unable to load schema information from the API server: Get "
        return f'{text}"{self.server}/openapi/v2?timeout=32s": {why}' if why else ""


def diff_settings(olds: Mapping[str, Any], news: Mapping[str, Any]) -> Difference:
    """Compare a provider's settings as the real provider does.

    With the same ``clusterIdentifier`` on both sides nothing forces a replacement. Without one every change of the
    kubeconfig, context or cluster does, an unknown one too, because clusters have no identity of their own. Adding or
    removing the identifier, or going from the ambient kubeconfig to a given one, is an update.
    """
    found = difference(olds, news, ("renderYamlToDirectory", *_WHERE), delete_first=False)
    old, new = plain(olds.get(IDENTIFIER)), plain(news.get(IDENTIFIER))
    if new and old == new and not has_unknown(new):
        return replace(found, replaces=())
    replaces = [path for path in found.replaces if has_unknown(news.get(path)) or olds.get(path) is not None]
    return replace(found, replaces=(*replaces, IDENTIFIER) if old and new and old != new else tuple(replaces))
