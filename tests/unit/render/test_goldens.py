"""What people see, whole, at the widths of real terminals; the files are reviewed like code.

``BERTH_RENEW_PINS=1`` writes them anew.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from automation.cli.sinks import _coloured
from automation.render.observation import observation_lines
from automation.render.plan import plan_lines
from automation.render.preflight import preflight_lines
from automation.render.problems import error_lines, problems_lines
from automation.render.status import destroyed_lines, drift_lines, explanation_lines, status_lines, up_lines
from automation.render.text import Line, plain
from components.errors import PolicyViolation, Problem, Severity
from tests.support import pinned
from tests.support.sample_views import (
    DESTROYED,
    DRIFT,
    EXPLANATION,
    FIT,
    NOTHING,
    OBSERVATION,
    PLAN,
    PREFLIGHT,
    STATUS,
    UP,
)

GOLDEN: Final = Path(__file__).parents[2] / "golden" / "render"
WIDTHS: Final = (60, 80, 120)
PROBLEMS: Final = (
    Problem("schema", "another file comes later", file="b.yaml"),
    Problem(
        "unknown-field",
        "there is no field `replicsa`",
        file="a.yaml",
        line=12,
        column=5,
        path="spec.replicsa",
        text="\t  replicsa: 2",
        allowed="replicas, template, labels",
        help="did you mean `replicas`?",
    ),
    Problem("old-name", "it has a newer name", file="a.yaml", line=3, severity=Severity.WARNING),
)
ERROR: Final = PolicyViolation(
    "2 policy violations: berth/gpu-pool-tainted\nsecond line",
    consequence="Nothing was changed.",
    help="berth plan",
    where="lock/ml.yaml",
)
PAGES: Final[dict[str, Callable[[int], Sequence[Line]]]] = {
    "plan": lambda width: plan_lines(PLAN, width=width),
    "nothing": lambda width: plan_lines(NOTHING, width=width),
    "status": lambda width: status_lines(STATUS, width=width),
    "explanation": lambda width: explanation_lines(EXPLANATION, width=width),
    "drift": lambda width: drift_lines(DRIFT),
    "up": lambda width: up_lines(UP, width=width),
    "destroyed": lambda width: destroyed_lines(DESTROYED),
    "observation": lambda width: observation_lines(OBSERVATION, width=width),
    "observation-wide": lambda width: observation_lines(OBSERVATION, width=width, wide=True),
    "preflight": lambda width: preflight_lines(PREFLIGHT, width=width),
    "fit": lambda width: preflight_lines(FIT, width=width),
    "problems": lambda width: problems_lines(PROBLEMS),
    "error": lambda width: error_lines(ERROR),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_pages_are_as_reviewed(page: str, width: int) -> None:
    """Plain, as in a log: nothing is said by colour alone."""
    text = plain(PAGES[page](width))
    pinned.check(GOLDEN / f"{page}.{width}.txt", text, meaning=f"{page} is printed in another way at {width} columns.")


def test_no_golden_is_left_behind() -> None:
    """Each belongs to a page."""
    assert {file.name for file in GOLDEN.iterdir()} == {f"{page}.{width}.txt" for page in PAGES for width in WIDTHS}


@pytest.mark.parametrize("page", PAGES)
def test_colours_add_nothing_but_colour(page: str) -> None:
    """A terminal shows the very characters of a log, line for line."""
    for line in PAGES[page](80):
        assert re.sub(r"\x1b\[\d*m", "", _coloured(line)) == line.plain
        assert "\n" not in line.plain
