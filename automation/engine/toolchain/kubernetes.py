"""The one place that pins what a local Kubernetes control plane is made of, and says which minors are supported.

Beside it stands the provider with which the engine puts objects on one.

A minor is *proven* when its programs were built from the pinned module and clusters of it were started, scheduled on
and stopped. The others are offered as they are released, for whoever wants to know first; nothing was run with them.
Each ``modules/<folder>/go.mod`` names the versions again for the build from source; tests hold them together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from automation.engine.toolchain.tool import GoModule, Release, Tool
from components.errors import UsageError


@dataclass(frozen=True, slots=True)
class Minor:
    """A minor version of Kubernetes (``1.34``), the patch release that is pinned for it, and whether it is proven."""

    name: str
    version: str
    proven: bool = False
    module: str = ""
    """The folder of the wrapper module; empty where none is pinned, so that the programs cannot be built."""

    @property
    def below(self) -> str:
        """The first version that is of the next minor."""
        major, _, minor = self.name.partition(".")
        return f"{major}.{int(minor) + 1}.0"


MINORS: Final[Mapping[str, Minor]] = {
    each.name: each
    for each in (
        Minor("1.34", "1.34.4", proven=True, module="kubernetes-1.34"),
        Minor("1.35", "1.35.4", proven=True, module="kubernetes-1.35"),
        Minor("1.36", "1.36.3", proven=True, module="kubernetes-1.36"),
    )
}
"""Device claims are on without a feature gate from 1.34 (``resource.k8s.io/v1``): an older minor is of no use here."""

DEFAULT_MINOR: Final = "1.34"

ETCD: Final = Tool(
    name="etcd",
    version="3.7.3",
    # The API server asks for the progress of watches; older servers answer that wrongly.
    # https://github.com/kubernetes/kubernetes/issues/124612
    minimum="3.5.13",
    below="4.0.0",
    ask=("--version",),
    release=Release(
        address="https://github.com/etcd-io/etcd/releases/download/v3.7.3",
        name="etcd-v3.7.3-{system}-{machine}.tar.gz",
        checksums="SHA256SUMS",
    ),
    mirror="BERTH_ETCD_DOWNLOAD_URL",
    # It knows its own version.
    module=GoModule(folder="etcd", package="go.etcd.io/etcd/server/v3"),
)

KWOK: Final = Tool(
    name="kwok",
    version="0.7.0",
    # Its built-in stages, which decide when a pod is ready, change between minors.
    minimum="0.7.0",
    below="0.8.0",
    ask=("--version",),
    # The project publishes no checksums, so there is no download to be trusted.
    module=GoModule(
        folder="kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        symbols=(("sigs.k8s.io/kwok/pkg/consts.Version", "v0.7.0"),),
    ),
)

GANG_CONTROLLER: Final = Tool(
    name="lws-controller-manager",
    # The newest that is served as a module; the definitions that local clusters get are of the same release.
    version="0.9.0",
    minimum="0.9.0",
    below="0.10.0",
    ask=("--version",),
    # The project releases images and manifests, and no program.
    module=GoModule(folder="lws", package=".", symbols=(("main.version", "0.9.0"),)),
)

_PROVIDER_VERSION: Final = "4.25.0"

PROVIDER: Final = Tool(
    name="pulumi-resource-kubernetes",
    title="Pulumi Kubernetes provider",
    version=_PROVIDER_VERSION,
    # The newest whose module can be built; a newer one on PATH speaks the same protocol.
    minimum=_PROVIDER_VERSION,
    below="5.0.0",
    ask=(),
    release=Release(
        address=f"https://github.com/pulumi/pulumi-kubernetes/releases/download/v{_PROVIDER_VERSION}",
        name=f"pulumi-resource-kubernetes-v{_PROVIDER_VERSION}-{{system}}-{{machine}}.tar.gz",
        checksums=f"pulumi-kubernetes_{_PROVIDER_VERSION}_checksums.txt",
        systems=("linux", "darwin"),
    ),
    mirror="BERTH_KUBERNETES_PROVIDER_DOWNLOAD_URL",
    module=GoModule(folder="kubernetes-provider", package=".", symbols=(("main.version", _PROVIDER_VERSION),)),
)

_CONTROL_PLANE: Final = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
_VERSION: Final = "k8s.io/component-base/version"


def minor_of(name: str) -> Minor:
    """Look a minor up by its name; raises UsageError, which names those there are."""
    try:
        return MINORS[name.strip().removeprefix("v")]
    except KeyError:
        known = ", ".join(MINORS)
        raise UsageError(
            f"Kubernetes {name!r} is not among the supported minors ({known})",
            help=f"berth doctor --kubernetes {DEFAULT_MINOR}",
        ) from None


def kubernetes_tools(minor: Minor) -> tuple[Tool, ...]:
    """Give everything that a local cluster of a minor is made of, and the controller of gangs for those that get it."""
    return (ETCD, *(_kube(name, minor) for name in _CONTROL_PLANE), KWOK, GANG_CONTROLLER)


def rehearsal_tools(minor: Minor) -> tuple[Tool, ...]:
    """Give everything with which the engine can work on local clusters: what they are made of, and the provider."""
    return (*kubernetes_tools(minor), PROVIDER)


def _kube(name: str, minor: Minor) -> Tool:
    version = minor.version
    major, number = minor.name.split(".")
    module = GoModule(
        folder=minor.module,
        package=f"k8s.io/kubernetes/cmd/{name}",
        symbols=(
            (f"{_VERSION}.gitVersion", f"v{version}"),
            (f"{_VERSION}.gitMajor", major),
            (f"{_VERSION}.gitMinor", number),
        ),
    )
    return Tool(
        name=name,
        version=version,
        minimum=f"{minor.name}.0",
        below=minor.below,
        ask=("--version",),
        release=Release(
            address=f"https://dl.k8s.io/release/v{version}/bin/{{system}}/{{machine}}",
            name=name,
            checksums=f"{name}.sha256",
        ),
        mirror="BERTH_KUBERNETES_DOWNLOAD_URL",
        module=module if minor.module else None,
    )
