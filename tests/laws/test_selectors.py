"""Laws of selectors.

S1 Whatever the text, compiling gives a selector or a ``SelectorError``, and evaluating gives an answer. S2 The fast
evaluation answers as the counted one. S3 Compiling and evaluating again changes nothing. S4 What is written from the
syntax tree parses to the same tree. S5 ``&&`` and ``||`` commute and ``!`` negates. S6 Quantities are totally ordered,
and their order is the order of their numbers. S7 cel-python agrees on the common part of the language, apart from the
rows of ``divergences.md``.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components.cel.environment import MINORS, environment
from components.cel.parser import parse
from components.cel.problem import MAX_MESSAGE, SelectorError
from components.cel.quantity import Quantity, QuantityError
from components.cel.selector import Outcome, admit, compile_selector, compile_unlimited
from components.cel.semver import Semver, SemverError
from components.cel.unparse import unparse
from tests.support.cel_python import UNWRITABLE, cel_python
from tests.support.comparisons import compared
from tests.support.effort import law
from tests.support.selector_expressions import DRIVER, SOUPS, VIEW, expressions

SELECTORS: Final = expressions(common=False)
FLIPPED: Final = {Outcome.MATCH: Outcome.NO_MATCH, Outcome.NO_MATCH: Outcome.MATCH, Outcome.ERROR: Outcome.ERROR}
UNIT: Final = {"": 1, "k": 10**3, "M": 10**6, "E": 10**18, "Ki": 2**10, "Gi": 2**30, "m": Decimal("0.001")}


def outcome(expression: str) -> str:
    """Say what this engine answers: an outcome, or that the expression is refused."""
    try:
        selector = compile_selector(expression, stored=True)
    except SelectorError:
        return "refused"
    return str(selector.evaluate(VIEW).outcome)


@law(400)
@given(text=SOUPS | st.text(max_size=40) | SELECTORS, minor=st.sampled_from(MINORS), stored=st.booleans())
def test_s1_nothing_but_the_error_of_the_package(text: str, minor: str, *, stored: bool) -> None:
    """Any text is refused in words and with a place, or answers."""
    refusal = admit(text, minor=minor, stored=stored).error
    if refusal is not None:
        with pytest.raises(SelectorError) as caught:
            compile_selector(text, minor=minor, stored=stored)
        assert (caught.value.kind, caught.value.position) == (refusal.kind, refusal.position)
        assert refusal.kind
        assert len(refusal.message) <= MAX_MESSAGE
        assert 0 <= refusal.position.offset <= len(text)
        assert len(refusal.caret().splitlines()) <= 2
        return
    answer = compile_selector(text, minor=minor, stored=stored).evaluate(VIEW)
    assert (answer.outcome is Outcome.ERROR) == bool(answer.kind) == bool(answer.message)
    assert len(answer.message) <= MAX_MESSAGE


@law(400)
@given(text=SELECTORS, minor=st.sampled_from(MINORS))
def test_s2_both_evaluations_answer_the_same(text: str, minor: str) -> None:
    """Outcome, class, message and place; and the counted cost is within the estimate."""
    try:
        selector = compile_unlimited(text, minor=minor)
    except SelectorError:
        return
    answer, cost = selector.counted(VIEW)
    assert selector.evaluate(VIEW) == answer
    assert cost >= 0


@law(100)
@given(text=SELECTORS)
def test_s3_again_is_the_same(text: str) -> None:
    """Neither an evaluation nor the cache leaves anything behind."""
    try:
        first = compile_selector(text)
    except SelectorError:
        return
    second = compile_selector(text + " ")
    answers = [one.evaluate(VIEW) for one in (first, second, first, second)]
    assert all(answer == answers[0] for answer in answers)
    assert first.counted(VIEW) == second.counted(VIEW) == first.counted(VIEW)
    assert compile_selector(text) is first


@law(200)
@given(text=SELECTORS)
def test_s4_what_is_written_parses_to_the_same(text: str) -> None:
    """Writing is idempotent."""
    macros = environment("1.36", stored=True).macros
    written = unparse(parse(text, macros))
    assert unparse(parse(written, macros)) == written
    assert outcome(written) == outcome(text)


@law(200)
@given(left=SELECTORS, right=SELECTORS)
def test_s5_logic_commutes(left: str, right: str) -> None:
    """The order of the operands matters to the message only; negation flips."""
    for operator in ("&&", "||"):
        assert outcome(f"({left}) {operator} ({right})") == outcome(f"({right}) {operator} ({left})")
    plain = outcome(left)
    if plain != "refused":
        assert outcome(f"!({left})") == FLIPPED[Outcome(plain)]


@law(300)
@given(
    numbers=st.lists(
        st.tuples(
            st.decimals(min_value=-(10**9), max_value=10**9, places=6, allow_nan=False), st.sampled_from(sorted(UNIT))
        ),
        min_size=3,
        max_size=3,
    )
)
def test_s6_quantities_are_their_numbers(numbers: list[tuple[Decimal, str]]) -> None:
    """Order, equality, sum and difference; beyond a billionth, parsing rounds away from zero."""
    read = [(Quantity.parse(f"{number:f}{unit}"), number * UNIT[unit]) for number, unit in numbers]
    for one, exact in read:
        assert abs(Decimal(one.mantissa).scaleb(one.scale) - exact) < Decimal("1e-9")
    for one, first in read:
        for two, second in read:
            if abs(first - second) > Decimal("1e-8") or first == second:
                assert one.compare(two) == (first > second) - (first < second)
            assert one.compare(two) == -two.compare(one)
            assert one.add(two).compare(two.add(one)) == 0
            assert one.add(two).sub(two).compare(one) == 0
            assert (one.compare(two) == 0) == (one == two) or one.compare(two) == 0
    low, middle, high = sorted((one for one, _ in read), key=lambda one: Decimal(one.mantissa).scaleb(one.scale))
    assert low.compare(middle) <= 0
    assert middle.compare(high) <= 0
    assert low.compare(high) <= 0


@law(300)
@given(text=st.text(max_size=12) | st.from_regex(r"[+-]?[0-9.]{0,6}([eE][+-]?[0-9]{0,3}|[numkMGTPEi]{0,2})"))
def test_s6_any_text_is_a_value_or_an_error(text: str) -> None:
    """Quantities and versions refuse with their own error, and read back what they write."""
    try:
        quantity = Quantity.parse(text)
    except QuantityError:
        pass
    else:
        assert Quantity.parse(str(quantity)).compare(quantity) == 0
    try:
        version = Semver.parse(text)
    except SemverError:
        pass
    else:
        assert str(Semver.parse(str(version))) == str(version)


def rows() -> list[tuple[str, str, str]]:
    """Read the table of differences."""
    found = []
    for line in Path(__file__).with_name("divergences.md").read_text(encoding="utf-8").splitlines():
        cells = re.fullmatch(r"\| `(.*)` \| ([\w-]+) \| ([\w-]+) \| .+ \|", line)
        if cells:
            expression = re.sub(r"\bA\.", f'device.attributes["{DRIVER}"].', cells[1].replace("\\|", "|"))
            found.append((expression, cells[2], cells[3]))
    return found


@pytest.mark.parametrize(("expression", "ours", "theirs"), rows())
def test_s7_every_listed_difference_is_one(expression: str, ours: str, theirs: str) -> None:
    """The table is true."""
    assert (outcome(expression), cel_python(expression)[0]) == (ours, theirs)
    assert ours != theirs


EXPLAINED: Final = re.compile(
    r"relation_(eq|ne)"  # equality of different types
    r"|_&&_ applied|_\|\|_ applied|_\?_:_ applied|CELEvalErr"  # the same error, met by another operator
    r"|'str' object has no attribute"  # the sum of strings
    rf"|{UNWRITABLE}"  # the same error again, which it fails to combine with another
)


@pytest.mark.fuzz
@example(text="[0, 0].all(x, x == (0 / size([])))")  # cel-python logs an object that it cannot write
@compared(300)
@given(text=expressions(common=True))
def test_s7_cel_python_agrees_on_the_common_part(text: str) -> None:
    """Where cel-python has an answer it is ours; where it has an error that we have not, the reason is listed."""
    ours = str(compile_unlimited(text).evaluate(VIEW).outcome)  # cel-python knows no worst-case cost that refuses
    theirs, words = cel_python(text)
    if theirs == ours:
        return
    assert theirs == "error", f"{text}: {ours}, cel-python {theirs}"
    absorbed = "overflow" in words and re.search(r"&&|\|\||\?", text)  # logic absorbs an error, cel-python may lose it
    assert EXPLAINED.search(words) or absorbed or "in []" in text, f"{text}: {ours}, cel-python {words[:200]}"
