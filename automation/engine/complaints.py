"""What the engine's CLI means when it fails: its texts and exit codes as Berth's errors.

The CLI tells failures apart by text more than by exit code (3.274.1: most end with 1), so both are read: first a table
of known texts, then the exit code. Whatever is not known stays a DriverError that carries the engine's own last words.
A failure of a resource or a policy is no complaint: the operation came to its end and has a result.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from automation.engine.event_json import plain
from automation.engine.lease import Lease, leased_error, read_leases
from automation.engine.process import CommandResult
from components.errors import (
    AuthError,
    Cancelled,
    DriverError,
    StackNotFound,
    TimedOut,
    ToolchainError,
    UnexpectedChanges,
    UsageError,
)
from components.naming import StackName

BerthFailure = DriverError | UsageError
_NOTHING = "Nothing was changed."

_TORN = r"\bEOF$|unexpected end of JSON input"


def is_torn(result: CommandResult) -> bool:
    """Return whether a file beside the state was empty: it is just being written, or its writer was killed."""
    return bool(result.code and re.search(_TORN, plain(result.stderr)))


@dataclass(frozen=True, slots=True)
class Failure:
    """A command that failed: what it was about, all that was said, and the command that frees a lease."""

    stack: StackName
    result: CommandResult
    said: str
    release: str
    look: Callable[[Lease], Lease] = lambda lease: lease
    """Tells more about the holder of a lease."""
    restore: Callable[[], str] = str
    """Gives the command that puts a whole copy in place of a truncated state; empty when none is truncated."""

    @property
    def where(self) -> str:
        """The stack in words; commands that are about no stack in particular name the backend."""
        return f"stack {self.stack}" if self.stack.environment else "the stacks of this project"

    @property
    def last_words(self) -> str:
        """The engine's own error in one line: what it marked as one, else what it wrote on its error stream."""
        if self.result.code < 0:
            return f"it was ended by signal {-self.result.code}"
        lines = [line.strip() for line in self.said.splitlines()]
        marked = [line.partition("error:")[2].strip() for line in lines if "error:" in line]
        chosen = [line for line in marked or plain(self.result.stderr).splitlines() if line.strip()]
        return " ".join(chosen[:3]) or f"it ended with exit code {self.result.code} and gave no reason"


def complaint(
    stack: StackName,
    result: CommandResult,
    *,
    release: str,
    also: tuple[str, ...] = (),
    look: Callable[[Lease], Lease] = lambda lease: lease,
    restore: Callable[[], str] = str,
) -> BerthFailure:
    """Return the error that a failed command stands for; see :class:`Failure` for ``look`` and ``restore``.

    ``also`` holds messages that came as events.
    """
    said = "\n".join(plain(text) for text in (result.stderr, result.stdout, *also) if text.strip())
    failure = Failure(stack, result, said, release, look, restore)
    if result.timed_out:
        return _timed_out(failure)
    if result.requests:
        return cancelled(stack, result.requests)
    for pattern, build in _TEXTS:
        if pattern.search(said):
            return build(failure)
    by_code = _CODES.get(result.code)
    return by_code(failure) if by_code else _unknown(failure)


def cancelled(stack: StackName, requests: int) -> Cancelled:
    """Return the error of a run that was asked to stop."""
    if requests == 1:
        consequence = "What had begun was finished and is in the state; the rest was not started."
    else:
        consequence = "Operations may have been cut off in the middle; the next run says which, and repairs them."
    return Cancelled(f"stopped while working on stack {stack}", consequence=consequence, help="berth up")


def _timed_out(failure: Failure) -> BerthFailure:
    return TimedOut(
        f"the engine did not finish its work on stack {failure.stack} in time",
        consequence="It was stopped; operations may have been cut off. The next run says which, and repairs them.",
        help="berth status",
    )


def _leased(failure: Failure) -> BerthFailure:
    holders = tuple(failure.look(lease) for lease in read_leases(failure.said))
    return leased_error(failure.stack, holders, release=failure.release)


def _no_stack(failure: Failure) -> BerthFailure:
    return StackNotFound(f"there is no stack {failure.stack} in this backend", consequence=_NOTHING, help="berth up")


def _wrong_passphrase(failure: Failure) -> BerthFailure:
    return AuthError(
        f"the passphrase does not fit stack {failure.stack}",
        consequence=_NOTHING,
        help="set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the one that the stack was made with",
    )


def _no_passphrase(failure: Failure) -> BerthFailure:
    return AuthError(
        f"no passphrase was given for stack {failure.stack}",
        consequence=_NOTHING,
        help="set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE",
    )


def _no_login(failure: Failure) -> BerthFailure:
    # Without a backend's address the engine means Pulumi Cloud, and asks for its token.
    way = "set PULUMI_BACKEND_URL to a backend of your own, or pulumi login; --simulated rehearses; see berth doctor"
    return AuthError(f"the state backend refuses: {failure.last_words}", consequence=_NOTHING, help=way)


def _disk_full(_failure: Failure) -> BerthFailure:
    return DriverError(
        "the disk is full: the engine could not write its state or a temporary file",
        consequence="What was done and could not be written is repaired by the next run.",
        help="free some space (.berth/ of the checkout, the system's temporary folder), then run it again",
    )


def _read_only(failure: Failure) -> BerthFailure:
    return DriverError(
        f"the engine may not write where it must: {failure.last_words}", consequence=_NOTHING, help="berth doctor"
    )


def _no_plugin(failure: Failure) -> BerthFailure:
    return ToolchainError(
        f"a plugin that the engine needs is missing: {failure.last_words}", consequence=_NOTHING, help="berth doctor"
    )


def _no_policy_pack(failure: Failure) -> BerthFailure:
    return ToolchainError(
        f"the policy pack cannot run: {failure.last_words}", consequence=_NOTHING, help="berth doctor"
    )


def _unreachable(failure: Failure) -> BerthFailure:
    return DriverError(
        f"the state backend or a service it needs cannot be reached: {failure.last_words}",
        consequence="What was done before that is in the state.",
        help="berth doctor",
    )


def _no_project(failure: Failure) -> BerthFailure:
    return UsageError(f"there is no Pulumi project here: {failure.last_words}", consequence=_NOTHING, help="berth init")


def _still_has_resources(failure: Failure) -> BerthFailure:
    return DriverError(
        f"stack {failure.stack} still has resources",
        consequence=_NOTHING,
        help=f"berth destroy -e {failure.stack.environment}",
    )


def _torn_state(failure: Failure) -> BerthFailure:
    restore = failure.restore()
    why = "a disk was full when it was written" if restore else "its writer was killed, or is writing it now"
    return DriverError(
        f"the state of {failure.where} cannot be read: {why}",
        consequence=f"{_NOTHING} The newest whole copy lacks what was made since." if restore else _NOTHING,
        help=restore or "run it again when the other run has ended",
    )


def _broken_state(failure: Failure) -> BerthFailure:
    return DriverError(
        f"the state of {failure.where} is not sound: {failure.last_words}",
        consequence=_NOTHING,
        help=failure.restore() or f"restore {failure.stack}.json in the backend from the .bak beside it",
    )


def _newer_engine(failure: Failure) -> BerthFailure:
    return ToolchainError(
        f"the state of {failure.where} was written by a newer engine: {failure.last_words}",
        consequence=_NOTHING,
        help="berth doctor",
    )


def _crashed(failure: Failure) -> BerthFailure:
    return DriverError(
        f"the engine itself failed: {failure.last_words}",
        consequence="Operations may have been cut off; the next run says which, and repairs them.",
        help="berth status",
    )


def _stack_exists(failure: Failure) -> BerthFailure:
    return DriverError(f"stack {failure.stack} is there already", consequence=_NOTHING)


def _changes(failure: Failure) -> BerthFailure:
    return UnexpectedChanges(f"stack {failure.stack} has changes where none were expected", consequence=_NOTHING)


def _usage(failure: Failure) -> BerthFailure:
    return UsageError(f"the engine refuses its configuration: {failure.last_words}", consequence=_NOTHING)


def _unknown(failure: Failure) -> BerthFailure:
    return DriverError(f"the engine failed on {failure.where}: {failure.last_words}")


def _was_cancelled(failure: Failure) -> BerthFailure:
    return cancelled(failure.stack, 1)


_TEXTS: tuple[tuple[re.Pattern[str], Callable[[Failure], BerthFailure]], ...] = tuple(
    (re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE), build)
    for build, patterns in (
        (
            _leased,
            ("the stack is currently locked by", r"\[409\] Conflict: Another update is currently in progress"),
        ),
        (_no_stack, ("no stack named .* found", "failed to find the stack snapshot", "no stack selected")),
        (_no_passphrase, ("passphrase must be set",)),
        (
            _wrong_passphrase,
            (
                "incorrect passphrase",
                "message authentication failed",
                "unable to read PULUMI_CONFIG_PASSPHRASE_FILE",
            ),
        ),
        (_disk_full, ("no space left on device", "disk quota exceeded")),
        (
            _no_policy_pack,
            (
                "could not (?:start|load) policy pack",
                "policy pack .* failed to start",
                "failed to load Pulumi policy project",
                "error running policy pack",
                "no analyzer plugin",
            ),
        ),
        (_no_plugin, ("no (?:resource|language) plugin", "could not load plugin", "failed to load plugin")),
        (_still_has_resources, ("still has resources",)),
        (_stack_exists, ("stack '.*' already exists",)),
        (
            _no_project,
            (
                r"no Pulumi\.yaml project file found",
                r"could not (?:unmarshal|validate) .*Pulumi\.ya?ml",
                "failed to load Pulumi project",
            ),
        ),
        (
            _newer_engine,
            (
                "is newer than what this version of the Pulumi CLI understands",
                "deployment schema version",
                "unsupported (?:checkpoint|deployment) version",
            ),
        ),
        (_torn_state, (_TORN,)),
        (
            _broken_state,
            (
                "snapshot integrity",
                "state file contains errors",
                "could not deserialize deployment",
                "failed to load checkpoint",
            ),
        ),
        (_crashed, ("panic:", "fatal error: ", "an assertion has failed")),
        (
            _no_login,
            (
                r"\b40[13] (?:Unauthorized|Forbidden)",
                "access ?denied",
                "permissiondenied",
                "unauthenticated",
                "invalid access token",
                "must be set for login",
            ),
        ),
        (_read_only, ("permission denied", "read-only file system")),
        (
            _unreachable,
            (
                "unable to open state directory",
                "no such host",
                "connection refused",
                "i/o timeout",
                "network is unreachable",
                "TLS handshake",
                "server misbehaving",
            ),
        ),
        (_was_cancelled, ("context canceled", "operation was canceled")),
    )
)


"""The first that fits wins: what stops every run stands before what may be said about one resource."""
"""The first that fits wins: what stops every run stands before what may be said about one resource."""

_CODES: dict[int, Callable[[Failure], BerthFailure]] = {
    1: _unknown,
    2: _usage,
    3: _no_login,
    4: _unknown,
    5: _unknown,
    6: _no_stack,
    7: _changes,
    8: _was_cancelled,
    9: _timed_out,
    10: _unknown,
    255: _crashed,
    -2: _was_cancelled,
    -9: _crashed,
    -15: _crashed,
}
"""Pulumi's own table of exit codes, and the signals that end a process from outside."""
