"""Resources: the CPU and memory of nodes and pods, as the scheduler of a cluster counts them.

A pod asks for what its containers request, sidecars included, or for what the largest of its init containers does,
whichever is more; a request that is left out is the limit, as the API server fills it in. What asks for nothing takes
nothing. Amounts are whole numbers, thousandths of a core and bytes, so that sums are exact.

Limit: what else Kubernetes may add (LimitRanges, the overhead of a RuntimeClass) is known only inside the cluster.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from components.cel.quantity import Format, Quantity, QuantityError
from components.lock import MemberShape

Resources = tuple[tuple[str, int], ...]
"""Amounts by name, in the order of ``NAMES``: ``cpu`` in thousandths of a core, ``memory`` in bytes."""

NAMES: Final = ("cpu", "memory")

_DIGITS: Final = {"cpu": 3, "memory": 0}
"""Decimal digits behind the point that count."""


def requested(member: MemberShape) -> Resources:
    """Return what each pod of a member requests; a resource of which it requests nothing is left out."""
    spec = member.template.get("spec") or {}
    beside = [_of(each) for field in ("containers", "sidecars") for each in spec.get(field) or ()]
    before = [_of(each) for each in spec.get("initContainers") or ()]  # they end before sidecars start
    found = []
    for name in NAMES:
        most = max([sum(each[name] for each in beside), *(each[name] for each in before)])
        if most > 0:
            found.append((name, most))
    return tuple(found)


def read(amounts: Mapping[str, str]) -> Resources:
    """Return the amounts of a mapping from names to quantities. Raises QuantityError for what is none."""
    return tuple((name, _read(name, amounts[name])) for name in NAMES if name in amounts)


def quantity(name: str, amount: int) -> str:
    """Write an amount as Kubernetes does: ``1500m``, ``64Gi``."""
    form = Format.BINARY_SI if name == "memory" else Format.DECIMAL_SI
    return str(Quantity(amount, -_DIGITS[name], format=form))


def words(resources: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Write each amount with its name: ``cpu 16``."""
    return (f"{name} {quantity(name, amount)}" for name, amount in resources)


def _of(container: Mapping[str, Any]) -> dict[str, int]:
    """Return what a container requests of each resource; 0 for what the API server would refuse."""
    given = container.get("resources") or {}
    amounts = {**(given.get("limits") or {}), **(given.get("requests") or {})}
    found = {}
    for name in NAMES:
        try:
            found[name] = _read(name, str(amounts.get(name, 0)))
        except QuantityError:
            found[name] = 0
    return found


def _read(name: str, text: str) -> int:
    """Round up to a whole number, as Kubernetes does."""
    parsed = Quantity.parse(text)
    return Quantity(parsed.mantissa, parsed.scale + _DIGITS[name]).ceil()
