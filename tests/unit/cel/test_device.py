"""Device views: the same answers from a class and from a slice, bounds, and malformed devices."""

from typing import Any

import pytest

from components.cel.device import DeviceView
from components.cel.selector import Outcome, compile_selector

SLICE: dict[str, Any] = {
    "name": "gpu-0",
    "attributes": {"type": {"string": "gpu"}, "other.example.com/n": {"int": 2}, "v": {"version": "1.2.3"}},
    "capacity": {"memory": {"value": "80Gi"}, "cores": {"value": 4}},
    "allowMultipleAllocations": True,
}
EXPRESSION = (
    'device.driver == "d" && device.attributes["d"].type == "gpu" && device.attributes["other.example.com"].n == 2'
    ' && device.capacity["d"].memory.compareTo(quantity("80Gi")) == 0'
)


def of_class(**kwargs: Any) -> DeviceView:
    """View a device of a class."""
    usual: dict[str, Any] = {"driver": "d", "attributes": {}, "capacity": {}}
    return DeviceView.from_class_device(**usual | kwargs)


def test_class_and_slice_describe_the_same_device() -> None:
    """Equal descriptions are equal views, with equal answers."""
    plain = DeviceView.from_slice_device("d", SLICE)
    nested = DeviceView.from_slice_device("d", {"name": "x", "basic": SLICE})
    described = of_class(
        attributes=SLICE["attributes"], capacity={"memory": "80Gi", "cores": 4}, allow_multiple_allocations=True
    )
    assert plain == nested == described
    assert len({plain, nested, described}) == 1
    assert plain != "d"
    for view in (plain, nested, described):
        assert compile_selector(EXPRESSION).evaluate(view).outcome is Outcome.MATCH


def test_kinds_of_values_are_told_apart() -> None:
    """1, true and "1" are different devices."""
    values = [{"int": 1}, {"bool": True}, {"string": "1"}, {"version": "1.0.0"}, {"ints": [1]}, {"bools": [True]}]
    assert len({of_class(attributes={"x": value}) for value in values}) == len(values)


@pytest.mark.parametrize(
    ("kwargs", "part"),
    [
        ({"attributes": {"x": {"version": "1.0"}}}, "parse semantic version"),
        ({"attributes": {"x": {}}}, "unsupported attribute value"),
        ({"attributes": {"x": 1}}, "expected one of"),
        ({"attributes": {"x": {"int": "1"}}}, "wrong type: it must be an integer"),
        ({"attributes": {"x": {"version": 570.1}}}, "570.1 has the wrong type: it must be text, in quotes"),
        ({"attributes": {"x": {"int": True}}}, "wrong type"),
        ({"attributes": {"x": {"int": 2**63}}}, "64 bits"),
        ({"attributes": {"x": {"ints": 1}}}, "must be a list"),
        ({"attributes": {"x": {"strings": [1]}}}, "wrong type"),
        ({"attributes": {"x": {"int": 1, "bool": True}}}, "exactly one"),
        ({"attributes": {"x": {"string": "a" * 65}}}, "longer than 64"),
        ({"attributes": {"x": {"ints": list(range(49))}}}, "49 values"),
        ({"attributes": {"a" * 33: {"int": 1}}}, "longer than 32"),
        ({"attributes": {"a" * 64 + "/x": {"int": 1}}}, "longer than 63"),
        ({"attributes": {f"a{number}": {"int": 1} for number in range(33)}}, "33 attributes"),
        ({"driver": "d" * 64}, "longer than 63"),
        ({"capacity": {"x": "1K"}}, "capacity x"),
        ({"capacity": {"x": None}}, "capacity x"),
        ({"capacity": {"x": True}}, "capacity x"),
    ],
)
def test_a_malformed_device_answers_error_to_every_selector(kwargs: dict[str, Any], part: str) -> None:
    """It is kept, and the message says what is wrong."""
    view = of_class(**kwargs)
    assert part in view.problem
    answer = compile_selector("true").evaluate(view)
    assert answer.outcome is Outcome.ERROR
    assert answer.kind == "device-attribute"
    assert part in answer.message
    assert compile_selector("true").counted(view)[0] == answer


def test_tables_may_hold_devices_beyond_the_bounds() -> None:
    """Without bounds a long value is read as upstream's own code reads it."""
    view = of_class(attributes={"x": {"string": "a" * 65}}, bounded=False)
    assert compile_selector('device.attributes["d"].x.size() == 65').evaluate(view).outcome is Outcome.MATCH


def test_numbers_are_taken_as_quantities() -> None:
    """YAML reads an unquoted quantity as a number."""
    view = of_class(capacity={"x": 4, "y": 1.5})
    assert view.problem == ""
    assert compile_selector('device.capacity["d"].y == quantity("1500m")').evaluate(view).outcome is Outcome.MATCH
