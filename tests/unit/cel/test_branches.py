"""Branches that no row of the case tables takes: what is refused only here, shallow stacks, values of the engine."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from components.cel.device import DeviceView
from components.cel.environment import environment
from components.cel.failing import failing_calls
from components.cel.problem import SelectorError
from components.cel.selector import Outcome, admit, compile_unlimited
from components.cel.types import STRING

VIEW = DeviceView.from_class_device(driver="gpu.example.com", attributes={}, capacity={})
THREE_MILLION = f'"{"a" * 1000}".replace("a", "{"b" * 3000}")'
T = TypeVar("T")


def with_few_frames(frames: int, work: Callable[[], T]) -> T:
    """Call where only so many frames are left on the stack."""
    depth = 0
    frame: Any = sys._getframe()
    while frame is not None:
        depth += 1
        frame = frame.f_back

    def descend(left: int) -> T:
        return work() if left <= 0 else descend(left - 1)

    return descend(sys.getrecursionlimit() - depth - frames)


@pytest.mark.parametrize(
    "expression",
    [
        '"%.1001f".format([1.5]) == ""',
        '"%.1001e".format([1.5]) == ""',
        '[1.5].all(x, "%.1001f".format([x]) == "")',
        '[1.5].all(x, "%.1001e".format([x]) == "")',
        'timestamp("2020-01-01T00:00:00Z").getHours("Europe/Paris") == 1',
        '"a".matches("\\\\p{Greek}")',
        '["a"].all(x, x.matches("\\\\p{Greek}"))',
        '"a".matches("(?:abcdefghabcdefghabcdefghabcdefgh){1000}")',
        f'"a".matches("{"a{1000}" * 21}")',
        "lists.range(1000001).size() > 0",
        "cel.bind(r, lists.range(1000), lists.range(1001).map(x, r).flatten().size() > 0)",
        f'cel.bind(s, {THREE_MILLION}, "%s%s".format([s, s])) == ""',
        f'cel.bind(s, {THREE_MILLION}, [s, s].join()) == ""',
        f'isQuantity("{"1" * 40}e1000000")',
    ],
)
def test_what_this_engine_does_not_compute_is_an_error(expression: str) -> None:
    """Upstream answers, at a cost; here it is said that it is not computed, which is no match."""
    answer = compile_unlimited(expression).evaluate(VIEW)
    assert (answer.outcome, answer.kind) == (Outcome.ERROR, "unsupported")
    assert compile_unlimited(expression).counted(VIEW)[0].outcome is Outcome.ERROR


@pytest.mark.parametrize(
    "expression",
    [
        "lists.range(5001).distinct().size() > 0",
        "sets.contains(lists.range(5001), lists.range(5001))",
    ],
)
def test_what_upstream_stops_for_its_cost_is_not_computed(expression: str) -> None:
    """The work is refused before the cost, which grows with it, ends the evaluation."""
    answer = compile_unlimited(expression).evaluate(VIEW)
    assert (answer.outcome, answer.kind) == (Outcome.ERROR, "cost-limit")


def test_a_shallow_stack_is_left_for_a_thread() -> None:
    """Where the caller's stack is nearly full, the answer and the refusal are those of a full one."""
    deep = "true == (" * 100 + "true" + ")" * 100
    selector = compile_unlimited(deep)
    assert with_few_frames(60, lambda: selector.evaluate(VIEW)).outcome is Outcome.MATCH
    wrong = deep.replace("(true)", "(nobody)")

    def refused() -> str:
        try:
            compile_unlimited(wrong)
        except SelectorError as error:
            return error.kind
        return ""

    assert with_few_frames(120, refused) == "undeclared"


def test_types_and_environments_compare_with_anything() -> None:
    """Types by their structure, environments by identity."""
    assert STRING != "string"
    assert environment("1.36", stored=True) == environment("1.36", stored=True)
    assert environment("1.36", stored=True) != environment("1.34", stored=True)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("true", []),
        ('quantity("80GB").isInteger() || semver("9.0") == semver("9.0.0")', [("quantity", "80GB"), ("semver", "9.0")]),
        ('ip("1.2.3.4") == ip("1.2.3") && url("/a").getHost() == ""', [("ip", "1.2.3")]),
        ('quantity(device.driver).isInteger() || quantity(dyn(1)) == quantity("1")', []),
        ("quantity(dyn(null)).isInteger()", []),
        ('cidr("10.0.0.0/8").ip() == ip("10.0.0.0")', []),
    ],
)
def test_calls_that_only_fail_are_found_where_they_stand(expression: str, found: list[tuple[str, str]]) -> None:
    """Those with constant texts; the receiver of a method and what a device gives are left alone."""
    calls = list(failing_calls(compile_unlimited(expression)))
    assert [(call.function, call.text) for call in calls] == found
    assert all(expression.encode()[call.position.offset :].startswith(b'"') for call in calls)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("cel.bind(.device, 1, true)", "type-mismatch"),
        ("cel.bind(.int, 1, true)", "type-mismatch"),
        ("optional.of(1).optMap(.device, true).hasValue()", "type-mismatch"),
        ('[1].all(x, cel.bind(.x, "a", x == 1))', "type-mismatch"),
        ('[{"foo": "x"}].all(device, .device.foo == "x")', "match"),
        ('[["a"]].all(device, .device[0].contains("a"))', "cost"),
        ('[{"driver": {"a": 1}}].all(device, .device.driver.all(k, k.contains("a")))', "cost"),
        ("cel.bind(a, [], (a + [2, 1]).sortBy(x, (a + [x]).size()) == [])", "invalid-argument"),
    ],
)
def test_a_name_after_a_dot_and_a_list_that_grows_surprise_nothing(expression: str, found: str) -> None:
    """A variable is bound with its dot and found without one, and a list of ``cel.bind`` grows while it is sorted."""
    error = admit(expression, stored=True).error
    if error is not None:
        assert error.kind == found
        return
    answer = compile_unlimited(expression).evaluate(VIEW)
    assert found in {answer.kind, answer.outcome.value}


@pytest.mark.parametrize(
    "expression",
    [
        "'''a\r\nb\rc''' == 'a\\nb\\nc'",
        "[quantity('1Gi')].all(q, q.add(quantity('1Gi')).compareTo(quantity('2Gi')) == 0)",
    ],
)
def test_what_is_seldom_written_means_the_same(expression: str) -> None:
    """Line ends of other systems, and a constant that is added."""
    assert compile_unlimited(expression).evaluate(VIEW).outcome is Outcome.MATCH
