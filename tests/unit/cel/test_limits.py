"""Nothing runs away: adversarial inputs within the API's 10,240 bytes end soon, in little memory, with an answer.

Work is counted in calls of functions, not timed: the bound is the one that the decision about the engine states.
"""

import sys
import threading
import tracemalloc
from collections.abc import Generator
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from typing import Final

import pytest

from components.cel.device import DeviceView
from components.cel.environment import COST_LIMIT, MAX_BYTES
from components.cel.explain import explain
from components.cel.meter import MAX_STEPS, MAX_WORK, METER, Meter
from components.cel.parser import MAX_NODES
from components.cel.problem import MAX_MESSAGE, SelectorError
from components.cel.quantity import Quantity, QuantityError
from components.cel.regex.pattern import computed_pattern
from components.cel.selector import Outcome, admit, compile_selector, compile_unlimited

CALLS: Final = 60_000_000  # of functions, those of the interpreter included
MEMORY: Final = 200_000_000
EXPLAINED: Final = 100_000
D: Final = "gpu.nvidia.com"
A: Final = f'device.attributes["{D}"]'
VIEW: Final = DeviceView.from_class_device(
    driver=D,
    attributes={f"a{number}": {"string": "a" * 64} for number in range(30)} | {"big": {"int": 2**63 - 1}},
    capacity={"memory": "80Gi"},
)
TEN: Final = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"


def nested(depth: int, macro: str = "exists", source: str = TEN) -> str:
    """Nest macros over a list."""
    text = "x0 > 10"
    for number in range(depth):
        text = f"{source}.{macro}(x{number}, {text})"
    return text


def held_twice(depth: int, body: str, shape: str = "[{0}, {0}]") -> str:
    """Bind values that hold the one before twice, ``depth`` times over."""
    return reduce(
        lambda inner, number: f"cel.bind(v{number}, {shape.format(f'v{number - 1}')}, {inner})",
        range(depth, 0, -1),
        body,
    ).join(("cel.bind(v0, 1, ", ")"))


def rewritten(text: str, shape: str) -> str:
    """Write an expression inside itself, forty times over."""
    return reduce(lambda inner, _: shape.replace("$", inner), range(40), text)


class Counter:
    """How many calls were made."""

    calls = 0


@contextmanager
def counted_calls() -> Generator[Counter]:
    """Count the calls of functions, in this thread and those that it starts."""
    counter = Counter()

    def count(_frame: object, event: str, _argument: object) -> None:
        counter.calls += event in {"call", "c_call"}

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        yield counter
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


ADVERSARIAL: Final = {
    "deep parentheses": "(" * 5000 + "true" + ")" * 5000,
    "deep lists": "[" * 5000 + "]" * 5000 + " == []",
    "deep maps": "{1:" * 2500 + "1" + "}" * 2500 + " == {}",
    "deep not": "!" * 10_000 + "true",
    "deep minus": "-" * 10_000 + "1 == 1",
    "deep conditional": "true ? true : " * 730 + "true",
    "open brackets only": "[" * 10_000,
    "long chain of and": " && ".join(["true"] * 1200),
    "long chain of or of errors": " || ".join([f"{A}.n"] * 245),
    "long chain of equal": " == ".join(["true"] * 1000),
    "long chain of plus": "+".join(["1"] * 5000) + " > 0",
    "long select": "device" + ".a" * 5000,
    "long index": "device" + "[0]" * 3000,
    "long calls": '"a"' + ".trim()" * 1400 + ' == "a"',
    "long list": "[" + "1," * 5000 + "1].size() > 0",
    "long list of lists": "[" + "[1]," * 2500 + "[1]].exists(x, x == [2])",
    "nested exists": nested(7),
    "nested map": nested(8, "map") + ".size() > 0",
    "nested exists over attributes": nested(6, "exists", A),
    "one exists beyond the limit": nested(5),
    "long names": "x" * 10_000 + " == 1",
    "many lists unified": "[" + ",".join("[" * 20 + "]" * 20 for _ in range(245)) + "] == []",
    "catastrophic pattern": f'"{"a" * 4000}".matches("(a*)*b")',
    "catastrophic pattern on attributes": f'{A}.all(k, {A}[k].matches("^(([a-z])+.)+[A-Z]([a-z])+$"))',
    "large repeat": '"a".matches("((a{100}){100}){100}")',
    "allowed repeat": f'"{"a" * 5000}".matches("(a{{0,500}}){{2}}b")',
    "nested repeat": '"' + "a" * 100 + '".matches("' + "(" * 900 + "a" + ")*" * 900 + '")',
    "wide class": '"a".matches("' + "[\\\\x00-\\\\x{10FFFF}]" * 400 + '")',
    "huge exponent": 'quantity("1e999999999").isGreaterThan(quantity("1"))',
    "huge negative exponent": 'quantity("1e-999999999").isGreaterThan(quantity("1"))',
    "comparisons in comparisons": rewritten(
        f'device.capacity["{D}"].memory', '($.compareTo(quantity("1Gi")) >= 0 ? quantity("2Gi") : quantity("1"))'
    )
    + '.compareTo(quantity("1Gi")) == 0',
    "comparisons of doubles in comparisons": rewritten("true", "(($ ? dyn(1.5) : dyn(2.5)) < 2)"),
    "comparisons of null in comparisons": rewritten(
        "true", '((!$ ? quantity("1") : null).isLessThan(quantity("1")) || true)'
    ),
    "huge exponents added": 'quantity("1e9999").add(quantity("1e-9")).isInteger()',
    "huge exponents compared": 'quantity("1e2147483647").compareTo(quantity("1e-2147483648")) > 0',
    "long quantity": f'quantity("{"9" * 9000}").isInteger()',
    "long version": f'semver("1.0.0-{"a." * 4000}a") == semver("1.0.0")',
    "long int": f"{'9' * 9000} > 0",
    "long double": f"{'9' * 9000}.0 > 0.0",
    "tiny double": "1e-999999999 > 0.0",
    "huge double": "1e999999999 > 0.0",
    "overflow": "9223372036854775807 + 1 > 0",
    "least int": "-9223372036854775808 / -1 > 0",
    "least int negated": "-(-9223372036854775808) > 0",
    "int that is none": "-9223372036854775809 < 0",
    "attribute overflow": f"{A}.big * {A}.big > 0",
    "text doubled": 'cel.bind(a, "' + "a" * 1000 + '", '
    + "cel.bind(b, a+a+a+a+a+a+a+a+a+a, cel.bind(c, b+b+b+b+b+b+b+b+b+b, cel.bind(d, c+c+c+c+c+c+c+c+c+c,"
    " cel.bind(e, d+d+d+d+d+d+d+d+d+d, e.size() > 0)))))",
    "lists doubled": "cel.bind(a, [1,2,3,4,5,6,7,8,9,10], cel.bind(b, a+a+a+a+a+a+a+a+a+a,"
    " cel.bind(c, b+b+b+b+b+b+b+b+b+b, cel.bind(d, c+c+c+c+c+c+c+c+c+c, cel.bind(e, d+d+d+d+d+d+d+d+d+d,"
    " e.size() > 0)))))",
    "replace grows": f'"{"a" * 2000}".replace("", "{"b" * 2000}").replace("", "{"c" * 2000}").size() > 0',
    "join grows": 'lists.range(100000).map(x, string(x)).join("' + "a" * 5000 + '").size() > 0',
    "macros copy": "optional.of(1)" + ".optMap(x, x)" * 700 + ".hasValue()",
    "a value holds another twice": held_twice(100, "v100 == v100"),
    "twice in a set": held_twice(60, "sets.contains([v60], [v60])"),
    "twice in a map": held_twice(60, "v60 == v60", "{{1: {0}, 2: {0}}}"),
    "twice as text": held_twice(60, '"%s".format([v60]) == ""'),
    "twice as an index": held_twice(60, "[v60].indexOf(v60) == 0"),
    "twice as keys and values": held_twice(60, "v60.size() == 1", "{{{0}: {0}}}"),
    "twice as a type error": held_twice(12, "v12 > 1", "{{{0}: {0}}}"),
    "searches": f'[{",".join(["1"] * 3000)}].exists(x, "{"a" * 1000}".matches("(a?){{50}}b"))',
    "searches for places": f'[{",".join(["1"] * 3000)}].exists(x, "{"a" * 1000}".find("(a?){{50}}b") == "b")',
    "patterns": f'[{",".join(["1"] * 3000)}].exists(x, "b".matches("(a{{30}}){{30}}" + string(x)))',
    "many patterns": " || ".join(f'device.driver.matches("({number}a?){{0,600}}")' for number in range(240)),
    "range": "lists.range(1000000000).size() > 0",
    "ranges nested": "lists.range(1000).map(x, lists.range(1000).map(y, lists.range(1000))).size() > 0",
    "format": '"' + "%s" * 2000 + '".format([' + ",".join(["1"] * 2000) + ']) == ""',
    "format precision": '"%.999999999f".format([1.0]) == ""',
    "split": f'"{"," * 9000}".split(",").size() > 0',
    "sort": "lists.range(100000).sortBy(x, -x).size() > 0",
    "flatten": "[[[[[[[[1]]]]]]]].flatten(1000000000).size() > 0",
    "duration": f'duration("{"1h" * 4000}") > duration("1s")',
    "address": f'isIP("{"1:" * 4000}")',
    "url": f'isURL("http://{"%41" * 3000}")',
    "nul": "\x00" * 10_000,
    "surrogates": "\ud800" * 3_000,
    "quotes": '"' * 10_001,
    "comments": "//" * 5_000,
    "escapes": '"' + "\\u0041" * 1_600 + '" == ""',
}  # fmt: skip


SCALE: Final = 20
BOUND_BY_LENGTH: Final = {"many lists unified", "nested repeat", "wide class"}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_it_ends_soon_with_an_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Admission, compilation without the API's bounds, evaluation, and the explanation of what did not end early.

    Counting calls is slow, so all bounds are a twentieth here, and so is the number of calls; where only the length of
    the text bounds the work, they are what they are.
    """
    expression = ADVERSARIAL[name]
    scale = 1 if name in BOUND_BY_LENGTH else SCALE
    for bound in ("meter.MAX_PARTS", "meter.MAX_WORK", "meter.MAX_STEPS", "selector.COST_LIMIT", "explain.COST_LIMIT",
                  "selector.FAST_ESTIMATE"):  # fmt: skip
        module, _, constant = bound.partition(".")
        full = getattr(import_module(f"components.cel.{module}"), constant)
        monkeypatch.setattr(f"components.cel.{bound}", full // scale)
    if name == "macros copy":
        monkeypatch.setattr("components.cel.parser.MAX_NODES", MAX_NODES // scale)
    assert len(expression.encode("utf-8", "surrogatepass")) <= MAX_BYTES
    with counted_calls() as counter:
        refusal = admit(expression, stored=True).error
        try:
            selector = compile_unlimited(expression)
        except SelectorError as error:
            assert len(error.caret()) < MAX_MESSAGE  # noqa: PT017 - a refusal is right, too
            answer = None
        else:
            answer = selector.evaluate(VIEW)
    assert counter.calls < CALLS // scale
    assert refusal is None or len(refusal.message) <= MAX_MESSAGE
    if answer is not None:
        assert len(answer.message) <= MAX_MESSAGE
        if answer.outcome is not Outcome.ERROR and selector.estimate < EXPLAINED:
            assert selector.counted(VIEW)[0] == answer
            assert sum(len(part.text) + len(part.value) for part in explain(selector, VIEW).parts) < EXPLAINED


@pytest.mark.parametrize("name", ["text doubled", "lists doubled", "replace grows", "ranges nested"])
def test_memory_is_bounded(name: str) -> None:
    """What would grow a thousand times ends instead."""
    tracemalloc.start()
    try:
        answer = compile_unlimited(ADVERSARIAL[name]).evaluate(VIEW)
        peak = tracemalloc.get_traced_memory()[1]
    except SelectorError:
        peak = tracemalloc.get_traced_memory()[1]
    else:
        assert answer.outcome in set(Outcome)
    finally:
        tracemalloc.stop()
    assert peak < MEMORY


def test_the_cost_limit_ends_an_evaluation() -> None:
    """Counted, as upstream does; no ``||`` absorbs it."""
    answer, cost = compile_unlimited(f"{nested(6)} || true").counted(VIEW)
    assert (answer.outcome, answer.kind) == (Outcome.ERROR, "cost-limit")
    assert cost > COST_LIMIT
    assert admit(f"{nested(6)} || true", stored=True).error is not None


@pytest.mark.parametrize("text", ["9" * 100_000, "1e99999999999999999999", "0." + "0" * 100_000 + "1", "e" * 100_000])
def test_quantities_are_bounded_too(text: str) -> None:
    """A quantity from a manifest may be anything."""
    with counted_calls() as counter:
        try:
            quantity = Quantity.parse(text)
        except QuantityError:
            quantity = Quantity.parse("1")
        else:
            assert quantity.compare(quantity.add(quantity)) in {-1, 0}
    assert counter.calls < len(text) * 10


def test_a_long_chain_of_errors_names_the_first() -> None:
    """As upstream does for ``||``."""
    answer = compile_selector(" || ".join(f"{A}.n{number}" for number in range(50)), stored=True).evaluate(VIEW)
    assert answer.outcome is Outcome.ERROR
    assert f"{D}/n0" in answer.message


@pytest.mark.parametrize(
    "pattern", ["(a?){24}b", "(a?a?){20}b", "a*a*b", "(a|a|a|a)(a|a|a|a)(a|a|a|a)(a|a|a|a)(a|a|a|a)b"]
)
def test_optional_repeats_do_not_explode(pattern: str) -> None:
    """The interpreter's own engine backtracks; it is only asked where that is cheap."""
    meter = Meter()
    METER.set(meter)
    assert not computed_pattern(pattern).matches("a" * 64)
    assert meter.steps >= MAX_STEPS - 1_000_000
    assert meter.work >= MAX_WORK - 20_000
    METER.set(None)


def test_all_searches_of_one_evaluation_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is within its own bound; the sum is an error, which is never a match."""
    monkeypatch.setattr("components.cel.meter.MAX_WORK", 100_000)  # a fortieth, to be quick
    for name in ("searches for places", "patterns"):
        answer = compile_unlimited(ADVERSARIAL[name]).evaluate(VIEW)
        assert (answer.outcome, answer.kind) == (Outcome.ERROR, "unsupported")
    monkeypatch.setattr("components.cel.meter.MAX_WORK", 300)
    text = "aabbabaaababbbab" * 60  # meets many states, where a regular one meets a few again and again
    states = compile_unlimited(f'[1].exists(x, "{text}".matches("(a|b)*a(a|b)(a|b)(a|b)(a|b)c"))')
    assert states.evaluate(VIEW).kind == "unsupported"


def test_a_pattern_is_searched_by_states_that_are_computed_once() -> None:
    """What upstream answers at a cost within its limit is answered, and not refused."""
    answer = compile_selector(ADVERSARIAL["searches"], stored=True).evaluate(VIEW)
    assert answer.outcome is Outcome.NO_MATCH


def test_parts_of_values_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the evaluation ends, and no ``||`` makes a match of it."""
    text = f"{held_twice(9, 'v9 == v9')} || true"
    assert compile_unlimited(text).evaluate(VIEW).outcome is Outcome.MATCH
    monkeypatch.setattr("components.cel.meter.MAX_PARTS", 500)
    answer = compile_unlimited(text).evaluate(VIEW)
    assert (answer.outcome, answer.kind) == (Outcome.ERROR, "unsupported")
    assert "more than" in answer.message
