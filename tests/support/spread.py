"""How the tests of the engine are shared out to workers: by file where a file shares what it looks at, else singly.

By file alone, the files with few tests come last; those are the ones with a long way to what they all look at, and one
worker would go the last of them while the other has nothing to do.
"""

from typing import Final

from xdist.scheduler import LoadScopeScheduling

_SHARING: Final = ("tests/engine/test_fleet_", "tests/engine/test_policies.py")
"""The files whose tests look at one life that a fixture of the module leads."""


class Spread(LoadScopeScheduling):
    """Files that share first, then one test at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.partition("::")[0] if nodeid.startswith(_SHARING) else nodeid
