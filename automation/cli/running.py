"""What every verb that starts the engine does first and last: open a session, listen for interrupts, close it."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from automation.cli.options import Where
from automation.cli.sinks import Sinks

if TYPE_CHECKING:
    from automation.driver.session import Session


@contextmanager
def session_for(where: Where, sinks: Sinks) -> Generator["Session"]:
    """Open a session for a verb; while the block runs, the first interrupt ends the engine gracefully."""
    from automation.cli.progress import Progress
    from automation.driver.reading import read_manifests_of
    from automation.driver.session import open_session
    from automation.driver.workspace import Workspace
    from automation.engine.interruption import Interruption
    from automation.render.text import Span, line

    workspace = Workspace.open(where.env, environments=where.environments, simulated=where.simulated)
    read_manifests_of(workspace)  # a mistake in a manifest is said at once, before anything is installed or started
    interruption = Interruption()
    if workspace.simulated:
        sinks.talk(
            [line(Span("SIMULATED", "warn"), ": no real cloud is touched, and the state is the simulation's own")]
        )
    with interruption.listening():
        yield open_session(workspace, Progress(sinks), interruption=interruption)
