"""Chart: which Helm chart, from where, in which version. PURE.

How it is installed is ``components.clusters.helm``'s work, which values it gets is the caller's.
"""

from dataclasses import dataclass

RELEASE_PREFIX = "mp-"
"""Helm releases are named ``mp-<chart>``, as the predecessor names them: a generated suffix overflows labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One version of a Helm chart. ``repository`` is an ``https://`` index or the ``oci://`` folder the chart is in."""

    name: str
    repository: str
    version: str
    namespace: str

    @property
    def release(self) -> str:
        """The name of the Helm release."""
        return f"{RELEASE_PREFIX}{self.name}"

    @property
    def reference(self) -> str:
        """What Helm is asked for: the whole address of a chart in a registry, else its name in the repository."""
        return f"{self.repository.rstrip('/')}/{self.name}" if self.is_oci else self.name

    @property
    def is_oci(self) -> bool:
        """Whether it lies in a registry of images and not in an index of charts."""
        return self.repository.startswith("oci://")
