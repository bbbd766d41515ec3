"""What a person forgot in a line: told there, however far behind the scanner stops, with the line to write."""

from dataclasses import dataclass

import pytest

from components.api.codes import Code
from components.api.compose import compose


@dataclass(frozen=True)
class Case:
    """A text with one slip, the place of its problem, and parts of what is said."""

    name: str
    text: str
    line: int
    column: int
    says: str
    help: str = ""
    code: Code = Code.YAML_SYNTAX


COLONS = [
    Case("no colon, value", "kind Pool\nname: x\n", 1, 1, "no `:` after `kind`", "write `kind: Pool`"),
    Case("no colon, then a block", "a:\n  eks\n    b: 1\n", 2, 3, "no `:` after `eks`", "write `eks:`"),
    Case("no colon, then items", "pools\n- name: x\n", 1, 1, "no `:` after `pools`", "write `pools:`"),
    Case("no colon, alone", "a: 1\nb\nc: 2\n", 2, 1, "no `:` after `b`", "write `b:` and its value"),
    Case("no space, then a key", "a:\n  n:2\n  max: 4\n", 2, 3, "a space is missing after", "write `n: 2`"),
    Case("no space, then a block", "b:X\nc:\n  d: 1\n", 1, 1, "a space is missing after", "write `b: X`"),
    Case("no space in an item", "- a:1\n  b: 2\n", 1, 3, "a space is missing after", "write `a: 1`"),
    Case("a comment behind", "n:2 # two\nm: 4\n", 1, 1, "a space is missing after", "write `n: 2`"),
    Case("lines between", "n:2\n\n# here\nm: 4\n", 1, 1, "a space is missing after", "write `n: 2`"),
    Case("equals", "a = 1\nb: 2\n", 1, 1, "a `=` stands", "write `a: 1`"),
    Case("a second colon", "a: One: two\n", 1, 7, "a second `: `", 'in quotes: `a: "One: two"`'),
    Case("a second colon beside a quote", 'a: x == "y: z"\n', 1, 11, "a second `: `", """`a: 'x == "y: z"'`"""),
    Case("a colon at the end", "a: b:\n", 1, 5, "ends with a `:`", '`a: "b:"`'),
    Case("in the second document", "x: 1\n---\nn:2\nm: 4\n", 3, 1, "a space is missing after", "write `n: 2`"),
]
DASHES = [
    Case("first item", "a:\n    n: x\n    m: y\n  - n: z\n", 2, 5, "must begin with `- `", "write `- n: x`"),
    Case("between items", "a:\n- --b\n--c\n- --d\n", 3, 1, "must begin with `- `", "write `- --c`"),
    Case("last item", "a:\n- --b\n--c\nd: 1\n", 3, 1, "must begin with `- `", "write `- --c`"),
    Case("only item", "a:\n--b\nd: 1\n", 2, 1, "must begin with `- `", "write `- --b`"),
    Case("no space", "a:\n  -n: x\n   m: y\n", 2, 3, "a space is missing after the `-`", "write `- n: x`"),
    Case("a dash of a text processor", "a:\n  \u2013 n: x\n    m: y\n", 2, 3, "U+2013 looks like a dash", "`- n: x`"),
    Case("a field at the items", "- a: 1\nb: 2\n", 2, 1, "must begin with `- ` here", "indent it by 2 spaces"),
]
INDENTS = [
    Case("deeper", "a:\n  b: 1\n    c: 2\n", 3, 5, "deeper than `b`", "indent it by 2 spaces, like line 2"),
    Case("deeper at the root", "a: 1\n  b: 2\n", 2, 3, "deeper than `a`", "do not indent it, like line 1"),
    Case("between", "a:\n    b: 1\n   c: 2\n", 3, 4, "indented by 3 spaces", "indent it by 4 spaces, like line 2"),
    Case("an item", "a:\n  - b\n - c\n", 3, 2, "indented by 1 space,", "indent it by 2 spaces, like line 2"),
    Case(
        "a hard space",
        "a:\n  b:\n\u00a0\u00a0\u00a0\u00a0c: 1\n  d: 2\n",
        3,
        1,
        "U+00A0 looks like a space",
        "write `c: 1`",
    ),
    Case("a text below `|`", "- a: |\n  b\n  c: d\n", 2, 3, "a `|` must be indented deeper", "indent it by 4 spaces"),
]
PAIRS = [
    Case("list", "a: [b\nc: d\n", 1, 4, "`[` is not closed", "close it with `]`: `a: [b]`"),
    Case("mapping in a list", "a:\n- {b: c\n- d\n", 2, 3, "`{` is not closed", "close it with `}`: `- {b: c}`"),
    Case("nested", "a: {b: [c}\n", 1, 10, "`}` closes what `[` began", "write `]`"),
    Case("two open", "a: {b: [c\nd: e\n", 1, 8, "`[` is not closed", "`a: {b: [c]}`"),
    Case("one closer too many", "a: [b]]\n", 1, 7, "this `]` closes nothing", "remove it"),
    Case("a comma in a mapping", "a: {b: c d: e}\n", 1, 10, "a `,` is missing before this"),
    Case("a comma in a list", 'a: ["b" "c"]\n', 1, 9, "a `,` is missing before this"),
    Case("at the end of a file", "a: 1\nb: [\n", 2, 4, "`[` is not closed", "close it with `]`"),
    Case("over lines", "a: [b,\n  c\n", 1, 4, "`[` is not closed", "close it with `]`"),
    Case("a comma too many", "a: [b, , c]\n", 1, 8, "a value is missing before", "remove the `,`"),
    Case("behind the last line", "a: 1\n=", 2, 1, "neither a `key: value` nor an item"),
    Case("double quote", 'a: "b\nc: d\n', 1, 4, "this quote is not closed", 'close it: `"b"`'),
    Case("single quote", "a: 'b\nc: d\n", 1, 4, "this quote is not closed", "close it: `'b'`"),
    Case("closed by the next", 'a: "b\nc: "d"\n', 1, 4, "this quote is not closed", 'close it: `"b"`'),
    Case("closed by the next item", "- 'b\n- 'd'\n", 1, 3, "this quote is not closed", "close it: `'b'`"),
    Case("text behind a quote", 'a: "b" == "c"\n', 1, 8, "goes on after its closing", """`'"b" == "c"'`"""),
]
OTHERS = [
    Case("a merge", "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\n", 2, 1, "merge conflict", "keep one side"),
    Case("a nested merge", "a:\n  b: 1\n<<<<<<< x\n  c: 2\n=======\n", 3, 1, "merge conflict", "keep one side"),
]
TABS = [
    Case("a whole indentation", "a:\n\tb: 1\n", 2, 1, "a tab indents this line", "use spaces", Code.YAML_TAB),
    Case("in an indentation", "a:\n  b: 1\n \tc: 2\n", 3, 2, "a tab indents this line", "use spaces", Code.YAML_TAB),
    Case("an empty line", "a:\n\t\n  b: 1\n", 2, 1, "in this empty line", "empty the line", Code.YAML_TAB),
    Case("empty lines below", "a: b\n\t\n\n\t\nc: d: e\n", 2, 1, "in this empty line", "", Code.YAML_TAB),
    Case("after a dash", "a:\n-\tb: 1\n  c: 2\n", 2, 2, "a tab follows the `-`", "use a space", Code.YAML_TAB),
    Case("a deeper line", "a: b\n\tc: d\n", 2, 1, "a tab indents this line", "use spaces", Code.YAML_TAB),
]


@pytest.mark.parametrize(
    "given", [*COLONS, *DASHES, *INDENTS, *PAIRS, *OTHERS, *TABS], ids=lambda given: f"{given.name}"
)
def test_a_slip_is_told_where_it_was_made(given: Case) -> None:
    """One problem, at the slip itself, with what to write."""
    (problem,) = compose("f", given.text.encode()).problems
    assert (problem.line, problem.column) == (given.line, given.column), problem
    assert problem.code == given.code
    assert given.says in problem.message
    assert given.help in problem.help
    assert problem.text.strip() or given.code == Code.YAML_TAB


@pytest.mark.parametrize(
    "text", ["a:\t1\n", "a: 1\t\n", "a: 1\t# x\n", "a:\t\n  b: 1\n", "a: {\n\tb: 1}\n", "a: |\n  b\n  \tc\n"]
)
def test_a_tab_that_yaml_allows_is_no_problem(text: str) -> None:
    """Behind a value, after a `:`, between brackets, in a text."""
    assert compose("f", text.encode()).problems == []


@pytest.mark.parametrize(
    ("text", "line", "column", "help_"),
    [
        ("a:\n- --b\n  - --c\n", 3, 3, "indent it like line 2"),
        ("a: b\n  c:d\n", 2, 3, "write a space after the `:`"),
    ],
)
def test_a_line_that_yaml_joins_to_the_one_above_is_warned_of(text: str, line: int, column: int, help_: str) -> None:
    """It is YAML, and hardly what was meant."""
    (problem,) = compose("f", text.encode()).problems
    assert (problem.code, problem.severity, problem.line, problem.column) == ("yaml-joined", "warning", line, column)
    assert problem.help == help_


@pytest.mark.parametrize("text", ["a: b\n  c - d\n  see http://x.y/z\n", "a: 'b\n  - c'\n", "a: |\n  b\n  - c\n"])
def test_a_sentence_of_several_lines_is_none_of_them(text: str) -> None:
    """Only what begins like an item or a field is."""
    assert compose("f", text.encode()).problems == []


def test_a_document_that_begins_without_its_line_hides_nothing_and_accuses_nobody() -> None:
    """The second apiVersion is the one problem, and what stands below it is not called missing."""
    composed = compose("f", b"apiVersion: a\nkind: b\nspec: {}\napiVersion: a\nkind: c\nspec: {}\n")
    (problem,) = composed.problems
    assert (problem.code, problem.line) == (Code.YAML_DUPLICATE_KEY, 4)
    assert problem.help == "does another document begin here? Write `---` on a line of its own above line 4"
    assert not composed.complete


@pytest.mark.parametrize(("text", "hint"), [("a: 1\na: 2\n", "remove one"), ("- a: 1\n  a: 2\n", "Write `- a: 2`")])
def test_a_key_twice_is_another_item_only_in_a_list(text: str, hint: str) -> None:
    """Elsewhere one of the two is too many."""
    (problem,) = compose("f", text.encode()).problems
    assert hint in problem.help
