"""What a stack is told by configuration follows the state, also when there is less to tell than before."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from automation.driver.shared import GATEWAYS_KEY, STAGED_KEY, Facts, News, SharedFacts
from automation.scheduling.existing import Existing, ExistingCache, ExistingCluster
from components.lock import CacheEntry, CacheShape, SecretUse, shape_digest
from components.naming import CacheId, StackName
from stacks.config import ProgramConfig
from stacks.shard import Shard, Share

if TYPE_CHECKING:
    from automation.driver.reading import Situation
    from automation.driver.session import Session

SHAPE = CacheShape(source="HuggingFace", repo="org/w", size_gib=1, secret=SecretUse(name="hf", key="HF_TOKEN"))
ID = CacheId("ml", "w", "a", 0)
FLEET = SimpleNamespace(
    caches={("ml", "w"): SimpleNamespace(spec=SimpleNamespace(hugging_face=SimpleNamespace(auth_secret=SHAPE.secret)))}
)
SHARD = Shard("dev", Share.EVERYTHING)


@dataclass
class Config:
    """A stack's configuration."""

    values: dict[str, str] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)

    def get_config(self, stack: StackName, key: str) -> str | None:
        """Return a value."""
        assert stack == SHARD.stack
        return self.values.get(key)

    def set_config(self, stack: StackName, key: str, value: str) -> None:
        """Write a value."""
        assert stack == SHARD.stack
        self.written.append(key)
        self.values[key] = value


def share(config: Config, *, staged: bool) -> Any:
    """Share the facts of a state with or without a staged cache, and return what the stack is told of it."""
    entry = CacheEntry(cache="w", cluster="a", shape=shape_digest(SHAPE))
    caches = {ID: ExistingCache(ID, entry, SHAPE)} if staged else {}
    situation = cast("Situation", SimpleNamespace(fleet=FLEET, existing=Existing(caches=caches), shards=()))
    SharedFacts(cast("Session", SimpleNamespace(runner=config)), situation).share(situation, SHARD)
    told = config.values.get(STAGED_KEY)
    return None if told is None else json.loads(told)


def test_a_cache_that_is_gone_is_not_staged_any_more() -> None:
    """Otherwise the same cache, wanted again, would be staged without its token."""
    config = Config()
    assert share(config, staged=True) == ["ml/w/a/0"]
    assert share(config, staged=False) == []


def lead(
    config: Config, told: Mapping[str, str | None], *, before: Mapping[str, str | None] = MappingProxyType({})
) -> News:
    """Tell the front doors of gateways' addresses, in a run whose plan found other ones; return what is new."""
    doors = Shard("dev", Share.FRONT_DOORS)
    fleet = SimpleNamespace(caches={})

    def situation(addresses: Mapping[str, str | None]) -> "Situation":
        clusters = {name: ExistingCluster(name, gateway_address=each) for name, each in addresses.items()}
        return cast("Situation", SimpleNamespace(fleet=fleet, existing=Existing(clusters=clusters), shards=(doors,)))

    facts = SharedFacts(cast("Session", SimpleNamespace(runner=config)), situation(before))
    return facts.share(situation(told), doors)


def test_front_doors_are_told_of_gateways_once() -> None:
    """What the plan found is no news to the programs that it ran; what came since is."""
    config = Config()
    assert lead(config, {"a": "1", "b": "2"}, before={"a": "1"}) == News(gateways=True)
    assert lead(config, {"a": "1", "b": "2"}, before={"a": "1", "b": "2"}) == News()
    assert lead(config, {"a": "3", "b": "2"}, before={"a": "1", "b": "2"}) == News(gateways=True)
    assert json.loads(config.values[GATEWAYS_KEY]) == {"a": "3", "b": "2"}


def test_a_gateway_that_lost_its_address_keeps_the_last_one() -> None:
    """Nothing else can be led to, and an unknown one would fail everybody's routes; one that goes is forgotten."""
    config = Config()
    lead(config, {"a": "1", "b": "2"})
    assert lead(config, {"a": "1", "b": None}, before={"a": "1", "b": "2"}) == News()
    assert json.loads(config.values[GATEWAYS_KEY]) == {"a": "1", "b": "2"}
    told = Facts(gateways={"a": "1"}).over(ProgramConfig(berth_version="1", gateway_addresses={"a": "0", "b": "2"}))
    assert told.gateway_addresses == {"a": "1", "b": "2"}
    lead(config, {"a": "1"})
    assert json.loads(config.values[GATEWAYS_KEY]) == {"a": "1"}


def test_nothing_is_written_that_says_nothing_new() -> None:
    """A stack without staged caches needs no key, and a key that is right is left alone."""
    config = Config()
    assert share(config, staged=False) is None
    share(config, staged=True)
    share(config, staged=True)
    assert config.written == [STAGED_KEY]
