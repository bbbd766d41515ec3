"""Versions of Kubernetes that Berth's objects need. PURE.

Pods claim devices in ``resource.k8s.io/v1``, which API servers have from 1.34 on; NVIDIA asks for 1.34.2 or newer on
nodes whose GPUs are claimed (installation guide of its DRA driver, read in November 2026). How far versions may be
apart is Kubernetes' version skew policy, which managed clouds hold to: a control plane goes up one minor at a time and
never back, and its nodes may be three minors behind it.
"""

import re
from typing import Final

Numbers = tuple[int, ...]

API_SERVER: Final[Numbers] = (1, 34)
KUBELET: Final[Numbers] = (1, 34, 2)
NODES_BEHIND: Final = 3
"""How many minors the nodes of a cluster may be behind its control plane."""
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


def minor_words(text: str) -> str:
    """Write the minor of a version: ``1.34`` of ``v1.34.4-eks-1``; empty for what names none, such as ``latest``."""
    return words_of(numbers_of(text)[:2])


def minors_between(before: str, after: str) -> int | None:
    """Return by how many minors ``after`` is newer, negative when it is older; None where nobody can tell."""
    old, new = numbers_of(before), numbers_of(after)
    return new[1] - old[1] if old and new and old[0] == new[0] else None


def with_minor(text: str, step: int) -> str:
    """Write the minor that many after that of a version, which must be readable."""
    major, minor, *_ = numbers_of(text)
    return f"{major}.{minor + step}"
