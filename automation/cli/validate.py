"""``berth validate``: every problem of every file, at once."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from automation.cli.options import Talk, Where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from automation.cli.sinks import Sinks
    from automation.render.manifest_views import ValidationView
    from components.api.fleet import Fleet
    from components.errors import Problem
    from stacks.given_paths import Given

Annotations = Literal["auto", "github", "gitlab", "none"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShowProblems(Talk):
    """How problems are shown."""

    output: Annotated[Literal["table", "json", "sarif"], Parameter(name=["--output", "-o"], env_var="BERTH_OUTPUT")] = (
        "table"
    )
    """Form of the answer on stdout; ``sarif`` is SARIF 2.1.0, for code scanners."""

    @property
    def scanner(self) -> bool:
        """Whether a code scanner reads stdout."""
        return self.output == "sarif" and not self.json


_SHOW = ShowProblems()
_WHERE = Where()


def validate(
    *paths: Path,
    ignore: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    annotations: Annotated[Annotations, Parameter(env_var="BERTH_ANNOTATIONS")] = "auto",
    where: Where = _WHERE,
    show: ShowProblems = _SHOW,
) -> int:
    """Check manifests and show every problem; starts no engine and needs no network.

    Without a path, all manifests of an environment. With paths, those files and folders: a folder with an
    `environment.yaml` is checked as an environment; anything else may be a part of one, so what it refers to and does
    not hold is only a warning.

    Parameters
    ----------
    paths
        Files and folders to check instead of an environment.
    ignore
        Pattern of files to pass over, such as `charts/*`; may be given several times. What every verb is to pass over
        stands in `.berthignore` of the environment's folder, a pattern a line.
    annotations
        Marks for the lines of a change: `github` writes workflow commands to stderr, `gitlab` a Code Quality report to
        stdout; `auto` is `github` in a GitHub workflow, else none.
    """
    from automation.render.problems import summary
    from automation.render.text import Span, line
    from components.errors import ConfigError, UsageError

    sinks = show.sinks_for("table" if show.output == "table" else "json")
    if annotations == "gitlab" and sinks.machine:
        raise UsageError("a Code Quality report and another document cannot both go to stdout", help="give one of them")
    view, problems, fleets = _checked(paths, ignore, where)
    if show.scanner:
        sinks.document(_sarif(problems))
    elif annotations == "gitlab":
        from automation.cli.marks import gitlab_document

        sinks.document(gitlab_document(problems))
    elif sinks.machine:
        sinks.document(view.to_json())
    else:
        _say(sinks, view, problems, fleets)
    if annotations == "github" or (annotations == "auto" and os.environ.get("GITHUB_ACTIONS") == "true"):
        from automation.cli.marks import github_lines

        sinks.complain([line(text) for text in github_lines(problems)])
    if view.valid:
        return 0
    sinks.complain([line(Span(summary(problems), "bad"), "; `berth explain CODE` says more about a code")])
    return ConfigError.exit_code


def _checked(
    paths: "Sequence[Path]", ignore: "Sequence[str]", where: Where
) -> "tuple[ValidationView, Sequence[Problem], Sequence[Fleet]]":
    from automation.driver.refusals import plan_problems
    from automation.render.manifest_views import ProblemView, ValidationView
    from components.errors import ConfigError, Severity
    from stacks.environment import read_lock
    from stacks.given_paths import given

    folders = paths
    if not paths:
        folder = where.workspace().folder
        folders = [folder]
        read_lock(folder)  # one that cannot be read is said here, and not first when planning
    problems: list[Problem] = []
    fleets: list[Fleet] = []
    found: Sequence[Given] = ()
    try:
        found = [each.without(ignore) for each in given(folders, whole=not paths)]
        for each in found:
            result = each.load()
            whole = result.fleet if each.environment else None
            problems += result.problems if whole is None else plan_problems(whole, result.problems)
            fleets += [result.fleet] if result.fleet is not None else []
    except ConfigError as error:
        problems += error.problems
    problems.sort(key=lambda problem: problem.order)
    view = ValidationView(
        environment="" if paths else where.env,
        environments=tuple(each.environment for each in found if each.environment),
        files=sum(len(each.files) for each in found),
        valid=not any(problem.severity is Severity.ERROR for problem in problems),
        problems=tuple(ProblemView.of(problem) for problem in problems),
    )
    return view, problems, fleets


def _sarif(problems: "Sequence[Problem]") -> dict[str, object]:
    from automation.cli.code_pages import code_pages
    from automation.cli.marks import rooted
    from automation.cli.version import berth_version
    from automation.render.sarif import sarif

    return sarif(rooted(problems), version=berth_version(), pages=code_pages())


def _say(sinks: "Sinks", view: "ValidationView", problems: "Sequence[Problem]", fleets: "Sequence[Fleet]") -> None:
    from automation.render.problems import problems_lines, summary
    from automation.render.text import Span, count, line

    sinks.data(problems_lines(problems))
    if not view.valid:
        return
    sizes = ", ".join(
        (
            count(sum(len(fleet.clusters) for fleet in fleets), "cluster"),
            count(sum(len(fleet.classes) for fleet in fleets), "class", "classes"),
            count(sum(len(fleet.deployments) for fleet in fleets), "deployment"),
            count(sum(len(fleet.services) for fleet in fleets), "service"),
            count(sum(len(fleet.caches) for fleet in fleets), "cache"),
        )
    )
    said = summary(problems)
    what = ", ".join(view.environments) or count(view.files, "file")
    sinks.data([line(Span("valid", "ok"), f": {what} ({sizes}){'; ' + said if said else ''}")])
