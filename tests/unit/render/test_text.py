"""Tables and lines: what is dropped, what is folded, what an empty cell says."""

from typing import Any

import pytest

from automation.render.plan import verdict_lines
from automation.render.text import Column, Line, Span, count, line, plain, table
from automation.render.views import VerdictView

COLUMNS = (Column("NAME"), Column("WHY", drop=2), Column("TEXT", wraps=True), Column("AGE", drop=1))
ROWS = (("a", "because", "one two three four five six seven eight nine ten", "5d"), ("b", "", "short", ""))


def shown(width: int, **options: Any) -> list[str]:
    """Lay the table out."""
    return plain(table(COLUMNS, ROWS, width=width, **options)).splitlines()


def test_a_table_has_capital_heads_and_a_dash_for_nothing() -> None:
    """As people know it from kubectl."""
    assert shown(100) == [
        "NAME  WHY      TEXT                                              AGE",
        "a     because  one two three four five six seven eight nine ten  5d",
        "b     -        short                                             -",
    ]


def test_a_table_may_leave_empty_cells_empty() -> None:
    """Where a row goes on with what the row before began."""
    assert shown(100, blank="")[-1] == "b              short"


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        pytest.param(60, ["NAME", "WHY", "TEXT", "AGE"], id="the text folds"),
        pytest.param(44, ["NAME", "WHY", "TEXT", "AGE"], id="as far as it goes"),
        pytest.param(43, ["NAME", "WHY", "TEXT"], id="then the first column goes"),
        pytest.param(30, ["NAME", "TEXT"], id="then the second"),
        pytest.param(10, ["NAME", "TEXT"], id="and what is left is shown whatever the width"),
    ],
)
def test_columns_go_in_their_declared_order(width: int, heads: list[str]) -> None:
    """Never a column that has no place in that order."""
    assert shown(width)[0].split() == heads


@pytest.mark.parametrize("width", range(30, 100))
def test_a_table_stays_within_its_width_and_loses_no_word(width: int) -> None:
    """At every width in which it can."""
    lines = shown(width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines[1:]).split())
    assert all(word in text for word in ROWS[0][2].split())


def test_an_indent_counts() -> None:
    """It is part of the width, and on every line."""
    lines = shown(62, indent=2)
    assert max(map(len, lines)) <= 62
    assert all(each.startswith("  ") for each in lines)


def test_styles_stay_with_their_cells() -> None:
    """On every line of a folded cell."""
    (_, *rows) = table((Column("TEXT", wraps=True),), [(Span("one two three four five six seven", "bad"),)], width=24)
    assert [row.spans for row in rows] == [
        (Span("one two three four five", "bad"),),
        (Span("six seven", "bad"),),
    ]


def test_a_line_skips_what_is_empty() -> None:
    """Optional parts need no condition."""
    assert line("a", "", Span("b", "ok")) == Line((Span("a"), Span("b", "ok")))


@pytest.mark.parametrize(
    ("number", "words", "want"),
    [(0, ("replica",), "0 replicas"), (1, ("replica",), "1 replica"), (2, ("policy", "policies"), "2 policies")],
)
def test_counts_read_as_people_say_them(number: int, words: tuple[str, ...], want: str) -> None:
    """With a plural of its own where it has one."""
    assert count(number, *words) == want


@pytest.mark.parametrize(
    ("code", "message", "first"),
    [
        ("over-quota", "the quota of namespace ml is 1 node, used 1", True),
        ("no-room", "wanted 8 devices of gpu, free 0 of 8", False),
        ("fits", "has room; nothing is missing that it could take", False),
    ],
)
def test_a_reason_that_no_pool_gives_stands_before_the_pools(code: str, message: str, *, first: bool) -> None:
    """A quota is no pool's affair; where a pool is the reason, it says so itself, with its name."""
    pools = ("gpus: wanted 8 devices of gpu, free 0 of 8",)
    text = plain(verdict_lines([VerdictView(cluster="a", code=code, message=message, pools=pools)], width=120))
    assert pools[0] in text
    assert (f"{code}  {message}" in text) is first
