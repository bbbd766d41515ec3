"""The language of the tables: placeholders, first, find, next, each."""

from typing import Any

import pytest

from automation.rehearsal.provider.templates import Context

BOXES = [{"id": "a", "size": 1}, {"id": "b", "size": 2}]
VALUES = {
    "name": "x",
    "id": None,
    "in": {"list": [1, 2], "deep": {"key": "v"}, "ports": [{"name": "p"}]},
    "old": {"version": 4},
}
CASES: dict[str, tuple[Any, Any]] = {
    "text": ("plain", "plain"),
    "number": (3, 3),
    "whole value": ("{in.list}", [1, 2]),
    "inside text": ("a-{name}-{in.deep.key}", "a-x-v"),
    "missing": ("{in.nothing}", None),
    "missing inside text": ("a-{in.nothing}", None),
    "index": ("{in.list.1}", 2),
    "object without nulls": ({"a": "{name}", "b": "{in.nothing}"}, {"a": "x"}),
    "list without nulls": (["{name}", "{id}"], ["x"]),
    "first": ({"$first": ["{id}", "{name}"]}, "x"),
    "first of none": ({"$first": ["{id}"]}, None),
    "next": ({"$next": "version"}, 5),
    "next of none": ({"$next": "nothing"}, 1),
    "each": ({"$each": "{in.ports}", "as": {"n": "{item.name}"}}, [{"n": "p"}]),
    "each of none": ({"$each": "{in.nothing}", "as": {}}, []),
    "find": ({"$find": {"type": "box", "property": "id", "equals": "b", "take": "size"}}, 2),
    "find nothing": ({"$find": {"type": "box", "property": "id", "equals": "c", "take": "size"}}, None),
    "find of none": ({"$find": {"type": "box", "property": "id", "equals": "{id}", "take": "size"}}, None),
}


@pytest.mark.parametrize(("template", "want"), CASES.values(), ids=CASES)
def test_templates_are_filled_in(template: Any, want: Any) -> None:
    """Each form gives what the table's documentation says."""
    assert Context(VALUES, "seed", lambda _: BOXES).render(template) == want


def test_made_up_text_is_stable_and_differs() -> None:
    """The same resource gets the same text, another one or another salt another."""
    one, two = Context({}, "one"), Context({}, "two")
    assert one.render("{hex:17}") == one.render("{hex:17}")
    texts = {one.render("{hex:17}"), one.render("{hex:17:salt}"), two.render("{hex:17}")}
    assert len(texts) == 3
    assert all(len(text) == 17 for text in texts)
    assert one.render("{digits:12}").isdigit()
    assert one.render("{address:10.0}").startswith("10.0.")
    assert len(one.render("{address:203.0.113}").split(".")) == 4
