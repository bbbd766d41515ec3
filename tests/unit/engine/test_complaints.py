"""Every way in which the engine's CLI fails is an error of Berth's."""

import inspect
import re
from pathlib import Path

import pytest
from pulumi.automation import errors as lower
from pulumi.automation._cmd import CommandResult as LowerResult

from automation.engine.complaints import cancelled, complaint, is_torn
from automation.engine.process import CommandResult
from components.errors import (
    AuthError,
    BerthError,
    Cancelled,
    DriverError,
    StackLeased,
    StackNotFound,
    TimedOut,
    ToolchainError,
    UnexpectedChanges,
    UsageError,
)
from components.naming import StackName

STACK = StackName("dev")


def failed(
    stderr: str = "", *, stdout: str = "", code: int = 1, requests: int = 0, timed_out: bool = False
) -> CommandResult:
    """Return a command that failed."""
    return CommandResult(("up",), code, stdout, stderr, requests, timed_out)


def said(result: CommandResult, *, also: tuple[str, ...] = ()) -> BerthError:
    """Return what a failed command means."""
    return complaint(STACK, result, release="free dev", also=also)


LOCKED = (
    "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock"
    " file with `pulumi cancel`.\n  file:///s/.pulumi/locks/organization/town/dev/0a.json: created by sam@far (pid 41)"
    " at 2026-11-02T08:00:00Z"
)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (LOCKED, StackLeased, r"leased by sam@far \(pid 41\) since 2026-11-02T08:00:00"),
        ("error: [409] Conflict: Another update is currently in progress.", StackLeased, "another run"),
        ("error: no stack named 'dev' found", StackNotFound, "no stack dev"),
        ("error: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or ...", AuthError, "no passphrase was given"),
        ("error: constructing secrets manager: incorrect passphrase", AuthError, "does not fit"),
        ("error: unable to read PULUMI_CONFIG_PASSPHRASE_FILE: open x", AuthError, "does not fit"),
        ("error: write /s/dev.json: no space left on device", DriverError, "disk is full"),
        ("error: could not start policy pack x: y", ToolchainError, "policy pack cannot run: could not start"),
        ("error: no resource plugin 'pulumi-resource-aws' found", ToolchainError, "plugin that the engine needs"),
        ("error: 'dev' still has resources; removal rejected", DriverError, "still has resources"),
        ("error: stack 'organization/town/dev' already exists", DriverError, "is there already"),
        ("error: no Pulumi.yaml project file found", UsageError, "no Pulumi project here"),
        ("error: 'dev' is newer than what this version of the Pulumi CLI understands.", ToolchainError, "newer engine"),
        ("error: unsupported checkpoint version 99", ToolchainError, "newer engine: unsupported checkpoint version 99"),
        ('error: policy pack "p" failed to start: exit status 1', ToolchainError, "policy pack cannot run"),
        ("error: could not validate '/p/Pulumi.yaml': expected an object", UsageError, "no Pulumi project here"),
        ("error: place 1: unexpected end of JSON input", DriverError, "state of stack dev cannot be read"),
        ("error: snapshot integrity failure; it was already written", DriverError, "not sound"),
        ("error: failed to load checkpoint: EOF", DriverError, "cannot be read"),
        ("panic: runtime error: index out of range", DriverError, "engine itself failed"),
        ("error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive", AuthError, "backend refuses"),
        ("error: read bucket: AccessDenied: no", AuthError, "backend refuses"),
        ("error: open /s: permission denied", DriverError, "may not write"),
        ("error: dial tcp: lookup s3.test: no such host", DriverError, "cannot be reached"),
        ("error: dial tcp 10.0.0.1:443: i/o timeout", DriverError, "cannot be reached"),
        ("error: context canceled", Cancelled, "stopped"),
        ("error: something nobody has seen", DriverError, "failed on stack dev: something nobody has seen"),
    ],
)  # fmt: skip
def test_a_known_text_is_its_own_error(text: str, error: type[BerthError], words: str) -> None:
    """The text decides, on whichever stream it stands or in an event; a release command is offered for a lease."""
    for result, also in ((failed(text), ()), (failed(stdout=text), ()), (failed(), (text,))):
        found = said(result, also=also)
        assert type(found) is error
        assert re.search(words, found.summary)
    if error is StackLeased:
        assert said(failed(text)).help == "free dev"


LOWER_SAMPLES = {
    "StackNotFoundError": ("no stack named 'dev' found", "", StackNotFound),
    "ConcurrentUpdateError": ("the stack is currently locked by 1 lock(s)", "", StackLeased),
    "StackAlreadyExistsError": ("stack 'dev' already exists", "", DriverError),
    "CommandError": ("anything", "", DriverError),
    # These three are about what a program does; with an inline program its own exception says more (``pulumi``), and
    # what is left is a failure of the engine.
    "InlineSourceRuntimeError": ("", "python inline source runtime error: oops", DriverError),
    "RuntimeError": ("", "failed with an unhandled exception", DriverError),
    "CompilationError": ("", "Build FAILED.", DriverError),
}


def test_every_exception_of_the_layer_below_has_a_mapping() -> None:
    """What the Automation API tells apart, Berth tells apart; a new kind there makes this test fail."""
    kinds = {
        name
        for name, kind in vars(lower).items()
        if inspect.isclass(kind) and issubclass(kind, Exception) and kind is not lower.InvalidVersionError
    }
    # The version of the CLI is the toolchain's business: it is checked before anything is started.
    assert kinds == LOWER_SAMPLES.keys()
    for name, (stderr, stdout, error) in LOWER_SAMPLES.items():
        assert type(lower.create_command_error(LowerResult(stdout, stderr, 1))).__name__ == name
        assert type(said(failed(stderr, stdout=stdout))) is error


ENGINE_CODES = {
    1: DriverError,
    2: UsageError,
    3: AuthError,
    4: DriverError,
    5: DriverError,
    6: StackNotFound,
    7: UnexpectedChanges,
    8: Cancelled,
    9: TimedOut,
    10: DriverError,
    255: DriverError,
}
"""Pulumi's own table of exit codes (cmd/pulumi/cmd/exit_codes.go, 3.274.1)."""


@pytest.mark.parametrize(("code", "error"), ENGINE_CODES.items())
def test_every_exit_code_has_a_mapping(code: int, error: type[BerthError]) -> None:
    """Without a text that is known, the code decides; Berth's own code is Pulumi's wherever both have one."""
    found = said(failed("hm", code=code))
    assert type(found) is error
    if code in {3, 6, 7, 8, 9}:
        assert found.exit_code == code


@pytest.mark.parametrize("signal", [-9, -15, -6, -77])
def test_an_engine_that_was_killed_is_said_so(signal: int) -> None:
    """A process that ended by a signal has no words of its own; whatever it printed before is not its reason."""
    found = said(failed(stdout="Updating (dev)\n + creating x", code=signal))
    assert type(found) is DriverError
    assert f"signal {-signal}" in found.summary


def test_a_request_to_stop_wins_over_what_was_said() -> None:
    """An interrupted run is cancelled, whatever broke because of it; the first and the second differ."""
    once, twice = said(failed("error: context canceled", requests=1)), said(failed("panic: x", requests=2))
    assert isinstance(once, Cancelled)
    assert isinstance(twice, Cancelled)
    assert "finished" in once.consequence
    assert "cut off" in twice.consequence
    assert cancelled(STACK, 1).exit_code == 8


def test_a_run_out_of_time_is_not_a_cancellation() -> None:
    """What Berth stopped itself was not stopped by a person."""
    assert isinstance(said(failed("error: context canceled", timed_out=True, requests=1)), TimedOut)


def test_an_engine_that_says_nothing_is_quoted_as_such() -> None:
    """There is always a reason to read."""
    assert "exit code 1 and gave no reason" in said(failed()).summary


def test_only_an_end_of_file_is_a_torn_file() -> None:
    """A message that merely mentions the letters is another failure, and so is a success."""
    assert is_torn(failed("error: failed to load checkpoint: EOF\n"))
    assert is_torn(failed("error: EOF"))
    assert not is_torn(failed("error: unexpected EOF in GEOFENCE"))
    assert not is_torn(failed("EOF", code=0))


def test_a_truncated_state_comes_with_the_command_that_restores_it() -> None:
    """When there is a whole copy; and a command that is about no stack in particular says so."""
    text = failed("error: place 1: unexpected end of JSON input")
    found = complaint(StackName(""), text, release="", restore=lambda: "cp whole torn")
    assert found.summary.startswith("the state of the stacks of this project cannot be read: a disk was full")
    assert "lacks what was made since" in found.consequence
    assert found.help == "cp whole torn"
    assert said(text).help == "run it again when the other run has ended"
    assert said(failed("error: snapshot integrity failure")).help.startswith("restore dev.json")


def test_no_error_shows_a_machines_path_by_itself() -> None:
    """Summaries quote the engine, and nothing of where Berth lies."""
    assert str(Path(__file__).parents[3]) not in said(failed("error: hm")).summary
