"""Every verb's own output says that a run is backed, in text and in JSON: stderr is away with ``-q``."""

from collections.abc import Callable, Sequence

import pytest

from automation.render.capacity import CapacityView, capacity_lines
from automation.render.plan import plan_lines
from automation.render.status import destroyed_lines, drift_lines, explanation_lines, status_lines, up_lines
from automation.render.text import Line, plain
from automation.render.views import View
from automation.render.what_if import WhatIfView, what_if_lines
from tests.support.sample_views import DESTROYED, DRIFT, EXPLANATION, PLAN, STATUS, UP

WHAT_IF = WhatIfView(environment="dev", assumptions=(), deployments=(), new=(), leaving=())
PAGES: dict[str, tuple[View, Callable[..., Sequence[Line]]]] = {
    "plan": (PLAN, lambda view: plan_lines(view, width=100)),
    "status": (STATUS, lambda view: status_lines(view, width=100)),
    "explanation": (EXPLANATION, lambda view: explanation_lines(view, width=100)),
    "drift": (DRIFT, drift_lines),
    "no drift": (DRIFT.model_copy(update={"resources": ()}), drift_lines),
    "up": (UP, lambda view: up_lines(view, width=100)),
    "destroyed": (DESTROYED, destroyed_lines),
    "capacity": (CapacityView(deployments=()), lambda view: capacity_lines(view, width=100)),
    "what if": (WHAT_IF, lambda view: what_if_lines(view, width=100)),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_backed_run_is_marked_in_its_output(page: str) -> None:
    """And no other is."""
    view, lines = PAGES[page]
    backed = view.model_copy(update={"simulated": True, "backed": True})
    assert plain(lines(backed)).count("BACKED") == 1
    assert backed.to_json()["backed"] is True
    assert "BACKED" not in plain(lines(view))
    assert view.to_json()["backed"] is False
