"""Status, explanation, drift and the report of a run, as a person reads them."""

from collections.abc import Sequence
from textwrap import wrap

from automation.render.mark import marked
from automation.render.plan import (
    explained_lines,
    leaving_lines,
    next_lines,
    placement_lines,
    resource_lines,
    shortfalls_lines,
    verdict_lines,
)
from automation.render.text import Column, Line, Span, Style, count, heading, line, table
from automation.render.views import (
    ConditionView,
    DeploymentView,
    DestroyedView,
    DriftView,
    ExplanationView,
    FailureView,
    StatusView,
    UpView,
)

_STYLES: dict[str, Style] = {
    "Ready": "ok",
    "Serving": "ok",
    "Staged": "ok",
    "Starting": "warn",
    "Draining": "warn",
    "Pending": "warn",
    "Failed": "bad",
    "Lost": "bad",
    "Unreachable": "bad",
}


def status_lines(status: StatusView, *, width: int) -> list[Line]:
    """Return the tree (fleet, clusters, pools, replicas, each with its condition), then every deployment's count."""
    mark = "  BACKED" if status.backed else "  SIMULATED" if status.simulated else ""
    lines = [line(Span(status.environment, "strong"), Span(mark, "warn") if mark else "")]
    lines += _tree(status.tree, "")
    lines += _deployments(status.deployments, width)
    for title, entries in (
        ("Interrupted operations (the next `berth up` repairs them)", status.pending),
        ("What may exist without being in the state", status.orphans),
        ("Leased", status.leases),
    ):
        if entries:
            lines += [Line(), heading(title), *(line(f"  {each}") for each in entries)]
    return lines


def _deployments(deployments: Sequence[DeploymentView], width: int) -> list[Line]:
    if not deployments:
        return []
    columns = [
        Column("DEPLOYMENT"),
        Column("WANTED"),
        Column("PLACED"),
        Column("SERVING"),
        Column("REASON", wraps=True),
    ]
    rows = [
        (
            each.deployment,
            str(each.wanted),
            str(each.placed),
            Span(str(each.serving), "ok" if each.serving >= each.wanted else "bad"),
            each.reason or ("" if each.wanted else "scaled to zero"),
        )
        for each in deployments
    ]
    return [Line(), *table(columns, rows, width=width)]


def _tree(nodes: Sequence[ConditionView], prefix: str) -> list[Line]:
    lines: list[Line] = []
    for position, node in enumerate(nodes):
        last = position == len(nodes) - 1
        branch, below = ("`-- ", "    ") if last else ("|-- ", "|   ")
        condition = Span(node.condition, _STYLES.get(node.condition, ""))
        detail = f"  {node.detail}" if node.detail else ""
        kind = f"{node.kind} " if node.kind else ""
        lines.append(line(Span(prefix + branch, "dim"), f"{kind}{node.name}  ", condition, detail))
        lines += _tree(node.children, prefix + below)
    return lines


def explanation_lines(explanation: ExplanationView, *, width: int) -> list[Line]:
    """Return why a deployment's replicas are where they are."""
    enough = explanation.placed >= explanation.wanted
    style: Style = "ok" if enough else "warn"
    head = f"{explanation.deployment}: {explanation.placed} of {explanation.wanted} placed"
    lines = [line(Span(head, style)), line(explanation.summary), Line()]
    lines += placement_lines(explanation.placements, width=width)
    lines += leaving_lines(explanation.leaving)
    lines += _score_lines(explanation, width=width)
    lines += verdict_lines([each.brief for each in explanation.verdicts], width=width)
    lines += next_lines(explanation.next_replica)
    return marked(explanation, [*lines, *(explained_lines() if explanation.verdicts else ())])


def _score_lines(explanation: ExplanationView, *, width: int) -> list[Line]:
    """Return by what the clusters of new replicas were chosen."""
    if not explanation.chosen:
        return []
    columns = [
        Column("NEW REPLICA"),
        Column("OWN"),
        Column("REGION", drop=3),
        Column("SIZES", drop=2),
        Column("USD/HOUR"),
        Column("WANTED", drop=1),
    ]
    rows = [
        (
            each.replica,
            str(each.score.own),
            str(each.score.region),
            "mixed" if each.score.mixes else "one",
            each.score.cost or "",
            str(each.score.wanted),
        )
        for each in explanation.chosen
    ]
    said = f"The first of these that differs decides: {', '.join(explanation.order)}."
    folded = [line(f"  {each}") for each in wrap(said, max(width - 2, 20))]
    return [heading("Scores"), *table(columns, rows, width=width, indent=2), *folded, Line()]


def drift_lines(drift: DriftView) -> list[Line]:
    """Return what changed behind Berth's back."""
    notes = [line(Span("note: ", "dim"), note) for note in drift.notes]
    if not drift.resources:
        return marked(drift, [*notes, line(Span("No drift.", "ok"), f" {drift.environment} is as the state says.")])
    counts: dict[str, int] = {}
    for each in drift.resources:
        counts[each.op] = counts.get(each.op, 0) + 1
    words = {"delete": "gone", "update": "changed", "create": "appeared"}
    lines = [heading(f"Drift in {drift.environment}: {count(len(drift.resources), 'resource')}")]
    for each in drift.resources:
        because = f" ({', '.join(each.because)})" if each.because else ""
        lines.append(line("  ", Span(words.get(each.op, each.op), "warn"), f"  {each.type} {each.name}{because}"))
    return marked(drift, [*notes, *lines, line("The next `berth up` puts it right.")])


def up_lines(report: UpView, *, width: int) -> list[Line]:
    """Return the report of a run: each step, each failure, what is still missing."""
    lines: list[Line] = []
    for step in report.steps:
        done = ", ".join(f"{number} {op}" for op, number in sorted(step.counts.items()) if number and op != "same")
        style: Style = "bad" if step.failures else "ok"
        word = "failed in part" if step.failures else "done"
        lines.append(line(Span(f"{step.kind} {word}", style), f"  {step.stack}: {done or 'nothing to change'}"))
        lines += failure_lines(step.failures)
    lines += shortfalls_lines(report.shortfalls, width=width)
    lines += [line(Span("note: ", "dim"), note) for note in report.notes]
    if report.ok and not report.steps:
        lines.append(line(Span("Nothing to do.", "ok"), f" {report.environment} is as its manifests say."))
    elif report.ok:
        lines.append(line(Span("Done.", "ok"), f" {report.environment} is as its manifests say."))
    else:
        short = f"{count(len(report.shortfalls), 'deployment')} short of replicas" if report.shortfalls else ""
        failed = sum(len(step.failures) for step in report.steps)
        parts = [part for part in (f"{count(failed, 'part')} failed" if failed else "", short) if part]
        lines.append(line(Span("Not all of it.", "bad"), f" {report.environment}: {', '.join(parts) or 'see above'}."))
    return marked(report, lines)


def failure_lines(failures: Sequence[FailureView]) -> list[Line]:
    """Return failures in words."""
    lines = []
    for each in failures:
        lines.append(line("  ", Span("failed", "bad"), f"  {each.subject}: {each.resource}"))
        lines += [line(f"          {text}") for text in each.message.splitlines()]
    return lines


def destroyed_lines(report: DestroyedView) -> list[Line]:
    """Return what is gone and what is left on purpose."""
    lines = [line(f"{count(report.deleted, 'resource')} deleted from {report.environment}.")]
    lines += failure_lines(report.failures)
    if report.retained:
        lines.append(heading("Left on purpose (deleting them would delete what others keep there)"))
        lines += [line(f"  {each}") for each in report.retained]
    return marked(report, [*lines, *(line(Span("note: ", "dim"), note) for note in report.notes)])


__all__ = [
    "destroyed_lines",
    "drift_lines",
    "explanation_lines",
    "failure_lines",
    "resource_lines",
    "status_lines",
    "up_lines",
]
