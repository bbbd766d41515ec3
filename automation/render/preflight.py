"""What ``berth preflight`` answers: every finding about one cluster, and below them what to do. PURE."""

from collections.abc import Iterator
from typing import Literal

from automation.render.checks import STYLES, checks_table
from automation.render.output_version import API_VERSION
from automation.render.text import Line, Span, count, line
from automation.render.views import View

Status = Literal["ok", "warning", "problem"]


class CheckView(View):
    """One finding. ``fix`` is a command or a sentence, empty when there is nothing to do."""

    name: str
    status: Status
    found: str
    want: str = ""
    fix: str = ""


class PreflightView(View):
    """What ``berth preflight`` answers."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Preflight"] = "Preflight"
    environment: str
    backed: bool = False
    """Whether it is a control plane of a backed run, on this machine."""
    cluster: str
    server: str
    """URL of the API server that was asked; empty where no kubeconfig says it."""
    ready: bool
    """Whether there is no problem; there may be warnings."""
    checks: tuple[CheckView, ...] = ()


def preflight_lines(view: PreflightView, *, width: int) -> list[Line]:
    """Return the findings as a table, what to do, and one line that sums it up."""
    rows = [(each.name, each.status, each.found, each.want) for each in view.checks]
    mark = [line(Span(view.environment, "strong"), Span("  BACKED", "warn"))] if view.backed else []
    return [*mark, *checks_table(rows, width=width), *_fixes(view), Line(), _summary(view)]


def _fixes(view: PreflightView) -> Iterator[Line]:
    asked = [each for each in view.checks if each.fix and each.status != "ok"]
    if asked:
        yield Line()
    for each in asked:
        yield line(Span(each.name, STYLES[each.status]), f": {each.fix}")


def _summary(view: PreflightView) -> Line:
    problems = sum(each.status == "problem" for each in view.checks)
    warnings = sum(each.status == "warning" for each in view.checks)
    noted = f", {count(warnings, 'warning')}" if warnings else ""
    if problems:
        return line(Span("Not fit.", "bad"), f" {view.cluster}: {count(problems, 'problem')}{noted}.")
    return line(Span("Fit.", "ok"), f" {view.cluster} has what {view.environment} needs of it{noted}.")
