"""Previews one stack, looking at its real resources first wherever they can be looked at.

A cluster that does not answer cannot be read, and the engine leaves out of a preview what it leaves unread. So a stack
with such a cluster is previewed twice: all of it as the state says, which tells what is owed there, and the rest as it
really is.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from automation.driver.layout import cluster_components
from automation.driver.lost import lost_clusters, lost_parts
from automation.driver.reading import Situation
from automation.driver.refresh import Refresh
from automation.driver.session import Session
from automation.engine.checkpoint import Checkpoint
from automation.engine.runner import PolicyPackRef, Preview, Program
from automation.observe.owed import skip_unreachable
from stacks.shard import Shard


def preview_shard(
    session: Session,
    situation: Situation,
    shard: Shard,
    program: Program,
    *,
    refresh: Refresh,
    policy_pack: PolicyPackRef | None = None,
) -> Preview:
    """Return what ``program`` would do to the stack of ``shard``.

    What is on a lost cluster is left out: a run takes it out of the state before it previews, and a plan alone must not
    call that deletions.
    """
    stack = shard.stack
    checkpoint = situation.checkpoints.get(stack) or Checkpoint(stack)
    lost = lost_clusters(situation)
    forgotten = lost_parts(checkpoint, lost)
    there = cluster_components(checkpoint).keys() - lost
    silent = situation.unreachable.keys() & there
    apart = bool(silent) and refresh is Refresh.AUTO
    whole = session.runner.preview(
        stack,
        program,
        policy_pack=policy_pack,
        exclude=forgotten,
        refresh=refresh.reads(checkpoint) and not apart,
        listener=session.reporter.event,
    )
    if not apart or silent == there:
        return whole
    unread = frozenset(skip_unreachable(whole, checkpoint, silent).exclude)
    exclude = sorted(unread.union(forgotten))
    rest = session.runner.preview(stack, program, exclude=exclude, refresh=True, listener=session.reporter.event)
    if not rest.ok and not rest.refused:
        session.reporter.note(
            f"the resources of stack {stack} are taken as the state has them, because some of them need what is on"
            f" {', '.join(sorted(silent))}"
        )
        return whole
    return _joined(whole, rest, unread)


def _joined(whole: Preview, rest: Preview, unread: Collection[str]) -> Preview:
    """Return ``rest`` with what ``whole`` says of everything that was not read; only ``whole`` was judged."""
    steps = (*rest.steps, *(step for step in whole.steps if step.urn in unread))
    return replace(
        whole,
        ok=whole.ok and rest.ok,
        steps=steps,
        refused=tuple(dict.fromkeys((*whole.refused, *rest.refused))),
        diagnostics=(*whole.diagnostics, *rest.diagnostics),
        changes=dict(Counter(step.op for step in steps)),
        seconds=whole.seconds + rest.seconds,
    )
