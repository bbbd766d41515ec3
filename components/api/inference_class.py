"""InferenceClass: a hardware recipe, what a node of a pool has and how a cloud makes it. Pure data."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Items, Manifest, Model, Ruled
from components.api.codes import Code
from components.api.conditions import ChosenBlock, ExactlyOne, Needs, Together
from components.api.frozen import FrozenDict, FrozenMap
from components.api.rules import Violation, checked, duplicates, key_violations, shown, within

Provider = Literal["GKE", "EKS", "AKS", "Nebius", "Vultr"]
Text63 = Annotated[str, Field(min_length=1, max_length=63)]
Machine = Annotated[str, Field(min_length=1, max_length=63), checked(syntax.cloud_word, Code.NAME_INVALID)]
Text253 = Annotated[str, Field(min_length=1, max_length=253)]
DiskSize = Annotated[int, Field(ge=10, le=65536)]


class Accelerator(Model):
    """The accelerator of a machine type."""

    type: Annotated[Text63, checked(syntax.label_value, Code.NAME_INVALID)]
    """Accelerator name; becomes the node label `modelplane.ai/gpu`. On GKE it is also what is asked of the cloud."""

    count: Annotated[int, Field(ge=1, le=16)]
    """Accelerators per node."""


class GkeProvisioning(Model):
    """How to make a node on GKE."""

    machine_type: Machine
    """GCE machine type."""

    disk_size_gb: DiskSize = 100
    """Boot disk, in GB."""

    accelerator: Accelerator
    """The accelerator asked of the cloud."""


class EksProvisioning(Model):
    """How to make a node on EKS."""

    instance_type: Machine
    """EC2 instance type."""

    disk_size_gb: DiskSize = 100
    """Root volume, in GB."""

    accelerator: Accelerator
    """The accelerator the instance type has; a label only."""


class AksProvisioning(Model):
    """How to make a node on AKS."""

    vm_size: Machine
    """Azure VM size."""

    disk_size_gb: DiskSize = 100
    """OS disk, in GB."""

    accelerator: Accelerator
    """The accelerator the VM size has; a label only."""


class NebiusProvisioning(Model):
    """How to make a node on Nebius."""

    platform: Machine
    """Platform, such as `gpu-h100-sxm`."""

    preset: Machine
    """Preset of the platform, such as `8gpu-128vcpu-1600gb`."""

    disk_size_gb: DiskSize = 100
    """Boot disk, in GiB."""

    drivers_preset: Text63 = "cuda13.0"
    """NVIDIA driver stack that is preinstalled; valid values depend on platform and Kubernetes version."""

    accelerator: Accelerator
    """The accelerator the preset has; a label only."""


class VultrProvisioning(Model):
    """How to make a node on Vultr."""

    plan: Machine
    """Vultr plan id."""

    accelerator: Accelerator
    """The accelerator the plan has; a label only."""


Recipe = GkeProvisioning | EksProvisioning | AksProvisioning | NebiusProvisioning | VultrProvisioning


class Provisioning(Ruled):
    """How a cloud makes a node of this class."""

    CONDITIONS: ClassVar = (
        ChosenBlock("provider", {"GKE": "gke", "EKS": "eks", "AKS": "aks", "Nebius": "nebius", "Vultr": "vultr"}),
    )

    provider: Provider
    """The cloud; the block of the same name must be there. Blocks of other clouds may stand beside it."""

    gke: GkeProvisioning | None = None
    """How to make a node on GKE."""

    eks: EksProvisioning | None = None
    """How to make a node on EKS."""

    aks: AksProvisioning | None = None
    """How to make a node on AKS."""

    nebius: NebiusProvisioning | None = None
    """How to make a node on Nebius."""

    vultr: VultrProvisioning | None = None
    """How to make a node on Vultr."""

    def recipe(self, provider: str) -> Recipe | None:
        """Return how a node is made on ``provider``; None when that is not said."""
        found: Recipe | None = getattr(self, provider.lower(), None)
        return found

    def offers(self, provider: str) -> bool:
        """Whether a node can be made on ``provider``."""
        return self.recipe(provider) is not None


class Attribute(Ruled):
    """One typed attribute of a device; exactly one field is set."""

    CONDITIONS: ClassVar = (
        ExactlyOne("an attribute sets exactly one of", ("string", "version", "bool_value", "int_value")),
    )

    string: Annotated[str, Field(max_length=253)] | None = None
    """Text."""

    version: Annotated[str, Field(max_length=32), checked(syntax.semantic_version, Code.VERSION_INVALID)] | None = None
    """A semantic version: major.minor.patch."""

    bool_value: Annotated[bool | None, Field(alias="bool")] = None
    """True or false."""

    int_value: Annotated[int | None, Field(alias="int", ge=-(2**63), le=2**63 - 1)] = None
    """A 64-bit integer."""

    @property
    def kind(self) -> str:
        """Which field is set: ``string``, ``version``, ``bool`` or ``int``."""
        return next((name for name, value in self._fields() if value is not None), "")

    @property
    def value(self) -> str | bool | int | None:
        """The value, whatever its type."""
        return next((value for _, value in self._fields() if value is not None), None)

    def _fields(self) -> tuple[tuple[str, str | bool | int | None], ...]:
        return (
            ("string", self.string),
            ("version", self.version),
            ("bool", self.bool_value),
            ("int", self.int_value),
        )


class Capacity(Model):
    """One capacity of a device."""

    value: Annotated[str, Field(min_length=1, max_length=32), checked(syntax.quantity, Code.QUANTITY_INVALID)]
    """A Kubernetes quantity, such as `141Gi`."""


def _claimed(device: "Device") -> Iterator[Violation]:
    """Yield what no ResourceSlice and no claim could hold; what is only matched may bear any name."""
    if device.claim != "DRA":
        return
    if device.device_class_name and (reason := syntax.dns_subdomain(device.device_class_name)):
        yield Violation(Code.NAME_INVALID, f"{shown(device.device_class_name)} must {reason}", ("deviceClassName",))
    if reason := syntax.short_subdomain(device.driver):
        yield Violation(Code.NAME_INVALID, f"the driver {shown(device.driver)} must {reason}", ("driver",))
    for field, entries in (("attributes", device.attributes), ("capacity", device.capacity)):
        found = key_violations(entries, syntax.device_key, Code.NAME_INVALID, f"name of an entry of {field},")
        yield from within(field, found)


_CLAIM_NAMES: Final = {
    "if": {"type": "object", "properties": {"claim": {"enum": ["DRA", None]}}},
    "then": {
        "properties": {
            "deviceClassName": syntax.said(syntax.dns_subdomain),
            "driver": syntax.said(syntax.short_subdomain),
            "attributes": {"propertyNames": syntax.said(syntax.device_key)},
            "capacity": {"propertyNames": syntax.said(syntax.device_key)},
        }
    },
}


class Device(Ruled):
    """One kind of device on a node, not one physical device."""

    CONDITIONS: ClassVar = (Needs("device_class_name", "claim", ("DRA",)), Together(_claimed, (_CLAIM_NAMES,)))

    name: Text63
    """Name within the class."""

    claim: Literal["DRA", "Synthetic"] = "DRA"
    """`DRA`: claimed from the driver. `Synthetic`: only matched for placement, never claimed."""

    driver: Text253
    """DRA driver, for a claimed device a DNS name of at most 63 characters; also the domain of names without one."""

    device_class_name: Text253 | None = None
    """DeviceClass of the claim; needed for DRA."""

    count: Annotated[int, Field(ge=1, le=64)] = 1
    """Devices of this kind per node."""

    attributes: FrozenMap[str, Attribute] = Field(default=FrozenDict(), max_length=32)
    """Attributes by bare or `domain/name` key; names are C identifiers where the device is claimed."""

    capacity: FrozenMap[str, Capacity] = Field(default=FrozenDict(), max_length=32)
    """Capacities by bare or `domain/name` key; names are C identifiers where the device is claimed."""


class InferenceClassSpec(Ruled):
    """A hardware recipe."""

    description: str | None = None
    """Free text."""

    provisioning: Provisioning | None = None
    """How a cloud makes a node; leave it out for hardware that exists."""

    devices: Items[Device] = Field(min_length=1, max_length=16)
    """The kinds of devices on one node. Their order has a meaning: a request takes the first that fits."""

    def rules(self) -> Iterator[Violation]:
        """Check that devices have different names."""
        yield from within("devices", duplicates(self.devices, lambda device: device.name, "name", "the device"))


class InferenceClass(Manifest):
    """A hardware recipe that node pools refer to by name."""

    NAMESPACED: ClassVar[bool] = False
    SHORT_NAME: ClassVar[str] = "icl"

    kind: Literal["InferenceClass"]
    """Always `InferenceClass`."""

    spec: InferenceClassSpec
    """The recipe."""

    def accelerator_on(self, source: str) -> str:
        """Return the accelerator type on ``source``, else on the cloud it names; empty when it names none."""
        made = self.spec.provisioning
        if made is None:
            return ""
        recipe = made.recipe(source) or made.recipe(made.provider)
        return recipe.accelerator.type if recipe else ""
