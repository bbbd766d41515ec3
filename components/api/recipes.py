"""Warnings of how a class's nodes are made: machine types that nobody knows, and counts that contradict each other."""

from collections.abc import Iterator, Mapping
from typing import Final

from components.api.codes import Code
from components.api.inference_class import (
    AksProvisioning,
    Device,
    EksProvisioning,
    GkeProvisioning,
    InferenceClass,
    NebiusProvisioning,
    Recipe,
    VultrProvisioning,
)
from components.api.near import did_you_mean
from components.api.reading import Reading
from components.api.source import Source

_TABLED: Final = "nvidia"
"""Whose devices the known machine types have; nothing is known of others."""

_CLOUDS: Final = ("EKS", "GKE", "AKS", "Nebius", "Vultr")


def check_recipes(reading: Reading, machines: Mapping[str, Mapping[str, int]]) -> None:
    """Warn of machine types that are not among ``machines`` (GPUs by source and type), and of counts that differ."""
    for source, found in reading.documents(InferenceClass):
        provisioning = found.spec.provisioning
        for cloud in _CLOUDS if provisioning is not None else ():
            recipe = provisioning.recipe(cloud) if provisioning is not None else None
            if recipe is not None:
                _recipe(source, found, cloud, recipe, machines.get(cloud, {}))


def _recipe(source: Source, found: InferenceClass, cloud: str, recipe: Recipe, known: Mapping[str, int]) -> None:
    field, name = _machine(recipe)
    path = ("spec", "provisioning", cloud.lower())
    count = recipe.accelerator.count
    gpus = known.get(name)
    if known and gpus is None and any(_TABLED in device.driver for device in found.spec.devices):
        message = f"`{name}` is not among the machine types with GPUs that Berth knows on {cloud}"
        hint = did_you_mean(name, known) or "nothing is wrong if the cloud has it: the list is not complete"
        source.warn(Code.MACHINE_UNKNOWN, message, (*path, field), hint=hint)
    where = (*path, "accelerator", "count")
    if gpus is not None and count != gpus:
        message = f"the count is {count}, and `{name}` has {gpus} GPU{'' if gpus == 1 else 's'}"
        source.warn(Code.DEVICES_DIFFER, message, where, hint=f"write {gpus}, or another machine type")
        return
    counts = tuple(_counts(found.spec.devices))
    if counts and count not in counts:
        listed = " or ".join(str(each) for each in counts)
        message = f"the count is {count}, and the devices of the class are {listed} per node"
        hint = "make `count` of the device and of the accelerator equal; replicas are placed by the devices"
        source.warn(Code.DEVICES_DIFFER, message, where, hint=hint)


def _machine(recipe: Recipe) -> tuple[str, str]:
    """Return the field that names the machine type, and the name as the table has it."""
    match recipe:
        case EksProvisioning():
            return "instanceType", recipe.instance_type
        case GkeProvisioning():
            return "machineType", recipe.machine_type
        case AksProvisioning():
            return "vmSize", recipe.vm_size
        case NebiusProvisioning():
            return "preset", f"{recipe.platform} {recipe.preset}"
        case VultrProvisioning():
            return "plan", recipe.plan


def _counts(devices: tuple[Device, ...]) -> Iterator[int]:
    """Yield how many accelerators the devices of a class may stand for: of each kind, and of each driver.

    Nothing where one is a part of a GPU, because then there are more of them.
    """
    if any({"profile", "parentUUID"} & {key.rpartition("/")[2] for key in each.attributes} for each in devices):
        return
    drivers: dict[str, int] = {}
    for each in devices:
        drivers[each.driver] = drivers.get(each.driver, 0) + each.count
    yield from sorted({*(each.count for each in devices), *drivers.values()})
