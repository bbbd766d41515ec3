"""Puts Berth's own Python language host where the CLI looks for one, but only when none is there.

The official archive has a host beside the CLI; one built from the Go module has none. The CLI looks beside the real
path of its own program and then in the plugin cache of its ``PULUMI_HOME``, and does both whatever
``PULUMI_IGNORE_AMBIENT_PLUGINS`` says. So ours goes beside a CLI of ours, and into the plugin caches for a CLI of
somebody else, whose folder is not ours to write to.
"""

import os
import shlex
import sys
from pathlib import Path
from typing import Final

from automation.engine.toolchain.disk import write_whole, writing
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source
from automation.engine.toolchain.versions import VERSION

NAME: Final = "pulumi-language-python"
_CACHE_FOLDER: Final = f"language-python-v{VERSION}"
_MODULE: Final = "automation.engine.language_host"
_MARK: Final = "# The Python language host of Berth."


def launcher(python: str = sys.executable) -> str:
    """Write the program that starts the host: a shell script, because a first line of a script may not hold a blank."""
    # -P: the folder it is started in must not shadow modules; -u: the CLI waits for the line with the port.
    return f'#!/bin/sh\n{_MARK}\nexec {shlex.quote(python)} -P -u -m {_MODULE} "$@"\n'


def place_host(layout: Layout, pulumi: Path, source: Source) -> Path:
    """Make sure that ``pulumi`` finds a host and say which one it will take."""
    beside = pulumi.resolve().with_name(NAME)
    if _is_program(beside) and not is_ours(beside):
        return beside
    if source is not Source.PATH:
        _write(layout, beside)
        return beside
    for home in (layout.home, layout.simulated_home):
        _write(layout, _cached(home))
    return _cached(layout.home)


def find_host(layout: Layout, pulumi: Path, *, simulated: bool) -> Path | None:
    """Say which host ``pulumi`` would take, without placing one."""
    candidates = (pulumi.resolve().with_name(NAME), _cached(layout.home_of(simulated=simulated)))
    return next((path for path in candidates if _is_program(path)), None)


def is_ours(path: Path) -> bool:
    """Whether a host is the launcher that Berth writes."""
    try:
        with path.open("rb") as file:
            return _MARK.encode() in file.read(256)
    except OSError:
        return False


def _cached(home: Path) -> Path:
    return home / "plugins" / _CACHE_FOLDER / NAME


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _write(layout: Layout, path: Path) -> None:
    """Write the launcher if it is not there yet, or starts another interpreter than ours."""
    wanted = launcher().encode()
    if _is_program(path) and path.read_bytes() == wanted:
        return
    with writing(layout.berth):
        write_whole(path, wanted, mode=0o755)
