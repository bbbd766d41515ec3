"""Selectors as the scheduler uses them: answers, messages, several at once, cache, and threads."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import components.cel as package
from components.cel.allocate import evaluate_all
from components.cel.device import DeviceView
from components.cel.environment import Gates, environment, minor_of
from components.cel.problem import MAX_MESSAGE, SelectorError, bounded
from components.cel.selector import Outcome, admit, compile_selector, compile_unlimited, first_minor_that_takes

GPU = "gpu.nvidia.com"
A = f'device.attributes["{GPU}"]'
C = f'device.capacity["{GPU}"]'


def view(**kwargs: Any) -> DeviceView:
    """Make a device."""
    attributes = {"architecture": {"string": "Hopper"}, "index": {"int": 3}, "mig": {"bool": False},
                  "cc": {"version": "9.0.0"}}  # fmt: skip
    usual: dict[str, Any] = {
        "driver": GPU,
        "attributes": attributes,
        "capacity": {"memory": "80Gi", "cores": "132"},
    }
    return DeviceView.from_class_device(**usual | kwargs)


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        (f'{A}.architecture == "Hopper" && {A}.index == 3 && {C}.memory.compareTo(quantity("20Gi")) >= 0', "match"),
        (f'{A}.architecture == "Hopper" && {A}.index == 4', "no-match"),
        (f'{C}.memory.compareTo(quantity("80Gi")) == 0', "match"),
        (f'{C}.memory.compareTo(quantity("81920Mi")) == 0', "match"),
        (f'{C}.memory.compareTo(quantity("81Gi")) < 0', "match"),
        (f'{C}.memory.isGreaterThan(quantity("1k"))', "match"),
        (f'{C}.memory.isLessThan(quantity("1Gi"))', "no-match"),
        (f"{C}.cores.asInteger() > 100", "match"),
        (f'{A}.cc.isGreaterThan(semver("8.9.0"))', "match"),
        (f"{A}.index > 2", "match"),
        (f"{A}.architecture > 2", "error"),
        (f'{A}.cc == "9.0.0"', "error"),
        (f'{A}.cc in ["9.0.0"]', "error"),
        (f"{A}.index", "error"),
        (f"{A}.nope == 1", "error"),
        (f"{A}.nope == 1 || true", "match"),
        (f"{A}.nope == 1 && false", "no-match"),
        (f"{A}.nope == 1 || {A}.mig || {A}.index == 3", "match"),
        (f"{A}.nope == 1 && {A}.index == 3 && {A}.mig", "no-match"),
        (f"{A}.index == 3 && {A}.nope == 1 && {A}.index == 3", "error"),
        (f"{A}.index == 3 && {A}.index == 3 && {A}.nope == 1", "error"),
        (f"{A}.index && {A}.index == 3 && {A}.index == 3", "error"),
        (f"{A}.index && {A}.mig", "no-match"),
        (f"{A}.index || {A}.mig", "error"),
        (f"{A}.mig || {A}.index", "error"),
        (f"{A}.nope == 1 || {A}.nope == 2 || {A}.nope == 3 || {A}.index == 3", "match"),
        (f"{A}.mig || {A}.mig || {A}.index || {A}.nope == 1", "error"),
        (f"{A}.mig || {A}.mig || {A}.mig || {A}.mig", "no-match"),
        (f'{A}[{A}.architecture == "x" ? "index" : "mig"] == false', "match"),
        ("device.allowMultipleAllocations", "no-match"),
        (f"{A}.?nope.orValue(0) == 0 && {A}.?index.orValue(0) == 3", "match"),
        (f"{C}.?memory.hasValue() && !{C}.?nope.hasValue()", "match"),
        (f"has({A}.index) && !has({C}.nope) && has({C}.memory) && !has({A}.nope)", "match"),
    ],
)  # fmt: skip
def test_both_ways_of_evaluating_give_the_answer(expression: str, outcome: str) -> None:
    """The closures and the counted evaluation agree."""
    selector = compile_unlimited(expression)
    answer = selector.evaluate(view())
    assert answer.outcome == outcome
    assert selector.counted(view())[0] == answer


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        (f"{A}.nope == 1", f'no attribute {GPU}/nope; guard with has(device.attributes["{GPU}"].nope)'),
        (f'{A}["a-b"] == 1', f'no attribute {GPU}/a-b; guard with "a-b" in device.attributes["{GPU}"]'),
        (f'{C}.nope == quantity("1")', f"no capacity {GPU}/nope"),
        ('{"a": 1}.b == 1 || device.driver == ""', "no such key: b; guard with"),
        (f"{A}.index", "gives a value of type int"),
        ('quantity("x") == quantity("y")', "is no quantity"),
    ],
)
def test_an_error_says_in_words_what_to_do(expression: str, part: str) -> None:
    """The message names what is missing and how to guard, and has a place."""
    answer = compile_unlimited(expression).evaluate(view())
    assert answer.outcome is Outcome.ERROR
    assert part in answer.message
    assert answer.position is not None


def test_messages_are_bounded() -> None:
    """Error text never grows with the input."""
    assert len(bounded("x" * 10_000)) == MAX_MESSAGE
    clauses = " && ".join(f'{A}.{"n" * 200}{i} == "x"' for i in range(40))
    assert len(compile_unlimited(clauses).evaluate(view()).message) <= MAX_MESSAGE


def test_what_the_api_server_refuses_is_raised() -> None:
    """A new selector is judged with its cost, a stored one with every library."""
    with pytest.raises(SelectorError, match="too complex") as caught:
        compile_selector(f'{C}.memory != quantity("80Gi")')
    assert caught.value.kind == "cost"
    with pytest.raises(SelectorError) as caught:
        compile_selector("[2,1].sort() == [1,2]")
    assert caught.value.kind == "undeclared"
    assert compile_selector("[2,1].sort() == [1,2]", stored=True).evaluate(view()).outcome is Outcome.MATCH
    assert compile_selector("[2,1].sort() == [1,2]", minor="1.35").evaluate(view()).outcome is Outcome.MATCH
    assert admit("true").estimate == 0
    assert admit("1").estimate is None


def test_the_scheduler_of_a_minor_decides() -> None:
    """In 1.37 attributes are dynamic, and so is what a selector may give."""
    assert compile_selector("true", minor="1.37").evaluate(view()).outcome is Outcome.MATCH
    unlimited = compile_unlimited("dyn(optional.of(true))", minor="1.37")
    assert unlimited.evaluate(view()).outcome is Outcome.MATCH
    assert compile_unlimited("dyn(optional.of(false))", minor="1.37").evaluate(view()).outcome is Outcome.NO_MATCH
    assert compile_unlimited("dyn(optional.of(1))", minor="1.37").evaluate(view()).kind == "non-bool-result"


def test_an_unknown_minor_is_a_mistake_of_the_caller() -> None:
    """Known minors are named."""
    with pytest.raises(ValueError, match=r"1\.34, 1\.35"):
        environment("1.33", stored=True)


def test_list_attributes_are_an_error_where_a_minor_cannot_read_them() -> None:
    """Before 1.37 the device itself is the error, unless the gate is on."""
    lists = view(attributes={"x": {"strings": ["a"]}})
    assert compile_selector("true").evaluate(lists).kind == "device-attribute"
    assert compile_selector("true", minor="1.37").evaluate(lists).outcome is Outcome.MATCH
    gated = compile_selector(f'{A}.x.includes("a")', minor="1.36", gates=Gates(list_type_attributes=True))
    assert gated.evaluate(lists).outcome is Outcome.MATCH


def test_several_selectors_stop_at_the_first_false_or_error() -> None:
    """Order decides; none at all is a match."""
    true, false, error = (compile_selector(text) for text in ("true", "false", f"{A}.nope == 1"))
    assert evaluate_all([], view()).outcome is Outcome.MATCH
    assert evaluate_all([true, true], view()).outcome is Outcome.MATCH
    assert evaluate_all([true, false, error], view()).outcome is Outcome.NO_MATCH
    assert evaluate_all([true, error, false], view()).outcome is Outcome.ERROR


def test_a_change_of_form_does_not_outlive_an_evaluation() -> None:
    """A comparison that grows the capacity leaves the device as it was."""
    device = view()
    changing = compile_unlimited(f'{C}.memory.isLessThan(quantity("8Ei")) && {C}.memory.isInteger()')
    assert changing.evaluate(device).outcome is Outcome.NO_MATCH
    assert changing.evaluate(device).outcome is Outcome.NO_MATCH
    assert compile_unlimited(f"{C}.memory.isInteger()").evaluate(device).outcome is Outcome.MATCH


def test_compiled_selectors_are_cached() -> None:
    """The same question gives the same object."""
    assert compile_selector("true  ") is compile_selector("true  ")


def test_eight_threads_share_selectors_without_a_wrong_answer() -> None:
    """Every thread sees the right answer every time."""
    numbers = range(20)
    devices = [view(attributes={"index": {"int": number}}) for number in numbers]
    fast = [compile_selector(f"{A}.index == {number} && [1, 2].exists(x, x == 2)") for number in numbers]
    slow = [
        compile_unlimited(f"{A}.index == {number} && {C}.memory.add(1).compareTo({C}.memory) == 1")
        for number in numbers
    ]

    def run(seed: int) -> bool:
        for step in range(200):
            which, device = (seed + step) % 20, (seed * 7 + step) % 20
            for selectors in (fast, slow):
                got = selectors[which].evaluate(devices[device]).outcome is Outcome.MATCH
                if got is not (which == device):
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_the_package_gives_its_names_and_imports_nothing_heavy() -> None:
    """Names are found on demand; the oracle of the tests, pulumi and pydantic stay out."""
    assert package.compile_selector is compile_selector
    assert {getattr(package, name) for name in package.__all__}
    with pytest.raises(AttributeError, match="nothing"):
        _ = package.nothing
    code = (
        "import sys, components.cel.selector; "
        "print([name for name in ('celpy', 'pulumi', 'pydantic', 'yaml', 'logging') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["IP", "CIDR", "Duration", "Timestamp"])
def test_a_field_may_be_named_as_a_type(name: str) -> None:
    """Only the whole dotted name, such as ``net.IP``, is the type."""
    assert admit(f'{{"{name}": true}}.{name}').error is None


@pytest.mark.parametrize(
    ("version", "minor"),
    [
        ("", "1.34"),
        ("latest", "1.34"),
        ("1.20", "1.34"),
        ("v1.34.4", "1.34"),
        ("1.35", "1.35"),
        ("v1.35.2-eks-1", "1.35"),
        ("1.36.1-gke.100", "1.36"),
        ("1.99", "1.37"),
        ("1.100.0", "1.37"),
        ("2.36", "1.34"),
    ],
)
def test_a_version_that_the_language_does_not_know_is_taken_for_the_nearest_older(version: str, minor: str) -> None:
    """A newer Kubernetes takes what the newest known one takes; what cannot be read is the oldest, which is safe."""
    assert minor_of(version) == minor


@pytest.mark.parametrize(
    ("expression", "after", "minor"),
    [
        ("lists.range(3).exists(i, i == 1)", "1.34", "1.35"),
        ("device.allowMultipleAllocations", "1.34", "1.36"),
        ("device.allowMultipleAllocations", "1.35", "1.36"),
        ("device.nothing", "1.34", ""),
        ("device.nothing", "1.37", ""),
    ],
)
def test_the_first_minor_that_takes_an_expression_is_known(expression: str, after: str, minor: str) -> None:
    """Empty where none of the newer ones does."""
    assert first_minor_that_takes(expression, after=after) == minor
