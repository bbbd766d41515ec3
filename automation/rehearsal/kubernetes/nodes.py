"""Nodes and what DRA drivers publish of them: the objects that make a control plane see a machine. PURE.

Objects are plain dictionaries as the API takes them. Sources: the NVIDIA DRA driver
(kubernetes-sigs/dra-driver-nvidia-gpu at 95932046, 2026-08-07), and dranet for EFA (kubernetes-sigs/dranet at f258477).

What tells devices apart or comes with an installation has to be something, and is made up: the ``uuid`` is a hash of
node and number, PCI addresses count the devices of a machine, and every node has the same driver. Other attributes are
left out where their values are not known, so that nothing binds by a fact that was made up: ``pcieRoot`` of all
machines but those in ``machines``, and what drivers publish beside (``brand``, ``numaNode``, ``addressingMode``).

Limit: nodes reserve nothing for the system: allocatable is the whole machine.
"""

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any, Final

from automation.rehearsal.kubernetes.machines import Machine
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE

Object = dict[str, Any]

GPU_DRIVER: Final = "gpu.nvidia.com"
EFA_DRIVER: Final = "dra.net"
EFA_CLASS: Final = "efa.networking.k8s.aws"
EFA_PRODUCT: Final = "Elastic Fabric Adapter (EFA)"

_DRIVER_VERSION: Final = "580.105.8"
"""580.105.08 as a semantic version, the way the driver publishes it."""
_CUDA_VERSION: Final = "13.0.0"
_PODS: Final = 110
_API: Final = "resource.k8s.io/v1"


def device_classes(driver: str = "") -> tuple[Object, ...]:
    """Give the classes that the drivers' charts install, as Berth installs them, or those of one driver.

    NVIDIA's chart has two more for ComputeDomains, which Berth's values leave out. No machine here has devices of the
    classes for parts of GPUs and for virtual machines.
    """
    return tuple(_class(name, of, *taken) for name, of, *taken in _CLASSES if driver in {"", of})


def _class(name: str, driver: str, attribute: str, value: str) -> Object:
    expression = f"device.driver == '{driver}' && device.attributes['{driver}'].{attribute} == '{value}'"
    return {
        "apiVersion": _API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


_CLASSES: Final = (
    (GPU_DRIVER, GPU_DRIVER, "type", "gpu"),
    ("mig.nvidia.com", GPU_DRIVER, "type", "mig"),
    ("vfio.gpu.nvidia.com", GPU_DRIVER, "type", "vfio"),
    (EFA_CLASS, EFA_DRIVER, "pciDevice", EFA_PRODUCT),
)
"""Name, driver, and the attribute by which the class takes devices."""


def node(
    name: str, machine: Machine, *, labels: Mapping[str, str] | None = None, tainted: bool = True, kubelet: str = ""
) -> Object:
    """Make a node that is ready, with the taint of GPU pools unless it shall have none."""
    resources = {
        "cpu": str(machine.vcpus),
        "memory": f"{machine.memory_gib}Gi",
        "pods": str(_PODS),
    }
    taint = {"key": GPU_TAINT_KEY, "value": GPU_TAINT_VALUE, "effect": GPU_TAINT_EFFECT}
    gpus = {"nvidia.com/gpu.present": "true"} if machine.gpus else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": machine.processor,
                "node.kubernetes.io/instance-type": machine.name,
                **gpus,
                **(labels or {}),
            },
        },
        "spec": {"taints": [taint]} if tainted else {},
        # A kubelet registers with its status too, so there is no moment at which the node has no room.
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "not a machine"}],
            "nodeInfo": {
                **dict.fromkeys(_NODE_INFO, ""),
                "kubeletVersion": kubelet,
                "architecture": machine.processor,
                "operatingSystem": "linux",
            },
        },
    }


_NODE_INFO: Final = (
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "machineID",
    "osImage",
    "systemUUID",
)


def resource_slices(owner: Object, machine: Machine) -> tuple[Object, ...]:
    """Give what the drivers publish of a node: a slice of GPUs and one of EFA interfaces, each if it has any.

    ``owner`` is the node as the API server answered it: the slices belong to it and go with it.
    """
    name = owner["metadata"]["name"]
    gpus = [_gpu(name, machine, index) for index in range(machine.gpus)]
    interfaces = [_efa(machine, index) for index in range(machine.efa)]
    published = ((GPU_DRIVER, gpus), (EFA_DRIVER, interfaces))
    return tuple(_slice(owner, driver, devices) for driver, devices in published if devices)


def _slice(owner: Object, driver: str, devices: list[Object]) -> Object:
    name = owner["metadata"]["name"]
    reference = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": name,
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    return {
        "apiVersion": _API,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{driver}", "ownerReferences": [reference]},
        "spec": {
            "driver": driver,
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def _gpu(node_name: str, machine: Machine, index: int) -> Object:
    gpu = machine.gpu
    return {
        "name": f"gpu-{index}",
        "attributes": {
            "type": {"string": "gpu"},
            "uuid": {"string": f"GPU-{_uuid(node_name, index)}"},
            "productName": {"string": gpu.product},
            "architecture": {"string": gpu.architecture},
            "cudaComputeCapability": {"version": gpu.compute},
            "driverVersion": {"version": _DRIVER_VERSION},
            "cudaDriverVersion": {"version": _CUDA_VERSION},
            "resource.kubernetes.io/pciBusID": {"string": _address(index)},
            **_root(machine, index, of=machine.gpus),
        },
        "capacity": {"memory": {"value": machine.memory}},
    }


def _efa(machine: Machine, index: int) -> Object:
    return {
        "name": f"efa-{index}",
        "attributes": {
            "pciDevice": {"string": EFA_PRODUCT},
            "pciAddress": {"string": _address(machine.gpus + index)},
            "rdma": {"bool": True},
            "virtual": {"bool": False},
            **_root(machine, index, of=machine.efa),
        },
    }


def _address(number: int) -> str:
    """Give a device of a machine an address of its own, by its number among all of them."""
    return f"0000:{number + 1:02x}:00.0"


def _root(machine: Machine, index: int, *, of: int) -> Object:
    """Spread ``of`` devices over the machine's PCIe roots, which GPUs and interfaces share, where they are known."""
    if not machine.pcie_roots:
        return {}
    return {"resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{index * machine.pcie_roots // of + 1:02x}"}}


def _uuid(node_name: str, index: int) -> uuid.UUID:
    """Name a GPU the same in every run."""
    return uuid.UUID(bytes=hashlib.sha256(f"{node_name}/{index}".encode()).digest()[:16])
