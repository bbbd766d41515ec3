"""What-if questions of ``berth plan``: reads them from the options, and prints the answer."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks
    from automation.driver.session import Session
    from automation.driver.what_if import Question


def question_of(without: Iterable[str], files: Iterable[Path], capacity: Iterable[str]) -> "Question":
    """Return the question that some options ask; raises UsageError for a capacity that cannot be read."""
    from automation.driver.what_if import Question

    return Question(tuple(dict.fromkeys(without)), tuple(files), dict(map(_size, capacity)))


def _size(text: str) -> tuple[str, int]:
    from components.errors import UsageError

    name, equal, number = text.rpartition("=")
    if not (equal and all(name.split("/", 1)) and number.isascii() and number.isdigit()):
        raise UsageError(f"the capacity {text!r} cannot be read", help="--capacity CLUSTER/POOL=NODES")
    return name, int(number)


def ask(session: "Session", sinks: "Sinks", question: "Question", save: Path | None) -> None:
    """Answer a question, and save the snapshot that it was answered from where that is wanted."""
    from automation.cli.snapshot_file import save_snapshot
    from automation.driver.reading import read_situation
    from automation.driver.what_if import answer
    from automation.render.what_if import what_if_lines

    view, snapshot = answer(session, read_situation(session, create=False, missing_ok=True), question)
    if save is not None:
        save_snapshot(save, snapshot)
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(what_if_lines(view, width=sinks.width))
