"""Answers a what-if question: the schedule now, the schedule under the question, and the difference."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from automation.driver.planner import decide
from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.render.remedy_view import remedy_view
from automation.render.trace_view import leaving_view
from automation.render.what_if import WhatIfDeploymentView, WhatIfView
from automation.scheduling.changes import NO_CHANGES
from automation.scheduling.existing import NamespacedName
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Snapshot
from automation.scheduling.what_if import with_nodes, without
from components.api.near import did_you_mean
from components.errors import UsageError
from stacks.environment import read_manifests


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be assumed: clusters gone, manifests added or changed, pools of another size.

    A pool is named ``cluster/pool``, or alone where only one cluster has a pool of that name.
    """

    without: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    capacity: Mapping[str, int] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The assumptions, one a line."""
        return (
            *(f"cluster {name} is gone" for name in self.without),
            *(f"the manifests of {path} are applied" for path in self.files),
            *(f"pool {name} has {nodes} nodes" for name, nodes in self.capacity.items()),
        )


def answer(session: Session, situation: Situation, question: Question) -> tuple[WhatIfView, Snapshot]:
    """Return the answer, and the snapshot that it was made from. Asks no engine and writes nothing.

    Raises ConfigError for what is wrong in the files, UsageError for a cluster or pool that is not there.
    """
    _, now = decide(session, situation, NO_CHANGES)
    if question.files:
        loaded = read_manifests(session.workspace.folder, over=question.files)
        situation = replace(situation, fleet=loaded.raise_if_errors())
    snapshot, _ = decide(session, situation, NO_CHANGES)
    _require_clusters(snapshot, question.without)
    snapshot = with_nodes(without(snapshot, question.without), _sizes(snapshot, question.capacity))
    then = schedule(snapshot)
    going = {each.id for each in now.leaving}
    view = WhatIfView(
        simulated=session.workspace.simulated,
        backed=session.workspace.backed,
        environment=session.workspace.environment,
        assumptions=question.words,
        deployments=tuple(_deployments(now, then)),
        new=_beyond([str(each.id) for each in then.placements if not each.kept], now),
        leaving=tuple(leaving_view(each) for each in then.leaving if each.id not in going),
    )
    return view, snapshot


def _beyond(names: Sequence[str], now: Schedule) -> tuple[str, ...]:
    known = {str(each.id) for each in now.placements}
    return tuple(name for name in names if name not in known)


def _require_clusters(snapshot: Snapshot, names: Iterable[str]) -> None:
    known = [each.name for each in snapshot.clusters]
    for name in names:
        if name not in known:
            raise _unknown("cluster", name, known)


def _sizes(snapshot: Snapshot, capacity: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return the sizes by cluster and pool."""
    pools = [(each.name, pool.name) for each in snapshot.clusters for pool in each.pools]
    found: dict[tuple[str, str], int] = {}
    for name, nodes in capacity.items():
        meant = [pair for pair in pools if name in {"/".join(pair), pair[1]}]
        if not meant:
            raise _unknown("pool", name, ["/".join(pair) for pair in pools])
        if len(meant) > 1:
            named = ", ".join("/".join(pair) for pair in meant)
            raise UsageError(f"{len(meant)} clusters have a pool {name!r}", help=f"one of: {named}")
        found[meant[0]] = nodes
    return found


def _unknown(what: str, name: str, known: Sequence[str]) -> UsageError:
    hint = did_you_mean(name, known) or f"one of: {', '.join(known) or 'none'}"
    return UsageError(f"there is no {what} {name!r}", help=hint)


def _deployments(now: Schedule, then: Schedule) -> list[WhatIfDeploymentView]:
    before, after = _clusters(now), _clusters(then)
    short = {(each.namespace, each.deployment): each.message for each in then.shortfalls}
    views = []
    for key in sorted({*now.trace, *then.trace}):
        old, new = now.trace.get(key), then.trace.get(key)
        views.append(
            WhatIfDeploymentView(
                deployment=f"{key[0]}/{key[1]}",
                wanted=new.wanted if new else None,
                wanted_now=old.wanted if old else None,
                placed=new.placed if new else None,
                placed_now=old.placed if old else None,
                clusters=after.get(key, {}),
                clusters_now=before.get(key, {}),
                message=short.get(key, ""),
                next_replica=remedy_view(new.beyond) if new and new.placed < new.wanted else None,
            )
        )
    return views


def _clusters(made: Schedule) -> dict[NamespacedName, dict[str, int]]:
    found: dict[NamespacedName, Counter[str]] = {}
    for each in made.placements:
        found.setdefault((each.id.namespace, each.id.deployment), Counter())[each.id.cluster] += 1
    return {key: dict(sorted(counts.items())) for key, counts in found.items()}
