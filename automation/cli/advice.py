"""Commands in messages, completed: what a person pastes must act on the environment and the clouds of this run.

Errors name the command that helps without knowing how the run was started. A command that lacks ``--simulated`` would
go to real clouds, one that lacks ``--environments`` to other manifests; both are added here, at the one place where
errors are printed.
"""

import re
from collections.abc import Sequence

_VERBS = ("convert", "destroy", "drift", "explain", "get", "orphans", "plan", "status", "unlock", "up", "validate")
_COMMAND = re.compile(rf"\bberth (?:{'|'.join(_VERBS)})\b(?: -{{1,2}}[a-z-]+(?:[ =][^\s`,;]+)?)*")


def completed(text: str, arguments: Sequence[str]) -> str:
    """Add to every command of ours in ``text`` the options of this run that say where it works."""
    options = where_options(arguments)
    return _COMMAND.sub(lambda found: _complete(found[0], options), text) if options else text


def where_options(arguments: Sequence[str]) -> list[str]:
    """Return the options among ``arguments`` that choose environment and clouds, as they were given."""
    found: list[str] = []
    for position, argument in enumerate(arguments):
        name, equals, _ = argument.partition("=")
        if argument in {"--simulated", "--backed"}:
            found.append(argument)
        elif name in {"-e", "--env", "--environments"}:
            following = arguments[position + 1 : position + 2]
            found.append(argument if equals else " ".join([argument, *following]))
    return found


def _complete(command: str, options: Sequence[str]) -> str:
    words = {"--env" if word in {"-e", "--env"} else word for word in re.split(r"[ =]", command)}
    missing = [option for option in options if _name(option) not in words]
    return " ".join([command, *missing])


def _name(option: str) -> str:
    name = re.split(r"[ =]", option)[0]
    return "--env" if name == "-e" else name
