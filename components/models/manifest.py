"""A Kubernetes object as plain data, before anything registers it.

The modules beside this one say what a replica or a cache is made of; they return manifests and create nothing. So what
would run on a cluster can be tested, shown and rendered without an engine. ``register.py`` turns manifests into
resources.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.labels import TAKES_BACK, Label


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose objects these are: the component's logical name, and where they live."""

    component: str
    namespace: str
    environment: str

    def metadata(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the metadata of an object, with the label and annotation by which its owner can be found."""
        return {
            "name": name,
            "namespace": self.namespace,
            "labels": {Label.ENVIRONMENT.value: self.environment, **(labels or {})},
            "annotations": {Label.OWNER.value: self.component, **TAKES_BACK, **(annotations or {})},
        }


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: its role within the component, its body, and how it is brought up.

    ``after`` names roles of the same component that must be there first. ``minutes`` is how long the engine waits for
    it to become ready; 0 leaves the provider's own default.
    """

    role: str
    body: Mapping[str, Any]
    after: tuple[str, ...] = ()
    minutes: int = 0

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.body["kind"])

    @property
    def name(self) -> str:
        """The object's name on the cluster."""
        return str(self.body["metadata"]["name"])
