"""What else would fit: the answer of ``berth capacity``, as a document and as a table."""

from collections.abc import Iterable
from typing import Literal

from automation.render.mark import marked
from automation.render.output_version import API_VERSION
from automation.render.remedy_view import remedy_view
from automation.render.text import Column, Line, line, table
from automation.render.views import RemedyView, View
from automation.scheduling.headroom import Headroom


class HeadroomView(View):
    """One deployment: how many more replicas fit if only it grew, and what the next one beyond those would need."""

    deployment: str
    wanted: int
    placed: int
    more: int
    next_replica: RemedyView


class CapacityView(View):
    """The headroom of every deployment."""

    api_version: Literal["berth.dev/output/v1"] = API_VERSION
    kind: Literal["Capacity"] = "Capacity"
    simulated: bool = False
    backed: bool = False
    deployments: tuple[HeadroomView, ...]


def capacity_view(found: Iterable[Headroom], *, simulated: bool = False, backed: bool = False) -> CapacityView:
    """Return headroom as it is printed."""
    return CapacityView(
        simulated=simulated,
        backed=backed,
        deployments=tuple(
            HeadroomView(
                deployment=f"{each.namespace}/{each.deployment}",
                wanted=each.wanted,
                placed=each.placed,
                more=each.more,
                next_replica=remedy_view(each.beyond),
            )
            for each in found
        ),
    )


def capacity_lines(view: CapacityView, *, width: int) -> list[Line]:
    """Return one row for each deployment."""
    if not view.deployments:
        return marked(view, [line("There are no deployments.")])
    columns = [
        Column("DEPLOYMENT"),
        Column("WANTED", drop=1),
        Column("PLACED"),
        Column("MORE"),
        Column("AND ONE BEYOND THOSE", wraps=True),
    ]
    rows = [
        (each.deployment, str(each.wanted), str(each.placed), str(each.more), each.next_replica.message)
        for each in view.deployments
    ]
    return marked(view, table(columns, rows, width=width))
