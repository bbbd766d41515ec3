"""Property bags: what the protocol's special values become, and that nothing is decoded before it is asked for."""

from typing import Any

import pytest
from google.protobuf import struct_pb2

from policies import wire
from policies.wire import UNKNOWN, Bag

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": [{"a": 1}]}
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
ASSET = {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "hello"}


def bag(**values: Any) -> Bag:
    """Make a bag as it comes from the engine."""
    made = struct_pb2.Struct()
    made.update(values)
    return Bag(made)


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(3, 3, id="a whole number"),
        pytest.param(0.5, 0.5, id="a fraction"),
        pytest.param(True, True, id="a truth value is no number"),
        pytest.param(None, None, id="nothing"),
        pytest.param({"a": [1, {"b": "c"}]}, {"a": [1, {"b": "c"}]}, id="nested"),
        pytest.param("1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", UNKNOWN, id="an unknown boolean"),
        pytest.param(["dd056dcd-154b-4c76-9bd3-c8f88648b5ff"], [UNKNOWN], id="an unknown object in a list"),
        pytest.param(SECRET, [{"a": 1}], id="a secret"),
        pytest.param({SIGNATURE: OUTPUT, "value": "x", "secret": True}, "x", id="an output"),
        pytest.param({SIGNATURE: OUTPUT, "dependencies": []}, UNKNOWN, id="an output that is not known"),
        pytest.param(ASSET, ASSET, id="an asset stays what it is"),
    ],
)
def test_values_of_the_wire_become_plain(given: Any, want: Any) -> None:
    """With the type that people expect."""
    found = bag(value=given)["value"]
    assert found == want
    assert type(found) is type(want)


def test_a_bag_decodes_what_is_asked_for_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of resources come with all they have; rules look at a few fields."""
    decoded: list[str] = []
    decode = wire.decode
    monkeypatch.setattr(wire, "decode", lambda value: decoded.append(value.string_value) or decode(value))
    given = bag(one="1", two="2")
    assert (given["one"], given.get("one"), given.get("three"), len(given)) == ("1", "1", None, 2)
    assert decoded == ["1"]
    assert dict(given) == {"one": "1", "two": "2"}


def test_asking_for_what_is_not_there_leaves_the_bag_alone() -> None:
    """The wire's own map would add the key."""
    given = bag(one="1")
    with pytest.raises(KeyError):
        given["two"]
    assert list(given) == ["one"]
