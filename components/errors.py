"""Every error that Berth raises on purpose, and the located problems of bad input.

An error carries fields, not layout: a stable ``code`` (kebab-case, never reused, one docs page each), a ``summary``,
the ``consequence`` for what runs, and a ``help`` command. Renderers know colour and width; errors do not. One place
(the command line's ``main``) catches them and turns ``exit_code`` into the process's exit status, by Pulumi's own
table: 0 ok, 1 failure, 2 usage or configuration, 3 authentication, 4 resource, 5 policy, 6 stack not found, 7 changes
where none were expected, 8 cancelled, 9 timeout, 255 a bug of ours.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class Severity(StrEnum):
    """How much a problem matters: an error stops the run, a warning is only said."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One located problem of the input.

    ``line`` and ``column`` count from 1; 0 means the whole file. ``path`` is the place in the document as a person
    writes it (``spec.nodePools[0].name``). ``text`` is the offending source line without its newline.
    """

    code: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    text: str = ""
    allowed: str = ""
    help: str = ""
    severity: Severity = Severity.ERROR

    @property
    def where(self) -> str:
        """``file:line:column``, as editors and terminals link it; empty when the place is not known."""
        if not self.file:
            return ""
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The sort key of a report: by file, then place, then code and text."""
        return (self.file, self.line, self.column, self.code, self.message)


class BerthError(Exception):
    """The root of every error that Berth raises on purpose."""

    code: ClassVar[str] = "failure"
    exit_code: ClassVar[int] = 1

    def __init__(self, summary: str, *, consequence: str = "", help: str = "", where: str = "") -> None:  # noqa: A002 (what its readers call it)
        super().__init__(summary)
        self.summary = summary
        self.consequence = consequence
        self.help = help
        self.where = where


class UsageError(BerthError):
    """The command line, an option or an environment variable asks for something that does not exist."""

    code = "usage"
    exit_code = 2


class ConfigError(BerthError):
    """The input is wrong; holds every problem found in all files, sorted."""

    code = "config"
    exit_code = 2

    def __init__(self, problems: Iterable[Problem], *, consequence: str = "Nothing was changed.") -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.order))
        count = sum(problem.severity is Severity.ERROR for problem in self.problems)
        super().__init__(f"{count} problem{'' if count == 1 else 's'} in the manifests", consequence=consequence)


class LockError(BerthError):
    """A lock cannot be read, is newer than this Berth, or does not fit the manifests."""

    code = "lock"
    exit_code = 2


class NewerLock(LockError):
    """A lock was written by a newer Berth; nothing may write over it, because it says what this one cannot read."""

    code = "lock-newer"


class SchedulingError(BerthError):
    """The scheduler was given a snapshot that contradicts itself; not fitting is a result, never an error."""

    code = "scheduling"
    exit_code = 2


class DriverError(BerthError):
    """The engine, a backend or a tool that the driver runs did not do its work."""

    code = "driver"


class ToolchainError(DriverError):
    """A program that Berth needs is nowhere to be had; names everything that was tried."""

    code = "toolchain"


class AuthError(DriverError):
    """A passphrase, a token or a login is wrong or missing."""

    code = "auth"
    exit_code = 3


class ResourceFailed(DriverError):
    """One or more resources could not be created, changed or deleted."""

    code = "resource-failed"
    exit_code = 4


class PolicyViolation(DriverError):
    """A mandatory policy said no; nothing was applied."""

    code = "policy-violation"
    exit_code = 5


class StackNotFound(DriverError):
    """The stack does not exist in the backend."""

    code = "stack-not-found"
    exit_code = 6


class UnexpectedChanges(DriverError):
    """Changes were found where none were expected (drift, or a lock that planning would change)."""

    code = "unexpected-changes"
    exit_code = 7


class Cancelled(DriverError):
    """The run was interrupted by the user."""

    code = "cancelled"
    exit_code = 8


class TimedOut(DriverError):
    """Something took longer than it was given."""

    code = "timed-out"
    exit_code = 9


class StackLeased(DriverError):
    """Somebody else's run holds the state backend's lease on the stack."""

    code = "stack-leased"
    exit_code = 1


class MixedState(DriverError):
    """Simulated, backed and real state met; they refuse each other."""

    code = "mixed-state"
    exit_code = 2


class InternalError(BerthError):
    """A bug of Berth's own."""

    code = "internal"
    exit_code = 255
