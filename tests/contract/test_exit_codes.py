"""Exit codes and error codes: what scripts and CI branch on.

A failure means that a change breaks users: a script of theirs takes one outcome for another. The numbers are Pulumi's
own table; a code is never reused.
"""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Final

import pytest

import automation
import components
import stacks
from automation.cli import main
from components import errors
from components.errors import BerthError, ConfigError, Problem

BREAKS: Final = (
    "This breaks users: scripts branch on exit codes and on error codes. Keep the number and the code;"
    " a new error takes a new code and one of the numbers that are there."
)
TABLE: Final = {
    "BerthError": ("failure", 1),
    "UsageError": ("usage", 2),
    "ConfigError": ("config", 2),
    "LockError": ("lock", 2),
    "NewerLock": ("lock-newer", 2),
    "SchedulingError": ("scheduling", 2),
    "KubeconfigError": ("kubeconfig", 2),
    "MixedState": ("mixed-state", 2),
    "DriverError": ("driver", 1),
    "ToolchainError": ("toolchain", 1),
    "StackLeased": ("stack-leased", 1),
    "ApiError": ("kubernetes-api", 1),
    "AuthError": ("auth", 3),
    "ResourceFailed": ("resource-failed", 4),
    "PolicyViolation": ("policy-violation", 5),
    "StackNotFound": ("stack-not-found", 6),
    "UnexpectedChanges": ("unexpected-changes", 7),
    "Cancelled": ("cancelled", 8),
    "TimedOut": ("timed-out", 9),
    "InternalError": ("internal", 255),
}
MEANINGS: Final = {1: "failure", 2: "usage", 3: "auth", 4: "resource", 5: "policy", 6: "stack not found", 7: "changes",
                   8: "cancelled", 9: "timeout", 255: "bug"}  # fmt: skip


def every_error() -> Iterator[type[BerthError]]:
    """Yield the tree of errors, from every module of the product."""
    for package in (automation, components, stacks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    waiting: list[type[BerthError]] = [BerthError]
    while waiting:
        kind = waiting.pop()
        yield kind
        waiting += kind.__subclasses__()


def make(kind: type[BerthError]) -> BerthError:
    """Make an error of a kind."""
    if issubclass(kind, ConfigError):
        return kind([Problem("sample", "a problem", file="a.yaml", line=1)])
    return kind("something", help="berth sample")


def test_every_error_has_its_code_and_its_number() -> None:
    """Exactly these, wherever they are defined."""
    found = {kind.__name__: (kind.code, kind.exit_code) for kind in every_error() if kind.__module__ != __name__}
    assert found == TABLE, BREAKS
    codes = [code for code, _ in TABLE.values()]
    assert len(set(codes)) == len(codes), BREAKS
    assert {number for _, number in TABLE.values()} == set(MEANINGS), BREAKS


@pytest.mark.parametrize("name", sorted(name for name in TABLE if hasattr(errors, name)))
def test_the_command_line_ends_with_the_number(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a machine reads the same code and number from the document on stdout."""
    kind = getattr(errors, name)

    def failing(arguments: object, **options: object) -> None:
        raise make(kind)

    monkeypatch.setattr(main, "build_app", lambda: failing)
    code, number = TABLE[name]
    assert main.run(["plan", "--json"]) == number, BREAKS
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["kind"], document["code"], document["exitCode"]) == ("Error", code, number), BREAKS
    assert f"error[{code}]" in err, BREAKS


@pytest.mark.parametrize(
    ("raised", "number"),
    [
        pytest.param(KeyboardInterrupt(), 130, id="interrupted before anything started"),
        pytest.param(ZeroDivisionError("no way"), 255, id="a bug"),
        pytest.param(BrokenPipeError(), 0, id="the reader has seen enough"),
    ],
)
def test_what_is_no_error_of_ours_has_a_number_too(
    raised: BaseException, number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interrupt, a bug, a closed pipe."""

    def failing(arguments: object, **options: object) -> None:
        raise raised

    monkeypatch.setattr(main, "build_app", lambda: failing)
    assert main.run(["plan"]) == number, BREAKS
    assert "error[internal]" in capsys.readouterr().err or number != TABLE["InternalError"][1]


@pytest.mark.parametrize("arguments", [["plam"], ["plan", "--no-such-option"], ["plan", "-o", "xml"]])
def test_a_misspelt_command_line_is_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, with a way to go on."""
    assert main.run(arguments) == TABLE["UsageError"][1], BREAKS
    assert "help" in capsys.readouterr().err
