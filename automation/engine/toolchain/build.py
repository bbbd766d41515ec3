"""Builds a tool from its Go module, for machines that reach the Go proxy but not the official download.

``modules`` holds wrapper modules of ours: a ``go.mod`` with a ``tool`` line, or a ``main.go``, and the ``go.sum`` of
everything it pulls in, so the build is the same everywhere. Cold it takes minutes and gigabytes of Go's caches; Go
keeps every finished package, so a build that was interrupted continues. The binary gets its name when it is whole.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Final

from automation.engine.toolchain.disk import disk_full, write_whole, writing
from automation.engine.toolchain.find import ask_version
from automation.engine.toolchain.layout import Layout, Place
from automation.engine.toolchain.output import OutputReader
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.tool import GoModule, Tool
from automation.engine.toolchain.toolchain import Unavailable

_FULL_DISK: Final = "no space left on device"
_FOREIGN_TARGET: Final = frozenset({"GOOS", "GOARCH", "GOARM", "GOARM64", "GOAMD64", "GOEXPERIMENT", "CC", "CXX"})
_SECONDS_BETWEEN_LINES: Final = 10.0
_SECONDS_TO_STOP: Final = 10.0
_LINES_OF_FAILURE: Final = 4

Clock = Callable[[], float]


def build(
    tool: Tool,
    layout: Layout,
    *,
    environ: Mapping[str, str],
    progress: Progress,
    clock: Clock = time.monotonic,
) -> None:
    """Build the tool into its place; raises ``Unavailable`` when there is no module or no Go, or when Go fails."""
    module = tool.module
    if module is None:
        raise Unavailable(f"there is no pinned Go module for {tool.phrase} {tool.version}")
    go = shutil.which("go", path=environ.get("PATH", ""))
    if go is None:
        raise Unavailable("Go is not on PATH")
    place = tool.place(layout)
    with writing(layout.berth):
        _write_module(module, layout)
        place.folder.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(place)
    target = place.folder / f".{tool.name}.{os.getpid()}"
    compiler = _Go(program=go, layout=layout, module=module, environ=environ, progress=progress, clock=clock)
    try:
        flags = _flags(module)
        compiler.run("list", "-deps", *flags, module.package, doing=f"resolving the Go modules of {tool.phrase}")
        compiler.total = compiler.printed
        link = ("-ldflags", _link_flags(module), "-o", str(target))
        compiler.run("build", "-v", *flags, *link, module.package, doing=f"building {tool.phrase} {tool.version}")
        if ask_version(tool, target, layout=layout) != tool.version:
            raise Unavailable(f"{tool.phrase} that was built does not say it is {tool.version}")
        with writing(layout.berth):
            _remove_companions(tool, place)
            target.replace(place.program)
    finally:
        with suppress(OSError):
            target.unlink()


def go_version(module: GoModule) -> str:
    """Read which Go a module asks for."""
    line = _GO_LINE.search(_file(module, "go.mod").decode())
    assert line is not None, "go.mod has a go line"
    return line[1]


_GO_LINE: Final = re.compile(r"^go (\S+)$", re.MULTILINE)


def _flags(module: GoModule) -> tuple[str, ...]:
    tags = ("-tags", ",".join(module.tags)) if module.tags else ()
    return ("-mod=readonly", "-trimpath", "-buildvcs=false", *tags)


def _link_flags(module: GoModule) -> str:
    return " ".join(["-s -w", *(f"-X {symbol}={value}" for symbol, value in module.symbols)])


def _folder(module: GoModule, layout: Layout) -> Path:
    return layout.build / module.folder


def _file(module: GoModule, name: str) -> bytes:
    return files("automation.engine.toolchain").joinpath("modules", module.folder, name).read_bytes()


def _write_module(module: GoModule, layout: Layout) -> None:
    for name in module.files:
        write_whole(_folder(module, layout) / name, _file(module, name))


def _remove_leftovers(place: Place) -> None:
    """Remove what builds that were killed have left; the install lock is held, so nobody is writing them."""
    for path in place.folder.glob(f".{place.name}.*"):
        path.unlink()


def _remove_companions(tool: Tool, place: Place) -> None:
    """Remove the companions of an official release that this build replaces: they would be of another version."""
    if tool.companions:
        for path in place.folder.glob(tool.companions):
            path.unlink()


class _Go:
    """Runs Go in the wrapper module and tells how far it is."""

    def __init__(
        self,
        *,
        program: str,
        layout: Layout,
        module: GoModule,
        environ: Mapping[str, str],
        progress: Progress,
        clock: Clock,
    ) -> None:
        self.total = 0
        self.printed = 0
        self._program = program
        self._layout = layout
        self._folder = _folder(module, layout)
        # A go.work of the repo around us and a target of a cross build must not change what is built.
        kept = {name: value for name, value in environ.items() if name not in _FOREIGN_TARGET}
        self._environ = {**kept, "CGO_ENABLED": "0", "GOWORK": "off", "GO111MODULE": "on"}
        self._progress = progress
        self._clock = clock

    def run(self, command: str, *arguments: str, doing: str) -> None:
        """Run one Go command to its end; its printed packages are counted in ``printed``."""
        self.printed = 0
        self._progress(doing)
        start = said = self._clock()
        process = self._start(command, *arguments)
        output = OutputReader(process.stdout, process.stderr)
        try:
            for line in output.lines(every=_SECONDS_BETWEEN_LINES):
                self.printed += line is not None and line.is_package
                now = self._clock()
                if now - said >= _SECONDS_BETWEEN_LINES:
                    said = now
                    self._progress(self._line(doing, output.downloaded, now - start))
            code = process.wait()
        finally:
            _stop(process)
        if code:
            self._fail(command, output.last(_LINES_OF_FAILURE), code)

    def _start(self, command: str, *arguments: str) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 - the Go found on PATH, with arguments of ours
                [self._program, command, *arguments],
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise Unavailable(f"{self._program} cannot be run: {error.strerror or error}") from error

    def _line(self, doing: str, downloaded: int, seconds: float) -> str:
        minutes, rest = divmod(int(seconds), 60)
        spent = f"{minutes} min {rest} s" if minutes else f"{rest} s"
        if self.total:
            return f"{doing}: {self.printed:,} of at most {self.total:,} packages compiled, {spent}"
        return f"{doing}: {downloaded:,} modules downloaded, {spent}"

    def _fail(self, command: str, lines: list[str], code: int) -> None:
        for line in lines:
            if _FULL_DISK in line:
                raise disk_full(self._layout.berth)
        reason = "; ".join(lines) or f"exit status {code}"
        raise Unavailable(f"go {command} failed: {reason}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End Go and wait for it, when we leave early: an interrupt lets it remove its temporary folders."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
