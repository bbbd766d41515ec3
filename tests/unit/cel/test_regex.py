"""Tests of what the parser of patterns takes and refuses: what Go's takes and refuses, to the last level.

Every ``most`` was found with ``regexp/syntax.Parse(pattern, syntax.Perl)`` of Go 1.26: the most that it
takes. The tests ask for that number and for one more.
"""

from typing import Final, NamedTuple

import pytest

from components.cel.problem import EvaluationError
from components.cel.regex.code import MAX_CODE, RegexError
from components.cel.regex.parser import RegexParser
from components.cel.regex.pattern import computed_pattern
from components.cel.selector import admit

DEEP: Final = "expression nests too deeply"
LARGE: Final = "expression too large"


class Edge(NamedTuple):
    """A family of patterns: ``before`` and ``after`` stand as often as the number says around the middle."""

    name: str
    reason: str
    before: str
    middle: str
    after: str
    most: int
    left: str = ""
    right: str = ""
    refusal: str = DEEP

    def pattern(self, number: int) -> str:
        """Write the pattern of a number."""
        return self.left + self.before * number + self.middle + self.after * number + self.right


EDGES: Final = [
    Edge("captures", "each is a level", "(", "a", ")", 999),
    Edge("repeated groups", "each repetition is a level, the group is none", "(?:", "a", ")*", 999),
    Edge("repeated captures", "two levels each", "(", "a", ")*", 499),
    Edge("lazy captures", "two levels each", "(", "a", ")??", 499),
    Edge("counted groups", "a count of one is a level", "(?:", "a", "){1}", 999),
    Edge("counted to nothing", "what never occurs is still a level", "(?:", "a", "){0}", 999),
    Edge("sequences in captures", "sequence and capture", "(a", "b", "b)", 500),
    Edge("choices in choices", "flattened, then factored: a sequence and a choice for each", "(?:a", "b", "|c)", 500),
    Edge("choices of nothing", "a choice in a choice is one", "(?:b*|", "a*", ")*", 499),
    Edge("characters in choices", "merge into one class", "(?:a|b|", "a", "|c)*", 500),
    Edge("strings in common", "the beginning is factored out", "(?:ab", "x", "|ac*)", 499),
    Edge("classes in common", "the beginning is factored out", "(?:[xy]", "z*", "|[xy]z+)", 499),
    Edge("counted classes in common", "the beginning is factored out", "(?:x{2}", "z", "|x{2}y*)", 499),
    Edge("folded strings in common", "by the case as well", "(?i:k", "z*", "|ka*)", 499),
    Edge("dots in common", "by the kind of dot", "(?:.", "z*", "|[\\x00-\\x{10FFFF}]|.b*)", 499),
    Edge("assertions", "are levels as parts only", "(?:^", "a", "$)*", 499),
    Edge("named groups", "are captures", "(?P<n>", "a", ")", 999),
    Edge("empty choices", "are one choice", "(?:|", "a", "||b*)+", 499),
    Edge("a class of one letter", "is a literal", "(?:x[a]b", "z*", "|xac*)", 498),
    Edge("a class behind letters", "and the letters are one string", "(?:xy[a]b", "z*", "|xyac*)", 498),
    Edge("letters behind a beginning", "merge into one class", "(?:ab|ac|", "z*", ")*", 499),
    Edge("a class of both cases", "is a literal that folds", "(?:[aA]b", "z*", "|(?i:a)c*)", 498),
    Edge("a class of three cases", "is a class", "(?:[kK]b", "z*", "|(?i:k)c*)", 499),
    Edge("newline and dot", "merge into any character", "(?:(?:.|[\\n])b*", "z*", "|(?s:.)c*)", 498),
    Edge("letter and dot", "merge into the dot", "(?:(?:[xy]|.|b)b*", "z*", "|.c*)", 498),
    Edge("any and letter", "merge into any character", "(?:(?s:.|b|.)b*", "z*", "|(?s:.)c*)", 498),
    Edge("equal letters", "merge into the letter", "(?:(?:a|b*|a|a)", "z*", "|ac*)", 498),
    Edge("categories", "are equal when they are written alike", "(?:\\pLb*", "z*", "|\\pLc*|[^\\pL])", 249),
    Edge("beginnings left alone", "one branch is nothing but the beginning", "(?:[xy]", "z*", "|[xy])*", 332),
    Edge("size of a capture", "two instructions more than what is in it", "(a)", "", "", 1118, "(?:", "){1000}", LARGE),
    Edge("size of a star", "counts as two", "a*", "", "", 1118, "(?:", "){1000}", LARGE),
    Edge("size of a class", "counts as one", "[ab]", "", "", 3354, "(?:", "){500,1000}", LARGE),
    Edge("size without end", "one more than its copies", "[ab]+", "", "", 1677, "(?:", "){1000,}", LARGE),
    Edge("size of many counts", "the product makes Go look", "a", "", "", 3353, "b{1000}b{1000}(?:", "){1000}", LARGE),
    Edge("size of choices", "one more for each branch", "a*|b|", "", "", 558, "(?:", "c*){1000}", LARGE),
    Edge("sizes remembered", "of an allocation used again", "[ab]+", "", "", 1677, "x{2}|x{2}y|(?:", "){1000}", LARGE),
]  # fmt: skip

ACCEPTED: Final = {
    "a{1000}": "",
    "(a{10}){101}": "invalid repeat count",
    "((a{1000}){0}){2}": "",  # nothing in what never occurs counts
    "((a{1000}){0,0}b{500}){2}": "",
    "((a{1000})*){2}": "invalid repeat count",
    "(a{2,}){500}": "",
    "(a{2,}){501}": "invalid repeat count",
    "a**": "invalid nested repetition operator",
    "a{2}{3}": "invalid nested repetition operator",
    "a*(?i)*": "",
    "(?i)*": "missing argument to repetition operator",
    "a|*": "missing argument to repetition operator",
    "(?:)*": "",
    "()": "",
    "(?<=a)": "invalid named capture",
    "(?P=n)": "invalid or unsupported Perl syntax",
    "(?:" * 2000 + "a" + ")" * 2000: "",  # groups alone are no levels
    "a." * 498 + "b|" + "a." * 498 + "c*": "",
    "a." * 499 + "b|" + "a." * 499 + "c*": DEEP,
    "(" + "a" * 3400 + "){1000}": LARGE,
    "(?:" + "a" * 3400 + "){1000}": LARGE,
    "(?:" + "ab*|" * 900 + "){1000}": LARGE,
    "(?:" + "[ab]|(?i)k|" * 900 + "){1000}": "",
}


def refusal(pattern: str) -> str:
    """Give the words of a refusal, without the pattern; nothing when it is taken."""
    try:
        RegexParser(pattern).parse()
    except RegexError as error:
        return error.message.removeprefix("error parsing regexp: ").partition(": `")[0]
    return ""


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.name)
def test_a_tree_is_as_high_and_as_large_as_in_go(edge: Edge) -> None:
    """The last that Go takes is taken, and the next is refused in its words."""
    assert refusal(edge.pattern(edge.most)) == "", edge.reason
    assert refusal(edge.pattern(edge.most + 1)) == edge.refusal, edge.reason


@pytest.mark.parametrize(("pattern", "words"), ACCEPTED.items(), ids=[key[:20] for key in ACCEPTED])
def test_a_pattern_is_taken_or_refused_as_in_go(pattern: str, words: str) -> None:
    """Repetitions inside repetitions, what a repetition stands behind, and what Go does not look at."""
    assert refusal(pattern) == words


def test_beginnings_in_beginnings_are_levels_while_they_are_factored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each adds one; with Go's own limit such a pattern has half a million characters."""
    monkeypatch.setattr("components.cel.regex.tree.MAX_HEIGHT", 20)
    assert refusal("|".join("a" * number for number in range(1, 9))) == ""
    assert refusal("|".join("a" * number for number in range(1, 40))) == DEEP


def test_a_literal_pattern_that_go_refuses_is_not_admitted() -> None:
    """Nor is it evaluated: what Go refuses must not match here."""
    pattern = "(?:" * 999 + "a" + ")*" * 999
    assert admit(f'device.driver.matches("{pattern}")', stored=True).error is None
    error = admit(f'device.driver.matches("(?:{pattern})*")', stored=True).error
    assert error is not None
    assert (error.kind, DEEP in error.message) == ("bad-regex-literal", True)


@pytest.mark.parametrize(
    "pattern",
    ["(?:" * 1400 + "a*" + "|b*)" * 1400, "|".join(chr(0x4E00 + 2 * number) for number in range(3000))],
    ids=["choices in choices", "a class that grows"],
)
def test_a_tree_that_takes_too_long_is_unsupported(pattern: str) -> None:
    """Go's parser takes time that grows with the square of such a pattern."""
    parser = RegexParser(pattern)
    parser.parse()
    assert parser.unsupported


def test_a_computed_pattern_that_is_too_long_is_unsupported() -> None:
    """A literal one cannot be so long."""
    with pytest.raises(EvaluationError, match="unsupported"):
        computed_pattern("a" * (MAX_CODE + 1)).matches("a")
