"""Problems as marks on the lines of a change: files are named from the root of the repository, as reviewers' tools do.

The root is the one that the CI system says it checked out; elsewhere it is the current folder.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.errors import Problem

_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def rooted(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems whose files are relative to the root of the repository, where they lie below it."""
    root = next((Path(value) for name in _ROOTS if (value := os.environ.get(name))), Path.cwd())
    return [replace(problem, file=_below(problem.file, root)) for problem in problems]


def github_lines(problems: Iterable[Problem]) -> list[str]:
    """Return a workflow command for every problem."""
    from automation.render.annotations import github_commands

    return list(github_commands(rooted(problems)))


def gitlab_document(problems: Iterable[Problem]) -> Sequence[Any]:
    """Return a Code Quality report."""
    from automation.render.annotations import gitlab_report

    return gitlab_report(rooted(problems))


def _below(file: str, root: Path) -> str:
    whole = Path(os.path.abspath(file)) if file else Path()  # noqa: PTH100 (resolve() would follow links)
    return whole.relative_to(root).as_posix() if file and whole.is_relative_to(root) else file
