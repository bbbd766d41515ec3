"""ScheduleView: the scheduler's whole answer to a snapshot, with the record of every decision."""

from typing import Any, Literal

from automation.render.output_version import API_VERSION
from automation.render.trace_view import leaving_view, trace_view
from automation.render.views import DeploymentTraceView, LeavingView, View
from automation.scheduling.result import Placed, Schedule


class PlacedView(View):
    """A replica of the target; ``placement`` is as in a lock."""

    replica: str
    name: str
    reason: str
    kept: bool
    needs_scale_up: bool
    predecessor: str | None
    shape: str
    labels: dict[str, str]
    placement: tuple[dict[str, Any], ...]


class ScheduleShortfallView(View):
    """A deployment that does not get all it asks for."""

    deployment: str
    wanted: int
    placed: int
    outdated: int
    stranded: int
    message: str


class PoolStateView(View):
    """A pool that is over its promise, or that waits with an edit until the replicas in ``excess`` have left."""

    pool: str
    message: str = ""
    excess: tuple[str, ...] = ()


class OverrunView(View):
    """A quota, a limit or a budget that does not hold as things are."""

    owner: str
    message: str


class ScheduleView(View):
    """The answer to a snapshot."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Schedule"] = "Schedule"
    placements: tuple[PlacedView, ...]
    leaving: tuple[LeavingView, ...]
    shortfalls: tuple[ScheduleShortfallView, ...]
    overfull: tuple[PoolStateView, ...]
    shrinking: tuple[PoolStateView, ...]
    overruns: tuple[OverrunView, ...]
    deployments: tuple[DeploymentTraceView, ...]


def schedule_view(made: Schedule) -> ScheduleView:
    """Return a schedule as it is printed; every trace is worked out for it."""
    return ScheduleView(
        placements=tuple(map(_placed, made.placements)),
        leaving=tuple(map(leaving_view, made.leaving)),
        shortfalls=tuple(
            ScheduleShortfallView(
                deployment=f"{each.namespace}/{each.deployment}",
                wanted=each.wanted,
                placed=each.placed,
                outdated=each.outdated,
                stranded=each.stranded,
                message=each.message,
            )
            for each in made.shortfalls
        ),
        overfull=tuple(
            PoolStateView(pool=f"{each.cluster}/{each.pool}", message=each.message) for each in made.overfull
        ),
        shrinking=tuple(
            PoolStateView(pool=f"{each.cluster}/{each.pool}", excess=tuple(map(str, each.excess)))
            for each in made.shrinking
        ),
        overruns=tuple(OverrunView(owner=each.owner, message=each.message) for each in made.overruns),
        deployments=tuple(map(trace_view, made.trace.values())),
    )


def _placed(each: Placed) -> PlacedView:
    return PlacedView(
        replica=str(each.id),
        name=each.name,
        reason=each.reason.value,
        kept=each.kept,
        needs_scale_up=each.needs_scale_up,
        predecessor=str(each.predecessor) if each.predecessor else None,
        shape=each.digest,
        labels=dict(sorted(each.labels.items())),
        placement=tuple(engine.to_json() for engine in each.placement),
    )
