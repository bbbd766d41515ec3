"""What a plan asks the engine, stack by stack."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.driver.planner import preview_target
from automation.driver.refresh import Looks, Refresh
from automation.driver.servers import Servers
from automation.engine.runner import Preview
from automation.engine.toolchain.layout import Layout
from automation.scheduling.existing import Existing
from components.errors import ConfigError, Problem
from components.naming import StackName
from stacks.shard import Shard, Share

if TYPE_CHECKING:
    from automation.driver.planner import Plan
    from automation.driver.session import Session


def test_what_is_wrong_in_any_stack_is_said_at_once(tmp_path: Path) -> None:
    """Secrets are missing in two stacks of three: nobody should mend one to read of the other."""
    asked = []

    def preview(stack: StackName, *_: Any, **__: Any) -> Preview:
        asked.append(str(stack))
        if stack.cluster in {"a", "c"}:
            raise ConfigError([Problem("secret-missing", f"secret of {stack}")])
        return Preview(stack, ok=True, steps=())

    shards = [Shard("dev", Share.CLUSTER, name) for name in ("a", "b", "c")]
    situation = SimpleNamespace(
        shards=shards,
        checkpoints={},
        unreachable={},
        fleet=SimpleNamespace(clusters={}, caches={}),
        existing=Existing(),
        servers=Servers(),
    )
    session = SimpleNamespace(
        runner=SimpleNamespace(preview=preview),
        reporter=SimpleNamespace(phase=lambda _: None, event=None),
        workspace=SimpleNamespace(layout=Layout(tmp_path), simulated=False, backed=False),
    )
    plan = SimpleNamespace(situation=situation, target=None, refresh=Refresh.NEVER)
    with pytest.raises(ConfigError) as caught:
        preview_target(cast("Session", session), cast("Plan", plan), Looks(Refresh.NEVER))
    assert [problem.message for problem in caught.value.problems] == ["secret of dev.a", "secret of dev.c"]
    assert asked == ["dev.a", "dev.b", "dev.c"]
