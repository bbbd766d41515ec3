"""The answer to a what-if question, beside what holds now: as a document and as a text."""

from typing import Literal

from automation.render.mark import marked
from automation.render.output_version import API_VERSION
from automation.render.text import Column, Line, Span, Style, count, heading, line, table
from automation.render.views import LeavingView, RemedyView, View


class WhatIfDeploymentView(View):
    """One deployment; ``clusters`` counts its replicas. Null stands for one that is not there now, or not then."""

    deployment: str
    wanted: int | None
    wanted_now: int | None
    placed: int | None
    placed_now: int | None
    clusters: dict[str, int]
    clusters_now: dict[str, int]
    message: str
    next_replica: RemedyView | None


class WhatIfView(View):
    """What the scheduler would decide; no engine was asked, and nothing was written."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["WhatIf"] = "WhatIf"
    simulated: bool = False
    backed: bool = False
    environment: str
    assumptions: tuple[str, ...]
    deployments: tuple[WhatIfDeploymentView, ...]
    new: tuple[str, ...]
    """Replicas that would be built beyond those that a plan would build now."""

    leaving: tuple[LeavingView, ...]
    """Replicas that would go beyond those that go now."""


def what_if_lines(view: WhatIfView, *, width: int) -> list[Line]:
    """Return the answer: a row for every deployment, what moves, and what would be missing."""
    lines = [heading(f"What if in {view.environment}"), *(line(f"  {each}") for each in view.assumptions), Line()]
    columns = [
        Column("DEPLOYMENT"),
        Column("WANTED", drop=1),
        Column("PLACED NOW"),
        Column("THEN"),
        Column("WHERE", wraps=True),
    ]
    rows = [
        (
            each.deployment,
            _number(each.wanted if each.wanted is not None else each.wanted_now),
            _number(each.placed_now),
            Span(_number(each.placed), _style(each)),
            _where(each),
        )
        for each in view.deployments
    ]
    lines += [*table(columns, rows, width=width), Line()] if rows else [line("There are no deployments."), Line()]
    lines += [line("  ", Span("+", "add"), f" {each}") for each in view.new]
    lines += [line("  ", Span("-", "remove"), f" {each.replica} ({each.reason})") for each in view.leaving]
    for each in view.deployments:
        if each.message:
            lines.append(line(Span(f"{each.deployment}: {each.message}", "warn")))
            lines += [line(Span("next replica: ", "dim"), each.next_replica.message)] if each.next_replica else []
    moved = f"{count(len(view.new), 'replica')} to build, {len(view.leaving)} to go"
    return marked(view, [*lines, line(f"{moved}, beyond what a plan would do now. Nothing was written.")])


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _style(each: WhatIfDeploymentView) -> Style:
    if each.placed is None or each.wanted is None:
        return "dim"
    return "ok" if each.placed >= each.wanted else "warn"


def _where(each: WhatIfDeploymentView) -> str:
    names = sorted({*each.clusters, *each.clusters_now})
    parts = []
    for name in names:
        now, then = each.clusters_now.get(name, 0), each.clusters.get(name, 0)
        parts.append(f"{name} {then}" if now == then else f"{name} {now} -> {then}")
    return ", ".join(parts)
