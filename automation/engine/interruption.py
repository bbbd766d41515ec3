"""Interrupts: how a person's Ctrl-C reaches the engine.

The first interrupt asks the engine to finish what it is doing and stop; the second makes it stop at once, which may
leave interrupted operations for the next run to repair; the third kills it. The engine runs in a process group of its
own, so that a terminal's Ctrl-C reaches only the driver and is counted once. Several runs (one per shard) share one
:class:`Interruption`.
"""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Counts the requests to stop and passes each on to whoever subscribed."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._subscribers: list[Callable[[int], None]] = []
        self.requests = 0
        """How often a stop was asked for; 0 means: go on."""

    def request(self) -> None:
        """Ask everybody to stop, more urgently each time."""
        with self._lock:
            self.requests += 1
            for notify in tuple(self._subscribers):
                notify(self.requests)

    @contextmanager
    def subscribed(self, notify: Callable[[int], None]) -> Generator[None]:
        """Call ``notify`` with the number of requests at every request; at once if there was one already."""
        with self._lock:
            self._subscribers.append(notify)
            if self.requests:
                notify(self.requests)
        try:
            yield
        finally:
            with self._lock:
                self._subscribers.remove(notify)

    @contextmanager
    def listening(self) -> Generator[None]:
        """Turn SIGINT and SIGTERM into requests while the block runs; only the main thread can do this."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(_signal: int, _frame: FrameType | None) -> None:
            self.request()

        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
