"""Laws of loading.

L1 Loading never raises, whatever the bytes. L2 The order of files, documents and keys changes nothing. L3 A valid
document that is changed in one place has one problem, at that place. L4 Writing a document and reading it gives the
same value. L5 Problems have a place inside their file, and are sorted.
"""

import copy
import json
import random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.api.codes import Code
from components.api.kinds import KINDS
from components.api.load import LoadResult, load_fleet
from components.api.nodes import PathPart, written
from components.api.shape import model_at, shape
from components.errors import ConfigError, Severity
from tests.support.api_manifests import FILES, files, load
from tests.support.effort import law

BASE = load().raise_if_errors()
PATHS = ("environment.yaml", "platform/x.yaml", "models/ml/x.yaml")
DOCUMENTS: list[tuple[str, Any]] = [
    (path, document) for path, text in FILES.items() for document in yaml.safe_load_all(text)
]
WORDS = st.sampled_from(
    ["apiVersion: modelplane.ai/v1alpha1", "kind: ModelDeployment", "metadata:", "  name: a", "spec:", "  replicas: 1",
     "- ", "  - ", "\t", "---", "...", "&a ", "*a", "<<: *a", "{", "}", "[", "]", ", ", ": ", "? ", "| ", "> ", "'",
     '"', "\\", "!!str ", "!x ", "#", "%YAML 1.1", "\n", "\r\n", "\u2028", "\ufeff", "null", "~", "1e999", "0x",
     "{{ x }}", "\x00", "\ud7ff", "\U0001f600", "  ", "engines:", "nodePools:", "-", "@", "`"]
)  # fmt: skip
TEXTS = st.lists(WORDS | st.just("\n") | st.text(max_size=4), max_size=60).map("".join)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def sound(result: LoadResult, contents: dict[str, bytes]) -> None:
    """Check what holds of every result (L5)."""
    assert (result.fleet is None) == bool(result.errors)
    assert list(result.problems) == sorted(result.problems, key=lambda problem: problem.order)
    for problem in result.problems:
        assert problem.code in set(Code)
        assert problem.message
        json.dumps([problem.message, problem.text, problem.help, problem.allowed]).encode()
        if problem.line:
            lines = contents[problem.file].decode(errors="replace").splitlines() or [""]
            assert problem.line <= len(lines) + 1


OWN_START = b"apiVersion: berth.dev/v1alpha1\nkind: ModelDeployment\n"
HOSTILE = {
    "deep lists": b"[" * 20_000,
    "deep items": b"- " * 20_000,
    "deep mappings": b"".join(b" " * depth + b"a:\n" for depth in range(200)),
    "deep braces": b"a: " + b"{a: " * 10_000,
    "huge whole number": b"a: " + b"9" * 200_000,
    "huge exponent": b"a: 1e999999999",
    "huge hexadecimal": b"a: 0x" + b"f" * 200_000,
    "huge replicas": b"apiVersion: berth.dev/v1alpha1\nkind: ModelDeployment\nspec: {replicas: 99999999999999999999}",
    "infinity": b"apiVersion: berth.dev/v1alpha1\nkind: ModelDeployment\nspec: {replicas: .inf}",
    "NUL": b"a: b\0c",
    "escaped NUL": b'apiVersion: "\\0"\nkind: "\\x00"',
    "surrogates": b"a: \xed\xa0\x80\xed\xb0\x80",
    "escaped surrogates": b'kind: "\\ud800\\udc00"',
    "byte order mark": b"\xef\xbb\xbf\xef\xbb\xbfa: b",
    "UTF-16": "a: b".encode("utf-16"),
    "UTF-32": "a: b".encode("utf-32"),
    "carriage returns": b"a: b\rc: d\r\n\re: f",
    "tabs": b"a:\n\tb: c\n\t- d",
    "only a document end": b"...\n...\n---\n---",
    "many documents": b"---\na: b\n" * 2_000,
    "long line": b"a: " + b"x" * 200_000,
    "long key": b"x" * 100_000 + b": a",
    "alias bomb": b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (n + 1, n + 1, n, n) for n in range(97, 120)),
    "merge of itself": b"a: &a\n  <<: *a",
    "tag of Python": b"a: !!python/object/apply:os.system [ls]",
    "directives": b"%YAML 9.9\n%TAG ! tag:x,2000:\n---\na: !b c",
    "open placeholders": OWN_START + b"spec: {replicas: '" + b"${" * 100_000 + b"'}",
    "number of parts": OWN_START + b"spec: {replicas: 1" + b"_1" * 100_000 + b"x}",
    "binary number": OWN_START + b"metadata: {labels: {a: 0b" + b"1" * 20_000 + b"}}",
    "lines of one text": b"a b\n" * 100_000 + b"c: d\n",
    "unknown keys": OWN_START + b"spec:\n" + b"".join(b"  k%d:\n" % number for number in range(20_000)),
    "doubtful labels": OWN_START + b"metadata: {labels: {" + b"".join(b"k%d: yes, " % n for n in range(20_000)) + b"}}",
    "NEL and separators": "a: b\u0085c: d\u2028e: f\u2029".encode(),
    "nothing": b"",
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_hostile_file_makes_loading_raise(name: str, path: str) -> None:
    """L1: what fuzzing rarely hits, each in a folder of its own rules; the only error is the one with all problems."""
    content = HOSTILE[name]
    result = load_fleet([(path, content)])
    sound(result, {"environment.yaml": b"", path: content})
    if result.fleet is None:
        with pytest.raises(ConfigError) as raised:
            result.raise_if_errors()
        assert raised.value.problems == result.problems


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_line_ends_and_a_byte_order_mark_change_nothing(mark: bytes, ends: bytes) -> None:
    """L2: as other systems write files."""
    contents = {path: mark + content.replace(b"\n", ends) for path, content in files().items()}
    assert load_fleet(contents.items(), name="dev").raise_if_errors() == BASE


@law()
@given(content=st.binary(max_size=400), path=st.sampled_from(PATHS))
def test_no_bytes_make_loading_raise(content: bytes, path: str) -> None:
    """L1: random bytes."""
    sound(load_fleet([(path, content)]), {"environment.yaml": b"", path: content})


@given(text=TEXTS, path=st.sampled_from(PATHS))
@law(300)
def test_no_text_makes_loading_raise(text: str, path: str) -> None:
    """L1: random pieces of YAML."""
    content = text.encode("utf-8", "surrogatepass")
    sound(load_fleet([(path, content)]), {"environment.yaml": b"", path: content})


@given(kind=st.sampled_from(sorted(KINDS)), spec=VALUES, metadata=VALUES)
@law(200)
def test_no_document_makes_loading_raise(kind: str, spec: Any, metadata: Any) -> None:
    """L1: any values where a specification belongs."""
    document = {"apiVersion": "berth.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
    content = yaml.safe_dump(document, allow_unicode=False).encode()
    sound(load_fleet([("x.yaml", content)]), {"x.yaml": content, "environment.yaml": b""})


def places(document: Any, path: tuple[PathPart, ...] = ()) -> list[tuple[PathPart, ...]]:
    """Return the path of every value of a document."""
    found = [path] if path else []
    if isinstance(document, (dict, list)):
        items: Any = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            found += places(value, (*path, key))
    return found


def replaced(document: Any, path: tuple[PathPart, ...], value: Any) -> Any:
    """Return a document with another value at a path."""
    changed = copy.deepcopy(document)
    holder = changed
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return changed


def at(document: Any, path: tuple[PathPart, ...]) -> Any:
    """Return the value at a path."""
    for part in path:
        document = document[part]
    return document


def wrong(value: Any) -> Any:
    """Return a value that no field of this value's type takes."""
    return {dict: "text", list: {"zz": 1}, str: ["x"], bool: "no", int: "three", float: "x"}[type(value)]


def errors(path: str, document: Any) -> LoadResult:
    """Load one document alone."""
    return load_fleet([(path, yaml.safe_dump(document, sort_keys=False).encode())], complete=False)


EVERY_PLACE = [
    pytest.param(path, document, place, id=f"{document['kind']}-{document['metadata']['name']}-{written(place)}")
    for path, document in DOCUMENTS
    for place in places(document)
]


@pytest.mark.parametrize(("path", "document", "place"), EVERY_PLACE)
def test_a_value_of_the_wrong_type_is_one_problem_at_its_place(
    path: str, document: Any, place: tuple[PathPart, ...]
) -> None:
    """L3: every value of every kind, replaced by one of another type."""
    result = errors(path, replaced(document, place, wrong(at(document, place))))
    assert [problem.path for problem in result.errors] == [written(place)], result.errors


@pytest.mark.parametrize(("path", "document", "place"), EVERY_PLACE)
def test_an_unknown_key_is_one_problem_at_its_place(path: str, document: Any, place: tuple[PathPart, ...]) -> None:
    """L3: a key that nobody knows, added to every mapping that a model describes."""
    value = at(document, place)
    described = model_at(KINDS[document["kind"]], place)
    if not isinstance(value, dict) or described is None:
        return
    result = errors(path, replaced(document, (*place, "zzzz"), 1))
    assert [(problem.code, problem.path) for problem in result.errors] == [
        (Code.FIELD_UNKNOWN, written((*place, "zzzz")))
    ]


@pytest.mark.parametrize(("path", "document", "place"), EVERY_PLACE)
def test_a_removed_key_is_at_most_one_problem(path: str, document: Any, place: tuple[PathPart, ...]) -> None:
    """L3: without any one key a document is right, or wrong in one way; an empty value is the same as none."""
    if not isinstance(place[-1], str):
        return
    without = copy.deepcopy(document)
    del at(without, place[:-1])[place[-1]]
    gone, empty = errors(path, without), errors(path, replaced(document, place, None))
    assert len(gone.errors) <= 1
    assert [problem.code for problem in gone.errors] == [problem.code for problem in empty.errors]
    if document["kind"] in KINDS and not gone.errors and not empty.errors:
        assert gone.fleet == empty.fleet
    described = model_at(KINDS[document["kind"]], place[:-1])
    if described is not None and shape(described)[place[-1]].info.is_required():
        assert gone.errors


@given(order=st.randoms(use_true_random=False))
@law(40)
def test_order_changes_nothing(order: random.Random) -> None:
    """L2: files, documents within files and keys within mappings, in any order, give one fleet."""

    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            order.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    grouped: dict[str, list[Any]] = {}
    for path, document in DOCUMENTS:
        namespace = "models/ml" if path.startswith("models/ml") else "platform"
        grouped.setdefault(f"{namespace}/{order.randrange(3)}.yaml", []).append(shuffled(document))
    mixed = []
    for path, documents in grouped.items():
        order.shuffle(documents)
        mixed.append((path, yaml.safe_dump_all(documents, sort_keys=False).encode()))
    order.shuffle(mixed)
    fleet = load_fleet(mixed, name="dev").raise_if_errors()
    assert fleet == BASE
    assert list(fleet.clusters) == list(BASE.clusters)
    assert list(fleet.deployments) == list(BASE.deployments)
    assert fleet.platform_digest() == BASE.platform_digest()
    assert fleet.namespace_digest("ml") == BASE.namespace_digest("ml")


@pytest.mark.parametrize("defaults", [True, False])
def test_writing_and_reading_gives_the_same_value(*, defaults: bool) -> None:
    """L4: every document, with its defaults written out and without."""
    groups = (BASE.classes, BASE.clusters, BASE.gateways, BASE.deployments, BASE.services, BASE.caches, BASE.endpoints)
    for document in (BASE.environment, *(value for group in groups for value in group.values())):
        dumped = document.model_dump(mode="json", by_alias=True, exclude_defaults=not defaults, exclude_none=True)
        if not dumped["spec"].get("nodePools", True):
            del dumped["spec"]["nodePools"]  # no pools are written by leaving the key out
        dumped["apiVersion"] = "berth.dev/v1alpha1"  # defaults of Berth's own fields are written out too
        again = errors("x.yaml", dumped)
        assert not again.errors, again.errors
        assert again.fleet is not None
        assert document.model_dump(exclude={"api_version"}) in [
            value.model_dump(exclude={"api_version"}) for value in (again.fleet.environment, *everything(again))
        ]


def everything(result: LoadResult) -> list[Any]:
    """Return the documents of a result."""
    assert result.fleet is not None
    fleet = result.fleet
    groups = (
        fleet.classes,
        fleet.clusters,
        fleet.gateways,
        fleet.deployments,
        fleet.services,
        fleet.caches,
        fleet.endpoints,
    )
    return [value for group in groups for value in group.values()]


@given(cut=st.integers(0, 4000), insert=st.text(max_size=3))
@law(150)
def test_a_damaged_environment_still_gives_an_answer(cut: int, insert: str) -> None:
    """L1, L5: real files with something in the middle."""
    contents = files()
    path = sorted(contents)[cut % len(contents)]
    position = cut % len(contents[path])
    contents[path] = contents[path][:position] + insert.encode("utf-8", "surrogatepass") + contents[path][position:]
    sound(load_fleet(contents.items(), name="dev"), contents)


def test_warnings_never_stop_and_errors_always_do() -> None:
    """L5: the two severities, on one environment each."""
    assert all(problem.severity is Severity.WARNING for problem in load(without=("endpoint",)).problems)
