"""The wording of syntax errors: each known complaint is reached, with libyaml and with the pure parser."""

from typing import Any

import pytest
import yaml

from components.api import compose as composing
from components.api.codes import Code
from components.api.nodes import MappingNode
from components.api.syntax_errors import wording

TEXTS = [
    "a: b: c\n",
    "a: - b\n",
    "a: ? b\n",
    "a: 1\nb\nc: 2\n",
    "a:\n  - b\n c: d\n",
    "- a\nb: c\n",
    "a: [b\nc: d\n",
    "a: {b\n",
    "a: ]\n",
    'a: "\\q"\n',
    'a: "\\x1"\n',
    "a: & b\n",
    "a: | b\n",
    "a: |0\n  b\n",
    "a: 1\n...\nb: 2\n",
    "%YAML 3.0\n---\na: 1\n",
    "%YAML 1.2\n%YAML 1.2\n---\na: 1\n",
    "%TAG !a! x\n%TAG !a! x\n---\na: 1\n",
    "a: !x!y b\n",
    "a: !<x b\n",
    "a: 'x\n",
    "a: 'x\n---\nb: 1\n",
    "a:\n\tb: 1\n",
    "a: @b\n",
    "a: `b`\n",
]
FOREIGN = ("expected", "scanning", "token", "mark", "stream", "context")


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader], ids=["libyaml", "pure"])
@pytest.mark.parametrize("text", TEXTS)
def test_every_complaint_has_our_wording(text: str, loader: Any) -> None:
    """No complaint falls through to the general wording, and none of the scanner's words get out."""
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        list(yaml.parse(text, Loader=loader))
    said = wording(caught.value, text.split("\n"), 0)
    assert said.message != "this is not valid YAML"
    assert not any(word in said.message for word in FOREIGN)
    assert said.code in (Code.YAML_SYNTAX, Code.YAML_TAB)
    assert said.line < len(text.split("\n"))


def test_a_complaint_that_is_not_known_has_a_general_wording() -> None:
    """A parser that learns a new complaint still gives a problem with a place and a hint."""
    error = yaml.MarkedYAMLError(problem="something new", problem_mark=yaml.Mark("", 0, 1, 2, "", 0))
    said = wording(error, ["a", "b c"], 0)
    assert (said.message, said.line, said.column) == ("this is not valid YAML", 1, 2)


def test_a_complaint_without_any_place_is_put_at_the_beginning() -> None:
    """The place is the first line of what was read."""
    said = wording(yaml.MarkedYAMLError(problem="mapping values are not allowed"), ["a"], 0)
    assert (said.line, said.column) == (0, 0)


def test_the_pure_parser_composes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where libyaml is missing the pure parser gives the same trees and places."""
    text = b"a: &x [1, 'no']\nb: *x\nc: |\n  d\n"
    native = composing.compose("f", text)
    monkeypatch.setattr(composing, "EventParser", yaml.SafeLoader)
    pure = composing.compose("f", text)
    assert native.problems == pure.problems == []
    shape = [
        [(key, value.line, value.column) for key, (_, value) in root.entries.items()]
        for result in (native, pure)
        for root in result.documents
        if isinstance(root, MappingNode)
    ]
    assert shape[0] == shape[1]


def test_half_a_character_is_refused_by_the_pure_parser_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pure parser lets a lone surrogate pass, which no file and no request could hold."""
    monkeypatch.setattr(composing, "EventParser", yaml.SafeLoader)
    (problem,) = composing.compose("f", b'a: "\\ud800"\n').problems
    assert (problem.code, problem.line, problem.column) == (Code.YAML_CHARACTER, 1, 4)


def test_a_parser_that_fails_without_a_place_gives_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading never raises, even when the parser itself does."""

    class Broken:
        def __init__(self, _text: str) -> None:
            raise yaml.YAMLError

    monkeypatch.setattr(composing, "EventParser", Broken)
    result = composing.compose("f", b"a: 1\n")
    assert [problem.code for problem in result.problems] == [Code.YAML_SYNTAX]
    assert not result.complete
