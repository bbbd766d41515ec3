"""The GPU machines that nodes can look like: what clouds rent out, and what the drivers publish of them.

The table is ``components/clusters/machines.csv``, with its sources. It holds NVIDIA GPUs whose product name and memory
were seen as the driver tells them; others would have to be made up, and a selector that matches something made up
proves nothing.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from components.clusters.machines import rows
from components.errors import UsageError


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU in the words of NVIDIA's driver. ``compute`` is the CUDA compute capability as a semantic version."""

    product: str
    architecture: str
    compute: str


GPUS: Final[Mapping[str, Gpu]] = MappingProxyType(
    {
        "T4": Gpu("Tesla T4", "Turing", "7.5.0"),
        "A10G": Gpu("NVIDIA A10G", "Ampere", "8.6.0"),
        "A100-40GB-SXM": Gpu("NVIDIA A100-SXM4-40GB", "Ampere", "8.0.0"),
        "A100-80GB-SXM": Gpu("NVIDIA A100-SXM4-80GB", "Ampere", "8.0.0"),
        "L4": Gpu("NVIDIA L4", "Ada Lovelace", "8.9.0"),
        "L40S": Gpu("NVIDIA L40S", "Ada Lovelace", "8.9.0"),
        "H100-SXM": Gpu("NVIDIA H100 80GB HBM3", "Hopper", "9.0.0"),
        "H100-NVL": Gpu("NVIDIA H100 NVL", "Hopper", "9.0.0"),
        "H200-SXM": Gpu("NVIDIA H200", "Hopper", "9.0.0"),
        "B200-SXM": Gpu("NVIDIA B200", "Blackwell", "10.0.0"),
        "B300-SXM": Gpu("NVIDIA B300 SXM6 AC", "Blackwell", "10.3.0"),
        "GB200": Gpu("NVIDIA GB200", "Blackwell", "10.0.0"),
        "GB300": Gpu("NVIDIA GB300", "Blackwell", "10.3.0"),
        "RTX-PRO-6000-BSE": Gpu("NVIDIA RTX PRO 6000 Blackwell Server Edition", "Blackwell", "12.0.0"),
    }
)
"""By the accelerator of the table. Seen in published slices or in the output of nvidia-smi, up to 2026-11."""

_ARM: Final = frozenset({"GB200", "GB300"})
"""Accelerators that come with NVIDIA's own Arm processor."""


_PCIE_ROOTS: Final[Mapping[tuple[str, str], int]] = MappingProxyType({("aws", "p4d.24xlarge"): 4})
"""By cloud and machine type. AWS shows a p4d's four roots, each with two GPUs and one EFA interface. The virtual
machines of Azure publish none; of all others it is not known which devices share one."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine type, and for Nebius one preset of it."""

    cloud: str
    name: str
    preset: str
    accelerator: str
    gpus: int
    memory: str
    """Of one GPU: a quantity, as the driver publishes it."""
    vcpus: int
    memory_gib: int
    fabric: str
    efa: int
    """EFA interfaces at most."""

    @property
    def gpu(self) -> Gpu:
        """What its GPUs are."""
        return GPUS[self.accelerator]

    @property
    def processor(self) -> str:
        """The processor in the words of Kubernetes: ``amd64`` or ``arm64``."""
        return "arm64" if self.accelerator in _ARM else "amd64"

    @property
    def pcie_roots(self) -> int:
        """How many PCIe roots its devices are known to share evenly; 0 where nobody has published it."""
        return _PCIE_ROOTS.get((self.cloud, self.name), 0)


@functools.cache
def machines() -> Mapping[tuple[str, str, str], Machine]:
    """Read the table, by cloud, machine type and preset (empty except for Nebius)."""
    found = (
        Machine(
            cloud=row["cloud"],
            name=row["machine"],
            preset=row["preset"],
            accelerator=row["accelerator"],
            gpus=int(row["gpus"]),
            memory=row["memory"],
            vcpus=int(row["vcpus"]),
            memory_gib=int(row["memory_gib"]),
            fabric=row["fabric"],
            efa=int(row["efa"]),
        )
        for row in rows()
    )
    return MappingProxyType({(each.cloud, each.name, each.preset): each for each in found})


def machine(cloud: str, name: str, *, preset: str = "") -> Machine:
    """Look a machine up; raises UsageError, which names near ones."""
    found = machines().get((cloud, name, preset))
    if found is None:
        near = [f"{each.name} {each.preset}".strip() for each in machines().values() if each.cloud == cloud]
        raise UsageError(
            f"no machine type {f'{name} {preset}'.strip()} of {cloud} whose devices are known",
            help=f"take one of {', '.join(near)}" if near else "take one of aws, azure, gcp, nebius or vultr",
        )
    return found
