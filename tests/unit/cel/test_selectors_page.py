"""The page for users about selectors: every expression on it does what the page says, and none is left untested."""

import re
from pathlib import Path
from typing import Final

import pytest

from components.cel.device import DeviceView
from components.cel.environment import MINORS
from components.cel.problem import SelectorError
from components.cel.selector import admit, compile_selector

PAGE: Final = (Path(__file__).parents[3] / "docs/concepts/selectors.md").read_text(encoding="utf-8")
A: Final = 'device.attributes["gpu.nvidia.com"]'
C: Final = 'device.capacity["gpu.nvidia.com"]'
H100: Final = DeviceView.from_class_device(
    driver="gpu.nvidia.com",
    attributes={
        "architecture": {"string": "Hopper"},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "index": {"int": 3},
    },
    capacity={"memory": "81559Mi"},
)
NIC: Final = DeviceView.from_class_device(driver="nic.example.com", attributes={"speed": {"int": 400}}, capacity={})
BLOCK: Final = re.search(r"expression: \|\n((?: {8}.*\n)+)", PAGE)


def said(expression: str, view: DeviceView) -> str:
    """Give the outcome, or the class of what the API server refuses."""
    try:
        return str(compile_selector(expression, minor="1.34").evaluate(view).outcome)
    except SelectorError as error:
        return error.kind


CASES: Final = [
    # what stands on the page, the whole expression, on an H100, on a network card
    (f"{A}.mig == true", "", "error", "error"),
    (f"has({A}.mig) && …", f"has({A}.mig) && {A}.mig", "no-match", "no-match"),
    (f"{A}.?mig.orValue(false)", f"{A}.?mig.orValue(false) == true", "no-match", "no-match"),
    (
        'device.driver == "gpu.nvidia.com" && …',
        f'device.driver == "gpu.nvidia.com" && {A}.index == 3',
        "match",
        "no-match",
    ),
    ('….cudaComputeCapability == "9.0.0"', f'{A}.cudaComputeCapability == "9.0.0"', "error", "error"),
    (
        '….cudaComputeCapability.compareTo(semver("9.0.0")) >= 0',
        f'{A}.cudaComputeCapability.compareTo(semver("9.0.0")) >= 0',
        "match",
        "error",
    ),
    (
        '….cudaComputeCapability == semver("9.0.0")',
        f'{A}.cudaComputeCapability == semver("9.0.0")',
        "match",
        "error",
    ),
    ("….memory > 80", f"{C}.memory > 80", "no-matching-overload", "no-matching-overload"),
    ('….memory >= quantity("80Gi")', f'{C}.memory >= quantity("80Gi")', "no-matching-overload", "no-matching-overload"),
    (
        '….memory.compareTo(quantity("80Gi")) >= 0',
        f'{C}.memory.compareTo(quantity("80Gi")) >= 0',
        "no-match",  # the fifth mistake: 81559Mi is less
        "error",
    ),
    ('….index == "3"', f'{A}.index == "3"', "no-match", "error"),
    ('….index > "3"', f'{A}.index > "3"', "error", "error"),
    (A + ".mig", "", "error", "error"),
    ("device.capacity[…].memory", f"{C}.memory", "result-type", "result-type"),
    ('["a", 1]', 'device.driver in ["a", 1]', "type-mismatch", "type-mismatch"),
    (
        '….productName.contains("H100")',
        f'{A}.productName.contains("H100") && {A}.productName != "H100"',
        "match",
        "error",
    ),
    ('quantity("1.0").isInteger()', "", "no-match", "no-match"),
]


@pytest.mark.parametrize(("shown", "expression", "h100", "nic"), CASES, ids=[case[0] for case in CASES])
def test_an_expression_of_the_page_does_what_it_says(shown: str, expression: str, h100: str, nic: str) -> None:
    """On a device that has the attribute, and on one of another driver."""
    assert f"`{shown}`" in " ".join(PAGE.split())
    assert (said(expression or shown, H100), said(expression or shown, NIC)) == (h100, nic)


def test_every_expression_of_the_page_is_tested() -> None:
    """A new one needs a row above."""
    spans = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    compared = {" ".join(span.split()) for span in spans if re.search(r"== |>= |> \S|\[\"a\"|\.mig\b|orValue\(", span)}
    assert compared <= {case[0] for case in CASES}


def test_the_first_example_matches_what_it_asks_for() -> None:
    """A Hopper with 80Gi, and no other device."""
    assert BLOCK is not None
    big = DeviceView.from_class_device(
        driver="gpu.nvidia.com", attributes={"architecture": {"string": "Hopper"}}, capacity={"memory": "80Gi"}
    )
    assert said(BLOCK[1], big) == "match"
    assert said(BLOCK[1], H100) == "no-match"
    assert all(admit(BLOCK[1], minor=minor).error is None for minor in MINORS)


def test_errors_pass_on_as_the_page_says() -> None:
    """The seventh mistake."""
    broken = f"{A}.mig"
    assert said(f"{broken} || true", H100) == "match"
    assert said(f"{broken} && false", H100) == "no-match"
    assert [said(text, H100) for text in (f"!{broken}", f"{broken} || false", f"{broken} && true")] == ["error"] * 3


def test_four_nested_loops_over_attributes_are_too_costly() -> None:
    """The tenth mistake; three are taken."""
    text = "a == b"
    for number in range(4):
        if number == 3:
            assert admit(text.replace("a == b", "x0 == x1")).error is None
        text = f"{A}.exists(x{number}, {text})"
    refusal = admit(text.replace("a == b", "x0 == x1"), stored=True).error
    assert refusal is not None
    assert refusal.kind == "cost"


@pytest.mark.parametrize("wrong", ["device.driver = 'a'", "true and true", "true or true", "not true"])
def test_words_of_other_languages_are_refused(wrong: str) -> None:
    """The ninth mistake."""
    assert said(wrong, H100) == "syntax"
