"""Deployments as they stand: how many replicas each wants, has and serves with, and in a line why it has fewer.

Counts come from the state alone. What is to come, or why nothing can come, is what the scheduler says now; it starts no
engine.
"""

from collections.abc import Iterator, Mapping

from automation.driver.conditions import Standing, conditions
from automation.render.text import count
from automation.render.views import DeploymentView
from automation.scheduling.existing import Existing, ExistingReplica
from automation.scheduling.result import Schedule
from components.api.fleet import Fleet
from components.lock import Phase

_SHOWN = 200
"""Letters of a failure's first line; all of it stands beside the replica."""


def deployment_views(
    fleet: Fleet, existing: Existing, *, schedule: Schedule | None, unreachable: Mapping[str, str]
) -> tuple[DeploymentView, ...]:
    """Return every deployment that is wanted or has a replica, sorted; ``schedule`` is None where there is none."""
    replicas: dict[tuple[str, str], list[ExistingReplica]] = {key: [] for key in fleet.deployments}
    for identity, replica in existing.replicas.items():
        replicas.setdefault((identity.namespace, identity.deployment), []).append(replica)
    return tuple(_view(fleet, key, replicas[key], schedule, unreachable) for key in sorted(replicas))


def _view(
    fleet: Fleet,
    key: tuple[str, str],
    replicas: list[ExistingReplica],
    schedule: Schedule | None,
    unreachable: Mapping[str, str],
) -> DeploymentView:
    manifest = fleet.deployments.get(key)
    placed = [each for each in replicas if each.entry.phase is not Phase.DRAINING]
    serving = [each for each in placed if _serves(each) and each.id.cluster not in unreachable]
    wanted = manifest.spec.replicas if manifest else 0
    reasons = list(_reasons(placed, unreachable))
    if len(placed) > wanted:
        gone = "" if manifest else "its manifest is gone: "
        reasons.append(f"{gone}berth up retires {len(placed) - wanted}")
    elif len(placed) < wanted:
        reasons.append(_to_come(key, wanted, len(placed), schedule))
    elif reason := _complaint(key, schedule):
        reasons.append(reason)
    reference = manifest.spec.template.spec.model_cache_ref if manifest else None
    standing = Standing(
        key,
        wanted,
        len(placed),
        len(serving),
        cache=reference.name if reference else "",
        cache_found=reference is None or (key[0], reference.name) in fleet.caches,
        complaint="; ".join(reasons),
    )
    return DeploymentView(
        deployment="/".join(key),
        wanted=wanted,
        placed=len(placed),
        serving=len(serving),
        reason=standing.complaint,
        conditions=conditions(standing, schedule),
    )


def _serves(replica: ExistingReplica) -> bool:
    return replica.entry.phase is Phase.SERVING and replica.ready and not replica.failure


def _reasons(placed: list[ExistingReplica], unreachable: Mapping[str, str]) -> Iterator[str]:
    """Yield why replicas that are there do not serve."""
    failed = [each for each in placed if each.failure]
    if failed:
        first = failed[0].failure.strip().splitlines()[0]
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        yield f"{failed[0].id} failed{more}: {first[:_SHOWN]}"
    silent = [each for each in placed if each.id.cluster in unreachable and not each.failure]
    for cluster in sorted({each.id.cluster for each in silent}):
        number = sum(each.id.cluster == cluster for each in silent)
        yield f"{number} on {cluster}, which does not answer"
    starting = [each for each in placed if not _serves(each) and each not in failed and each not in silent]
    if starting:
        yield f"{count(len(starting), 'replica')} not serving yet: berth up goes on with it"


def _to_come(key: tuple[str, str], wanted: int, placed: int, schedule: Schedule | None) -> str:
    """Return why replicas are not there: no place for them, or nobody has applied the plan."""
    complaint = _complaint(key, schedule)
    if complaint:
        return complaint
    missing = wanted - placed
    return f"berth up places {missing}" if schedule is not None else f"{missing} not placed"


def _complaint(key: tuple[str, str], schedule: Schedule | None) -> str:
    """Return what the scheduler says of a deployment that does not get all it asks for."""
    found = schedule.shortfalls if schedule is not None else ()
    return next((each.message for each in found if (each.namespace, each.deployment) == key), "")
