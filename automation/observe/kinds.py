"""Which kind of device of a class a published device is, and where the two differ.

Both sides go through the device view of the selector engine, so that a bare key and one with the driver's domain are
the same name, and two spellings of a quantity or a version the same value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from automation.observe.facts import Published
from components.cel.device import DeviceView
from components.cel.values import Cell, Value

_TYPE: Final = "type"
"""The attribute by which drivers tell whole devices from parts of them (NVIDIA: gpu, mig, vfio)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of device that the nodes of a class have, as far as it is claimed."""

    name: str
    driver: str
    device_class: str
    count: int
    view: DeviceView

    @classmethod
    def all_of(cls, devices: Iterable[Mapping[str, Any]]) -> "tuple[Kind, ...]":
        """Return the claimed kinds of a pool's devices, as ``PoolFacts`` has them; what is only matched is left out."""
        return tuple(
            cls(
                each["name"],
                each["driver"],
                each["deviceClass"],
                each["count"],
                DeviceView.from_class_device(
                    driver=each["driver"],
                    attributes=each["attributes"],
                    capacity={name: value["value"] for name, value in each["capacity"].items()},
                ),
            )
            for each in devices
            if each["claim"] == "DRA"
        )


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """Something that a class says of a kind and a device does not have so; ``found`` is empty where it has nothing."""

    name: str
    said: str
    found: str = ""

    def __str__(self) -> str:
        """Say it in words."""
        return f"{self.name} is {self.found or 'not published'}, the class says {self.said}"


def kind_of(device: DeviceView, kinds: Sequence[Kind]) -> Kind | None:
    """Return the kind that a device is: of its driver, the one from which it differs least, the first of equal ones.

    A device whose ``type`` is another than every kind's is none of them: a MIG slice is no GPU.
    """
    own = [each for each in kinds if each.driver == device.driver and not _of_other_type(each.view, device)]
    return min(own, key=lambda each: len(differences(each.view, device)), default=None)


def view_of(device: Published) -> DeviceView:
    """Return a published device as selectors see it."""
    return DeviceView.from_slice_device(device.driver, device.body)


@lru_cache(maxsize=4_096)
def differences(said: DeviceView, found: DeviceView) -> tuple[Difference, ...]:
    """Return where a device is not as its class says; what the class leaves out may be anything."""
    differing = [
        Difference(_named(domain, name, said.driver), _text(value), _text(there) if there is not None else "")
        for of, inside in ((said.attributes, found.attributes), (said.capacity, found.capacity))
        for domain, entries in of.items()
        for name, value in entries.items()
        for there in [inside.get(domain, {}).get(name)]
        if not _equal(value, there)
    ]
    return tuple(sorted(differing))


def _of_other_type(said: DeviceView, found: DeviceView) -> bool:
    one, other = (each.attributes.get(each.driver, {}).get(_TYPE) for each in (said, found))
    return one is not None and other is not None and one != other


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, Cell) and isinstance(other, Cell):
        return one.quantity == other.quantity
    return type(one) is type(other) and one == other


def _text(value: Value) -> str:
    if isinstance(value, Cell):
        return str(value.quantity)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named(domain: str, name: str, driver: str) -> str:
    return name if domain == driver else f"{domain}/{name}"
