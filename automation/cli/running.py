"""What every verb that starts the engine does first and last: open a session, listen for interrupts, close it."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from automation.cli.options import Where
from automation.cli.sinks import Sinks

if TYPE_CHECKING:
    from automation.driver.session import Session


@contextmanager
def session_for(
    where: Where,
    sinks: Sinks,
    *,
    manifests: bool = True,
    observation: Path | None = None,
    previews: bool = False,
) -> Generator["Session"]:
    """Open a session for a verb; while the block runs, the first interrupt ends the engine gracefully.

    Without ``manifests`` mistakes in them are left to the verb. ``observation`` is a file whose facts plans count with.
    ``previews`` says that the engine will run programs.
    """
    from automation.cli.observation_file import observation_in
    from automation.cli.progress import Progress
    from automation.driver.reading import read_manifests_of
    from automation.driver.session import open_session
    from automation.engine.interruption import Interruption
    from automation.render.text import Span, line

    workspace = where.workspace()
    if manifests:  # a mistake in one is said at once, before anything is installed or started
        read_manifests_of(workspace)
    seen = observation_in(observation, workspace)
    interruption = Interruption()
    if workspace.backed:
        said = ": simulated clouds, real Kubernetes on this machine, and a state that ends with it"
        sinks.talk([line(Span("BACKED", "warn"), said)])
        say_what_is_played(sinks)
    elif workspace.simulated:
        sinks.talk(
            [line(Span("SIMULATED", "warn"), ": no real cloud is touched, and the state is the simulation's own")]
        )
    with interruption.listening(), interruption.subscribed(lambda requests: _say_what_follows(sinks, requests)):
        session = open_session(workspace, Progress(sinks), interruption=interruption, previews=previews)
        yield replace(session, observation=seen)


def say_what_is_played(sinks: Sinks) -> None:
    """Name what a backed run plays."""
    from automation.rehearsal.backing.played import played_in_short

    sinks.say(played_in_short())


_WHAT_FOLLOWS = (
    "interrupted: what has begun is finished, nothing new is started; interrupt again to stop at once",
    "stopping at once: what is cut off is repaired by the next `berth up`; interrupt again to kill the engine",
    "killing the engine: what is cut off is repaired by the next `berth up`",
)


def _say_what_follows(sinks: Sinks, requests: int) -> None:
    """Say what an interrupt does. A handler of signals may come in the middle of a write, so it writes past Python."""
    if not sinks.quiet:
        text = _WHAT_FOLLOWS[min(requests, len(_WHAT_FOLLOWS)) - 1]
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), f"{text}\n".encode())
