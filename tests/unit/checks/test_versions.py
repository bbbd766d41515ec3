"""What is known to be too old, and what nobody knows."""

import pytest

from components.checks.versions import API_SERVER, KUBELET, Numbers, numbers_of, older, words_of


@pytest.mark.parametrize(
    ("text", "floor", "expected"),
    [
        ("v1.33.9", API_SERVER, True),
        ("1.33", API_SERVER, True),
        ("v1.34.0", API_SERVER, False),
        ("1.36", API_SERVER, False),
        ("v1.34.1-eks-113cf36", KUBELET, True),
        ("v1.34.2", KUBELET, False),
        ("v1.34.10", KUBELET, False),
        ("1.34", KUBELET, False),
        ("1.33", KUBELET, True),
        ("v1.35.0", KUBELET, False),
        ("v2.0.0", KUBELET, False),
        ("latest", KUBELET, False),
        ("", KUBELET, False),
        ("kwok-v0.7.0", KUBELET, False),
    ],
)
def test_what_is_older_than_a_floor(text: str, floor: Numbers, *, expected: bool) -> None:
    """Numbers are compared as far as the text has them; what cannot be read is not too old."""
    assert older(text, floor) is expected


def test_versions_are_read_and_written() -> None:
    """The numbers alone count."""
    assert numbers_of("v1.34.4-eks-1") == (1, 34, 4)
    assert words_of(KUBELET) == "1.34.2"
