"""Property bags in and out of their wire form."""

from typing import Any, NamedTuple

import pytest

from automation.rehearsal.wire import (
    UNKNOWN,
    Changed,
    Secret,
    changed_paths,
    decode,
    encode,
    has_secret,
    has_unknown,
    lookup,
    mark_like,
    merge,
    plain,
    without_nulls,
)

BAGS = {
    "empty": {},
    "scalars": {"a": None, "b": True, "c": 1, "d": 1.5, "e": "text"},
    "nested": {"a": {"b": [1, {"c": "d"}, []], "e": {}}},
    "unknown": {"a": UNKNOWN, "b": [UNKNOWN]},
    "secret": {"a": Secret("x"), "b": Secret({"c": [1, UNKNOWN]})},
}


@pytest.mark.parametrize("bag", BAGS.values(), ids=BAGS)
def test_bags_survive_the_wire(bag: dict[str, Any]) -> None:
    """What is encoded decodes to the same values."""
    assert decode(encode(bag)) == bag


def test_whole_numbers_are_whole() -> None:
    """The wire knows only floating point, but 3 must not become the text 3.0."""
    assert repr(decode(encode({"a": 3.0}))["a"]) == "3"


def test_values_without_wire_form_are_refused() -> None:
    """A bug must not reach the engine as something else."""
    with pytest.raises(TypeError, match="set"):
        encode({"a": {1}})


def test_secrets_and_unknowns_do_not_show() -> None:
    """Neither value appears in text made for debugging."""
    assert "x" not in repr(Secret("x")).replace("[secret]", "")
    assert repr(UNKNOWN) == "UNKNOWN"


def test_plain_drops_marks_at_every_depth() -> None:
    """Secrets inside secrets and lists lose their marks, values stay."""
    assert plain({"a": Secret([Secret(1)]), "b": 2}) == {"a": [1], "b": 2}


@pytest.mark.parametrize(
    ("value", "unknown", "secret"),
    [(1, False, False), (UNKNOWN, True, False), ({"a": [Secret(UNKNOWN)]}, True, True), (Secret(1), False, True)],
)
def test_marks_are_found_at_every_depth(value: Any, unknown: bool, secret: bool) -> None:
    """Unknowns count inside secrets, and both inside lists and objects."""
    assert (has_unknown(value), has_secret(value)) == (unknown, secret)


class Marking(NamedTuple):
    """A value, the pattern of marks, and the result."""

    value: Any
    pattern: Any
    want: Any


@pytest.mark.parametrize(
    "case",
    [
        Marking({"a": 1, "b": 2}, {"a": Secret(0)}, {"a": Secret(1), "b": 2}),
        Marking([1, 2, 3], [Secret(0)], [Secret(1), 2, 3]),
        Marking({"a": Secret(1)}, {"a": Secret(0)}, {"a": Secret(1)}),
        Marking({"a": None}, {"a": Secret(0)}, {"a": None}),
        Marking({"a": {"b": 1}}, {"a": Secret({"b": 0})}, {"a": Secret({"b": 1})}),
        Marking(1, {"a": Secret(0)}, 1),
    ],
)
def test_marks_are_copied_by_place(case: Marking) -> None:
    """What is secret in the pattern becomes secret at the same place of the value."""
    assert mark_like(case.value, case.pattern) == case.want


def test_nulls_vanish_from_objects_only() -> None:
    """Absent and null are one thing in an object; in a list null has a place."""
    assert without_nulls({"a": None, "b": [None, {"c": None}], "d": Secret({"e": None})}) == {
        "b": [None, {}],
        "d": Secret({}),
    }


def test_merging_goes_member_by_member() -> None:
    """Objects are joined, everything else is replaced, and null hides nothing."""
    assert merge({"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"c": [2], "e": 3}, "d": None}) == {
        "a": {"b": 1, "c": [2], "e": 3},
        "d": 1,
    }


@pytest.mark.parametrize(
    ("path", "want"),
    [("a.b", 1), ("c.0.d", 2), ("c.7", None), ("a.x", None), ("e.f", 3), ("u.deep", UNKNOWN), ("a.b.z", None)],
)
def test_lookup_follows_dotted_paths(path: str, want: Any) -> None:
    """Lists are indexed, secrets are looked into, and a path that ends early gives nothing."""
    assert lookup({"a": {"b": 1}, "c": [{"d": 2}], "e": Secret({"f": 3}), "u": UNKNOWN}, path) == want


class Edit(NamedTuple):
    """Two bags and the paths at which they differ."""

    old: dict[str, Any]
    new: dict[str, Any]
    want: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Edit({"a": 1}, {"a": 1.0}, []),
        Edit({"a": True}, {"a": 1}, ["a"]),
        Edit({"a": 1}, {}, ["a"]),
        Edit({"a": Secret("x")}, {"a": "x"}, []),
        Edit({"a": Secret("x")}, {"a": Secret("y")}, ["a"]),
        Edit({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3, 4]}}, ["a.b[1]", "a.b[2]"]),
        Edit({"a": "x"}, {"a": UNKNOWN}, ["a"]),
        Edit({"a": UNKNOWN}, {"a": UNKNOWN}, ["a"]),
        Edit({"l": {"a.b/c": 1}}, {"l": {"a.b/c": 2}}, ['l["a.b/c"]']),
        Edit({"a": {}}, {"a": {"b": 1}}, ["a.b"]),
    ],
)
def test_changed_paths_name_every_difference(case: Edit) -> None:
    """A secret mark is no difference, an unknown always is."""
    assert [path for path, _ in changed_paths(case.old, case.new)] == case.want


def test_a_change_says_what_became_of_a_property() -> None:
    """A place in a list too."""
    old, new = {"a": 1, "b": 1, "l": [1, 2]}, {"b": 2, "c": {"d": 1}, "l": [1, 2, 3]}
    assert dict(changed_paths(old, new)) == {
        "a": Changed.DELETE,
        "b": Changed.UPDATE,
        "c": Changed.ADD,
        "l[2]": Changed.ADD,
    }
