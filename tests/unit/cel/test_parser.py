"""The parser: what it takes, where it says an expression is wrong, and how deep it goes."""

import sys
import threading
from collections.abc import Callable
from typing import Final

import pytest

from components.cel.environment import environment
from components.cel.parser import MAX_CODE_POINTS, parse
from components.cel.problem import Position, SelectorError
from components.cel.selector import admit, compile_selector
from components.cel.syntax import Select, children
from components.cel.unparse import unparse

MACROS = environment("1.36", stored=True).macros


def refusal(expression: str, *, minor: str = "1.36") -> SelectorError:
    """Give the error of an expression that must be refused."""
    error = admit(expression, minor=minor).error
    assert error is not None
    return error


@pytest.mark.parametrize(
    ("expression", "kind", "offset"),
    [
        ("", "syntax", 0),
        ("true &&", "syntax", 7),
        ("true true", "syntax", 5),
        ("(true", "syntax", 5),
        ("[1,,2]", "syntax", 3),
        ("{1:2", "syntax", 4),
        ("{,1}", "syntax", 2),
        ("f(1,)", "syntax", 4),
        ("-!true", "syntax", 1),
        ("true ? true", "syntax", 11),
        ("a ? b ? c : d : e", "syntax", 6),
        ("'a", "syntax", 0),
        ("true # no", "syntax", 5),
        ("device.in", "syntax", 7),
        ("device.`x`", "syntax", 7),
        ("device.?driver()", "syntax", 14),
        ("namespace", "syntax", 0),
        (".1x", "syntax", 2),
        ("..a", "syntax", 1),
        ("9223372036854775808 > 0", "bad-literal", 0),
        ("18446744073709551616u > 0u", "bad-literal", 0),
        ("1e999 > 0.0", "bad-literal", 0),
        ("0x" + "f" * 40 + " > 0", "bad-literal", 0),
        ("'\\ud800' == ''", "syntax", 0),
        ("b'\\u0041' == b''", "syntax", 0),
        ("has(1)", "macro-argument", 4),
        ("[1].all(1, true)", "macro-argument", 8),
        ("[1].all(x.y, true)", "macro-argument", 9),
        ("[1].all(x, x, true)", "macro-argument", 11),
        ("[1].all(__result__, true)", "macro-argument", 8),
        ("[1].exists(i, 1, true)", "macro-argument", 14),
        ("cel.bind(1, 2, true)", "macro-argument", 9),
        ("optional.of(1).optMap(1, 2)", "macro-argument", 22),
        ("true.sortBy(x, x) == []", "macro-argument", 0),
        ("Foo{`a`: 1}", "syntax", 4),
        ("Foo{1: 1}", "syntax", 4),
    ],
)
def test_a_refusal_names_its_class_and_its_place(expression: str, kind: str, offset: int) -> None:
    """The offset counts code points."""
    error = refusal(expression)
    assert (error.kind, error.position.offset) == (kind, offset)


def test_lines_and_columns_count_code_points() -> None:
    """Line from 1, column from 0, and the caret stands under the place."""
    error = refusal('true &&\n  "\U0001f600" == "" && device.bogus')
    assert error.position == Position(29, 2, 21)
    assert error.caret() == '  "\U0001f600" == "" && device.bogus\n' + " " * 21 + "^"
    assert str(error).startswith("2:22: undefined field 'bogus'")


def test_the_caret_of_a_long_line_is_cut_out() -> None:
    """The line is cut around the place."""
    error = refusal('"' + "x" * 500 + '" == device.bogus')
    line, mark = error.caret().splitlines()
    assert len(line) == 100
    assert line[mark.index("^")] == "."


@pytest.mark.parametrize("space", ["\t", "\v", "\f", "\r", "\x1c", "\x85", "\u2028"])
def test_the_caret_stands_under_its_line_whatever_space_is_in_it(space: str) -> None:
    """A terminal, and a program that reads lines, end them at more than a newline."""
    assert SelectorError("syntax", "m", expression=f"a{space}b", offset=2).caret() == "a b\n  ^"


DEEP: Final[dict[str, tuple[int, Callable[[int], str]]]] = {
    "parentheses": (249, lambda n: "(" * n + "true" + ")" * n),
    "lists": (250, lambda n: "[" * n + "]" * n + ".size() == 1"),
    "not": (249, lambda n: "!(" * n + "true" + ")" * n),
    "sum": (250, lambda n: "+".join(["1"] * n) + " > 0"),
    "right sum": (124, lambda n: "1+(" * n + "1" + ")" * n + " > 0"),
    "equals": (251, lambda n: " == ".join(["true"] * n)),
    "select": (249, lambda n: "dyn({})" + ".a" * n + " == 1"),
    "index": (249, lambda n: "[0][" * n + "0" + "]" * n + " == 0"),
    "conditional": (249, lambda n: "true ? true : " * n + "true"),
    "call": (249, lambda n: "dyn(" * n + "true" + ")" * n + " == true"),
    "method": (249, lambda n: '"a"' + ".trim()" * n + ' == "a"'),
    "macro": (249, lambda n: "[true].exists(x, " * n + "true" + ")" * n),
    "map": (249, lambda n: "{1:" * n + "1" + "}" * n + " == {}"),
    "logic": (124, lambda n: "(true && (true || " * n + "true" + "))" * n),
}


@pytest.mark.parametrize("name", DEEP)
def test_nesting_ends_where_it_ends_in_kubernetes(name: str) -> None:
    """The last allowed depth compiles, the next is refused; deep callers get the same answer."""
    depth, make = DEEP[name]
    compile_selector(make(depth), stored=True)
    with pytest.raises(SelectorError) as caught:
        compile_selector(make(depth + 1), stored=True)
    assert caught.value.kind == "syntax"

    outcomes: list[str] = []

    def descend(frames: int) -> None:
        if frames:
            descend(frames - 1)
        else:
            outcomes.append(compile_selector(make(depth) + " ", stored=True).expression)

    thread = threading.Thread(target=descend, args=(600,))
    thread.start()
    thread.join()
    assert outcomes == [make(depth) + " "]


def test_what_is_deeper_than_this_engine_goes_is_refused_as_such() -> None:
    """Levels of five nested nodes each are more frames than a thread has; the refusal says so."""
    expression = "!(true && [true || " * 124 + "true" + "][0])" * 124
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # what the interpreter has when nobody, such as Hypothesis, changed it
    try:
        assert refusal(expression).kind == "too-deep"
    finally:
        sys.setrecursionlimit(usual)


def test_a_text_beyond_the_parsers_limit_is_refused() -> None:
    """A hundred thousand code points are the limit of the parser itself."""
    with pytest.raises(SelectorError) as caught:
        parse(" " * MAX_CODE_POINTS + "1", MACROS)
    assert caught.value.kind == "syntax"


def test_an_expression_beyond_the_apis_limit_is_refused() -> None:
    """10,240 bytes, counted in UTF-8."""
    assert admit("true" + " " * 10_236).error is None
    assert refusal("true" + " " * 10_237).kind == "too-long"
    assert refusal('"' + "\u00e9" * 5_120 + '" != "a"').kind == "too-long"


def test_back_quoted_names_are_taken_where_a_minor_has_them() -> None:
    """The name is kept without its quotes, and is no method."""
    node = parse("a.`b-c`.?`d e`", MACROS, backquotes=True)
    assert unparse(node) == "a.b-c.?d e"
    assert isinstance(children(node)[0], Select)
    assert unparse(parse("Foo{`a b`: 1}", MACROS, backquotes=True)) == "Foo{a b: 1}"
    with pytest.raises(SelectorError):
        parse("a.`b`()", MACROS, backquotes=True)


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c[0].d(e, f)",
        "a && b || !c && -d < e",
        "(a || b) && c",
        "a ? b : c ? d : e",
        "(a ? b : c) ? d : e",
        "a + b - (c - d) * e / f % g",
        'x.?y[?0] == [1, ?z, 2u, b"q", null, true, false, 1.5]',
        '{?"a": b, 1: c} in [{}]',
        "Foo.Bar{a: 1, ?b: c}",
        "has(a.b) && a.all(x, x > 0) && a.exists(k, v, v == k)",
        "a.exists_one(x, x) || a.existsOne(i, x, x)",
        "a.map(x, x + 1).transformList(i, x, i > 0, x)",
        "a.transformMap(k, v, v).transformMapEntry(k, v, {v: k})",
        "a.transformMap(k, v, k > 0, v).transformMapEntry(k, v, true, {v: k})",
        "cel.bind(a, b, a + a)",
        "x in y",
    ],
)  # fmt: skip
def test_a_tree_is_written_back_as_it_was_read(text: str) -> None:
    """What explanations print can be read again."""
    assert unparse(parse(text, MACROS)) == text


@pytest.mark.parametrize(
    "text",
    [
        "a.filter(x, x > 0)",
        "a.map(x, x > 0, x)",
        "a.map(x, x)",
        "a.optMap(x, x + 1)",
        "a.b.optFlatMap(x, optional.of(x))",
        "a.sortBy(x, -x)",
        "[2, 1].sortBy(x, x).map(y, y)",
        "cel.bind(x, [1].filter(y, y == 1), x.optMap(z, z))",
        "a.hasValue() ? optional.of(cel.bind(x, a.value(), x)) : optional.none()",
        "x.bind(a, b, c)",
    ],
)
def test_macros_are_written_as_macros(text: str) -> None:
    """Those that expand to the same functions are told apart by their places, and from what was written out."""
    assert unparse(parse(text, MACROS)) == text


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ("optional.of(1)" + ".optMap(x, x)" * 40 + ".hasValue()", ".optMap"),
        ("true && " + "cel.bind(a, {1: 1}, " * 11 + "true" + ")" * 11, ""),
        ('"' + "x" * 11_000 + '"', "x"),
    ],
    ids=["copies of macros", "within bounds", "too long"],
)
def test_what_is_too_large_has_a_place(expression: str, place: str) -> None:
    """Where the bound was passed."""
    error = admit(expression, stored=True).error
    if not place:
        assert error is None
        return
    assert error is not None
    assert error.position.offset > 10
    assert expression[error.position.offset - len(place) :].startswith(place)
    assert error.caret().endswith("^")


def test_a_type_with_too_many_parts_has_a_place() -> None:
    """At the literal that makes it, not at the start."""
    inner = "1"
    for _ in range(12):
        inner = f"cel.bind(v, {inner}, {{v: v}})"
    error = refusal(f"true || ({inner}).size() == 1")
    assert error.kind == "unsupported"
    assert error.expression[error.position.offset] == "{"
