"""Gives a tool that works: from PATH, from the official download, or built from its Go module, in that order.

What was downloaded or built stays under ``.berth`` and is found again in milliseconds, without starting a process.
When no source can give the tool, one error names each that was tried and why it failed.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from automation.engine.toolchain.disk import keep_out_of_git, writing
from automation.engine.toolchain.find import find_installed, find_on_path
from automation.engine.toolchain.install_lock import exclusive, said_by_holder
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.record import Identity, Record, Seen
from automation.engine.toolchain.tool import Tool
from automation.engine.toolchain.toolchain import Found, Source, Unavailable
from components.errors import ToolchainError, UsageError

SOURCES_VARIABLE: Final = "BERTH_TOOLCHAIN_SOURCES"


def ensure_tool(
    tool: Tool,
    layout: Layout,
    *,
    progress: Progress,
    sources: Sequence[Source] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Found:
    """Find or install a tool; raises ToolchainError when no source has it.

    ``sources`` are the ones that may be used (default: ``BERTH_TOOLCHAIN_SOURCES``, else all); their order is fixed.
    """
    search = _search(tool, layout, environ, sources)
    with writing(layout.berth):
        keep_out_of_git(layout.berth)
    return search.look() or search.install(progress)


def locate_tool(
    tool: Tool, layout: Layout, *, environ: Mapping[str, str] | None = None
) -> tuple[Found | None, Mapping[Source, str]]:
    """Find what ``ensure_tool`` would give without installing it, and why the sources that were asked have none."""
    search = _search(tool, layout, environ, None)
    return search.look(), search.failures


def underway(tool: Tool, layout: Layout) -> str:
    """Say how far a process is that installs the tool in this checkout now; empty when none does."""
    said = said_by_holder(tool.place(layout).lock)
    return "" if said is None else f"being installed: {said}" if said else "being installed"


def locate_all(tools: Iterable[Tool], layout: Layout) -> Mapping[str, Path] | None:
    """Find the programs of tools by name, and install nothing; None unless all of them are there."""
    programs: dict[str, Path] = {}
    for tool in tools:
        found, _ = locate_tool(tool, layout)
        if found is None:
            return None
        programs[tool.name] = found.path
    return programs


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


def _search(
    tool: Tool, layout: Layout, environ: Mapping[str, str] | None, sources: Sequence[Source] | None
) -> "_Search":
    variables = os.environ if environ is None else environ
    allowed = tuple(sources) if sources is not None else allowed_sources(variables)
    return _Search(tool=tool, layout=layout, environ=variables, allowed=allowed)


@dataclass(frozen=True, slots=True)
class _Search:
    """One search for a tool; ``failures`` collects why the sources that were asked do not have it."""

    tool: Tool
    layout: Layout
    environ: Mapping[str, str]
    allowed: Sequence[Source]
    failures: dict[Source, str] = field(default_factory=dict)

    def look(self) -> Found | None:
        """Look at what is there already; starts a process only for a program that was never seen."""
        if Source.PATH in self.allowed:
            try:
                return find_on_path(self.tool, self.layout, self.environ)
            except Unavailable as error:
                self.failures[Source.PATH] = str(error)
        return self._earlier()

    def install(self, progress: Progress) -> Found:
        """Download or build it, one process at a time."""
        place = self.tool.place(self.layout)
        with writing(self.layout.berth):
            place.folder.mkdir(parents=True, exist_ok=True)
            with exclusive(place.lock, what=self.tool.phrase, progress=progress) as say:
                if (earlier := self._earlier()) is not None:
                    return earlier
                for source in (Source.DOWNLOAD, Source.BUILD):
                    if source not in self.allowed:
                        continue
                    try:
                        self._from(source, say)
                    except Unavailable as error:
                        self.failures[source] = str(error)
                        say(f"no {self.tool.called} by {source.value}: {error}")
                    else:
                        return self._remembered(source)
        raise self._nowhere()

    def _earlier(self) -> Found | None:
        installed = find_installed(self.tool, self.layout)
        return installed if installed is not None and installed.source in self.allowed else None

    def _from(self, source: Source, progress: Progress) -> None:
        # Imported here, because nearly every call finds the tool and needs neither.
        if source is Source.DOWNLOAD:
            from automation.engine.toolchain.download import download  # noqa: PLC0415 (only when it comes to that)

            download(self.tool, self.layout, address=self.environ.get(self.tool.mirror, ""), progress=progress)
        else:
            from automation.engine.toolchain.build import build  # noqa: PLC0415 (only when it comes to that)

            build(self.tool, self.layout, environ=self.environ, progress=progress)

    def _remembered(self, source: Source) -> Found:
        place = self.tool.place(self.layout)
        identity = Identity.of(place.program)
        assert identity is not None, "the program was just put there"
        seen = Seen(identity=identity, version=self.tool.version, source=source)
        Record.read(place.record).with_installed(seen).write(place.record)
        return Found(path=place.program, version=self.tool.version, source=source)

    def _nowhere(self) -> ToolchainError:
        tool, off = self.tool, [source for source in Source if source not in self.allowed]
        lines = [f"{source.value}: {self.failures[source]}" for source in Source if source in self.failures]
        lines += [f"{source.value}: switched off by {SOURCES_VARIABLE}" for source in off]
        return ToolchainError(
            "\n  ".join([f"no {tool.called} {tool.version} to be had", *lines]),
            consequence="Nothing was changed.",
            help=f"put {tool.phrase} ({tool.range}) on PATH, or install Go to build it; `berth doctor` tells",
        )
