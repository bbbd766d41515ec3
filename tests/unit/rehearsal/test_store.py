"""The simulated cloud's file: secrets stay out of it, names are taken once, many write at a time."""

import base64
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from automation.rehearsal.store import Row, Store, Taken
from automation.rehearsal.wire import Secret

TOKEN = "hf_sample-token-4711"


@pytest.fixture
def store(database: Path) -> Store:
    """Open a new file."""
    return Store(database)


def row(id_: str = "a", **changes: Any) -> Row:
    """Describe a live resource."""
    base = Row("aws", "t", "s", id_, None, id_, "urn", "", {}, {"arn": f"arn/{id_}", "nested": {"x": id_}})
    return replace(base, **changes)


def test_a_resource_comes_back_as_it_was_written(store: Store) -> None:
    """Find, select and match see what was inserted; the time of creation is filled in."""
    with store.transaction() as transaction:
        transaction.insert(row(inputs={"b": [1, None]}))
        found = transaction.find("aws", "t", "s", "a")
        assert found is not None
        assert (found.inputs, found.outputs["arn"], bool(found.created)) == ({"b": [1, None]}, "arn/a", True)
        assert transaction.select(package="aws", type_="t", scope="s") == [found]
        assert transaction.select(package="other") == []
        assert transaction.matching("aws", "t", "nested.x", "a", scope="s")
        assert not transaction.matching("aws", "t", "nested.x", "b", scope="s")
        assert not transaction.matching("aws", "t", "nested.x", "a", scope="other")
        assert transaction.find("aws", "t", "other", "a") is None


@pytest.mark.parametrize(
    "second", [row("a"), row("b", claim="name")], ids=["the same id", "another id, but the same name"]
)
def test_ids_and_names_are_taken_once(second: Row, store: Store) -> None:
    """A second live resource with the id or the name of a first is refused, until the first is gone."""
    first = row("a", claim="name")
    with store.transaction() as transaction:
        transaction.insert(first)
        with pytest.raises(Taken):
            transaction.insert(second)
        transaction.delete(first)
        transaction.insert(second)
        assert [found.id for found in transaction.select()] == [second.id]


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    """An exception undoes all that its transaction wrote."""

    def fail() -> None:
        with store.transaction() as transaction:
            transaction.insert(row())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.reading() as reading:
        assert reading.select() == []


def test_facts_are_remembered_and_forgotten(store: Store) -> None:
    """Facts are kept across handles."""
    with store.transaction() as transaction:
        transaction.remember("k", "v")
    with Store(store.path).transaction() as transaction:
        assert transaction.recall("k") == "v"
        transaction.forget("k")
        assert transaction.recall("k") is None


def test_ordinals_never_repeat_under_load(store: Store) -> None:
    """Many writers count one URN without a gap or a double."""

    def count(_: int) -> int:
        with Store(store.path).transaction() as transaction:
            return transaction.ordinal("urn")

    with ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(count, range(64))) == list(range(1, 65))


def test_secrets_come_back_only_to_who_knows_them(store: Store) -> None:
    """A sealed value is restored from a source with the same value at the same place, and from nothing else."""
    bag = {"a": Secret(TOKEN), "b": [{"c": Secret({"d": 1})}], "e": "plain"}
    sealed = store.seal(bag)
    assert store.unseal(sealed, bag) == bag
    assert store.unseal(sealed, {}, {"a": TOKEN, "b": [{"c": {"d": 1}}]}) == bag
    other = store.unseal(sealed, {"a": "other"})
    assert isinstance(other["a"], Secret)
    assert "unknown secret" in other["a"].value
    assert store.unseal(sealed)["e"] == "plain"


def test_no_secret_reaches_the_file(store: Store) -> None:
    """A token is in none of the database's files, raw, base64 or URL-encoded."""
    with store.transaction() as transaction:
        sealed = store.seal({"a": Secret(TOKEN), "b": {"c": Secret({"d": TOKEN})}})
        transaction.insert(row(inputs=sealed, outputs=sealed))
    written = b"".join(path.read_bytes() for path in store.path.parent.glob(f"{store.path.name}*"))
    forms = [TOKEN.encode(), base64.b64encode(TOKEN.encode()), urllib.parse.quote(TOKEN, safe="").encode()]
    assert sealed["a"]["$sealed"].encode() in written  # the search below looks at the right files
    assert [form for form in forms if form in written] == []


def test_two_clouds_seal_differently(store: Store, tmp_path: Path) -> None:
    """The digest is keyed per file, so that digests of common values cannot be looked up."""
    assert store.seal(Secret("x")) != Store(tmp_path / "other.db").seal(Secret("x"))
