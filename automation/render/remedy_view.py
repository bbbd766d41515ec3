"""From a remedy to what is printed of it."""

from automation.render.views import GrowthView, RemedyView
from automation.scheduling.remedy import Remedy


def remedy_view(remedy: Remedy) -> RemedyView:
    """Return a remedy as it is printed."""
    return RemedyView(
        answer=remedy.answer.value,
        message=remedy.message,
        cluster=remedy.cluster,
        growth=tuple(
            GrowthView(
                pool=each.pool,
                nodes=each.nodes,
                needed=each.needed,
                cost_per_hour=None if each.cost is None else str(each.cost),
            )
            for each in remedy.growth
        ),
    )
