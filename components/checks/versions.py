"""Versions of Kubernetes that Berth's objects need. PURE.

Pods claim devices in ``resource.k8s.io/v1``, which API servers have from 1.34 on; NVIDIA asks for 1.34.2 or newer on
nodes whose GPUs are claimed (installation guide of its DRA driver, read in November 2026).
"""

import re
from typing import Final

Numbers = tuple[int, ...]

API_SERVER: Final[Numbers] = (1, 34)
KUBELET: Final[Numbers] = (1, 34, 2)
_NUMBERS: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def numbers_of(text: str) -> Numbers:
    """Return the numbers of a version such as ``v1.34.4-eks-1`` or ``1.34``; none of one that cannot be read."""
    found = _NUMBERS.match(text)
    return tuple(int(each) for each in found.groups() if each is not None) if found else ()


def older(text: str, floor: Numbers) -> bool:
    """Whether a version is known to be older: ``1.34`` is not older than 1.34.2, since nobody knows."""
    numbers = numbers_of(text)
    return bool(numbers) and numbers < floor[: len(numbers)]


def words_of(floor: Numbers) -> str:
    """Write a version: ``1.34.2``."""
    return ".".join(map(str, floor))
