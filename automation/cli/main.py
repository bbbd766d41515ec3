"""The ``berth`` command: which verbs there are, and the one place that turns errors into messages and exit codes."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from cyclopts import App, CycloptsError

from automation.cli.answered import ANSWERED
from components.errors import BerthError, ConfigError, InternalError, UsageError

_INTERRUPTED = 130
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""A cloud's SDK is 300,000 objects that stay: looking through them for rubbish again and again finds nothing."""

VERBS = {
    "init": "Write a commented, valid environment to start from.",
    "validate": "Check all manifests and show every problem.",
    "plan": "Compute placements, preview them with the policies, and write the lock.",
    "up": "Plan, then apply step by step, gate by gate.",
    "get": "List the manifests of a kind, as they were loaded.",
    "status": "Show what exists: clusters, pools, replicas and their condition.",
    "explain": "Say what a kind, a field, a code or a verdict means, or why replicas are where they are.",
    "capacity": "Count how many more replicas fit, and say what the next one would need.",
    "observe": "Show what the clusters say of themselves: nodes, devices, pods, with their age.",
    "preflight": "Check whether a cluster has what the environment needs of it.",
    "schedule": "Run the scheduler alone on a snapshot document.",
    "drift": "Compare what exists with the state; exits 7 when they differ.",
    "destroy": "Tear the environment down.",
    "unlock": "Free the lease that a dead run left on a stack.",
    "orphans": "List what may exist without being in the state, and cross out what was dealt with.",
    "backing": "Keep real control planes behind the simulated clusters of `--backed` runs, until interrupted.",
    "env": "Print the variables that plain `pulumi` needs in this checkout.",
    "doctor": "Check the machine and say how to fix what is missing.",
    "convert": "Rewrite manifests between the two apiVersions, keeping every other byte.",
    "selector": "Test, check and verify device selectors.",
    "schema": "Print the JSON Schema of a kind, of the lock, or of an output.",
    "version": "Print the versions of Berth and of what it drives.",
}
"""Every verb and its one line of help; its module is ``automation.cli.<verb>`` and is imported when it runs."""

_ALIASES = {"plan": "preview", "up": "apply"}


def build_app() -> App:
    """Make the command tree without importing any verb."""
    app = App(
        name="berth",
        help="An inference fleet as a reviewed Pulumi plan.",
        help_format="plaintext",
        version=_version,
        version_flags=["--version"],
        result_action="return_value",
    )
    for verb, text in VERBS.items():
        names = [verb, _ALIASES[verb]] if verb in _ALIASES else [verb]
        app.command(f"automation.cli.{verb}:{'app' if verb == 'selector' else verb}", name=names, help=text)
    return app


def _version() -> str:
    from automation.cli.version import berth_version

    return berth_version()


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; prints every error it meets."""
    ANSWERED.given = False
    try:
        result: Any = build_app()(list(arguments), exit_on_error=False, print_error=False)
    except CycloptsError as error:
        verb = " ".join(("berth", *(error.command_chain or ())))
        return _report(UsageError(str(error).strip(), help=f"{verb} --help"), arguments)
    except BerthError as error:
        return _report(error, arguments)
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was started\n")
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last line of defence: a bug gets its own exit code and a trace)
        import traceback

        traceback.print_exc()
        bug = InternalError(
            f"a bug in Berth: {type(error).__name__}: {error}", help="please report it with the lines above"
        )
        return _report(bug, arguments)
    return result if isinstance(result, int) else 0


def _report(error: BerthError, arguments: Sequence[str]) -> int:
    from automation.cli.advice import completed
    from automation.cli.sinks import Sinks
    from automation.render.problems import error_json, error_lines

    if isinstance(error, ConfigError):
        from stacks.pinpoint import pinpointed

        error.problems = pinpointed(error.problems)
    error.help = completed(error.help, arguments)
    error.consequence = completed(error.consequence, arguments)
    sinks = Sinks()
    if _wants_json(arguments):
        sinks.document(error_json(error))
    sinks.complain(error_lines(error))
    if isinstance(error, ConfigError) and os.environ.get("GITHUB_ACTIONS") == "true":
        from automation.cli.marks import github_lines
        from automation.render.text import line

        sinks.complain([line(text) for text in github_lines(error.problems)])
    return error.exit_code


def _wants_json(arguments: Sequence[str]) -> bool:
    if os.environ.get("BERTH_OUTPUT") == "json":
        return True
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(
        a in {"--json", "--output=json", "-ojson"} or (a in {"-o", "--output"} and b == "json") for a, b in pairs
    )


def main() -> None:
    """Run the command line of this process, and end it."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    leave(run(sys.argv[1:]))


def leave(code: int) -> NoReturn:
    """End this process as usual, but for taking every module apart: for a cloud's SDK that is over a second."""
    atexit._run_exitfuncs()  # noqa: SLF001 (public only as a part of an end that takes everything apart)
    for stream in (sys.stdout, sys.stderr):
        # None where a job began without it; else nobody may listen any more, or it was closed on purpose.
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(code)
