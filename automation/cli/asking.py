"""Asking a person before something is changed: whether anybody can be asked, and the answer.

While the question stands, an interrupt is an answer too: no. Later interrupts go to the engine (``running``).
"""

import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks


def can_ask(sinks: "Sinks") -> bool:
    """Return whether a person reads stderr and answers on stdin."""
    return not sinks.machine and sys.stdin.isatty()


def asked(question: str) -> str:
    """Ask on stderr and return the answer; empty when there is none."""
    sys.stderr.write(question)
    sys.stderr.flush()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return sys.stdin.readline().strip()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return ""
    finally:
        signal.signal(signal.SIGINT, before)
