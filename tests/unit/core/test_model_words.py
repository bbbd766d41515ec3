"""What a model refuses is said in our words: in a lock that somebody edited, in a release of one's own."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from components.errors import LockError
from components.lock import NamespaceLock
from components.model_words import in_words, place_of


class _Sample(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    count: int = Field(default=1, ge=1, le=9)
    name: str = Field(default="a", min_length=1, max_length=3, pattern="^[a-z]*$")
    flag: bool = False
    share: float = 0.5
    kind: Literal["One", "Two"] = "One"
    mark: Literal[True] | None = None
    items: tuple[int, ...] = Field(default=(), max_length=2)
    inner: "_Sample | None" = None
    needed: str

    @field_validator("share")
    @classmethod
    def _half(cls, value: float) -> float:
        if value > 1:
            raise ValueError("a share is at most a whole")
        return value


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({}, "needed is missing"),
        ({"needed": 1}, "needed must be text"),
        ({"needed": "x", "nope": 1}, "nope is not known"),
        ({"needed": "x", "count": "2"}, "count must be a whole number"),
        ({"needed": "x", "count": 0}, "count must be at least 1"),
        ({"needed": "x", "count": 10}, "count must be at most 9"),
        ({"needed": "x", "name": ""}, "name is too short"),
        ({"needed": "x", "name": "aaaa"}, "name is too long"),
        ({"needed": "x", "name": "A"}, "name is not written as it must be"),
        ({"needed": "x", "flag": "yes"}, "flag must be true or false"),
        ({"needed": "x", "share": "much"}, "share must be a number"),
        ({"needed": "x", "share": 2.0}, "share a share is at most a whole"),
        ({"needed": "x", "kind": "Three"}, "kind must be one of One, Two"),
        ({"needed": "x", "mark": False}, "mark must be true"),
        ({"needed": "x", "items": "12"}, "items must be a list"),
        ({"needed": "x", "items": (1, 2, 3)}, "items is too long"),
        ({"needed": "x", "inner": []}, "inner must be a mapping"),
        ({"needed": "x", "inner": {"needed": None}}, "inner.needed must be text"),
        ([], "it must be a mapping"),
    ],
)
def test_a_complaint_is_a_sentence_of_ours(given: Any, want: str) -> None:
    """Place first, then what it must be."""
    with pytest.raises(ValidationError) as caught:
        _Sample.model_validate(given)
    (error,) = caught.value.errors()
    assert f"{place_of(error, otherwise='it')} {in_words(error)}" == want


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"namespace": 3}, "namespace must be text"),
        ({"namespace": "a", "x": 1}, "x is not known"),
        (7, "it must be a m"),
    ],
)
def test_a_lock_that_was_edited_is_refused_in_our_words(value: Any, words: str) -> None:
    """And the class that could not be read."""
    complete = {"version": 1, "berth": "1", "digest": "sha256:0"}
    with pytest.raises(LockError) as caught:
        NamespaceLock.from_json({**complete, **value} if isinstance(value, dict) else value)
    assert words in caught.value.summary
    assert "Input should" not in caught.value.summary
