"""How the toolchain says what it is doing: a function that takes one line of talk.

Whoever calls decides where it goes (standard error, a progress bar, nowhere); nothing here prints.
"""

from collections.abc import Callable

Progress = Callable[[str], None]
"""Takes one finished line without a newline; called from the thread that called the toolchain."""


def silent(_line: str) -> None:
    """Say nothing."""
