"""Which secrets a stack needs and its configuration does not hold: all of them at once, each with who asks for it.

A kubeconfig, and the token of a download that is yet to be made, must be there. A secret of a deployment is taken to be
on the cluster already when nobody lists it, as the predecessor has it; one that the Environment lists, or that Berth
copies there, must hold what the deployment reads. No message ever quotes a value.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from components.api.fleet import Fleet
from components.api.nodes import written
from components.api.secrets import SecretUse, set_command
from components.checks.check_lock import footprint
from components.errors import ConfigError, Problem
from components.lock import Lock
from components.models.secrets import needed_secrets
from components.naming import SECRETS_KEY
from stacks.config import ProgramConfig
from stacks.shard import Shard

_IDENTITY: Final = "identitySecretRef"
"""Not supported, and refused as such by the cluster."""


def require_secrets(fleet: Fleet, lock: Lock, shard: Shard, config: ProgramConfig) -> None:
    """Raise ConfigError with every secret that the lock needs on this stack and that the configuration lacks.

    When one is missing, what only the manifests ask for so far is named as well, so that all can be set in one go. A
    simulated run makes up what it lacks.
    """
    if config.simulated:
        return
    wanted = _Wanted.by_lock(fleet, lock, shard, config)
    if any(_problems(fleet, shard, config, wanted)):
        raise ConfigError(_problems(fleet, shard, config, wanted.with_manifests(fleet, shard)))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Who is or will be on a stack: clusters by name; caches and deployments by namespace and name."""

    clusters: frozenset[str]
    caches: frozenset[tuple[str, str]]
    deployments: frozenset[tuple[str, str]]
    others: tuple[tuple[SecretUse, str], ...] = ()
    """What the lock needs whatever the manifests say by now, each with who asks."""

    @classmethod
    def by_lock(cls, fleet: Fleet, lock: Lock, shard: Shard, config: ProgramConfig) -> "_Wanted":
        """Return what the lock has here; a download that is done needs no token any more."""
        caches = [
            (identity, shape)
            for identity, _, shape in lock.caches()
            if shard.holds(identity.cluster) and str(identity) not in config.staged
        ]
        replicas = [identity for identity, _, _ in lock.replicas() if shard.holds(identity.cluster)]
        read = {
            f"{namespace}/{name}"
            for (namespace, cluster), names in needed_secrets(lock).items()
            if shard.holds(cluster)
            for name in names
        }
        listed = read.intersection(fleet.environment.spec.secrets)
        return cls(
            clusters=frozenset(entry.name for entry in lock.platform.clusters if shard.holds(entry.name)),
            caches=frozenset((identity.namespace, identity.cache) for identity, _ in caches),
            deployments=frozenset((identity.namespace, identity.deployment) for identity in replicas),
            others=(
                *(
                    (_use(f"{identity.namespace}/{shape.secret.name}", shape.secret.key), f"cache {identity}")
                    for identity, shape in caches
                    if shape.secret is not None
                ),
                *((_use(secret), "a replica that exists") for secret in sorted(listed)),
            ),
        )

    def with_manifests(self, fleet: Fleet, shard: Shard) -> "_Wanted":
        """Add what the manifests ask for that may come to this stack."""
        clusters = {name for name, cluster in fleet.clusters.items() if shard.holds(name) and not cluster.spec.lost}
        caches = {key for key, cache in fleet.caches.items() if _reaches(footprint(fleet, cache), clusters)}
        return replace(self, clusters=self.clusters | clusters, caches=self.caches | caches)


def _use(secret: str, key: str = "") -> SecretUse:
    return SecretUse(("", "", ""), (), secret, key)


def _reaches(covered: Collection[str] | None, clusters: Collection[str]) -> bool:
    return bool(clusters) if covered is None else any(name in clusters for name in covered)


def _problems(fleet: Fleet, shard: Shard, config: ProgramConfig, wanted: _Wanted) -> list[Problem]:
    """Return a problem for every secret and key that is missing, at the first place that asks for it."""
    found: dict[tuple[str, str], Problem] = {}
    asked = set()
    for use, who in (*_uses(fleet, config, wanted), *wanted.others):
        named = use.secret in asked if not use.key else (use.secret, use.key) in found
        asked.add(use.secret)
        held = config.secrets.get(use.secret)
        if not named and (held is None or (use.key and use.key not in held)):
            found[use.secret, use.key] = _problem(shard, config, use, who)
    return list(found.values())


def _uses(fleet: Fleet, config: ProgramConfig, wanted: _Wanted) -> Iterator[tuple[SecretUse, str]]:
    """Yield the uses that Berth must answer for, each with who asks, in words."""
    for use in fleet.secret_uses:
        kind, namespace, name = use.document
        if kind == "InferenceCluster":
            if name in wanted.clusters and _IDENTITY not in use.path:
                yield use, f"cluster {name}"
        elif kind == "ModelCache":
            if (namespace, name) in wanted.caches:
                yield use, f"cache {namespace}/{name}"
        elif (namespace, name) in wanted.deployments and (
            use.secret in fleet.environment.spec.secrets or use.secret in config.secrets
        ):
            yield use, f"deployment {namespace}/{name}"


def _problem(shard: Shard, config: ProgramConfig, use: SecretUse, who: str) -> Problem:
    """Return what is missing, where it is asked for, and the command that sets it."""
    if use.secret in config.secrets:
        message = f"secret {use.secret} in {SECRETS_KEY} has no key {use.key}, which {who} needs"
    else:
        needs = f"its key {use.key}" if use.key else "it"
        message = f"secret {use.secret} is not in {SECRETS_KEY}: {who} needs {needs}"
    return Problem(
        "secret-missing",
        message,
        use.place.file,
        use.place.line,
        use.place.column,
        path=written(use.path),
        text=use.place.text,
        help=set_command(use.secret, use.key or "KEY", stack=shard.stack),
    )
