"""Semantic versions alone."""

import itertools

import pytest

from components.cel.semver import Semver, SemverError


@pytest.mark.parametrize(
    "text",
    ["", "1.2", "01.2.3", "1.02.3", "1.2.03", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b", "1.2.3-a_b", "1.2.3+a_b",
     "18446744073709551616.0.0", "1.2.3-99999999999999999999", "9" * 5000 + ".0.0", "a.b.c"],
)  # fmt: skip
def test_what_is_no_version_is_refused(text: str) -> None:
    """Strict parsing; messages are short whatever the text."""
    with pytest.raises(SemverError) as caught:
        Semver.parse(text)
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("text", "want"),
    [("v1", "1.0.0"), ("1.2", "1.2.0"), ("01.02.03", "1.2.3"), ("1.2.03-a", "1.2.3-a"), ("00", "0.0.0")],
)
def test_repair_fills_and_strips(text: str, want: str) -> None:
    """A leading v, missing numbers and leading zeros are repaired on request."""
    assert str(Semver.parse(text, normalize=True)) == want


@pytest.mark.parametrize("text", ["vv1", "1-a", "1+b", "v 1", ""])
def test_repair_has_limits(text: str) -> None:
    """Short forms take no pre-release, and only one v is dropped."""
    with pytest.raises(SemverError):
        Semver.parse(text, normalize=True)


def test_order_and_equality() -> None:
    """By precedence; build metadata does not count."""
    ordered = [
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-a",
        "1.0.0-a.1",
        "1.0.0-a.b",
        "1.0.0-b",
        "1.0.0",
        "1.0.1",
        "1.1.0",
        "10.0.0",
    ]
    versions = [Semver.parse(text) for text in ordered]
    assert sorted(versions, key=lambda version: version) == versions
    assert all(one < two and one <= two and two > one and two >= one for one, two in itertools.pairwise(versions))
    assert Semver.parse("1.0.0+a") == Semver.parse("1.0.0+b")
    assert hash(Semver.parse("1.0.0+a")) == hash(Semver.parse("1.0.0+b"))
    assert Semver.parse("1.0.0") != "1.0.0"
    assert str(Semver.parse("1.0.0-a.1+b.2")) == "1.0.0-a.1+b.2"
    assert Semver.parse("1.0.0-a.1").compare(Semver.parse("1.0.0-a.1")) == 0
