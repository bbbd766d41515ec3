"""Settings of random tests whose oracle is somebody else's program.

A difference there may be the other's mistake, which nobody here can mend, so it must not decide what lands: such a test
takes the same examples in every run, as every random test does. ``make fuzz`` gives all of them new examples instead,
and those marked ``fuzz`` ``BERTH_FUZZ`` times as many.
"""

import os
from typing import Final

from hypothesis import HealthCheck, settings

TIMES: Final = int(os.environ.get("BERTH_FUZZ", "0"))


def compared(max_examples: int) -> settings:
    """Give the settings of such a test: the same ``max_examples`` each run, or new ones when that is asked for.

    There are no checks of how examples are drawn: a busy machine fails that of their speed.
    """
    return settings(
        max_examples=max_examples * (TIMES or 1),
        derandomize=not TIMES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
