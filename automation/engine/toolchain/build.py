"""Builds the pinned CLI from its Go module, for machines that reach the Go proxy but not the official download.

``cli_module`` is a wrapper module of ours: a ``go.mod`` with a ``tool`` line and the ``go.sum`` of everything it pulls
in, so the build is the same everywhere. Cold it takes minutes and 4 GB of Go's caches; Go keeps every finished package,
so a build that was interrupted continues. The binary gets its name when it is whole.
"""

import os
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
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.output import OutputReader
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.toolchain import Unavailable
from automation.engine.toolchain.versions import BUILD_TAGS, CLI_PACKAGE, VERSION, VERSION_SYMBOL

_FULL_DISK: Final = "no space left on device"
_FOREIGN_TARGET: Final = frozenset({"GOOS", "GOARCH", "GOARM", "GOARM64", "GOAMD64", "GOEXPERIMENT", "CC", "CXX"})
_SECONDS_BETWEEN_LINES: Final = 10.0
_SECONDS_TO_STOP: Final = 10.0
_LINES_OF_FAILURE: Final = 4

Clock = Callable[[], float]


def build(
    layout: Layout,
    *,
    environ: Mapping[str, str],
    progress: Progress,
    clock: Clock = time.monotonic,
) -> None:
    """Build the CLI into ``layout.bin``; raises ``Unavailable`` when there is no Go or Go fails."""
    go = shutil.which("go", path=environ.get("PATH", ""))
    if go is None:
        raise Unavailable("Go is not on PATH")
    with writing(layout.berth):
        _write_module(layout)
        _remove_leftovers(layout)
    target = layout.bin / f".pulumi.{os.getpid()}"
    compiler = _Go(program=go, layout=layout, environ=environ, progress=progress, clock=clock)
    try:
        compiler.run("list", "-deps", *_FLAGS, CLI_PACKAGE, doing="resolving the Go modules of the Pulumi CLI")
        compiler.total = compiler.printed
        compiler.run(
            "build", "-v", *_FLAGS, *_link_flags(target), CLI_PACKAGE, doing=f"building the Pulumi CLI {VERSION}"
        )
        if ask_version(target, layout=layout) != VERSION:
            raise Unavailable(f"the CLI that was built does not say it is {VERSION}")
        with writing(layout.berth):
            _remove_companions(layout)
            target.replace(layout.pulumi)
    finally:
        with suppress(OSError):
            target.unlink()


_FLAGS: Final = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-tags", ",".join(BUILD_TAGS))


def _link_flags(target: Path) -> tuple[str, ...]:
    return ("-ldflags", f"-s -w -X {VERSION_SYMBOL}=v{VERSION}", "-o", str(target))


def _module(layout: Layout) -> Path:
    return layout.build / "cli"


def _write_module(layout: Layout) -> None:
    layout.bin.mkdir(parents=True, exist_ok=True)
    for name in ("go.mod", "go.sum"):
        content = files("automation.engine.toolchain").joinpath("cli_module", name).read_bytes()
        write_whole(_module(layout) / name, content)


def _remove_leftovers(layout: Layout) -> None:
    """Remove what builds that were killed have left; the install lock is held, so nobody is writing them."""
    for path in layout.bin.glob(".pulumi.*"):
        path.unlink()


def _remove_companions(layout: Layout) -> None:
    """Remove the language host of an official CLI that this build replaces: it would be of another version."""
    for path in layout.bin.glob("pulumi-*"):
        path.unlink()


class _Go:
    """Runs Go in the wrapper module and tells how far it is."""

    def __init__(
        self, *, program: str, layout: Layout, environ: Mapping[str, str], progress: Progress, clock: Clock
    ) -> None:
        self.total = 0
        self.printed = 0
        self._program = program
        self._layout = layout
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
                cwd=_module(self._layout),
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
