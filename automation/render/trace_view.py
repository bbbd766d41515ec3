"""From the record of a decision to what is printed of it."""

from functools import lru_cache
from typing import Any

from automation.render.remedy_view import remedy_view
from automation.render.views import (
    ChoiceView,
    ClusterVerdictView,
    DeploymentTraceView,
    LeavingView,
    PoolVerdictView,
    ScoreView,
)
from automation.scheduling.result import Leaving
from automation.scheduling.trace import DeploymentTrace
from automation.scheduling.verdict import PoolVerdict, Score, Verdict


def trace_view(trace: DeploymentTrace) -> DeploymentTraceView:
    """Return the record of one deployment with every verdict."""
    return DeploymentTraceView(**trace_fields(trace))


def trace_fields(trace: DeploymentTrace) -> dict[str, Any]:
    """Return the fields of the record, for views that say more."""
    return {
        "deployment": f"{trace.namespace}/{trace.deployment}",
        "wanted": trace.wanted,
        "placed": trace.placed,
        "summary": trace.summary,
        "next_replica": remedy_view(trace.beyond),
        "order": trace.order,
        "chosen": tuple(ChoiceView(replica=str(each.replica), score=_score(each.score)) for each in trace.chosen),
        "verdicts": tuple(map(verdict_view, trace.verdicts)),
    }


def leaving_view(leaving: Leaving) -> LeavingView:
    """Return one replica that goes."""
    return LeavingView(
        replica=str(leaving.id),
        reason=leaving.reason.value,
        successor=str(leaving.successor) if leaving.successor else None,
    )


def verdict_view(each: Verdict) -> ClusterVerdictView:
    """Return what one cluster said."""
    return ClusterVerdictView(
        cluster=each.cluster,
        code=each.code.value,
        message=each.message,
        planned=each.planned,
        taken=each.taken,
        wanted=each.wanted,
        free=each.free,
        pools=tuple(map(_pool, each.pools)),
        score=_score(each.score) if each.score else None,
    )


@lru_cache(maxsize=1 << 14)
def _pool(pool: PoolVerdict) -> PoolVerdictView:
    """Return what a pool said; deployments that ask the same are told the same, and share it."""
    return PoolVerdictView(
        pool=pool.pool,
        code=pool.code.value,
        message=pool.message,
        engine=pool.engine,
        member=pool.member,
        request=pool.request,
        expression=pool.expression,
        device=pool.device,
        wanted=pool.wanted,
        free=pool.free,
    )


def _score(each: Score) -> ScoreView:
    cost = None if each.cost is None else str(each.cost)
    return ScoreView(own=each.own, region=each.region, mixes=each.mixes, cost=cost, wanted=each.wanted)
