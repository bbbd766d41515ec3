"""Facts that a stack's program is told by configuration: gateways of other stacks, and caches that are staged.

The program reads no state. With one stack per cluster, the front doors' stack needs the addresses of the others'
gateways; and a cache whose weights are there needs its download token no longer. The driver reads both from the states
and writes them into the stack's configuration, so that a plain ``pulumi preview`` sees the same.
"""

import json

from automation.driver.reading import Situation
from automation.driver.session import Session
from stacks.shard import Shard, Share

GATEWAYS_KEY = "berth:gateways"
STAGED_KEY = "berth:staged"


def share_facts(session: Session, situation: Situation, shard: Shard) -> None:
    """Write the facts that ``shard`` needs, if they differ from what its last finished update was told."""
    wanted: dict[str, str] = {}
    if shard.share is Share.FRONT_DOORS:
        addresses = {
            name: cluster.gateway_address
            for name, cluster in situation.existing.clusters.items()
            if cluster.gateway_address and not shard.holds(name)
        }
        wanted[GATEWAYS_KEY] = json.dumps(addresses, sort_keys=True)
    staged = sorted(
        str(identity)
        for identity, cache in situation.existing.caches.items()
        if cache.ready and cache.shape.secret and shard.holds(identity.cluster)
    )
    wanted[STAGED_KEY] = json.dumps(staged)
    for key, value in wanted.items():
        told = session.runner.get_config(shard.stack, key)
        # Nothing staged is not worth a key; but a cache that is gone must not be taken for staged when it comes again.
        if told != value and (told is not None or value != _NOTHING_STAGED):
            session.runner.set_config(shard.stack, key, value)


_NOTHING_STAGED = "[]"
