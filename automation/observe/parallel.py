"""Asks many at once, and waits for none of them longer than it may take.

A thread that hangs where no timeout reaches (the look-up of a name, a kernel that retries) cannot be ended in Python.
It is left behind as a daemon, its place goes to the next, and the answer says that there was none in time.
"""

import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from automation.observe.api import NoAnswer

_T = TypeVar("_T")

WORKERS: Final = 32
"""How many are asked at the same time."""


def ask_each(
    work: Callable[[str], _T], names: Iterable[str], *, seconds: float, workers: int = WORKERS
) -> dict[str, _T | NoAnswer]:
    """Return what ``work`` gives for each name, in the order of the names; NoAnswer for one that took too long.

    ``work`` may raise NoAnswer itself; whatever else it raises is raised here, when it comes.
    """
    waiting = list(dict.fromkeys(names))
    found: dict[str, _T | NoAnswer | None] = dict.fromkeys(waiting)
    done: SimpleQueue[tuple[str, _T | BaseException]] = SimpleQueue()
    running: dict[str, float] = {}

    def run(name: str) -> None:
        try:
            done.put((name, work(name)))
        except BaseException as error:  # noqa: BLE001 (handed to whoever waits)
            done.put((name, error))

    upcoming = iter(waiting)
    while True:
        while len(running) < workers and (name := next(upcoming, None)) is not None:
            running[name] = time.monotonic() + seconds
            threading.Thread(target=run, args=(name,), name=f"ask {name}", daemon=True).start()
        if not running:
            break
        try:
            name, answer = done.get(timeout=max(0.0, min(running.values()) - time.monotonic()))
        except Empty:
            for late in [each for each, end in running.items() if end <= time.monotonic()]:
                del running[late]
                found[late] = NoAnswer(f"did not answer within {seconds:g} s")
            continue
        if running.pop(name, None) is None:
            continue  # too late: it was counted as silent already
        if isinstance(answer, BaseException) and not isinstance(answer, NoAnswer):
            raise answer
        found[name] = answer
    return {name: answer for name, answer in found.items() if answer is not None}
