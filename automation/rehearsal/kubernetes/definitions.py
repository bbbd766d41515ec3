"""Definitions of custom resources and webhooks, taken from the Go modules of the projects that make them.

They are the files of the releases, held to the checksums that Go has for them, and never copied into this project. Go
fetches them once into its ordinary cache. A chart brings its definitions; which chart which is told here.
"""

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml

from components.errors import ToolchainError

Object = dict[str, Any]

_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Source:
    """Files of a Go module: its version, Go's checksum of its content, their folder and names."""

    module: str
    version: str
    sum: str
    folder: str
    names: tuple[str, ...]


SOURCES: Final[Mapping[str, tuple[Source, ...]]] = {
    "gateway-helm": (
        Source(
            "sigs.k8s.io/gateway-api",
            "v1.5.1",
            "h1:RqVRIlkhLhUO8wOHKTLnTJA6o/1un4po4/6M1nRzdd0=",
            "config/crd/experimental",
            tuple(
                f"gateway.networking.k8s.io_{kind}"
                for kind in ("backendtlspolicies", "gatewayclasses", "gateways", "httproutes", "referencegrants")
            ),
        ),
        Source(
            "github.com/envoyproxy/gateway",
            "v1.8.3",
            "h1:RY8DKli7Z1w3WuMwbA8J5j2sriIxXTWjVv1Bk77nbHo=",
            "charts/gateway-helm/charts/crds/crds/generated",
            ("gateway.envoyproxy.io_envoyproxies",),
        ),
    ),
    # The module of v0.10.0, which the release of the serving stack pins, is not served.
    "lws": (
        Source(
            "sigs.k8s.io/lws",
            "v0.9.0",
            "h1:DcJCgxjjoGOx//QHZkeKpyiblxYq70aCRZNYSfykWyI=",
            "config/crd/bases",
            ("leaderworkerset.x-k8s.io_leaderworkersets",),
        ),
    ),
}
"""By chart, the kinds that objects of Berth's have; what else charts define is left out."""

_GANG_WEBHOOKS: Final = replace(
    SOURCES["lws"][0], folder="config/webhook", names=("manifests", "mutating-patch", "validating-patch")
)


@functools.cache
def definitions(chart: str) -> tuple[Object, ...]:
    """Give the definitions that a chart brings; none for a chart that brings none of use.

    They come without descriptions, which are most of their text: an API server publishes all that it has anew with each
    definition, and three of them on one busy machine take a minute over it. Raises ToolchainError when Go cannot give a
    module.
    """
    return tuple(without_descriptions(each) for source in SOURCES.get(chart, ()) for each in read(source))


def groups() -> frozenset[str]:
    """Name the API groups that there are definitions of."""
    names = (name for sources in SOURCES.values() for source in sources for name in source.names)
    return frozenset(name.partition("_")[0] for name in names)


_OF_OTHER_KINDS: Final = ("vdisaggregatedset.kb.io",)
"""A kind of which nothing is made here; the chart leaves its webhook out too, unless it is told otherwise."""


def gang_webhooks() -> tuple[Object, ...]:
    """Give the configurations of webhooks that the LeaderWorkerSet project releases; their clients are for a Service.

    Raises ToolchainError when Go cannot give the module.
    """
    *configurations, mutating, validating = read(_GANG_WEBHOOKS)
    for configuration, patch in zip(configurations, (mutating, validating), strict=True):
        configuration["metadata"]["name"] = f"lws-{configuration['metadata']['name']}"
        # A JSON patch, which puts a webhook in the place of another: it looks at the pods of gangs alone.
        for change in patch:
            configuration["webhooks"][int(change["path"].removeprefix("/webhooks/"))] = change["value"]
        configuration["webhooks"] = [each for each in configuration["webhooks"] if each["name"] not in _OF_OTHER_KINDS]
    return tuple(configurations)


def read(source: Source) -> tuple[Any, ...]:
    """Read the documents in files of a module; raises ToolchainError when Go cannot give it."""
    folder = _folder(source) / source.folder
    return tuple(
        document
        for name in source.names
        for document in yaml.load_all((folder / f"{name}.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    )


def without_descriptions(value: Any) -> Any:
    """Leave out every text named ``description``; a property of that name is an object and stays."""
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key != "description" or not isinstance(each, str)}
        return {key: without_descriptions(each) for key, each in kept.items()}
    return [without_descriptions(each) for each in value] if isinstance(value, list) else value


@functools.cache
def _folder(source: Source) -> Path:
    wanted = f"{source.module}@{source.version}"
    go = shutil.which("go")
    if go is None:
        raise ToolchainError(f"Go is not on PATH, which fetches {wanted}", help="install Go; `berth doctor` tells")
    # Outside of any module, whose requirements would have a say.
    environ = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    try:
        answer = subprocess.run(  # noqa: S603 - the Go found on PATH, with arguments of ours
            [go, "mod", "download", "-json", wanted],
            cwd="/",
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        said = json.loads(answer.stdout or b"{}")
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise _missing(wanted, str(error)) from error
    if "Error" in said or "Dir" not in said:
        raise _missing(wanted, str(said.get("Error") or answer.stderr.decode(errors="replace").strip()))
    if said.get("Sum") != source.sum:
        raise _missing(wanted, f"its content is {said.get('Sum')}, wanted is {source.sum}")
    return Path(said["Dir"])


def _missing(wanted: str, why: str) -> ToolchainError:
    return ToolchainError(f"the files of the Go module {wanted} cannot be had: {why}", help="berth doctor")
