"""An installation that goes on while whoever asked for it does something else.

It is ``berth doctor --install`` in a process and a session of its own, so that it outlives the terminal. What it says
goes into a log. The process holds the lock of that file, which the system frees when it ends in whatever way: so there
is one at a time in a checkout, and nobody has to remember its number.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from automation.engine.toolchain.disk import keep_out_of_git, writing
from automation.engine.toolchain.layout import Layout
from components.errors import ToolchainError


@dataclass(frozen=True, slots=True)
class Background:
    """An installation in the background; ``process`` is None for one that somebody else had begun."""

    process: "subprocess.Popen[bytes] | None"


def install_in_background(layout: Layout, arguments: Sequence[str]) -> Background:
    """Start ``berth`` with ``arguments`` unless such an installation is at work in this checkout.

    Raises ToolchainError when no process can be started.
    """
    with writing(layout.berth):
        layout.berth.mkdir(parents=True, exist_ok=True)
        keep_out_of_git(layout.berth)
        log = layout.install_log.open("ab")
    with log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return Background(None)
        log.truncate(0)
        try:
            # The lock belongs to the open file, which the child gets as its output and keeps when we close ours.
            child = subprocess.Popen(  # noqa: S603 (our own command)
                [sys.executable, "-m", "automation.cli", *arguments],
                env=dict(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            raise ToolchainError(
                f"no process can be started: {error.strerror or error}",
                consequence="Nothing is installed.",
                help="berth doctor --install",
            ) from error
    return Background(child)
