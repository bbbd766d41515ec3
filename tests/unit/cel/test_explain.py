"""Why a selector answers as it does."""

import pytest

from components.cel.device import DeviceView
from components.cel.explain import explain, tally
from components.cel.selector import compile_selector, compile_unlimited

D = "driver.example.com"
A = f'device.attributes["{D}"]'


def view(**attributes: dict[str, object]) -> DeviceView:
    """Make a device."""
    return DeviceView.from_class_device(driver=D, attributes=attributes, capacity={"memory": "80Gi"})


FULL = view(arch={"string": "Hopper"}, index={"int": 3}, mig={"bool": False}, cc={"version": "9.0.0"})


def decided(expression: str, device: DeviceView = FULL) -> list[tuple[str, str]]:
    """Give the clause that decided, with its value."""
    parts = explain(compile_unlimited(expression, minor="1.36"), device).parts
    return [(part.text, part.value) for part in parts if part.decided]


def test_every_part_that_was_evaluated_in_source_order() -> None:
    """What was skipped is left out."""
    explanation = explain(compile_selector(f'{A}.arch == "Hopper" && ({A}.index > 5 || {A}.mig)'), FULL)
    shown = [(part.text.replace(A, "A"), part.value) for part in explanation.parts if not part.obvious]
    assert [part for part in shown if part[0] not in {"A", "device.attributes"}] == [
        ('A.arch == "Hopper" && (A.index > 5 || dev...', "false"),
        ('A.arch == "Hopper"', "true"),
        ("A.arch", '"Hopper"'),
        ("A.index > 5 || A.mig", "false"),
        ("A.index > 5", "false"),
        ("A.index", "3"),
        ("A.mig", "false"),
    ]
    assert ("A", '{"arch": "Hopper", "index": 3, "mig": false, "cc": semver("9.0.0")}') in shown
    assert explanation.cost > 0


def test_what_was_skipped_is_left_out() -> None:
    """The second clause was not asked."""
    shown = explain(compile_selector(f"{A}.index == 4 && {A}.nope"), FULL).parts
    assert not [part for part in shown if part.text == f"{A}.nope"]


@pytest.mark.parametrize(
    ("expression", "clause", "value"),
    [
        (f'{A}.arch == "Hopper" && {A}.index == 4', f"{A}.index == 4", "false"),
        (f"{A}.index == 4 || {A}.index == 3", f"{A}.index == 3", "true"),
        (f"!({A}.index == 3)", f"{A}.index == 3", "true"),
        (f"{A}.mig ? true : {A}.index == 3", f"{A}.index == 3", "true"),
        (f"{A}.index == 3 && {A}.arch != 3", f"{A}.index == 3 && {A}.arch != 3", "true"),
        (f"[1, 2].exists(x, x == {A}.index)", f"[1, 2].exists(x, x == {A}.index)", "false"),
    ],
)
def test_the_clause_that_settled_it(expression: str, clause: str, value: str) -> None:
    """The deepest clause that alone makes the answer what it is."""
    assert decided(expression) == [(clause, value)]


def test_an_error_points_at_the_clause_that_made_it() -> None:
    """The message tells how to guard."""
    ((clause, value),) = decided(f'{A}.arch == "Hopper" && {A}.nope == 1')
    assert clause == f"{A}.nope == 1"
    assert value.startswith("error: this device has no attribute driver.example.com/nope; guard with has(")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('quantity("1.5Gi")', 'quantity("1536Mi")'),
        ("device", None),
        ('b"a"', 'b"a"'),
        ("optional.none()", "optional.none()"),
        ("optional.of(1)", "optional.of(1)"),
        ("{1: [dyn(1), dyn(2u), dyn(1.5), dyn(null)]}", None),
        ("type(1)", "int"),
        ('duration("90s")', None),
        ('timestamp("2020-01-01T00:00:00Z")', None),
        ('url("http://a/b")', None),
        ('ip("1.2.3.4")', None),
        ('cidr("1.2.3.0/24")', None),
    ],
)
def test_values_are_written_as_in_the_language(expression: str, value: str | None) -> None:
    """Whatever a part may be, it is short text."""
    parts = explain(compile_unlimited(f"cel.bind(x, dyn({expression}), x == x)", minor="1.36"), FULL).parts
    assert parts
    parts = explain(compile_unlimited(f"dyn({expression}) == {A}.index", minor="1.36"), FULL).parts
    shown = {part.text: part.value for part in parts}
    wanted = value if value is not None else shown[f"dyn({expression})"]
    assert any(part.value == wanted for part in parts) or value is None
    assert all(len(part.value) <= 130 for part in parts)


def test_a_binding_with_the_name_of_an_accumulator_is_explained() -> None:
    """Upstream prices it as a fold; it is a binding all the same."""
    text = "cel.bind(__result__, 1, __result__ == 1)"
    assert (text, "true") in [(part.text, part.value) for part in explain(compile_selector(text), FULL).parts]


def rounds(expression: str) -> dict[str, tuple[str, ...]]:
    """Give the values of the parts that stand in the body of a macro."""
    parts = explain(compile_unlimited(expression, minor="1.36"), FULL).parts
    return {part.text.replace(A, "A"): part.rounds for part in parts if part.rounds}


def test_the_body_of_a_macro_has_a_value_for_each_round() -> None:
    """Until the answer is settled; also of what ``has()`` and an optional selection give, once a round."""
    assert rounds(f"[1, 3, 4].exists(x, x == {A}.index)") == {
        "x == A.index": ("false", "true"),
        "x": ("1", "3"),
        "A.index": ("3", "3"),
        "A": ('{"arch": "Hopper", "index": 3, "mig": false, "cc": semver("9.0.0")}',) * 2,
        "device.attributes": (f'{{"{D}": {{"arch": "Hopper", "index": 3, "mig": false, "cc": semver("9.0.0")}}}}',) * 2,
        f'"{D}"': (f'"{D}"',),
    }
    assert rounds(f'{A}.exists_one(k, k == "mig" && !{A}[k])')["k"] == ('"arch"', '"index"', '"mig"', '"cc"')
    assert rounds("[{1: 2}, {}].all(m, m[?1].hasValue())")["m[?1]"] == ("optional.of(2)", "optional.none()")
    assert rounds("[{'a': 2}, {'b': 1}].exists(m, has(m.b))")["has(m.b)"] == ("false", "true")


def test_only_the_first_rounds_are_kept() -> None:
    """Eight, with the number of all."""
    parts = explain(compile_unlimited("lists.range(20).all(x, x >= 0)"), FULL).parts
    (test,) = [part for part in parts if part.text == "x >= 0"]
    assert (test.rounds, test.times, test.value) == (("true",) * 8, 20, "true")


def test_what_failed_in_a_round_is_kept() -> None:
    """The step that failed is not the value of the round before."""
    shown = rounds("[{'a': 1}, {'b': 1}].map(m, m.a) == []")["m.a"]
    assert (shown[0], shown[1].startswith("error: no such key")) == ("1", True)


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("cel.bind(x, 1 + 1, x == 2)", {"1 + 1": "2", "x == 2": "true", "x": "2"}),
        (f'{A}.?arch.optMap(a, a + "!").hasValue()', {f"{A}.?arch": 'optional.of("Hopper")', 'a + "!"': '"Hopper!"'}),
        (f"{A}.?nope.optMap(a, a == 1).hasValue()", {f"{A}.?nope": "optional.none()"}),
        ("[2, 1].sortBy(x, -x) == [2, 1]", {"[2, 1].sortBy(x, -x)": "[2, 1]", "-x": "-1"}),
        ("[1, 2].filter(x, x > 1) == [2]", {"[1, 2].filter(x, x > 1)": "[2]", "x > 1": "true"}),
        ('semver("1.0.0") == semver("1.0.0")', {'semver("1.0.0")': 'semver("1.0.0")', '"1.0.0"': '"1.0.0"'}),
    ],
)
def test_parts_are_those_that_were_written(expression: str, parts: dict[str, str]) -> None:
    """And not what a macro expands to."""
    found = explain(compile_unlimited(expression, minor="1.36"), FULL).parts
    assert parts.items() <= {part.text: part.value for part in found}.items()
    assert not [part.text for part in found if "@" in part.text or "optional.of(cel.bind" in part.text]


def test_literals_that_were_evaluated_are_parts() -> None:
    """They say nothing new, and are marked as such; one that was skipped is left out."""
    found = explain(compile_selector(f'{A}.index == 4 && {A}.arch == "Hopper"'), FULL).parts
    assert [part.text for part in found if part.obvious] == [f'"{D}"', "4"]


def test_a_malformed_device_explains_itself() -> None:
    """There is nothing to evaluate."""
    broken = view(arch={"string": "x" * 100})
    explanation = explain(compile_selector(f'{A}.arch == "Hopper"'), broken)
    assert (str(explanation.answer.outcome), explanation.parts) == ("error", ())


def test_the_cost_limit_explains_itself() -> None:
    """The whole is an error."""
    inner = "lists.range(900000).map(x, x).size() > 0"
    explanation = explain(compile_unlimited(inner), FULL)
    assert explanation.answer.kind == "cost-limit"
    assert explanation.parts[0].value.startswith("error: ")


def test_answers_are_counted_over_devices() -> None:
    """With the messages of the failures."""
    devices = [FULL, view(arch={"string": "Ampere"}), view(), view()]
    counted = tally(compile_selector(f'{A}.arch == "Hopper"'), devices)
    assert (counted.match, counted.no_match, counted.error) == (1, 1, 2)
    assert list(counted.messages.values()) == [2]
