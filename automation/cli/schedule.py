"""``berth schedule``: the scheduler alone, on a snapshot document."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from automation.scheduling.snapshot import Snapshot


def schedule(snapshot: Annotated[str, Parameter(allow_leading_hyphen=True)], /) -> int:
    """Run the scheduler on a snapshot, and print its answer with the record of every decision as JSON.

    Reads nothing else and changes nothing: the same file gives the same answer everywhere, so it makes a bug report, a
    test or an experiment. `berth plan --save-snapshot FILE` writes the one that a plan was made from, `berth schema
    Snapshot` says what may stand in one. What does not fit is part of the answer and no failure.

    Parameters
    ----------
    snapshot
        A file of YAML or JSON; `-` reads the standard input.
    """
    from automation.cli.sinks import Sinks
    from automation.render.schedule_view import schedule_view
    from automation.scheduling.schedule import schedule as run

    Sinks(output="json").document(schedule_view(run(snapshot_in(snapshot))).to_json())
    return 0


def snapshot_in(place: str) -> "Snapshot":
    """Read the snapshot in a file; raises UsageError when there is none, ConfigError for what is wrong in it."""
    from automation.document.read_snapshot import read_snapshot
    from components.errors import UsageError

    if place == "-":
        return read_snapshot("(standard input)", sys.stdin.buffer.read())
    if place.startswith("-"):
        raise UsageError(f"unknown option {place}", help="berth schedule --help")
    try:
        content = Path(place).read_bytes()
    except OSError as error:
        raise UsageError(f"the snapshot {place} cannot be read: {error.strerror}") from error
    return read_snapshot(place, content)
