"""Growth: pools that would need more nodes, how many, and what they would cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Growth:
    """A pool, how many nodes it has, how many it would need, and what the difference costs in USD per hour.

    ``refused`` says that its cloud has refused to bring more for now, ``unusable`` how many of the nodes it has cannot
    be promised because of what was seen.
    """

    pool: str
    nodes: int
    needed: int
    cost: Decimal | None
    refused: str = ""
    unusable: int = 0

    @property
    def more(self) -> int:
        """How many nodes it would get."""
        return self.needed - self.nodes

    def __str__(self) -> str:
        """Say it in words."""
        price = "price unknown" if self.cost is None else f"{self.cost} USD per hour"
        refused = f"; {self.refused}" if self.refused else ""
        unusable = f"; {self.unusable} of the {self.nodes} cannot be used, as they were seen" if self.unusable else ""
        return f"pool {self.pool} from {self.nodes} to {self.needed} nodes ({price}{unusable}{refused})"


def least(name: str, growth: Sequence[Growth]) -> tuple[object, ...]:
    """Order what clusters would need: what is known to cost least first, then the fewest nodes, then by name."""
    costs = [each.cost for each in growth]
    known = [cost for cost in costs if cost is not None]
    nodes = sum(each.more for each in growth)
    return (len(known) < len(costs), sum(known, Decimal(0)), nodes, name)


def words(growth: Sequence[Growth]) -> str:
    """Say what pools would need."""
    return " and ".join(map(str, growth))
