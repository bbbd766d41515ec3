"""Refused: what a limit says to one more replica, with the numbers that a person compares."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from automation.scheduling.verdict import Code

_NAMED = 3
"""Pools of unknown price that a message names."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A limit's refusal, and what would lift it; ``wanted`` and ``free`` are whole numbers of what is limited."""

    code: Code
    message: str
    lifted: str
    wanted: int | None = None
    free: int | None = None


@dataclass(frozen=True, slots=True)
class Overrun:
    """A limit that does not hold as things are: whose it is, and how; what runs is kept, and nothing new is let in."""

    owner: str
    message: str


def amount(number: Fraction) -> str:
    """Write a number as people do, to four decimals at most: ``12``, ``0.125``."""
    return f"{round(float(number), 4):.4f}".rstrip("0").rstrip(".")


def usd(number: Fraction) -> str:
    """Write an amount of money."""
    return f"{amount(number)} USD per hour"


def nobody_knows(pools: Sequence[str]) -> str:
    """Say of which pools, at least one, the price is unknown."""
    return f"nobody knows the {_prices(pools)}"


def once_known(pools: Sequence[str]) -> str:
    """Say what lifts a refusal that is for want of prices."""
    are, their = ("is", "its") if len(pools) == 1 else ("are", "their")
    return f"the {_prices(pools)} {are} known: write {their} `pricePerHour`"


def _prices(pools: Sequence[str]) -> str:
    more = f" and {len(pools) - _NAMED} more" if len(pools) > _NAMED else ""
    return f"{'price of pool' if len(pools) == 1 else 'prices of pools'} {', '.join(pools[:_NAMED])}{more}"
