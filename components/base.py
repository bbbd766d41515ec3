"""The base of every Pulumi component of Berth: identity, plain properties, fresh options, owned objects.

A component is a child of the stack root with a pinned token and a logical name that holds its full identity, so its
URN depends on nothing else. Its properties are plain data, known in every preview: the state keeps them as the
component's inputs even when an update fails, and the driver and the policies read the fleet from there.

What a component creates is not decided here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pulumi

from components.canonical import canonical_json
from components.labels import TAKES_BACK, Label


class Component(pulumi.ComponentResource):
    """A component of the fleet.

    ``props`` is its plain description with camelCase keys: JSON without Outputs, secrets or anything volatile.
    """

    TYPE: ClassVar[str]
    """The type token, ``berth:index:<Class>``; part of every URN, pinned by a contract test."""

    def __init__(self, name: str, props: Mapping[str, Any], *, environment: str) -> None:
        canonical_json(props)  # raises for an Output: the state must hold the description whatever the cloud does
        super().__init__(self.TYPE, name, dict(props))
        self.logical_name = name
        self.environment = environment
        self.description: Mapping[str, Any] = dict(props)

    def child(self, role: str) -> str:
        """Return the logical name of the child with this role."""
        return f"{self.logical_name}-{role}"

    def options(
        self,
        *,
        provider: pulumi.ProviderResource | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        **options: Any,
    ) -> pulumi.ResourceOptions:
        """Return fresh options for a child; they never merge with another resource's.

        ``provider`` is left out only for a child that is a component or a provider itself.
        """
        return pulumi.ResourceOptions(parent=self, provider=provider, depends_on=list(depends_on), **options)

    def metadata(
        self,
        name: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        named_by_others: bool = False,
    ) -> Any:
        """Return the metadata of a Kubernetes object that this component owns.

        Everything that Berth creates on a cluster names its environment and its owner, so that an orphan can be traced.
        What it sets is set again after somebody else has changed it, but where others may have chosen the same name:
        in no namespace, or ``named_by_others``. There it is refused by the API server.
        """
        takes_back = TAKES_BACK if namespace is not None and not named_by_others else {}
        metadata: dict[str, Any] = {
            "name": name,
            "labels": {Label.ENVIRONMENT.value: self.environment, **(labels or {})},
            "annotations": {Label.OWNER.value: self.logical_name, **takes_back, **(annotations or {})},
        }
        if namespace is not None:
            metadata["namespace"] = namespace
        return metadata

    def publish(self, **outputs: Any) -> None:
        """Register the description and ``outputs`` (camelCase) as the component's outputs; call it once, last."""
        self.register_outputs({**self.description, **outputs})
