"""How many random cases a run on a real control plane takes, and from where: two variables that repeat or widen it.

``BERTH_TEST_SEED`` draws other cases, ``BERTH_TEST_CASES`` more of them (about so many pools, ten times as many rows).
"""

import os
from pathlib import Path
from typing import Final, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.kubernetes_minor import MINOR, VARIABLE

_T = TypeVar("_T")

SEED: Final = int(os.environ.get("BERTH_TEST_SEED", "1"))
CASES: Final = int(os.environ.get("BERTH_TEST_CASES", "24"))


def examples(strategy: st.SearchStrategy[_T], number: int) -> list[_T]:
    """Draw values for tests that want all of them at once; the same for one seed."""
    found: list[_T] = []

    @hypothesis.seed(SEED)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: _T) -> None:
        found.append(value)

    collect()
    return found


def again(file: str) -> str:
    """Say how to run the cases of a test module again."""
    run = f"pytest -m kubernetes tests/kubernetes/{Path(file).name}"
    return f"again: {VARIABLE}={MINOR.name} BERTH_TEST_SEED={SEED} BERTH_TEST_CASES={CASES} {run}"
