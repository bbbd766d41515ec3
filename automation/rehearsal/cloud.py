"""The simulated cloud as tests, rehearsals and the driver see it: what is there, what nobody owns, what changed.

It reads and edits the same file as the provider processes, at any time. It is a back door, not a client: nothing here
checks permissions or asks the engine.
"""

import json
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from automation.rehearsal import aftermath
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.store import Row, Store
from automation.rehearsal.wire import lookup
from components.errors import DriverError

_VOLATILE = frozenset({"created", "creationTimestamp"})


@dataclass(frozen=True, slots=True)
class Resource:
    """One live resource. Secret values are sealed (``{"$sealed": digest}``) in ``inputs`` and ``outputs``."""

    package: str
    type: str
    id: str
    name: str
    scope: str
    """Account and region, or the server address of a cluster."""
    urn: str
    """Who asked for it; empty for what controllers and Helm made."""
    created: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def uid(self) -> str:
        """The unique id of a Kubernetes object; empty for everything else."""
        return str(lookup(dict(self.outputs), "metadata.uid") or "")

    @property
    def tags(self) -> Mapping[str, str]:
        """The tags of a cloud resource, or the labels of an object, by which its owner can be found."""
        found = self.outputs.get("tagsAll") or self.outputs.get("tags") or lookup(dict(self.outputs), "metadata.labels")
        return found if isinstance(found, dict) else {}

    @property
    def made_for(self) -> str:
        """The id of the object for which a controller made this; empty when an engine asked for it."""
        return str(lookup(dict(self.inputs), f"{aftermath.OWNER}.id") or self.inputs.get(aftermath.MADE_BY) or "")


@dataclass(frozen=True, slots=True)
class Known:
    """A resource that some state knows; ``uid`` tells apart objects of one name on two clusters.

    A patch of an object (``NamespacePatch``) knows the object.
    """

    type: str
    id: str
    uid: str = ""


class SimulatedCloud:
    """A simulated cloud's file."""

    def __init__(self, path: Path, *, scenario: Path | None = None) -> None:
        with _usable(path):
            self._store = Store(path)
        self._faults = Faults(self._store, scenario)

    def resources(self, *, package: str = "", type: str = "*", scope: str = "*") -> tuple[Resource, ...]:  # noqa: A002 (what clouds call it)
        """List live resources in order of creation; ``type`` and ``scope`` are globs."""
        with _usable(self._store.path), self._store.reading() as transaction:
            rows = transaction.select(package=package)
        return tuple(_resource(row) for row in rows if fnmatchcase(row.type, type) and fnmatchcase(row.scope, scope))

    def get(self, type: str, id: str, *, scope: str = "*") -> Resource | None:  # noqa: A002 (what clouds call it)
        """Find one resource by type and id; an object of one name on several clusters needs its scope."""
        row = self._one(type, id, scope)
        return _resource(row) if row else None

    def delete(self, type: str, id: str, *, scope: str = "*") -> None:  # noqa: A002 (what clouds call it)
        """Delete a resource behind the engine's back, with what goes with it; nothing blocks it."""
        with self._store.transaction() as transaction:
            aftermath.remove(transaction, self._need(type, id, scope))

    def edit(self, type: str, id: str, changes: Mapping[str, Any], *, scope: str = "*") -> None:  # noqa: A002 (what clouds call it)
        """Change a resource behind the engine's back: dotted paths to new values; ``None`` removes a value."""
        row = self._need(type, id, scope)
        outputs, inputs = json.loads(json.dumps(row.outputs)), json.loads(json.dumps(row.inputs))
        for path, value in changes.items():
            _set(outputs, path, value)
            if path.partition(".")[0] in inputs:
                _set(inputs, path, value)
        with self._store.transaction() as transaction:
            transaction.update(replace(row, outputs=outputs, inputs=inputs))

    def orphans(self, known: Iterable[Known]) -> tuple[Resource, ...]:
        """List what is live and neither known to a state nor kept by something that is live."""
        ids = {(item.type.removesuffix("Patch"), item.id, item.uid) for item in known}
        live = self.resources()
        owners: set[object] = {(item.type, item.scope, item.id) for item in live}
        owners |= {item.urn for item in live if item.urn}
        return tuple(item for item in live if not _is_known(item, ids) and not _is_kept(item, owners))

    def dump(self, *, timeless: bool = False) -> str:
        """Write everything as canonical JSON, for comparing before with after; ``timeless`` leaves out clock times."""
        entries = [
            {
                "package": item.package, "type": item.type, "scope": item.scope, "id": item.id, "name": item.name,
                "urn": item.urn, "created": item.created, "inputs": item.inputs, "outputs": item.outputs,
            }
            for item in sorted(self.resources(), key=lambda item: (item.package, item.type, item.scope, item.id))
        ]  # fmt: skip
        return json.dumps(_without_times(entries) if timeless else entries, indent=1, sort_keys=True) + "\n"

    def reachable(self, cluster_identifier: str) -> bool:
        """Say whether a cluster's API server would answer; the identifier, name or server address may be given."""
        return not self.why_unreachable(cluster_identifier)

    def why_unreachable(self, cluster_identifier: str) -> str:
        """Say why a cluster's API server would not answer; empty when it would."""
        with _usable(self._store.path), self._store.reading() as transaction:
            server = transaction.recall(aftermath.identifier_key(cluster_identifier)) or cluster_identifier
            found = transaction.recall(aftermath.cluster_key(server))
            identifiers = transaction.keys_with(aftermath.identifier_key(""), server)
        name = json.loads(found).get("name", "") if found else ""
        names = tuple(item for item in (cluster_identifier, server, name, *identifiers) if item)
        gone = "no such host" if aftermath.is_simulated_server(server) and not found else ""
        return self._faults.unreachable(names) or gone

    def _one(self, type_: str, id_: str, scope: str) -> Row | None:
        with _usable(self._store.path), self._store.reading() as transaction:
            rows = transaction.select(type_=type_)
        found = [row for row in rows if row.id == id_ and fnmatchcase(row.scope, scope)]
        if len(found) > 1:
            raise LookupError(f"{type_} {id_} is live in several scopes: {', '.join(row.scope for row in found)}")
        return found[0] if found else None

    def _need(self, type_: str, id_: str, scope: str) -> Row:
        row = self._one(type_, id_, scope)
        if row is None:
            raise LookupError(f"the simulated cloud has no {type_} {id_}")
        return row


@contextmanager
def _usable(path: Path) -> Generator[None]:
    """Turn what SQLite says about a file that is full, broken or out of reach into an error for a person."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        broken = "not a database" in str(error) or "malformed" in str(error)
        anew = f"rm -r {path.parent}, so that the simulated clouds and their state begin anew"
        raise DriverError(
            f"the simulated clouds' file {path} cannot be used: {error}",
            consequence="Nothing was changed.",
            help=anew if broken else f"free some space on the disk of {path.parent}, and run again",
        ) from error


def known_resources(deployment: Mapping[str, Any]) -> Iterator[Known]:
    """Read what a state knows from an exported deployment (the ``deployment`` of ``pulumi stack export``)."""
    for resource in deployment.get("resources") or ():
        if resource.get("custom") and resource.get("id") and not resource["type"].startswith("pulumi:"):
            uid = lookup(resource.get("outputs") or {}, "metadata.uid")
            yield Known(type=resource["type"], id=resource["id"], uid=uid if isinstance(uid, str) else "")


def _is_known(item: Resource, ids: set[tuple[str, str, str]]) -> bool:
    return (item.type, item.id, item.uid) in ids or (item.type, item.id, "") in ids


def _is_kept(item: Resource, owners: set[object]) -> bool:
    """Say whether something live answers for it: the object a controller made it for, or the release that needs it."""
    owner = item.inputs.get(aftermath.OWNER)
    named = (owner.get("type"), owner.get("scope"), owner.get("id")) if isinstance(owner, dict) else None
    return named in owners or (not item.urn and item.inputs.get(aftermath.MADE_BY) in owners)


def _resource(row: Row) -> Resource:
    return Resource(
        package=row.package,
        type=row.type,
        id=row.id,
        name=row.name,
        scope=row.scope,
        urn=row.urn,
        created=row.created,
        inputs=row.inputs,
        outputs=row.outputs,
    )


def _set(bag: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    place: Any = bag
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if isinstance(place, list):
        place[int(last)] = value
    elif value is None:
        place.pop(last, None)
    else:
        place[last] = value


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in _VOLATILE}
    return [_without_times(item) for item in value] if isinstance(value, list) else value
