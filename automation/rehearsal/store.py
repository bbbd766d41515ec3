"""The simulated cloud's memory: one SQLite file that many provider processes and tests read and write at once.

A row is a live resource: its identity (package, type, scope, id), the name that no other live resource of its kind may
have (``claim``), the inputs it was made from and what the cloud would answer (``outputs``). Secret values are never
written: in their place stands a keyed digest, enough to say later whether a value at hand is the same (``seal`` and
``unseal``). What a type means, which names clash and what blocks a deletion is decided by the provider, not here.
"""

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from automation.rehearsal.wire import Secret, plain

SEALED: Final = "$sealed"
_SCHEMA: Final = """
create table if not exists facts (key text primary key, value text not null) without rowid;
create table if not exists ordinals (urn text primary key, next integer not null) without rowid;
create table if not exists resources (
  serial integer primary key autoincrement,
  package text not null, type text not null, scope text not null, id text not null,
  claim text, name text not null, urn text not null, created text not null,
  inputs text not null, outputs text not null
);
create unique index if not exists by_id on resources (package, type, scope, id);
create unique index if not exists by_claim on resources (package, claim) where claim is not null;
create index if not exists by_type on resources (package, type);
create index if not exists by_scope on resources (scope);
create index if not exists made_by_controllers on resources (serial) where urn = '';
"""
_COLUMNS: Final = "package, type, scope, id, claim, name, urn, created, inputs, outputs"


class Taken(Exception):
    """Another live resource has this id or this name already."""


@dataclass(frozen=True, slots=True)
class Row:
    """One live resource. ``inputs`` and ``outputs`` are plain JSON in which secret values are sealed."""

    package: str
    type: str
    scope: str
    id: str
    claim: str | None
    name: str
    urn: str
    created: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class Store:
    """A handle on the cloud's file; safe to use from several threads and processes (each call opens and closes)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._connect() as connection:
            connection.execute("pragma journal_mode = wal")
            with connection:
                connection.executescript(_SCHEMA)
                connection.execute("insert or ignore into facts values ('key', ?)", (secrets.token_hex(32),))
            self._key = bytes.fromhex(connection.execute("select value from facts where key = 'key'").fetchone()[0])

    def keep_open(self) -> None:
        """Hold one more connection until the process ends; without one, SQLite tidies its files up after every call."""
        self._anchor = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
        self._anchor.execute("select count(*) from facts")

    @contextmanager
    def _connect(self) -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            connection.execute("pragma busy_timeout = 60000")
            connection.execute("pragma synchronous = normal")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def transaction(self) -> Generator["Transaction"]:
        """Open a write transaction: what is read in it stays true until it ends; an exception undoes it."""
        with self._connect() as connection:
            connection.execute("begin immediate")
            try:
                yield Transaction(connection)
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")

    @contextmanager
    def reading(self) -> Generator["Transaction"]:
        """Open a consistent view for reading only."""
        with self._connect() as connection:
            connection.execute("begin")
            try:
                yield Transaction(connection)
            finally:
                connection.execute("rollback")

    def seal(self, value: Any) -> Any:
        """Replace every secret by a digest of its value; the result may be written to disk."""
        match value:
            case Secret():
                return {SEALED: self._digest(value.value)}
            case dict():
                return {key: self.seal(item) for key, item in value.items()}
            case list():
                return [self.seal(item) for item in value]
            case _:
                return value

    def unseal(self, value: Any, *sources: Any) -> Any:
        """Put secrets back: from the same place of a source whose value has the same digest.

        A sealed value that no source knows (it was changed behind the engine's back, or the resource is being imported)
        becomes a secret text that names the digest: it differs from everything, and it gives nothing away.
        """
        sources = tuple(source.value if isinstance(source, Secret) else source for source in sources)
        match value:
            case {"$sealed": str(digest)}:
                for source in sources:
                    if hmac.compare_digest(self._digest(source), digest):
                        return Secret(plain(source))
                return Secret(f"[unknown secret {digest[:12]}]")
            case dict():
                return {key: self.unseal(item, *_members(sources, key)) for key, item in value.items()}
            case list():
                return [self.unseal(item, *_items(sources, index)) for index, item in enumerate(value)]
            case _:
                return value

    def _digest(self, value: Any) -> str:
        text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"), default=str)
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def _members(sources: tuple[Any, ...], key: str) -> list[Any]:
    return [source[key] for source in sources if isinstance(source, dict) and key in source]


def _items(sources: tuple[Any, ...], index: int) -> list[Any]:
    return [source[index] for source in sources if isinstance(source, list) and index < len(source)]


class Transaction:
    """Reads and writes inside one database transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ordinal(self, urn: str) -> int:
        """Count the creations asked for by one URN, so that ids can be derived and never repeat."""
        query = "insert into ordinals values (?, 1) on conflict (urn) do update set next = next + 1 returning next"
        return int(self._connection.execute(query, (urn,)).fetchone()[0])

    def find(self, package: str, type_: str, scope: str, id_: str) -> Row | None:
        """Read one live resource."""
        query = f"select {_COLUMNS} from resources where package = ? and type = ? and scope = ? and id = ?"  # noqa: S608 (words of ours)
        found = self._connection.execute(query, (package, type_, scope, id_)).fetchone()
        return _row(found) if found else None

    def claimed(self, package: str, claim: str) -> Row | None:
        """Read the live resource that holds a name."""
        query = f"select {_COLUMNS} from resources where package = ? and claim = ?"  # noqa: S608 (words of ours)
        found = self._connection.execute(query, (package, claim)).fetchone()
        return _row(found) if found else None

    def matching(self, package: str, type_: str, path: str, value: str, *, scope: str) -> bool:
        """Say whether a live resource has a value at a path of its outputs; an empty path means its id."""
        column = "id" if not path else f"json_extract(outputs, '$.{path}')"
        query = f"select 1 from resources where package = ? and type = ? and scope = ? and {column} = ? limit 1"  # noqa: S608 (words of ours)
        return self._connection.execute(query, (package, type_, scope, value)).fetchone() is not None

    def select(self, *, package: str = "", type_: str = "", scope: str = "", owned: bool = False) -> list[Row]:
        """List live resources in order of creation; an empty filter takes all.

        ``owned`` lists only those that no engine asked for (controllers made them: they have no URN).
        """
        filters = {"package": package, "type": type_, "scope": scope}
        chosen = {column: value for column, value in filters.items() if value}
        where = [f"{column} = ?" for column in chosen] + ["urn = ''"] * owned
        query = f"select {_COLUMNS} from resources where {' and '.join(where or ['true'])} order by serial"  # noqa: S608 (words of ours)
        found = self._connection.execute(query, tuple(chosen.values()))
        return [_row(columns) for columns in found]

    def insert(self, row: Row) -> None:
        """Add a resource; raises ``Taken`` when its id or its name is in use."""
        values = (
            row.package, row.type, row.scope, row.id, row.claim, row.name, row.urn,
            row.created or datetime.now(UTC).isoformat(timespec="seconds"),
            json.dumps(row.inputs, sort_keys=True), json.dumps(row.outputs, sort_keys=True),
        )  # fmt: skip
        try:
            self._connection.execute(f"insert into resources ({_COLUMNS}) values (?,?,?,?,?,?,?,?,?,?)", values)  # noqa: S608 (words of ours)
        except sqlite3.IntegrityError as error:
            raise Taken(row.claim or row.id) from error

    def update(self, row: Row) -> None:
        """Write the inputs and outputs of a resource that exists."""
        self._connection.execute(
            "update resources set inputs = ?, outputs = ? where package = ? and type = ? and scope = ? and id = ?",
            (
                json.dumps(row.inputs, sort_keys=True), json.dumps(row.outputs, sort_keys=True),
                row.package, row.type, row.scope, row.id,
            ),
        )  # fmt: skip

    def delete(self, row: Row) -> None:
        """Remove a resource."""
        self._connection.execute(
            "delete from resources where package = ? and type = ? and scope = ? and id = ?",
            (row.package, row.type, row.scope, row.id),
        )

    def remember(self, key: str, value: str) -> None:
        """Keep a fact about the cloud that is not a resource."""
        self._connection.execute("insert or replace into facts values (?, ?)", (key, value))

    def keys_with(self, prefix: str, value: str) -> list[str]:
        """List what follows a prefix in the keys of facts with a value, sorted."""
        query = "select key from facts where value = ? and substr(key, 1, ?) = ? order by key"
        found = self._connection.execute(query, (value, len(prefix), prefix))
        return [key[len(prefix) :] for (key,) in found]

    def forget(self, key: str) -> None:
        """Drop such a fact."""
        self._connection.execute("delete from facts where key = ?", (key,))

    def recall(self, key: str) -> str | None:
        """Read such a fact."""
        found = self._connection.execute("select value from facts where key = ?", (key,)).fetchone()
        return found[0] if found else None


def _row(columns: tuple[Any, ...]) -> Row:
    *head, inputs, outputs = columns
    return Row(*head, inputs=json.loads(inputs), outputs=json.loads(outputs))
