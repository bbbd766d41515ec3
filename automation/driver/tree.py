"""The status tree: what exists, cluster by cluster, each with its condition."""

from automation.driver.deployments import deployment_views
from automation.driver.leases import lease_lines
from automation.driver.planner import decide
from automation.driver.reading import Situation
from automation.driver.recovery import orphans, pending_lines
from automation.driver.session import Session
from automation.render.views import ConditionView, DeploymentView, StatusView
from automation.scheduling.changes import NO_CHANGES
from automation.scheduling.existing import ExistingReplica
from automation.scheduling.result import Schedule
from components.errors import BerthError
from components.lock import Phase


def status_view(session: Session, situation: Situation) -> StatusView:
    """Return the tree of an environment (clusters with pools, caches and replicas; services), and its deployments."""
    existing = situation.existing
    tree = [_cluster(situation, name) for name in existing.clusters]
    tree += [
        ConditionView(
            kind="service",
            name=f"{namespace}/{name}",
            condition="Ready" if service.entry.backends else "Pending",
            detail=", ".join(f"{backend.endpoint} x{backend.weight}" for backend in service.entry.backends)
            or "no endpoint serves yet",
        )
        for (namespace, name), service in existing.services.items()
    ]
    return StatusView(
        environment=session.workspace.environment,
        simulated=session.workspace.simulated,
        backed=session.workspace.backed,
        tree=tuple(tree),
        deployments=_deployments(session, situation),
        pending=pending_lines(session, situation),
        orphans=tuple(str(each) for found in orphans(session, situation).values() for each in found),
        leases=lease_lines(session),
    )


def _deployments(session: Session, situation: Situation) -> tuple[DeploymentView, ...]:
    """Return what is wanted beside what is there; nothing where nobody can tell what is wanted."""
    if situation.broken:
        return ()
    schedule = _schedule(session, situation)
    return deployment_views(situation.fleet, situation.existing, schedule=schedule, unreachable=situation.unreachable)


def _schedule(session: Session, situation: Situation) -> Schedule | None:
    """Return what the scheduler says now; None where manifests and state contradict each other, as a plan says."""
    try:
        return decide(session, situation, NO_CHANGES)[1]
    except BerthError:
        return None


def _cluster(situation: Situation, name: str) -> ConditionView:
    existing = situation.existing
    cluster = existing.clusters[name]
    manifest = situation.fleet.clusters.get(name)
    replicas = [each for each in existing.replicas.values() if each.id.cluster == name]
    pooled: dict[str, list[ExistingReplica]] = {pool: [] for pool in cluster.pools}
    for replica in replicas:
        first = next((member.pool for engine in replica.entry.placement for member in engine.members), "")
        pooled.setdefault(first, []).append(replica)
    children = [
        ConditionView(kind="pool", name=pool, condition="", children=tuple(_replica(each) for each in members))
        for pool, members in pooled.items()
    ]
    children += [
        ConditionView(
            kind="cache",
            name=f"{identity.namespace}/{identity.cache}/{identity.index}",
            condition="Staged" if cache.ready else "Failed" if cache.failure else "Starting",
            detail=cache.failure or cache.shape.repo,
        )
        for identity, cache in existing.caches.items()
        if identity.cluster == name
    ]
    condition, detail = "Ready", cluster.endpoint or ""
    if name in situation.unreachable:
        condition, detail = "Unreachable", situation.unreachable[name]
    elif not cluster.ready:
        condition, detail = ("Failed", cluster.failure) if cluster.failure else ("Starting", "")
    if manifest is not None and (manifest.spec.removing or manifest.spec.lost):
        detail = f"{detail} (marked {'lost' if manifest.spec.lost else 'removing'})".strip()
    return ConditionView(
        kind="cluster", name=f"{name} ({cluster.source})", condition=condition, detail=detail, children=tuple(children)
    )


def _replica(replica: ExistingReplica) -> ConditionView:
    condition = replica.entry.phase.value
    if replica.failure:
        condition = "Failed"
    elif not replica.ready and replica.entry.phase is Phase.SERVING:
        condition = "Starting"
    identity = replica.id
    return ConditionView(
        kind="replica",
        name=f"{identity.namespace}/{identity.deployment}/{identity.index}",
        condition=condition,
        detail=replica.failure or replica.entry.name,
    )
