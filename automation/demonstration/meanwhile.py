"""Doing something again and again while a block runs."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def meanwhile(do: Callable[[], None], *, every: float) -> Generator[None]:
    """Call ``do`` in a thread of its own, ``every`` so many seconds; it is over when the block is."""
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(every):
            do()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
