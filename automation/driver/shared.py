"""Facts that a stack's program is told: gateways of other stacks, and caches that are staged.

The program reads no state. With one stack per cluster, the front doors' stack needs the addresses of the others'
gateways; and a cache whose weights are there needs its download token no longer. The driver takes both from what exists
and gives them to every program that it runs. It writes them into the stack's configuration as well, so that a plain
``pulumi preview`` sees the same; whoever plans in a checkout without that misses nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from automation.driver.reading import Situation
from automation.driver.session import Session
from components.naming import GATEWAYS_KEY, STAGED_KEY, StackName
from stacks.shard import Shard, Share

if TYPE_CHECKING:
    from stacks.config import ProgramConfig

_NOTHING = frozenset({"[]", "{}"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What one stack is told; None where there is nothing to tell of that kind, and its configuration counts.

    ``gateways`` are addresses by cluster, ``staged`` the logical names of caches. ``own`` are the addresses that the
    gateways of its own clusters had last: one that has none now keeps it. They stand in no configuration.
    """

    gateways: Mapping[str, str] | None = None
    staged: frozenset[str] | None = None
    own: Mapping[str, str] = field(default_factory=dict)

    def over(self, config: "ProgramConfig") -> "ProgramConfig":
        """Return ``config`` with these facts in it; a gateway that has no address now keeps the one it had."""
        return replace(
            config,
            gateway_addresses={**config.gateway_addresses, **self.own, **(self.gateways or {})},
            staged=config.staged if self.staged is None else self.staged,
        )


@dataclass(frozen=True, slots=True)
class News:
    """What of a stack's facts is new since the run last told them."""

    gateways: bool = False
    staged: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is."""
        return self.gateways or self.staged


class SharedFacts:
    """What the stacks of one run are told. Its plan told their programs what holds in the situation it starts from."""

    def __init__(self, session: Session, planned: Situation) -> None:
        self._session = session
        self._given = {shard.stack: facts_of(planned, shard) for shard in planned.shards}
        self._written: dict[tuple[StackName, str], str | None] = {}

    def share(self, situation: Situation, shard: Shard) -> News:
        """Write the facts that ``shard`` needs; return what the run has not told its program before.

        A gateway that lost its address is no news: nothing can lead elsewhere before it has another one.
        """
        facts, given = facts_of(situation, shard), self._given.get(shard.stack, Facts())
        self._given[shard.stack] = facts
        if facts.gateways is not None:
            self._write(shard.stack, GATEWAYS_KEY, self._with_silent(situation, shard, facts.gateways))
        if facts.staged is not None:
            self._write(shard.stack, STAGED_KEY, json.dumps(sorted(facts.staged)))
        return News(
            gateways=not (facts.gateways or {}).items() <= (given.gateways or {}).items(),
            staged=facts.staged != given.staged,
        )

    def _with_silent(self, situation: Situation, shard: Shard, gateways: Mapping[str, str]) -> str:
        """Return the addresses as they are written, with the last ones of gateways that have none at the moment."""
        written = json.loads(self._read(shard.stack, GATEWAYS_KEY) or "{}")
        kept = {name: address for name, address in written.items() if name in situation.existing.clusters}
        return json.dumps({**kept, **gateways}, sort_keys=True)

    def _write(self, stack: StackName, key: str, value: str) -> None:
        before = self._read(stack, key)
        # Nothing is not worth a key; but a cache that is gone must not be taken for staged when it comes again.
        if before == value or (before is None and value in _NOTHING):
            return
        self._session.runner.set_config(stack, key, value)
        self._written[stack, key] = value

    def _read(self, stack: StackName, key: str) -> str | None:
        if (stack, key) not in self._written:
            self._written[stack, key] = self._session.runner.get_config(stack, key)
        return self._written[stack, key]


def facts_of(situation: Situation, shard: Shard) -> Facts:
    """Return what the program of ``shard`` has to know of what exists."""
    gateways = staged = None
    addresses = {
        name: cluster.gateway_address
        for name, cluster in situation.existing.clusters.items()
        if cluster.gateway_address
    }
    if shard.share is Share.FRONT_DOORS:
        gateways = {name: address for name, address in addresses.items() if not shard.holds(name)}
    if any(
        cache.spec.hugging_face and cache.spec.hugging_face.auth_secret for cache in situation.fleet.caches.values()
    ):
        staged = frozenset(
            str(identity)
            for identity, cache in situation.existing.caches.items()
            if cache.ready and cache.shape.secret and shard.holds(identity.cluster)
        )
    return Facts(gateways, staged, {name: address for name, address in addresses.items() if shard.holds(name)})
