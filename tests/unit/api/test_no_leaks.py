"""No word of the library that checks the models reaches a person: every field of every kind, values of all types."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from automation.cli.examples_of import examples_of
from components.api.kinds import ALL_KINDS
from components.api.load import load_fleet
from components.errors import Problem

LEAK: Final = re.compile(
    r"Input should|pydantic|validation error|[Vv]alue error|Assertion|Frozen|NoneType|Field required|Extra inputs"
    r"|\b(?:tuple|dict|str|float|Mapping|Sequence|Literal|regex|UTF8)\b|instance of|further information"
    r"|Unable to parse|valid (?:integer|string|number|boolean|dictionary|list)|type=|ctx|<class|object at 0x|\bloc\b"
)
VALUES: Final[tuple[Any, ...]] = (
    None, "", "x", "-", "A b\n", "é" * 300, 0, -1, 7, 10**30, 1.5, True, [], {}, [[]], [None], [1], ["x"], [{}],
    {"x": 1}, {"x": {}}, {"a/b/c": "x"}, {1: 2}, ["x"] * 40,
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a document."""
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a document with one value replaced."""
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = changed(copy[path[0]], path[1:], value)
    return copy


def problems(documents: list[Any]) -> tuple[Problem, ...]:
    """Load documents as a part of an environment."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump_all(documents, Dumper=dumper, sort_keys=False, allow_unicode=True)
    return load_fleet([("a.yaml", text.encode())], complete=False).problems


def leaks(found: Problem) -> str:
    """Return what a person should not read in a problem; what a person wrote may be quoted."""
    said = " ".join(re.sub(r"`[^`]*`", "", text) for text in (found.message, found.help))
    match = LEAK.search(said)
    return f"{match[0]!r} in {found.message!r} / {found.help!r}" if match else ""


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_no_problem_speaks_the_librarys_language(kind: str) -> None:
    """Each value of the examples is replaced by values of every type; the examples have every field."""
    found: set[str] = set()
    seen = 0
    for text in examples_of(kind):
        for document in yaml.safe_load_all(text):
            for number, path in enumerate(places(document)):
                # Not every value at every place: each place gets an eighth of them, the next place the next eighth.
                broken = [changed(document, path, value) for value in VALUES[number % 8 :: 8]]
                if path not in {("apiVersion",), ("kind",)}:
                    all_ = problems(broken)
                    seen += len(all_)
                    found |= {leaks(each) for each in all_}
                    assert all(each.message and each.code for each in all_)
    assert seen > 10
    assert not found - {""}, found


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_what_is_missing_or_unknown_is_said_in_our_words(kind: str) -> None:
    """Each field left out, and a field beside it that nobody knows."""
    found: set[str] = set()
    for text in examples_of(kind):
        for document in yaml.safe_load_all(text):
            for path in places(document):
                holder = document
                for part in path[:-1]:
                    holder = holder[part]
                if isinstance(holder, dict) and path[0] not in {"apiVersion", "kind"}:
                    without = {key: value for key, value in holder.items() if key != path[-1]} | {"nope": 1}
                    new = changed(document, path[:-1], without) if path[:-1] else without
                    found |= {leaks(each) for each in problems([new])}
    assert not found - {""}, found


def test_the_search_finds_a_leak() -> None:
    """Words of the library outside of what a person wrote."""
    assert leaks(Problem("a", "Input should be a valid integer"))
    assert leaks(Problem("a", "it is a tuple"))
    assert not leaks(Problem("a", "`str` must be a whole number, and is text", help="write it without quotes: 2"))
