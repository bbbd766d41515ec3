"""What a stack is told by configuration follows the state, also when there is less to tell than before."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from automation.driver.shared import STAGED_KEY, SharedFacts
from automation.scheduling.existing import Existing, ExistingCache
from components.lock import CacheEntry, CacheShape, SecretUse, shape_digest
from components.naming import CacheId, StackName
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
    situation = cast("Situation", SimpleNamespace(fleet=FLEET, existing=Existing(caches=caches)))
    SharedFacts(cast("Session", SimpleNamespace(runner=config))).share(situation, SHARD)
    told = config.values.get(STAGED_KEY)
    return None if told is None else json.loads(told)


def test_a_cache_that_is_gone_is_not_staged_any_more() -> None:
    """Otherwise the same cache, wanted again, would be staged without its token."""
    config = Config()
    assert share(config, staged=True) == ["ml/w/a/0"]
    assert share(config, staged=False) == []


def test_nothing_is_written_that_says_nothing_new() -> None:
    """A stack without staged caches needs no key, and a key that is right is left alone."""
    config = Config()
    assert share(config, staged=False) is None
    share(config, staged=True)
    share(config, staged=True)
    assert config.written == [STAGED_KEY]
