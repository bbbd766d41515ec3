"""Several selectors on one device, as the allocator joins them."""

from __future__ import annotations

from components.cel.selector import Answer, Outcome, Selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.cel.device import DeviceView

_MATCH = Answer(Outcome.MATCH)


def evaluate_all(selectors: Sequence[Selector], view: DeviceView) -> Answer:
    """Evaluate in order, DeviceClass selectors first: the first false stops, the first error aborts, none matches."""
    for selector in selectors:
        answer = selector.evaluate(view)
        if answer.outcome is not Outcome.MATCH:
            return answer
    return _MATCH
