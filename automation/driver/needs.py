"""What the doctor must know of an environment: whether its manifests are right, and which clouds its clusters use."""

from pathlib import Path

from automation.driver.workspace import Workspace
from automation.engine.toolchain.clouds import NOTHING, Login, Needs
from automation.engine.toolchain.finding import Check, Status
from components.api.environment import AwsProvider
from components.api.fleet import Fleet
from components.errors import BerthError
from stacks.environment import read_manifests


def needs_of(environment: str, *, named: bool, environments: Path | None = None) -> tuple[Check, Needs]:
    """Return the finding about an environment and what its clusters need; nothing where it cannot be read.

    One that was ``named`` and is missing or wrong is a problem. Where nobody named one it is a warning: whoever has not
    made any yet wants to know the rest.
    """
    fault = Status.PROBLEM if named else Status.WARNING
    name = f"environment {environment}"
    try:
        workspace = Workspace.open(environment, environments=environments)
    except BerthError as error:
        said = error.summary if named else f"none was named, and {error.summary}"
        return Check(name, fault, f"{said}; its clouds are not checked", "a folder of manifests", error.help), NOTHING
    try:
        fleet = read_manifests(workspace.folder).raise_if_errors()
    except BerthError as error:
        fix = f"berth validate -e {environment}"
        return Check(name, fault, f"{error.summary}; its clouds are not checked", "valid", fix), NOTHING
    sources: dict[str, list[str]] = {}
    for cluster in fleet.clusters.values():
        sources.setdefault(cluster.source, []).append(cluster.name)
    found = "; ".join(f"{source}: {', '.join(sorted(names))}" for source, names in sorted(sources.items()))
    return Check(name, Status.OK, found or "no clusters"), Needs(aws=_aws_logins(fleet))


def _aws_logins(fleet: Fleet) -> tuple[Login, ...]:
    users: dict[str, list[str]] = {}
    for name, cluster in fleet.clusters.items():
        source = cluster.spec.cluster.eks
        if source is not None and not cluster.spec.lost:
            users.setdefault(source.credentials.name, []).append(name)
    known = fleet.environment.spec.providers.aws
    return tuple(
        Login(name, known.get(name, AwsProvider()).profile or "", tuple(sorted(clusters)))
        for name, clusters in sorted(users.items())
    )
