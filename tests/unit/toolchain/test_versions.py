"""The pinned version, and which others are taken."""

import re
from importlib.resources import files

import pytest

from automation.engine.toolchain import versions
from automation.engine.toolchain.versions import MINIMUM, VERSION, Platform, Version


def test_the_wrapper_module_builds_the_pinned_version() -> None:
    """The version is pinned in one place; go.mod, which cannot read it, agrees for both modules of Pulumi."""
    text = files("automation.engine.toolchain").joinpath("cli_module", "go.mod").read_text()
    found = dict(re.findall(r"^\s*(github\.com/pulumi/pulumi/(?:pkg|sdk)/v3) (v\S+)", text, re.MULTILINE))
    assert found == {
        "github.com/pulumi/pulumi/pkg/v3": f"v{VERSION}",
        "github.com/pulumi/pulumi/sdk/v3": f"v{VERSION}",
    }


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("v3.274.1", "3.274.1", id="as-printed"),
        pytest.param("3.274.1\n", "3.274.1", id="without-v"),
        pytest.param("v3.275.0-dev.0", "3.275.0", id="development"),
        pytest.param("v3.275.0+dirty", "3.275.0", id="build-metadata"),
        pytest.param("", None, id="nothing"),
        pytest.param("v3.274", None, id="two-numbers"),
        pytest.param("usage: pulumi", None, id="other-text"),
    ],
)
def test_a_version_is_read_from_what_the_cli_prints(text: str, want: str | None) -> None:
    """Three numbers are needed, what follows them does not count."""
    found = Version.parse(text)
    assert (str(found) if found else None) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(VERSION, True, id="pinned"),
        pytest.param(MINIMUM, True, id="oldest"),
        pytest.param("3.271.9", False, id="too-old"),
        pytest.param("3.1000.0", True, id="newer"),
        pytest.param("4.0.0", False, id="next-major"),
    ],
)
def test_versions_from_the_minimum_up_to_the_next_major_are_taken(text: str, want: bool) -> None:
    """A newer engine serves an older SDK; an older one, or another major version, does not."""
    version = Version.parse(text)
    assert version is not None
    assert version.acceptable is want


@pytest.mark.parametrize(
    ("system", "machine", "want"),
    [
        pytest.param("linux", "x86_64", "pulumi-v3.274.1-linux-x64.tar.gz", id="linux-x64"),
        pytest.param("linux", "aarch64", "pulumi-v3.274.1-linux-arm64.tar.gz", id="linux-arm64"),
        pytest.param("darwin", "arm64", "pulumi-v3.274.1-darwin-arm64.tar.gz", id="mac-arm64"),
        pytest.param("linux", "riscv64", None, id="no-archive"),
        pytest.param("sunos5", "x86_64", None, id="no-system"),
    ],
)
def test_the_archive_of_a_platform_has_the_official_name(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, want: str | None
) -> None:
    """Names of systems and processors are translated to those of the official archives."""
    monkeypatch.setattr(versions.sys, "platform", system)
    monkeypatch.setattr(versions.platform, "machine", lambda: machine)
    where = Platform.current()
    assert (where.archive if where.supported else None) == want
