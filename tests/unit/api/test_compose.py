"""Composing YAML: what a scalar means, where things stand, and what is refused."""

from dataclasses import dataclass
from typing import Any

import pytest

from components.api.codes import Code
from components.api.compose import MAX_NODES, compose, resolve
from components.api.composed import MAX_BYTES
from components.api.nodes import MappingNode, Node, ScalarNode, SequenceNode, find, kind_of, written


def plain(node: Node) -> Any:
    """Return a tree as plain values."""
    if isinstance(node, MappingNode):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    assert isinstance(node, ScalarNode)
    return node.value


def values(text: str) -> Any:
    """Compose text that must be right, and return its documents as plain values."""
    composed = compose("f", text.encode())
    assert composed.problems == []
    assert composed.complete
    return [plain(node) for node in composed.documents]


SCALARS: list[tuple[str, Any]] = [
    ("", None), ("~", None), ("null", None), ("NULL", None), ("nUll", "nUll"),
    ("true", True), ("False", False), ("tRue", "tRue"), ("yes", "yes"), ("no", "no"), ("on", "on"), ("y", "y"),
    ("0", 0), ("-7", -7), ("+7", 7), ("007", 7), ("0o17", 15), ("0xfF", 255), ("0b11", "0b11"), ("1_000", "1_000"),
    ("1.5", 1.5), ("-.5", -0.5), ("1.", 1.0), ("1e3", 1000.0), ("1.5E-3", 0.0015), (".inf", float("inf")),
    ("-.INF", float("-inf")), ("1:30", "1:30"), ("190:20:30", "190:20:30"), ("2001-01-01", "2001-01-01"),
    ("1.2.3", "1.2.3"), ("v1", "v1"), ("-", "-"), ("nvidia", "nvidia"), ("0o8", "0o8"), ("1e", "1e"), (".", "."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS, ids=[repr(text) for text, _ in SCALARS])
def test_a_plain_scalar_means_what_yaml_1_2_says(text: str, value: Any) -> None:
    """The core schema, and nothing of YAML 1.1: a country code is text, and so is a time."""
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_read() -> None:
    """NaN is not equal to itself, so it has no place in the table."""
    assert str(resolve(".nan")) == "nan"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: 1\nb: [x, {c: d}]\n", [{"a": 1, "b": ["x", {"c": "d"}]}]),
        ("a: 1\n---\nb: 2\n---\n# nothing\n---\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
        ("a: 'no'\nb: \"1\"\nc: |\n  1\n", [{"a": "no", "b": "1", "c": "1\n"}]),
        ("a: &x {b: 1}\nc: *x\n", [{"a": {"b": 1}, "c": {"b": 1}}]),
        ("base: &x {a: 1, b: 2}\nd: {<<: *x, b: 3}\n", [{"base": {"a": 1, "b": 2}, "d": {"b": 3, "a": 1}}]),
        ("d:\n  <<: [{a: 1}, {a: 2, b: 2}]\n  c: 3\n", [{"d": {"c": 3, "a": 1, "b": 2}}]),
        ("'<<': 1\n", [{"<<": 1}]),
        ("a: !!str 12\nb: !!int '7'\nc: !!null ''\nd: ! 12\ne: !!bool true\nf: !!float 1.5\n",
         [{"a": "12", "b": 7, "c": None, "d": "12", "e": True, "f": 1.5}]),
        ("a: !!map {b: 1}\nc: !!seq [1]\n", [{"a": {"b": 1}, "c": [1]}]),
        ("\ufeffa: 1\r\nb: 2\r\n", [{"a": 1, "b": 2}]),
        ("1: a\ntrue: b\n", [{"1": "a", "true": "b"}]),
        ("%YAML 1.2\n---\na: 1\n", [{"a": 1}]),
        ("", []),
        ("# only a comment\n", []),
        ("? a\n: b\n", [{"a": "b"}]),
        ("a: \U0001f600 é\n", [{"a": "\U0001f600 é"}]),
        ("&a a: 1\nb: *a\n", [{"a": 1, "b": "a"}]),
    ],
)  # fmt: skip
def test_yaml_is_read(text: str, want: Any) -> None:
    """Documents, anchors, merges, tags, a byte order mark and Windows line ends."""
    assert values(text) == want


def test_every_key_and_value_has_its_place() -> None:
    """Lines and columns count from 1, for keys and values, in every style."""
    text = "a: 1\nb:\n  - c: x\n    d: {e: f}\n  - 'q'\n"
    (root,) = compose("f", text.encode()).documents
    places = {}
    for path in [("a",), ("b",), ("b", 0), ("b", 0, "c"), ("b", 0, "d", "e"), ("b", 1)]:
        found = find(root, path)
        assert found.value is not None
        assert found.depth == len(path)
        key = (found.key.line, found.key.column) if found.key else None
        places[written(path)] = (key, (found.value.line, found.value.column))
    assert places == {
        "a": ((1, 1), (1, 4)),
        "b": ((2, 1), (3, 3)),
        "b[0]": (None, (3, 5)),
        "b[0].c": ((3, 5), (3, 8)),
        "b[0].d.e": ((4, 9), (4, 12)),
        "b[1]": (None, (5, 5)),
    }


def test_a_path_that_leads_nowhere_stops_at_what_exists() -> None:
    """A missing field is reported at the deepest thing that is there."""
    (root,) = compose("f", b"a: {b: [1]}\n").documents
    found = find(root, ("a", "b", 4, "x"))
    assert found.depth == 2
    assert isinstance(found.key, ScalarNode)
    assert found.key.text == "b"


@dataclass(frozen=True)
class Refused:
    """A text, and the place and code of the one problem it gives."""

    name: str
    text: bytes
    code: Code
    line: int
    column: int
    says: str = ""


REFUSED = [
    Refused("tab", b"a:\n\tb: 1\n", Code.YAML_TAB, 2, 1, "a tab indents this line"),
    Refused("tab after spaces", b"a:\n  \tb: 1\n  c: 2\n", Code.YAML_TAB, 2, 3),
    Refused("two colons", b"a: b: c\n", Code.YAML_SYNTAX, 1, 5, "a second `: `"),
    Refused("at sign", b"a: @b\n", Code.YAML_SYNTAX, 1, 4, "may not begin with `@`"),
    Refused("open quote", b"a: 'b\nc: d\n", Code.YAML_SYNTAX, 1, 4, "quote is not closed"),
    Refused("open list", b"a: [b\nc: d\n", Code.YAML_SYNTAX, 1, 4, "this `[` is not closed"),
    Refused("open mapping", b"a: {b\n", Code.YAML_SYNTAX, 1, 4, "this `{` is not closed"),
    Refused("wrong indentation", b"a:\n  - b\n c: d\n", Code.YAML_SYNTAX, 3, 2, "indented by 1 space"),
    Refused("list and mapping mixed", b"- a\nb: c\n", Code.YAML_SYNTAX, 2, 1),
    Refused("unknown escape", b'a: "\\q"\n', Code.YAML_SYNTAX, 1, 5, "escape"),
    Refused("surrogate escape", b'a: "\\ud800"\n', Code.YAML_SYNTAX, 1, 7, "an escape that is no character"),
    Refused("short escape", b'a: "\\x1"\n', Code.YAML_SYNTAX, 1, 7, "without its digits"),
    Refused("item on the key's line", b"a: - b\n", Code.YAML_SYNTAX, 1, 4, "list item"),
    Refused("key without colon", b"a: 1\nb\nc: 2\n", Code.YAML_SYNTAX, 2, 1, "no `:` after `b`"),
    Refused("text after block sign", b"a: | b\n", Code.YAML_SYNTAX, 1, 6, "only a comment"),
    Refused("anchor without a name", b"a: & b\n", Code.YAML_SYNTAX, 1, 5, "anchor"),
    Refused("tag handle", b"a: !x!y b\n", Code.YAML_SYNTAX, 1, 4, "tag"),
    Refused("other version", b"%YAML 3.0\n---\na: 1\n", Code.YAML_SYNTAX, 1, 1, "another YAML version"),
    Refused("text after the end", b"a: 1\n...\nb: 2\n", Code.YAML_SYNTAX, 3, 1, "must begin with `---`"),
    Refused("duplicate key", b"a: 1\nb: 2\na: 3\n", Code.YAML_DUPLICATE_KEY, 3, 1, "the first is on line 1"),
    Refused("list as key", b"? [a]\n: b\n", Code.YAML_KEY, 1, 3, "not a list"),
    Refused("mapping as key", b"a: {{b: c}: d}\n", Code.YAML_KEY, 1, 5),
    Refused("empty key", b"?\n: b\n", Code.YAML_KEY, 1, 2, "missing before the `:`"),
    Refused("merge of text", b"a: {<<: x}\n", Code.YAML_KEY, 1, 9, "takes a mapping"),
    Refused("merge of what is refused already", b"a: {<<: !x y}\n", Code.YAML_TAG, 1, 9),
    Refused("unknown tag", b"a: !x b\n", Code.YAML_TAG, 1, 4, "`!x` has no meaning"),
    Refused("tag on a list", b"a: !!set [b]\n", Code.YAML_TAG, 1, 4, "`!!set`"),
    Refused("tag on a mapping", b"a: !x {b: 1}\n", Code.YAML_TAG, 1, 4, "`!x`"),
    Refused("tag that does not fit", b"a: !!int b\n", Code.YAML_TAG, 1, 4, "does not go with `b`"),
    Refused("tag on too many digits", b"a: !!int " + b"9" * 50, Code.YAML_TAG, 1, 4),
    Refused("alias of nothing", b"a: *b\n", Code.YAML_ALIAS, 1, 4, "no anchor before it"),
    Refused("alias inside itself", b"a: &b [*b]\n", Code.YAML_ALIAS, 1, 8, "inside the value it repeats"),
    Refused("alias of another document", b"a: &b 1\n---\nc: *b\n", Code.YAML_ALIAS, 3, 4),
    Refused("huge number", b"a: " + b"9" * 5000 + b"\n", Code.YAML_NUMBER, 1, 4, "more than 40 digits"),
    Refused("huge fraction", b"a: 1." + b"9" * 5000 + b"\n", Code.YAML_NUMBER, 1, 4),
    Refused("control character", b"a: 1\nb: \x01\n", Code.YAML_CHARACTER, 2, 4, "U+0001"),
    Refused("NUL", b"a\0b", Code.YAML_CHARACTER, 1, 2, "U+0000"),
    Refused("NUL as an escape", b'a: "x\\0"\n', Code.YAML_CHARACTER, 1, 4, "U+0000"),
    Refused("byte order mark inside", b"a: 1\n\xef\xbb\xbfb: 2\n", Code.YAML_CHARACTER, 2, 1, "U+FEFF"),
    Refused("not UTF-8", b"a: 1\nb: \xff\n", Code.NOT_UTF8, 2, 4, "byte 0xFF"),
    Refused("surrogate in UTF-8", b"\xed\xa0\x80", Code.NOT_UTF8, 1, 1),
    Refused("UTF-16", "a: 1\n".encode("utf-16"), Code.NOT_UTF8, 1, 1, "UTF-16"),
    Refused("UTF-32", "a: 1\n".encode("utf-32"), Code.NOT_UTF8, 1, 1, "UTF-32"),
    Refused("nested too deep", b"- " * 100 + b"\n", Code.YAML_TOO_DEEP, 1, 129, "64 levels"),
    Refused("flow nested too deep", b"[" * 100_000, Code.YAML_TOO_DEEP, 1, 1001),
    Refused("large", b"a: " + b"b" * MAX_BYTES, Code.FILE_TOO_LARGE, 0, 0, "at most 4 MiB"),
]


@pytest.mark.parametrize("given", REFUSED, ids=lambda given: given.name)
def test_what_is_wrong_is_refused_at_its_place(given: Refused) -> None:
    """One problem each, in our words, under the caret."""
    (problem,) = compose("f", given.text).problems
    assert (problem.code, problem.line, problem.column) == (given.code, given.line, given.column)
    assert given.says in problem.message
    assert "expected" not in problem.message  # the scanner's own words
    assert len(problem.text) <= 1000


def bomb() -> bytes:
    """Ten anchors, each ten times the one before: ten thousand million values when unfolded."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines).encode()


def test_aliases_that_unfold_without_end_are_refused() -> None:
    """A YAML bomb is a problem at the alias that goes too far, and costs nothing."""
    composed = compose("f", bomb())
    (problem,) = composed.problems
    assert (problem.code, problem.line) == (Code.YAML_ALIAS, 6)
    assert f"{MAX_NODES:,}" in problem.message
    assert not composed.complete


def test_aliases_cannot_nest_deeper_than_brackets() -> None:
    """Forty levels, repeated inside forty: small, and too deep for whoever walks the tree."""
    text = f"a: &a {'[' * 40}x{']' * 40}\nb: &b {'[' * 20}*a{']' * 20}\nc: {'[' * 5}*b{']' * 5}\n"
    (problem,) = compose("f", text.encode()).problems
    assert (problem.code, problem.line) == (Code.YAML_TOO_DEEP, 3)
    assert compose("f", text.replace("[[[[[*b]]]]]", "*b").encode()).problems == []


def test_a_broken_document_does_not_hide_the_next() -> None:
    """After a syntax error reading goes on at the next document, with the right lines."""
    text = b"a: 'x\n---\nb: 1\n---\nc: [\n---\nd: 1\nd: 2\n"
    composed = compose("f", text)
    assert [plain(node) for node in composed.documents] == [{"b": 1}, {"d": 1}]
    assert [(problem.code, problem.line) for problem in composed.problems] == [
        (Code.YAML_SYNTAX, 1),
        (Code.YAML_SYNTAX, 6),
        (Code.YAML_DUPLICATE_KEY, 8),
    ]
    assert not composed.complete


def test_a_document_sign_inside_a_text_is_text() -> None:
    """Only a line of its own begins a document; an indented one belongs to the text."""
    assert values("a: |\n  x\n  ---\n  y\n") == [{"a": "x\n---\ny\n"}]


@pytest.mark.parametrize(
    "text",
    [b"---\n'x\n" * 300_000, b"a: b\n" * 700_000, b"- !a b\n" * 400_000, b"[],\n" * 900_000, b"- \n" * 1_200_000],
    ids=["quotes", "duplicates", "tags", "flow", "nodes"],
)
def test_a_file_of_nothing_but_mistakes_gives_a_bounded_answer(text: bytes) -> None:
    """However many mistakes a file has, at most a hundred are told."""
    composed = compose("f", text)
    assert 1 <= len(composed.problems) <= 100


def test_kinds_have_names_that_people_use() -> None:
    """Problems say "a list", never a Python type."""
    (root,) = compose("f", b"[{}, [], a, 1, 1.5, true, null]\n").documents
    assert isinstance(root, SequenceNode)
    names = [kind_of(node) for node in root.items]
    assert names == ["a mapping", "a list", "text", "a number", "a decimal number", "a boolean", "nothing"]


def test_paths_are_written_as_people_write_them() -> None:
    """Dots between names, brackets for positions, quotes where a name has dots itself."""
    assert written(("spec", "nodePools", 0, "labels", "a.b/c", "x")) == 'spec.nodePools[0].labels["a.b/c"].x'
