"""Gives a Pulumi CLI that works, with the Python language host that it will take."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from automation.engine.toolchain.host import place_host
from automation.engine.toolchain.install import ensure_tool, locate_tool
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.toolchain import Found, Source, Toolchain
from automation.engine.toolchain.versions import PULUMI


def ensure(
    layout: Layout,
    *,
    progress: Progress,
    sources: Sequence[Source] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Toolchain:
    """Find or install the CLI and its language host; ``sources`` as for ``ensure_tool``."""
    found = ensure_tool(PULUMI, layout, progress=progress, sources=sources, environ=environ)
    return _toolchain(found, place_host(layout, found.path, found.source))


def locate(
    layout: Layout, *, environ: Mapping[str, str] | None = None
) -> tuple[Toolchain | None, Mapping[Source, str]]:
    """Find the CLI that ``ensure`` would give without installing one, and why the sources that were asked have none."""
    found, failures = locate_tool(PULUMI, layout, environ=environ)
    return None if found is None else _toolchain(found, None), failures


def _toolchain(found: Found, host: Path | None) -> Toolchain:
    return Toolchain(pulumi=found.path, version=found.version, source=found.source, host=host)
