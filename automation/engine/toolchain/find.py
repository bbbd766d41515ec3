"""Looks for a tool that is there already: on PATH, or installed under ``.berth`` by an earlier run.

Nothing is downloaded or built here. A program is asked for its version once and remembered in the record.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from automation.engine.toolchain.disk import writing
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.record import Identity, Record, Seen
from automation.engine.toolchain.tool import Tool
from automation.engine.toolchain.toolchain import Found, Source, Unavailable
from automation.engine.toolchain.version import Version

_SECONDS_TO_ANSWER = 60


def find_on_path(tool: Tool, layout: Layout, environ: Mapping[str, str]) -> Found:
    """Give the program on PATH if its version will do; ``Unavailable`` says why not.

    The folder of Berth's own does not count, so that a shell with Berth's variables finds the same as one without.
    """
    place = tool.place(layout)
    path = _which(tool, place.folder, environ)
    if path is None:
        raise Unavailable(f"no {tool.name} on PATH")
    record, identity = Record.read(place.record), Identity.of(path)
    assert identity is not None, "which() gives existing files"
    seen = record.on_path
    if seen is None or not seen.is_still(identity):
        seen = Seen(identity=identity, version=ask_version(tool, path, layout=layout), source=Source.PATH)
        with writing(layout.berth):
            record.with_path(seen).write(place.record)
    version = Version.parse(seen.version)
    if version is None:
        raise Unavailable(f"{path} does not say its version")
    if not tool.accepts(version):
        raise Unavailable(f"{path} is {version}, wanted is {tool.range}")
    return Found(path=path, version=str(version), source=Source.PATH)


def find_installed(tool: Tool, layout: Layout) -> Found | None:
    """Give the program of an earlier download or build, if it is still the one of the pinned version."""
    place = tool.place(layout)
    record = Record.read(place.record)
    seen, identity = record.installed, Identity.of(place.program)
    if seen is None or identity is None or seen.version != tool.version:
        return None
    if not seen.is_still(identity):
        # A restored CI cache may have lost the exact times, a half-copied one the content: ask the program itself.
        if _quiet_version(tool, place.program, layout=layout) != tool.version:
            return None
        with writing(layout.berth):
            record.with_installed(Seen(identity=identity, version=tool.version, source=seen.source)).write(place.record)
    return Found(path=place.program, version=tool.version, source=seen.source)


def ask_version(tool: Tool, program: Path, *, layout: Layout) -> str:
    """Ask a program for its version and give the three numbers; empty when it does not print any."""
    if not tool.ask:
        from automation.engine.toolchain.plugin_version import plugin_version  # noqa: PLC0415 (gRPC, for plugins only)

        return plugin_version(program)
    # Without the caller's own Pulumi variables: an option set there (a folder to run in) must not make this fail.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")}
    variables = {"PULUMI_HOME": str(layout.home), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(  # noqa: S603 - the program found on PATH or installed here
            [str(program), *tool.ask],
            env={**environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_TO_ANSWER,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{program} did not say its version within {_SECONDS_TO_ANSWER} s") from error
    except OSError as error:
        raise Unavailable(f"{program} cannot be run: {error.strerror or error}") from error
    version = Version.parse(answer.stdout.decode(errors="replace"))
    return str(version) if version else ""


def _quiet_version(tool: Tool, program: Path, *, layout: Layout) -> str:
    try:
        return ask_version(tool, program, layout=layout)
    except Unavailable:
        return ""


def _which(tool: Tool, own: Path, environ: Mapping[str, str]) -> Path | None:
    own = own.resolve()
    folders = [entry for entry in environ.get("PATH", "").split(os.pathsep) if entry and Path(entry).resolve() != own]
    found = shutil.which(tool.name, path=os.pathsep.join(folders)) if folders else None
    return Path(found).absolute() if found else None
