"""One finding of the doctor."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

INSTALLING: Final = "wait, or follow it with --install"
"""The fix for a tool that another process installs now."""


class Status(StrEnum):
    """How much a finding matters: a problem stops runs, a warning may stop some."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """What was found under a name. ``fix`` is a command or a sentence, empty when there is nothing to do."""

    name: str
    status: Status
    found: str
    want: str = ""
    fix: str = ""
