"""The pinned versions, where they come from, and which others are taken."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from automation.engine.toolchain import version
from automation.engine.toolchain.kubernetes import (
    DEFAULT_MINOR,
    ETCD,
    GANG_CONTROLLER,
    KWOK,
    MINORS,
    PROVIDER,
    kubernetes_tools,
    minor_of,
    rehearsal_tools,
)
from automation.engine.toolchain.tool import Tool
from automation.engine.toolchain.version import Platform, Version
from automation.engine.toolchain.versions import MINIMUM, PULUMI, VERSION
from components.cel import environment
from components.errors import UsageError

TOOLS = (PULUMI, *(tool for minor in MINORS.values() for tool in rehearsal_tools(minor)))
APISERVER = kubernetes_tools(MINORS["1.34"])[1]
BUILT = tuple(minor for minor in MINORS.values() if minor.module)


def go_mod(folder: str) -> str:
    """Read the go.mod of a wrapper module."""
    return files("automation.engine.toolchain").joinpath("modules", folder, "go.mod").read_text()


def pinned(folder: str) -> dict[str, str]:
    """Give what a wrapper module requires."""
    return dict(re.findall(r"^(?:require)?\s*(\S+\.\S+/\S+) (v\S+)", go_mod(folder), re.MULTILINE))


@pytest.mark.parametrize(
    ("tool", "module"),
    [
        pytest.param(PULUMI, "github.com/pulumi/pulumi/pkg/v3", id="pulumi"),
        pytest.param(PULUMI, "github.com/pulumi/pulumi/sdk/v3", id="pulumi-sdk"),
        pytest.param(ETCD, "go.etcd.io/etcd/server/v3", id="etcd"),
        pytest.param(KWOK, "sigs.k8s.io/kwok", id="kwok"),
        pytest.param(GANG_CONTROLLER, "sigs.k8s.io/lws", id="lws"),
        *(
            pytest.param(tool, "k8s.io/kubernetes", id=f"{tool.name}-{minor.name}")
            for minor in BUILT
            for tool in kubernetes_tools(minor)
            if tool.name.startswith("kube-")
        ),
    ],
)
def test_the_wrapper_module_builds_the_pinned_version(tool: Tool, module: str) -> None:
    """A version is pinned in one place; go.mod, which cannot read it, agrees."""
    assert tool.module is not None
    assert pinned(tool.module.folder)[module] == f"v{tool.version}"


def test_the_module_of_the_provider_is_that_of_the_pinned_release() -> None:
    """The release has no tag that Go takes as a version of its module; the commit is that of v4.25.0."""
    assert PROVIDER.version == "4.25.0"
    assert PROVIDER.module is not None
    found = pinned(PROVIDER.module.folder)["github.com/pulumi/pulumi-kubernetes/provider/v4"]
    assert found == "v4.0.0-20260115033456-f47bc2d6f199"


def test_every_staging_module_of_kubernetes_is_of_the_same_release() -> None:
    """Kubernetes itself asks for them at v0.0.0, which nobody serves; one of another release may not even compile."""
    for minor in BUILT:
        replaced = re.findall(r"^(?:replace)?\s*(k8s\.io/\S+) => (\S+) (v\S+)$", go_mod(minor.module), re.MULTILINE)
        assert len(replaced) > 20
        assert all(old == new for old, new, _ in replaced)
        assert {found for _, _, found in replaced} == {f"v0.{minor.version.removeprefix('1.')}"}


SETTINGS = {
    ("kubernetes-1.34", "1.34.4"): "go1.24",  # go.mod: "godebug default=go1.24"; by it it says what a URL is
    ("kubernetes-1.35", "1.35.4"): "go1.25",  # go.mod: "godebug default=go1.25"
    ("kubernetes-1.36", "1.36.3"): "go1.26",  # go.mod: "godebug default=go1.26"
    ("kwok", "0.7.0"): "go1.24",  # go.mod: "go 1.24.0"
    ("kubernetes-provider", "4.25.0"): "go1.24",  # provider/go.mod: "go 1.24.7"
    ("etcd", "3.7.3"): "go1.26",  # server/go.mod: "go 1.26.0"
    ("lws", "0.9.0"): "go1.26",  # go.mod: "go 1.26.0"
    ("pulumi", "3.274.1"): "go1.26",  # pkg/go.mod: "go 1.26.6"
}
"""By wrapper module and pinned release, the release of Go whose defaults the program has as it is released.

That is the ``godebug`` line of the release's main module, which is named, else its go line, whatever Go builds it.
"""


@pytest.mark.parametrize(
    ("folder", "version"), sorted({(tool.module.folder, tool.version) for tool in TOOLS if tool.module})
)
def test_every_program_is_built_with_the_settings_of_go_that_it_was_released_with(folder: str, version: str) -> None:
    """A wrapper is the main module of its build, so it has to say them where its own go line is another."""
    written = re.search(r"^godebug default=(\S+)$", go_mod(folder), re.MULTILINE)
    line = re.search(r"^go (\d+\.\d+)", go_mod(folder), re.MULTILINE)
    assert line is not None
    assert (written[1] if written else f"go{line[1]}") == SETTINGS[folder, version]


def test_selectors_know_every_minor_of_a_local_control_plane() -> None:
    """They are compared on each."""
    assert set(MINORS) <= set(environment.MINORS)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: f"{tool.name}-{tool.version}")
def test_every_tool_can_be_had_and_takes_itself(tool: Tool) -> None:
    """From a download that is checked or from a module; the pinned version lies in the accepted range."""
    assert tool.release or tool.module
    found = Version.parse(tool.version)
    assert found is not None
    assert tool.accepts(found)


def test_a_proven_minor_can_be_built() -> None:
    """That is how it was proven, and how machines get it that do not reach the official download."""
    assert MINORS[DEFAULT_MINOR].proven
    for minor in MINORS.values():
        built = [tool.module is not None for tool in kubernetes_tools(minor)]
        assert all(built) or not minor.proven


@pytest.mark.parametrize("name", ["1.34", "v1.34", " 1.34 "])
def test_a_minor_is_found_by_its_name(name: str) -> None:
    """Both spellings are in use."""
    assert minor_of(name) is MINORS["1.34"]


def test_an_unsupported_minor_is_a_usage_error_that_names_the_others() -> None:
    """1.33 has no device claims without a feature gate."""
    with pytest.raises(UsageError, match=r"'1.33' is not among the supported minors \(1.34, 1.35, 1.36\)") as caught:
        minor_of("1.33")
    assert caught.value.help == "berth doctor --kubernetes 1.34"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("v3.274.1", "3.274.1", id="pulumi"),
        pytest.param("3.274.1\n", "3.274.1", id="without-v"),
        pytest.param("v3.275.0-dev.0", "3.275.0", id="development"),
        pytest.param("v3.275.0+dirty", "3.275.0", id="build-metadata"),
        pytest.param("Kubernetes v1.34.4\n", "1.34.4", id="kubernetes"),
        pytest.param("etcd Version: 3.7.3\nGit SHA: Not provided\nGo Version: go1.26.8\n", "3.7.3", id="etcd"),
        pytest.param("kwok version v0.7.0 go1.26.8 (linux/amd64)\n", "0.7.0", id="kwok"),
        pytest.param("lws-controller-manager v0.9.0\n", "0.9.0", id="lws"),
        pytest.param("built with go1.26.8", None, id="of-something-else"),
        pytest.param("1.2.3.4", None, id="an-address"),
        pytest.param("", None, id="nothing"),
        pytest.param("v3.274", None, id="two-numbers"),
        pytest.param("usage: pulumi", None, id="other-text"),
    ],
)
def test_a_version_is_read_from_what_a_tool_prints(text: str, want: str | None) -> None:
    """Three numbers are needed, what follows them does not count."""
    found = Version.parse(text)
    assert (str(found) if found else None) == want


@pytest.mark.parametrize(
    ("tool", "text", "want"),
    [
        pytest.param(PULUMI, VERSION, True, id="pinned"),
        pytest.param(PULUMI, MINIMUM, True, id="oldest"),
        pytest.param(PULUMI, "3.271.9", False, id="too-old"),
        pytest.param(PULUMI, "3.1000.0", True, id="newer"),
        pytest.param(PULUMI, "4.0.0", False, id="next-major"),
        pytest.param(APISERVER, "1.34.0", True, id="another-patch"),
        pytest.param(APISERVER, "1.35.0", False, id="another-minor"),
        pytest.param(ETCD, "3.5.12", False, id="etcd-without-watch-progress"),
        pytest.param(ETCD, "3.5.13", True, id="etcd-with-watch-progress"),
    ],
)
def test_versions_in_the_range_are_taken(tool: Tool, text: str, want: bool) -> None:
    """A newer engine serves an older SDK; an older one, or another major version, does not."""
    found = Version.parse(text)
    assert found is not None
    assert tool.accepts(found) is want


@pytest.mark.parametrize(
    ("tool", "system", "machine", "want"),
    [
        pytest.param(PULUMI, "linux", "x86_64", "pulumi-v3.274.1-linux-x64.tar.gz", id="pulumi-linux-x64"),
        pytest.param(PULUMI, "linux", "aarch64", "pulumi-v3.274.1-linux-arm64.tar.gz", id="pulumi-linux-arm64"),
        pytest.param(PULUMI, "darwin", "arm64", "pulumi-v3.274.1-darwin-arm64.tar.gz", id="pulumi-mac-arm64"),
        pytest.param(PULUMI, "linux", "riscv64", None, id="no-machine"),
        pytest.param(PULUMI, "sunos5", "x86_64", None, id="no-system"),
        pytest.param(ETCD, "linux", "x86_64", "etcd-v3.7.3-linux-amd64.tar.gz", id="etcd"),
        pytest.param(APISERVER, "linux", "aarch64", "kube-apiserver", id="kube-apiserver"),
        pytest.param(APISERVER, "darwin", "arm64", None, id="no-server-for-macs"),
        pytest.param(
            PROVIDER, "linux", "x86_64", "pulumi-resource-kubernetes-v4.25.0-linux-amd64.tar.gz", id="provider"
        ),
    ],
)
def test_the_release_of_a_platform_has_the_official_name(
    monkeypatch: pytest.MonkeyPatch, tool: Tool, system: str, machine: str, want: str | None
) -> None:
    """Names of systems and processors are translated to those of the official releases."""
    monkeypatch.setattr(version.sys, "platform", system)
    monkeypatch.setattr(version.platform, "machine", lambda: machine)
    assert tool.release is not None
    found = tool.release.on(Platform.current())
    assert (found.name if found else None) == want


def test_a_release_may_have_an_address_for_each_platform() -> None:
    """Kubernetes has one folder for each."""
    assert APISERVER.release is not None
    address = APISERVER.release.address_on(Platform(system="linux", machine="arm64"))
    assert address == "https://dl.k8s.io/release/v1.34.4/bin/linux/arm64"


def test_the_page_on_local_kubernetes_says_what_is_pinned() -> None:
    """Readers choose by its tables."""
    page = Path(__file__).parents[3].joinpath("docs/reference/local-kubernetes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (1\.\d+) \| (\S+) \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(each.name, each.version, "proven" if each.proven else "not proven") for each in MINORS.values()]
    assert f"| `etcd` | {ETCD.version} | {ETCD.range} |" in page
    assert f"| `kwok` | {KWOK.version} |" in page
    assert f"| `{GANG_CONTROLLER.name}` | {GANG_CONTROLLER.version} |" in page
    assert f"| `{PROVIDER.name}` | {PROVIDER.version} | {PROVIDER.range} |" in page
