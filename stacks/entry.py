"""The entry of a Pulumi program: from the stack's name to its environment, its shard, and the program.

Plain ``pulumi`` comes in here, in Berth's own project and in a user's repo, whose main is three lines::

    from stacks.entry import run

    run()

It applies the target lock that is committed beside the manifests. The driver does not come this way: it gives the
program its step locks itself.
"""

from pathlib import Path

import pulumi

from components.errors import BerthError, ConfigError, Problem
from components.naming import StackName
from stacks.config import ProgramConfig
from stacks.environment import DEFAULT_FOLDER, environment_folder, missing_lock, read_environment
from stacks.fit import check_fit
from stacks.pinpoint import pinpointed
from stacks.program import program
from stacks.sdk import leave_stack_traces_out, wait_once
from stacks.shard import Shard


def run() -> None:
    """Build what the target lock of the running stack says; errors of ours end the run without a traceback."""
    leave_stack_traces_out()
    wait_once()
    try:
        _run(StackName.parse(pulumi.get_stack()))
    except BerthError as error:
        raise pulumi.RunError(message(error)) from error


def _run(stack: StackName) -> None:
    root = project_root(Path(pulumi.get_root_directory() or Path.cwd()))
    folder = environment_folder(root, stack.environment)
    if not folder.is_dir():
        raise ConfigError(
            [
                Problem(
                    "environment-missing",
                    f"the stack is named {stack}, and there is no folder of an environment {stack.environment!r}",
                    str(folder),
                    help=f"berth init {stack.environment}, or set BERTH_ENVIRONMENTS to the folder of environments",
                )
            ]
        )
    loaded, lock = read_environment(folder)
    fleet = loaded.raise_if_errors()
    if lock is None:
        raise missing_lock(folder)
    config = ProgramConfig.from_pulumi()
    check_fit(fleet, lock, simulated=config.simulated, backed=config.backed)
    shard = Shard.of(stack, fleet, clusters=(entry.name for entry in lock.platform.clusters))
    program(fleet, lock, shard, config)


def project_root(start: Path) -> Path:
    """Return the folder that relative environments lie under: ``start``, or a folder above it that holds some.

    Simulated runs have a project of their own inside the real one.
    """
    return next((folder for folder in (start, *start.parents) if (folder / DEFAULT_FOLDER).is_dir()), start)


def message(error: BerthError) -> str:
    """Return an error as text for Pulumi's own output: every problem with its place, then what to do."""
    lines = [error.summary]
    if isinstance(error, ConfigError):
        found = pinpointed(error.problems)
        lines += [f"  {problem.where or problem.path or '-'}: {problem.message}" for problem in found]
        lines += sorted({f"  help: {problem.help}" for problem in error.problems if problem.help})
    if error.consequence:
        lines.append(error.consequence)
    if error.help:
        lines.append(f"help: {error.help}")
    return "\n".join(lines)
