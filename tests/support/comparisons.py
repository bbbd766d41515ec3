"""Settings of random tests whose oracle is somebody else's program.

A difference there may be the other's mistake, which nobody here can mend, so it must not decide what lands: such a test
takes the same examples in every run. ``make fuzz`` runs the tests marked ``fuzz`` with new examples instead,
``BERTH_FUZZ`` times as many.
"""

import os
from typing import Any, Final

from hypothesis import settings

TIMES: Final = int(os.environ.get("BERTH_FUZZ", "0"))


def compared(max_examples: int, **others: Any) -> settings:
    """Give the settings of such a test: the same ``max_examples`` each run, or new ones when that is asked for."""
    return settings(max_examples=max_examples * (TIMES or 1), derandomize=not TIMES, deadline=None, **others)
