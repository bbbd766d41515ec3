"""What a container asks of its node besides devices, and may use at most."""

from collections.abc import Iterator, Mapping
from typing import Final

from components.api.base import Ruled
from components.api.codes import Code
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import Violation, shown
from components.api.values import Amount
from components.cel.quantity import Quantity

PLAIN: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources that are not devices; huge pages come with a size in their name."""


class Resources(Ruled):
    """Requests and limits, as Kubernetes has them."""

    requests: FrozenMap[str, Amount] = FrozenDict()
    """What the scheduler keeps free on the node, such as `{cpu: "8", memory: 64Gi}`."""

    limits: FrozenMap[str, Amount] = FrozenDict()
    """What the container may use at most."""

    def rules(self) -> Iterator[Violation]:
        """Check that no device is asked here, and nothing is asked that may not be used."""
        yield from _names("requests", self.requests)
        yield from _names("limits", self.limits)
        for name, amount in self.requests.items():
            most = self.limits.get(name)
            if most is not None and Quantity.parse(amount) > Quantity.parse(most):
                message = f"the request {shown(amount)} of {name} is more than its limit, {most}"
                yield Violation(Code.VALUE_OUT_OF_RANGE, message, ("requests", name))


def _names(field: str, amounts: Mapping[str, str]) -> Iterator[Violation]:
    for name in amounts:
        if name in PLAIN or name.startswith("hugepages-"):
            continue
        message = f"{shown(name)} is not one of the resources that are asked for here"
        hint = "devices are asked for by the member's nodeSelector" if "/" in name else ""
        yield Violation(Code.VALUE_NOT_ALLOWED, message, (field, name), ", ".join(PLAIN), hint, at_key=True)
