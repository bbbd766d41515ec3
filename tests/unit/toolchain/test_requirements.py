"""What Berth's own package asks of others."""

from importlib import metadata

import pytest

from automation.engine.toolchain.requirements import Requirement, requirements


@pytest.mark.parametrize(
    ("bounds", "version", "want"),
    [
        pytest.param("==7.51.1", "7.51.1", True, id="equal"),
        pytest.param("==7.51.1", "7.51.10", False, id="longer-number"),
        pytest.param("==1.21", "1.21.0", True, id="missing-number-is-zero"),
        pytest.param(">=3.272,<4", "3.1000.0", True, id="in-range"),
        pytest.param(">=3.272,<4", "3.99.0", False, id="below"),
        pytest.param(">=3.272,<4", "4.0.0", False, id="above"),
        pytest.param("!=2.0,<=3", "2.0.0", False, id="excluded"),
        pytest.param(">1", "1.0.1", True, id="greater"),
        pytest.param("", "0.0.1", True, id="no-range"),
    ],
)
def test_a_range_takes_versions_by_their_numbers(bounds: str, version: str, want: bool) -> None:
    """Numbers are compared as numbers."""
    assert Requirement(name="x", range=bounds).accepts(version) is want


def test_requirements_are_read_with_their_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are brought to one spelling, and of two extras the first is named."""
    lines = [
        "pulumi<4,>=3.272",
        "Pulumi_AWS==7.51.1; extra == 'eks'",
        'pulumi-kubernetes (==4.34.2) ; extra == "eks"',
        "pulumi-kubernetes==4.34.2; extra == 'existing'",
        "httpx[http2]>=0.28 ; python_version >= '3.11'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda _package: lines)
    assert requirements("berth") == {
        "pulumi": Requirement(name="pulumi", range="<4,>=3.272"),
        "pulumi-aws": Requirement(name="pulumi-aws", range="==7.51.1", extra="eks"),
        "pulumi-kubernetes": Requirement(name="pulumi-kubernetes", range="==4.34.2", extra="eks"),
        "httpx": Requirement(name="httpx", range=">=0.28"),
    }


def test_a_package_that_is_not_installed_asks_for_nothing() -> None:
    """Berth may run from a folder on the import path."""
    assert requirements("no-such-package-here") == {}


def test_the_sdk_is_among_what_berth_asks_for() -> None:
    """The doctor compares installed SDKs with this."""
    assert requirements("berth")["pulumi"].accepts(metadata.version("pulumi"))
