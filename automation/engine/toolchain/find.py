"""Looks for a Pulumi CLI that is there already: on PATH, or installed under ``.berth/bin`` by an earlier run.

Nothing is downloaded or built here. A CLI is asked for its version once and remembered in the record.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from automation.engine.toolchain.disk import writing
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.record import Identity, Record, Seen
from automation.engine.toolchain.toolchain import Source, Toolchain, Unavailable
from automation.engine.toolchain.versions import MINIMUM, VERSION, Version

_SECONDS_TO_ANSWER = 60


def find_on_path(layout: Layout, environ: Mapping[str, str]) -> Toolchain:
    """Give the ``pulumi`` on PATH if it is new enough; ``Unavailable`` says why not.

    The folder of Berth's own CLI does not count, so that a shell with Berth's variables finds the same as one without.
    """
    path = _which(layout, environ)
    if path is None:
        raise Unavailable("no pulumi on PATH")
    record, identity = Record.read(layout.record), Identity.of(path)
    assert identity is not None, "which() gives existing files"
    seen = record.on_path
    if seen is None or not seen.is_still(identity):
        seen = Seen(identity=identity, version=ask_version(path, layout=layout), source=Source.PATH)
        with writing(layout.berth):
            record.with_path(seen).write(layout.record)
    version = Version.parse(seen.version)
    if version is None:
        raise Unavailable(f"{path} does not say its version")
    if not version.acceptable:
        raise Unavailable(f"{path} is {version}, wanted is {MINIMUM} or newer (3.x)")
    return Toolchain(pulumi=path, version=str(version), source=Source.PATH)


def find_installed(layout: Layout) -> Toolchain | None:
    """Give the CLI of an earlier download or build, if it is still the one of the pinned version."""
    record = Record.read(layout.record)
    seen, identity = record.installed, Identity.of(layout.pulumi)
    if seen is None or identity is None or seen.version != VERSION:
        return None
    if not seen.is_still(identity):
        # A restored CI cache may have lost the exact times, a half-copied one the content: ask the program itself.
        if _quiet_version(layout.pulumi, layout=layout) != VERSION:
            return None
        with writing(layout.berth):
            record.with_installed(Seen(identity=identity, version=VERSION, source=seen.source)).write(layout.record)
    return Toolchain(pulumi=layout.pulumi, version=VERSION, source=seen.source)


def ask_version(pulumi: Path, *, layout: Layout) -> str:
    """Run ``pulumi version`` and give the three numbers; empty when it does not print any."""
    # Without the caller's own Pulumi variables: an option set there (a folder to run in) must not make this fail.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")}
    variables = {"PULUMI_HOME": str(layout.home), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(  # noqa: S603 - the program found on PATH or installed here
            [str(pulumi), "version"],
            env={**environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_TO_ANSWER,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{pulumi} did not say its version within {_SECONDS_TO_ANSWER} s") from error
    except OSError as error:
        raise Unavailable(f"{pulumi} cannot be run: {error.strerror or error}") from error
    version = Version.parse(answer.stdout.decode(errors="replace"))
    return str(version) if version else ""


def _quiet_version(pulumi: Path, *, layout: Layout) -> str:
    try:
        return ask_version(pulumi, layout=layout)
    except Unavailable:
        return ""


def _which(layout: Layout, environ: Mapping[str, str]) -> Path | None:
    own = layout.bin.resolve()
    folders = [entry for entry in environ.get("PATH", "").split(os.pathsep) if entry and Path(entry).resolve() != own]
    found = shutil.which("pulumi", path=os.pathsep.join(folders)) if folders else None
    return Path(found).absolute() if found else None
