"""Pool: a node pool as the state and the policies see it.

It keeps the facts that placements are judged by and has an identity of its own beside the cluster's, so that a preview
and the policies can speak about one pool. Whatever a provider makes for this pool only (a node group, its template) is
its child; how that is made is the provider's business.
"""

from components.base import Component
from components.clusters.pool_facts import PoolFacts


class Pool(Component):
    """One node pool of a cluster; logical name ``<cluster>/<pool>``."""

    TYPE = "berth:index:Pool"

    def __init__(self, facts: PoolFacts, *, environment: str) -> None:
        super().__init__(f"{facts.cluster}/{facts.pool}", facts.props(), environment=environment)
        self.facts = facts
        self.publish()
