"""Near matches: what a person probably meant."""

import pytest

from components.api.near import did_you_mean, near


@pytest.mark.parametrize(
    ("text", "candidates", "want"),
    [
        ("repilcas", ["replicas", "template"], "replicas"),
        ("node_pools", ["nodePools", "nodePool"], "nodePools"),
        ("EKS", ["eks", "gke"], "eks"),
        ("x", ["replicas"], ""),
        ("", ["replicas"], ""),
        ("replicas", [], ""),
        ("a" * 101, ["a" * 100], ""),
        ("name1", [f"name{number}0" for number in range(3000)], ""),
        ("name5", ["name6", "name4"], "name6"),
    ],
)
def test_the_nearest_name_is_offered(text: str, candidates: list[str], want: str) -> None:
    """Case and dashes do not count; too far, too long or too many gives nothing; ties go by name."""
    assert near(text, candidates) == want
    assert near(text, candidates[::-1]) == want


def test_a_hint_is_a_question_or_nothing() -> None:
    """Renderers print it as it is."""
    assert did_you_mean("egde", ["edge"]) == "did you mean `edge`?"
    assert not did_you_mean("x", ["edge"])
