"""Facts that a stack's program is told by configuration: gateways of other stacks, and caches that are staged.

The program reads no state. With one stack per cluster, the front doors' stack needs the addresses of the others'
gateways; and a cache whose weights are there needs its download token no longer. The driver reads both from the states
and writes them into the stack's configuration, so that a plain ``pulumi preview`` sees the same.
"""

import json
from collections.abc import Mapping

from automation.driver.reading import Situation
from automation.driver.session import Session
from components.naming import GATEWAYS_KEY, STAGED_KEY, StackName
from stacks.shard import Shard, Share

_NOTHING = frozenset({"[]", "{}"})


class SharedFacts:
    """What the stacks of one run are told; a stack's configuration is read once for each key."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: dict[tuple[StackName, str], str | None] = {}

    def share(self, situation: Situation, shard: Shard) -> bool:
        """Write the facts that ``shard`` needs; return whether one differs from what it was told before."""
        changed = False
        for key, value in _facts(situation, shard).items():
            told = self._read(shard.stack, key)
            # Nothing is not worth a key; but a cache that is gone must not be taken for staged when it comes again.
            if told == value or (told is None and value in _NOTHING):
                continue
            self._session.runner.set_config(shard.stack, key, value)
            self._told[shard.stack, key] = value
            changed = True
        return changed

    def _read(self, stack: StackName, key: str) -> str | None:
        if (stack, key) not in self._told:
            self._told[stack, key] = self._session.runner.get_config(stack, key)
        return self._told[stack, key]


def _facts(situation: Situation, shard: Shard) -> Mapping[str, str]:
    facts: dict[str, str] = {}
    if shard.share is Share.FRONT_DOORS:
        addresses = {
            name: cluster.gateway_address
            for name, cluster in situation.existing.clusters.items()
            if cluster.gateway_address and not shard.holds(name)
        }
        facts[GATEWAYS_KEY] = json.dumps(addresses, sort_keys=True)
    if any(
        cache.spec.hugging_face and cache.spec.hugging_face.auth_secret for cache in situation.fleet.caches.values()
    ):
        staged = sorted(
            str(identity)
            for identity, cache in situation.existing.caches.items()
            if cache.ready and cache.shape.secret and shard.holds(identity.cluster)
        )
        facts[STAGED_KEY] = json.dumps(staged)
    return facts
