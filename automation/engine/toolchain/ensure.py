"""Gives a Pulumi CLI that works: from PATH, from the official download, or built from its Go module, in that order.

What was downloaded or built stays in ``.berth/bin`` and is found again in milliseconds, without starting a process.
When no source can give the CLI, one error names each that was tried and why it failed.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from automation.engine.toolchain.disk import keep_out_of_git, writing
from automation.engine.toolchain.find import find_installed, find_on_path
from automation.engine.toolchain.host import place_host
from automation.engine.toolchain.install_lock import exclusive
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.record import Identity, Record, Seen
from automation.engine.toolchain.toolchain import Source, Toolchain, Unavailable
from automation.engine.toolchain.versions import DOWNLOAD_ADDRESS, MINIMUM, VERSION
from components.errors import ToolchainError, UsageError

SOURCES_VARIABLE: Final = "BERTH_TOOLCHAIN_SOURCES"
ADDRESS_VARIABLE: Final = "BERTH_PULUMI_DOWNLOAD_URL"


def ensure(
    layout: Layout,
    *,
    progress: Progress,
    sources: Sequence[Source] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Toolchain:
    """Find or install the CLI and its language host.

    ``sources`` are the ones that may be used (default: ``BERTH_TOOLCHAIN_SOURCES``, else all); their order is fixed.
    """
    variables = os.environ if environ is None else environ
    allowed = tuple(sources) if sources is not None else allowed_sources(variables)
    failures: dict[Source, str] = {}
    with writing(layout.berth):
        keep_out_of_git(layout.berth)
    found = _look(layout, allowed, variables, failures) or _install(layout, allowed, variables, failures, progress)
    host = place_host(layout, found.pulumi, found.source)
    return Toolchain(pulumi=found.pulumi, version=found.version, source=found.source, host=host)


def locate(
    layout: Layout, *, environ: Mapping[str, str] | None = None
) -> tuple[Toolchain | None, Mapping[Source, str]]:
    """Find the CLI that ``ensure`` would give without installing one, and why the sources that were asked have none."""
    variables = os.environ if environ is None else environ
    failures: dict[Source, str] = {}
    return _look(layout, allowed_sources(variables), variables, failures), failures


def allowed_sources(environ: Mapping[str, str]) -> tuple[Source, ...]:
    """Read which sources may be used; a word that names none is a usage error."""
    text = environ.get(SOURCES_VARIABLE, "")
    words = [word for word in (part.strip().lower() for part in text.split(",")) if word]
    known = [source.value for source in Source]
    if unknown := [word for word in words if word not in known]:
        raise UsageError(
            f"{SOURCES_VARIABLE} names {', '.join(unknown)}; there are {', '.join(known)}",
            help=f"export {SOURCES_VARIABLE}={','.join(known)}",
        )
    return tuple(source for source in Source if source.value in words) if words else tuple(Source)


def _look(
    layout: Layout, allowed: Sequence[Source], environ: Mapping[str, str], failures: dict[Source, str]
) -> Toolchain | None:
    """Look at what is there already; starts a process only for a CLI that was never seen."""
    if Source.PATH in allowed:
        try:
            return find_on_path(layout, environ)
        except Unavailable as error:
            failures[Source.PATH] = str(error)
    installed = find_installed(layout)
    return installed if installed is not None and installed.source in allowed else None


def _install(
    layout: Layout,
    allowed: Sequence[Source],
    environ: Mapping[str, str],
    failures: dict[Source, str],
    progress: Progress,
) -> Toolchain:
    with writing(layout.berth):
        layout.bin.mkdir(parents=True, exist_ok=True)
        with exclusive(layout.install_lock, progress=progress):
            installed = find_installed(layout)
            if installed is not None and installed.source in allowed:
                return installed
            for source in (Source.DOWNLOAD, Source.BUILD):
                if source not in allowed:
                    continue
                try:
                    _install_from(source, layout, environ, progress)
                except Unavailable as error:
                    failures[source] = str(error)
                    progress(f"no Pulumi CLI by {source.value}: {error}")
                else:
                    return _installed(layout, source)
    raise _nowhere(failures, allowed)


def _install_from(source: Source, layout: Layout, environ: Mapping[str, str], progress: Progress) -> None:
    # Imported here, because nearly every call finds a CLI and needs neither.
    if source is Source.DOWNLOAD:
        from automation.engine.toolchain.download import download  # noqa: PLC0415 (only when it comes to that)

        download(layout, address=environ.get(ADDRESS_VARIABLE) or DOWNLOAD_ADDRESS, progress=progress)
    else:
        from automation.engine.toolchain.build import build  # noqa: PLC0415 (only when it comes to that)

        build(layout, environ=environ, progress=progress)


def _installed(layout: Layout, source: Source) -> Toolchain:
    identity = Identity.of(layout.pulumi)
    assert identity is not None, "the CLI was just put there"
    Record.read(layout.record).with_installed(Seen(identity=identity, version=VERSION, source=source)).write(
        layout.record
    )
    return Toolchain(pulumi=layout.pulumi, version=VERSION, source=source)


def _nowhere(failures: Mapping[Source, str], allowed: Sequence[Source]) -> ToolchainError:
    lines = [f"{source.value}: {failures[source]}" for source in Source if source in failures]
    lines += [f"{source.value}: switched off by {SOURCES_VARIABLE}" for source in Source if source not in allowed]
    return ToolchainError(
        "\n  ".join([f"no Pulumi CLI {VERSION} to be had", *lines]),
        consequence="Nothing was changed.",
        help=f"put a pulumi of {MINIMUM} or newer on PATH, or install Go so that it can be built; `berth doctor` tells",
    )
