"""A plan as a person reads it: placements, what is missing and why, the steps, the resources, the policies."""

from collections.abc import Sequence
from itertools import groupby

from automation.render.text import Column, Line, Span, Style, count, heading, line, table
from automation.render.views import (
    FrontDoorView,
    LeavingView,
    PlacementView,
    PlanView,
    PolicySummaryView,
    RemedyView,
    ResourceView,
    ShortfallView,
    UpgradeView,
    VerdictView,
)
from automation.render.word_help import EXPLAINED

_SIGNS: dict[str, tuple[str, Style]] = {
    "create": ("+", "add"),
    "import": ("+", "add"),
    "update": ("~", "change"),
    "replace": ("+-", "change"),
    "delete": ("-", "remove"),
    "retain": ("=", "dim"),
}
_MARKS: dict[str, tuple[str, Style]] = {"new": ("+", "add"), "kept": (" ", "dim"), "changed": ("~", "change")}
_SHOWN_RESOURCES = 40
"""Lines of changed resources before the rest is folded into counts; everything is in the JSON."""


def plan_lines(plan: PlanView, *, width: int) -> list[Line]:
    """Return the whole plan."""
    mark = "  BACKED: simulated clouds, real Kubernetes on this machine" if plan.backed else ""
    mark = mark or ("  SIMULATED: no real cloud is touched" if plan.simulated else "")
    lines = [line(Span(f"Plan for {plan.environment}", "strong"), Span(mark, "warn") if mark else ""), Line()]
    losses = [resource for resource in plan.resources if resource.loses_data]
    if losses:
        lines.append(line(Span(f"Data would be lost: {count(len(losses), 'resource')}", "bad")))
        lines += [line(f"  {_sign(each)} {each.type} {each.name}") for each in losses]
        lines.append(Line())
    lines += front_door_lines(plan.front_doors)
    lines += upgrade_lines(plan.upgrades)
    lines += placement_lines(plan.placements, width=width)
    lines += leaving_lines(plan.leaving)
    lines += shortfalls_lines(plan.shortfalls, width=width)
    lines += _steps(plan)
    lines += resource_lines(plan.resources, plan.counts)
    lines += policy_lines(plan.policies)
    lines += [line(Span("note: ", "dim"), note) for note in plan.notes]
    if plan.empty and plan.shortfalls:
        short = count(len(plan.shortfalls), "deployment")
        lines.append(
            line(Span("No changes", "warn"), f", and {short} of {plan.environment} still short of what is wanted.")
        )
    elif plan.empty:
        lines.append(line(Span("No changes.", "ok"), f" {plan.environment} is as its manifests say."))
    return lines


def placement_lines(placements: Sequence[PlacementView], *, width: int) -> list[Line]:
    """Return the table of placements, one replica a row."""
    if not placements:
        return []
    columns = [
        Column(""),
        Column("REPLICA"),
        Column("CLUSTER"),
        Column("POOL AND DEVICES", wraps=True),
        Column("WHY", wraps=True),
    ]
    rows = []
    for each in placements:
        sign, style = _MARKS[each.change]
        cluster = f"{each.cluster} (planned)" if each.planned_cluster else each.cluster
        why = f"{each.reason}, needs scale-up" if each.needs_scale_up else each.reason
        if each.replaces:
            why += f", replaces {each.replaces}"
        name = f"{each.namespace}/{each.deployment}/{each.index}"
        rows.append((Span(sign or " ", style), name, cluster, "; ".join(each.devices), why))
    return [heading("Placements"), *table(columns, rows, width=width, indent=2), Line()]


def front_door_lines(doors: Sequence[FrontDoorView]) -> list[Line]:
    """Return what changes for clients: the addresses that go, and the front doors that come instead.

    Front doors that only come take nothing from anybody; the steps count them.
    """
    if all(each.change == "new" for each in doors):
        return []
    lines = [line(Span("Public addresses change", "bad"), ": clients and DNS records must follow")]
    for each in doors:
        address = each.address or "its address"
        if each.change == "leaving":
            lines.append(line("  ", Span("-", "remove"), f" {each.cluster}: {address} goes"))
        elif each.change == "rebuilt":
            lines.append(line("  ", Span("+-", "change"), f" {each.cluster}: {address} goes, its cluster is replaced"))
        elif each.change == "moved":
            lines.append(line("  ", Span("~", "change"), f" {each.cluster}: {address} is {each.new_address} now"))
        else:
            lines.append(line("  ", Span("+", "add"), f" {each.cluster}: a new address, known once it is built"))
    return [*lines, Line()]


def upgrade_lines(upgrades: Sequence[UpgradeView]) -> list[Line]:
    """Return the clusters that get another version of Kubernetes, which no later plan can take back."""
    if not upgrades:
        return []
    rows = ((each.cluster, f"kubernetes {each.before} -> {each.after}") for each in upgrades)
    return [
        line(Span("Control planes are upgraded", "warn"), ": there is no way back"),
        *(line("  ", Span("~", "change"), f" {cluster}: {change}") for cluster, change in rows),
        Line(),
    ]


def leaving_lines(leaving: Sequence[LeavingView]) -> list[Line]:
    """Return the replicas that go, and after whom."""
    if not leaving:
        return []
    lines = [heading("Leaving")]
    for each in leaving:
        after = f", after {each.successor} serves" if each.successor else ""
        lines.append(line("  ", Span("-", "remove"), f" {each.replica} ({each.reason}{after})"))
    return [*lines, Line()]


def shortfalls_lines(shortfalls: Sequence[ShortfallView], *, width: int) -> list[Line]:
    """Return what every deployment lacks and why, and once how to learn what the verdicts mean."""
    lines = [each for shortfall in shortfalls for each in _shortfall_lines(shortfall, width=width)]
    return [*lines, *explained_lines(), Line()] if any(each.verdicts for each in shortfalls) else lines


def explained_lines() -> list[Line]:
    """Return which command says what a verdict means."""
    return [line(Span("help: ", "dim"), EXPLAINED)]


def _shortfall_lines(shortfall: ShortfallView, *, width: int) -> list[Line]:
    """Return why a deployment does not get all it asks for, a verdict for every cluster."""
    counts = f"{shortfall.placed} of {shortfall.wanted} placed"
    lines = [line(Span(f"{shortfall.deployment}: ", "warn"), Span(shortfall.message or counts, "warn"))]
    return [*lines, *verdict_lines(shortfall.verdicts, width=width), *next_lines(shortfall.next_replica), Line()]


def next_lines(remedy: RemedyView | None) -> list[Line]:
    """Return what one more replica would need."""
    return [line(Span("next replica: ", "dim"), remedy.message)] if remedy else []


def verdict_lines(verdicts: Sequence[VerdictView], *, width: int) -> list[Line]:
    """Return what every cluster said, with numbers."""
    if not verdicts:
        return []
    columns = [Column("CLUSTER"), Column("VERDICT"), Column("REASON", wraps=True)]
    rows: list[tuple[str, str, str]] = []
    for each in verdicts:
        name = f"{each.cluster} (planned)" if each.planned else each.cluster
        # The cluster's own word comes first where it says more than one of its pools: a quota, a fabric, why it gets no
        # more. Where a pool is the reason, the pools say it, each with its name.
        told = each.code == "fits" or any(each.message in pool for pool in each.pools)
        first, *rest = each.pools if told and each.pools and not each.taken else (each.message, *each.pools)
        rows.append((name, each.code, first))
        rows += [("", "", reason) for reason in rest]
    return table(columns, rows, width=width, indent=2, blank="")


def _steps(plan: PlanView) -> list[Line]:
    if not plan.steps:
        return []
    lines = [heading("Steps")]
    for number, step in enumerate(plan.steps, start=1):
        lines.append(line(f"  {number}. ", Span(step.kind, "strong"), f": {', '.join(step.actions) or 'nothing'}"))
    return [*lines, Line()]


def resource_lines(resources: Sequence[ResourceView], counts: dict[str, int]) -> list[Line]:
    """Return the engine's changes: counts, and each changed resource until there are too many to read."""
    if not resources:
        return []
    said = ", ".join(f"{number} to {op}" for op, number in sorted(counts.items()) if number and op != "same")
    unchanged = counts.get("same", 0)
    lines = [line(Span("Resources", "strong"), f": {said}" + (f", {unchanged} unchanged" if unchanged else ""))]
    if len(resources) <= _SHOWN_RESOURCES:
        for each in resources:
            sign, style = _SIGNS.get(each.op, ("?", "change"))
            because = f"  ({', '.join(each.because)})" if each.because else ""
            lines.append(line("  ", Span(f"{sign:<2}", style), f" {each.type} {each.name}{because}"))
    else:
        ordered = sorted(resources, key=lambda each: (each.op, each.type))
        for (op, kind), group in groupby(ordered, key=lambda each: (each.op, each.type)):
            sign, style = _SIGNS.get(op, ("?", "change"))
            lines.append(line("  ", Span(f"{sign:<2}", style), f" {len(list(group)):>3} x {kind}"))
    return [*lines, Line()]


def _sign(resource: ResourceView) -> str:
    return _SIGNS.get(resource.op, ("?", "change"))[0]


def policy_lines(policies: PolicySummaryView) -> list[Line]:
    """Return what the policies said: violations first, deferred findings as such, then what passed."""
    if not policies.packs:
        return []
    lines = [line(Span("Policies", "strong"), f": {', '.join(policies.packs)}")]
    for each in policies.violations:
        style: Style = "bad" if each.level != "advisory" else "warn"
        lines.append(line("  ", Span(f"{each.level}[{each.rule}]", style), f" {each.subject}"))
        lines += [line(f"      {text}") for text in each.message.splitlines()]
    for each in policies.deferred:
        lines.append(line("  ", Span(f"deferred[{each.rule}]", "warn"), f" {each.subject}: {each.message}"))
    if policies.passed:
        lines.append(line("  ", Span("passed", "ok"), f": {', '.join(policies.passed)}"))
    return [*lines, Line()]
