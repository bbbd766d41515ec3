"""How many examples a random test takes: a third of them after every edit, all of them in ``make laws``.

They are the same in every run, so a third finds what an edit breaks nearly as often; ``make fuzz`` takes new ones, and
all of them.
"""

import os
from collections.abc import Collection
from typing import Final

from hypothesis import HealthCheck, settings

from tests.support.comparisons import TIMES

WHOLE: Final = bool(TIMES) or os.environ.get("BERTH_TEST_EFFORT") == "whole"
_LEAST: Final = 10


def few(number: int) -> int:
    """Return how many of ``number`` cases of one kind to take."""
    return number if WHOLE else -(-number // 3)


def law(examples: int = 100, *, suppress: Collection[HealthCheck] = (), steps: int = 50) -> settings:
    """Give the settings of a test that takes ``examples``, with ``steps`` each where it is a machine of states."""
    return settings(
        max_examples=max(_LEAST, few(examples)),
        deadline=None,
        suppress_health_check=suppress,
        stateful_step_count=steps,
    )
