"""``berth version``: Berth's own version and those of what it drives."""

import sys
from importlib import metadata
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Show
from automation.render.output_version import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGES = ("pulumi", "pulumi-aws", "pulumi-kubernetes")


def berth_version() -> str:
    """Return the version of the installed distribution."""
    return metadata.version("berth")


def versions() -> "Mapping[str, str]":
    """Return the versions of Berth, Python, the lock's schema and the SDKs; ``-`` for what is not installed."""
    from automation.engine.toolchain.versions import VERSION
    from components.lock import SCHEMA_VERSION

    found = {"berth": berth_version(), "python": sys.version.split()[0], "lock": str(SCHEMA_VERSION)}
    found["pulumi cli (pinned)"] = VERSION
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "-"
    return found


def version(*, show: Annotated[Show, Parameter(name="*")] = Show()) -> int:
    """Print the versions of Berth and of what it drives."""
    from automation.render.text import Column, table

    sinks = show.sinks()
    found = versions()
    if sinks.machine:
        sinks.document({"apiVersion": API_VERSION, "kind": "Versions", "versions": dict(found)})
    else:
        rows = [(name, value) for name, value in found.items()]
        sinks.data(table([Column("NAME"), Column("VERSION")], rows, width=sinks.width))
    return 0
