"""The base of immutable values: it gives what a frozen dataclass gives."""

import copy
import pickle
from typing import Any

import pytest

from components.cel.device import DeviceView
from components.cel.problem import Position
from components.cel.quantity import Quantity
from components.cel.selector import compile_selector
from components.cel.semver import Semver
from components.cel.values import Cidr, Duration, IpAddress, Opt, TypeValue


def test_values_are_equal_by_their_parts_and_their_class() -> None:
    """Hashes follow."""
    assert Position(1, 2, 3) == Position(1, 2, 3) != Position(1, 2, 4)
    assert {Opt(1), Opt(1), Opt(2)} == {Opt(2), Opt(1)}
    assert Opt("int") != TypeValue("int")
    assert Duration(1) != 1
    assert compile_selector("true  ") != compile_selector("true   ")


def test_nobody_changes_a_value() -> None:
    """Neither by setting nor by deleting an attribute."""
    place: Any = Position(1, 2, 3)
    with pytest.raises(AttributeError, match="Position is immutable: line cannot be set"):
        place.line = 4
    with pytest.raises(AttributeError, match="Position is immutable: line cannot be deleted"):
        del place.line
    assert place.line == 2


@pytest.mark.parametrize(
    "value",
    [
        Quantity.parse("1.5Gi"),
        Semver.parse("1.2.3-rc.1+b"),
        Cidr(IpAddress(1, 4), 8),
        DeviceView.from_class_device(driver="d", attributes={"a": {"int": 1}}, capacity={"m": "1"}),
    ],
    ids=["quantity", "version", "block", "device"],
)
def test_values_can_be_copied_and_stored(value: object) -> None:
    """What is read back is equal."""
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - written right here


def test_a_value_shows_its_parts() -> None:
    """For failures of tests."""
    assert repr(Position(1, 2, 3)) == "Position(column=3, line=2, offset=1)"
