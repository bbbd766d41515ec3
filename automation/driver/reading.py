"""Reads the present: what is wanted, what exists, who answers. The first thing every run does."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from automation.driver.kept_minors import refuse_minors
from automation.driver.layout import beside_front_doors, is_leaving, refuse_other_layout
from automation.driver.renamed import Renamed, renamed_clusters
from automation.driver.servers import Servers
from automation.driver.session import Session
from automation.driver.versions import refuse_versions
from automation.driver.workspace import Workspace
from automation.engine.checkpoint import Checkpoint
from automation.engine.gateways import Moved
from automation.engine.state import read_existing
from automation.planning.names import names_in_use
from automation.planning.removed import pools_in_use
from automation.render.text import listed
from automation.scheduling.existing import Existing
from components.api.environment import Environment
from components.api.fleet import Fleet
from components.api.inference_cluster import SOURCE_PATH
from components.errors import ConfigError, LockError, MixedState, NewerLock, Problem, StackNotFound
from components.lock import Lock
from components.naming import StackName
from components.run_kind import RunKind
from stacks.environment import lock_kind, read_lock, read_manifests
from stacks.shard import Shard, shards


@dataclass(frozen=True, slots=True)
class Made:
    """A stack that a run made in order to look, and whether its configuration file was there before."""

    stack: StackName
    configured: bool


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything a plan starts from.

    ``committed`` is the target lock on disk. ``checkpoints`` holds the states that exist, by stack. ``unreachable``
    names clusters that do not answer, with the reason.
    """

    fleet: Fleet
    warnings: tuple[Problem, ...]
    committed: Lock | None
    shards: tuple[Shard, ...]
    checkpoints: Mapping[StackName, Checkpoint]
    existing: Existing
    unreachable: Mapping[str, str] = field(default_factory=dict)
    made: tuple[Made, ...] = ()
    """The stacks that were made only now, empty, so that the engine can be asked about them."""
    broken: tuple[Problem, ...] = ()
    """What is wrong with the manifests, for whoever looks all the same; ``fleet`` then says nothing but its name."""
    planned_for: RunKind | None = None
    """The kind of run that the lock on disk was planned for, also of one that cannot be read; None without a lock."""
    servers: Servers = field(default_factory=Servers)
    """Where the clusters are, by the state; what the run's programs learn of kubeconfigs comes together here."""

    @property
    def nothing_exists(self) -> bool:
        """Whether no stack holds anything yet."""
        return all(checkpoint.is_empty for checkpoint in self.checkpoints.values())

    @property
    def unapplied(self) -> tuple[Shard, ...]:
        """The shards whose last finished update built their part of the platform from other manifests.

        Only a hint that saves a preview: the preview of the target is compared with what was assumed.
        """
        return tuple(shard for shard in self.shards if not self._applied(shard))

    def _applied(self, shard: Shard) -> bool:
        state = self.checkpoints.get(shard.stack)
        return state is not None and state.outputs.get("platformDigest") == shard.platform_digest(self.fleet)


def read_manifests_of(workspace: Workspace) -> tuple[Fleet, tuple[Problem, ...]]:
    """Read the manifests; raises ConfigError with every problem of every file, before anything else is touched."""
    loaded = read_manifests(workspace.folder)
    return loaded.raise_if_errors(), loaded.problems


def read_situation(
    session: Session,
    *,
    create: bool = True,
    missing_ok: bool = False,
    lenient: bool = False,
    broken_ok: bool = False,
) -> Situation:
    """Read manifests, lock and states, and ask which clusters answer.

    ``create`` makes the environment's stacks when they do not exist yet (an empty stack holds nothing); without it a
    missing environment raises StackNotFound, unless ``missing_ok``. ``lenient`` is for whoever only looks or tears
    down: a manifest that no longer fits what exists must not keep a person from that, so it is said and passed over;
    with ``broken_ok`` nor does a mistake in a manifest.
    """
    fleet, warnings, broken = _manifests(session, broken_ok=broken_ok)
    committed = committed_lock(session, lenient=lenient)
    checkpoints = read_checkpoints(session, fleet, must_exist=not (create or missing_ok or broken))
    if broken and not checkpoints:
        raise ConfigError(broken)  # there is nothing to look at beside the mistakes
    existing = read_existing(checkpoints.values())
    refuse_mixed(session, existing)
    refusals: tuple[Callable[[], None], ...] = (
        lambda: refuse_in_use(fleet, existing, renamed_clusters(fleet, checkpoints.values())),
        lambda: refuse_other_layout(fleet, checkpoints),
        lambda: refuse_other_source(fleet, existing),
        lambda: refuse_gone_gateway(fleet, existing),
        lambda: refuse_versions(fleet, existing, session.observation, now=session.clock()),
        lambda: refuse_minors(session, fleet, existing),
    )
    refused: list[Problem] = []
    for refuse in () if broken else refusals:
        try:
            refuse()
        except ConfigError as error:
            refused += error.problems
    if refused and not lenient:
        raise ConfigError(refused)
    for problem in refused:
        session.reporter.note(problem.message)
    every = shards(fleet, clusters=existing.clusters, beside=beside_front_doors(fleet, checkpoints))
    found = tuple(each for each in every if _is_wanted(each, fleet, checkpoints))
    silent = unreachable(session, existing)
    made: list[Made] = []
    for shard in found if create else ():
        if shard.stack not in checkpoints:
            configured = session.workspace.configuration(shard.stack).is_file()
            if session.runner.ensure_stack(shard.stack):
                made.append(Made(shard.stack, configured))
            checkpoints[shard.stack] = session.runner.export(shard.stack)
    return Situation(
        fleet=fleet,
        warnings=warnings,
        committed=committed,
        shards=found,
        checkpoints=checkpoints,
        existing=with_answers(existing, silent),
        unreachable=silent,
        made=tuple(made),
        broken=broken,
        planned_for=lock_kind(session.workspace.folder),
        servers=Servers.of(existing),
    )


def _manifests(session: Session, *, broken_ok: bool) -> tuple[Fleet, tuple[Problem, ...], tuple[Problem, ...]]:
    """Return the fleet with its warnings; or one that says nothing, with the mistakes that are to be passed over."""
    try:
        return *read_manifests_of(session.workspace), ()
    except ConfigError as error:
        if not broken_ok:
            raise
        return _unread(session.workspace.environment), (), error.problems


def _unread(name: str) -> Fleet:
    """Return a fleet of which nothing is known but its name."""
    head = {"apiVersion": "berth.dev/v1alpha1", "kind": "Environment", "metadata": {"name": name}}
    return Fleet(Environment.model_validate({**head, "spec": {}}))


def unmake(session: Session, situation: Situation) -> None:
    """Remove the stacks that were made only to look, so that nothing is left of a run that was to change nothing."""
    for each in situation.made:
        session.runner.remove_stack(each.stack, keep_config=each.configured)


def committed_lock(session: Session, *, lenient: bool = False) -> Lock | None:
    """Read the lock on disk; one that a merge tore is passed over, because planning goes by the state and renews it.

    Raises NewerLock when a newer Berth wrote it: that one would be written over by one that knows less. Whoever is
    ``lenient`` writes none.
    """
    try:
        return read_lock(session.workspace.folder)
    except LockError as error:
        if isinstance(error, NewerLock) and not lenient:
            raise
        renewed = "" if lenient else ", and planning writes it anew"
        session.reporter.note(f"{error.summary}; the lock is passed over{renewed}")
        return None


def _is_wanted(shard: Shard, fleet: Fleet, checkpoints: Mapping[StackName, Checkpoint]) -> bool:
    """Whether a stack exists or is to come; none comes for a cluster that is on its way out and was never built."""
    return not shard.cluster or shard.stack in checkpoints or not is_leaving(fleet, shard.cluster)


def read_checkpoints(session: Session, fleet: Fleet, *, must_exist: bool) -> dict[StackName, Checkpoint]:
    """Export the states of the environment's stacks that exist, of whatever layout and cluster.

    Raises StackNotFound when there is none and one must be.
    """
    wanted = {stack for stack in session.runner.stacks() if stack.environment == fleet.name}
    if not wanted and must_exist:
        raise StackNotFound(
            f"environment {fleet.name} is not applied: there is no stack {fleet.name}",
            help=f"berth up -e {fleet.name}",
        )
    return {stack: session.runner.export(stack) for stack in sorted(wanted)}


def refuse_mixed(session: Session, existing: Existing) -> None:
    """Raise MixedState when a run meets the state of another kind of run: real, simulated or backed."""
    workspace = session.workspace
    found = RunKind.of(simulated=existing.simulated is True, backed=existing.backed)
    if existing.simulated is not None and found != workspace.kind:
        raise MixedState(
            f"the state of environment {workspace.environment} is {found}, this run is {workspace.kind}",
            consequence="Nothing was changed.",
            help=f"run with {found.option}" if found.option else f"run without {workspace.kind.option}",
        )


def refuse_in_use(fleet: Fleet, existing: Existing, renamed: Mapping[str, Renamed] | None = None) -> None:
    """Raise ConfigError when what is in use is gone from the manifests, or what they add stands in its way.

    A cluster's manifest, or a pool of it, while something is still on it; a name that a replica bears. ``renamed`` are
    the clusters that have probably got another name: the error stands where the new one is.
    """
    users: dict[str, list[str]] = {name: [] for name in existing.clusters if name not in fleet.clusters}
    for identity in (*existing.replicas, *existing.caches):
        if identity.cluster in users:
            users[identity.cluster].append(str(identity))
    for name in existing.front_doors:
        if name in users:
            users[name].append("the front door")
    gone = [_in_use(fleet, name, used, (renamed or {}).get(name)) for name, used in users.items() if used]
    problems = [*gone, *pools_in_use(existing, fleet), *names_in_use(existing, fleet)]
    if problems:
        raise ConfigError(problems)


def _in_use(fleet: Fleet, name: str, used: Collection[str], renamed: Renamed | None) -> Problem:
    message = (
        f"the manifest of cluster {name} is gone, and {listed(used)} {'is' if len(used) == 1 else 'are'} still on it"
    )
    back = "bring the manifest back with `removing: true` (apiVersion berth.dev/v1alpha1) and run `berth up`"
    if renamed is None:
        lacks = fleet.place(fleet.environment.kind, fleet.name)
        return Problem("cluster-in-use", message, lacks.file, lacks.line, path="metadata.name", help=back)
    place = renamed.place
    return Problem(
        "cluster-in-use",
        f"{message}. {renamed.text}",
        place.file,
        place.line,
        place.column,
        path="metadata.name",
        text=place.text,
        help=f"name it {name} again; if it is another cluster, {back}",
    )


def refuse_other_source(fleet: Fleet, existing: Existing) -> None:
    """Raise ConfigError when a cluster that exists would come from another source: that is another cluster.

    The name is the same, so everything on the old one would be taken for being on the new one.
    """
    problems = []
    for name, cluster in existing.clusters.items():
        manifest = fleet.clusters.get(name)
        if manifest is None or manifest.spec.lost or cluster.source in {"", manifest.source}:
            continue
        changed = Problem(
            "source-changed",
            f"cluster {name} exists with source {cluster.source}, and its manifest says {manifest.source}",
            help=f"take the change back; add the other cluster under a name of its own, and mark {name}"
            " `removing: true` (apiVersion berth.dev/v1alpha1)",
        )
        problems.append(fleet.at_cluster_field(name, SOURCE_PATH, changed))
    if problems:
        raise ConfigError(problems)


def refuse_gone_gateway(fleet: Fleet, existing: Existing) -> None:
    """Raise ConfigError when front doors still stand and the gateway's manifest, which says what they are, is gone."""
    standing = [name for name in existing.front_doors if name in fleet.clusters and not fleet.clusters[name].spec.lost]
    gateway = fleet.gateways.get("default")
    if standing and (gateway is None or gateway.spec.traefik is None):
        message = (
            f"the InferenceGateway `default` is gone, and it is still there as front door on {', '.join(standing)}"
        )
        help_ = "bring its manifest back; remove it after `berth up` has removed the front doors"
        document = gateway or fleet.environment
        place = fleet.place(document.kind, document.name)
        path = "spec.backend" if gateway else "spec.frontDoors"
        raise ConfigError([Problem("gateway-in-use", message, place.file, place.line, path=path, help=help_)])


def with_answers(existing: Existing, unreachable: Collection[str]) -> Existing:
    """Return what exists, with front doors marked whose clusters do not answer."""
    doors = {name: replace(door, answers=name not in unreachable) for name, door in existing.front_doors.items()}
    return replace(existing, front_doors=doors)


def with_moved(situation: Situation, moved: Iterable[Moved]) -> Situation:
    """Return a situation in which clusters' gateways have the addresses that were read of them.

    What the state says of one counts again once it is not what it was.
    """
    clusters = dict(situation.existing.clusters)
    for each in moved:
        known = clusters.get(each.cluster)
        if not each.public and known is not None and (known.gateway_address or "") == each.before:
            clusters[each.cluster] = replace(known, gateway_address=each.now)
    if clusters == situation.existing.clusters:
        return situation
    return replace(situation, existing=replace(situation.existing, clusters=clusters))


def unreachable(session: Session, existing: Existing) -> dict[str, str]:
    """Ask every cluster that exists whether it answers; return the ones that do not, with the reason."""
    endpoints = {name: cluster.endpoint for name, cluster in existing.clusters.items() if cluster.endpoint}
    answers = session.observer.reachable(endpoints)
    return {name: answer.why for name, answer in sorted(answers.items()) if not answer.reachable}
