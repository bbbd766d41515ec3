"""What a container asks of its node besides devices, and may use at most."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final

from components.api.base import Ruled
from components.api.codes import Code
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import Check, Violation, refuse, shown
from components.api.values import Amount
from components.cel.quantity import Quantity

PLAIN: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources that are not devices; huge pages come with a size in their name."""


def _names(amounts: Mapping[str, str]) -> Mapping[str, str]:
    """Check that no device is asked for here."""
    refuse(_unknown(name) for name in amounts if name not in PLAIN and not name.startswith(PAGES))
    return amounts


def _unknown(name: str) -> Violation:
    message = f"{shown(name)} is not one of the resources that are asked for here"
    hint = "devices are asked for by the member's nodeSelector" if "/" in name else ""
    return Violation(Code.VALUE_NOT_ALLOWED, message, (name,), ", ".join(PLAIN), hint, at_key=True)


PAGES: Final = "hugepages-"

_NAMED: Final = Check(_names, {"propertyNames": {"pattern": f"^(({'|'.join(PLAIN)})$|{PAGES})"}})


class Resources(Ruled):
    """Requests and limits, as Kubernetes has them."""

    requests: Annotated[FrozenMap[str, Amount], _NAMED] = FrozenDict()
    """What the scheduler keeps free on the node, such as `{cpu: "8", memory: 64Gi}`."""

    limits: Annotated[FrozenMap[str, Amount], _NAMED] = FrozenDict()
    """What the container may use at most."""

    def rules(self) -> Iterator[Violation]:
        """Check that nothing is asked that may not be used."""
        for name, amount in self.requests.items():
            most = self.limits.get(name)
            if most is not None and Quantity.parse(amount) > Quantity.parse(most):
                message = f"the request {shown(amount)} of {name} is more than its limit, {most}"
                yield Violation(Code.VALUE_OUT_OF_RANGE, message, ("requests", name))
