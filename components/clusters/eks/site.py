"""Site: what every part of an EKS cluster is built with: its component, its provider, its tags, its options.

So tags, protection and the order of replacement are decided in one place, by kind, and no part can forget them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi

from components.base import Component
from components.clusters.eks import facts
from components.clusters.eks.args import EksClusterArgs
from components.labels import Tag

if TYPE_CHECKING:
    import pulumi_aws as aws


@dataclass(frozen=True, slots=True)
class Site:
    """Where the parts of one cluster are registered."""

    component: Component
    args: EksClusterArgs
    provider: "aws.Provider"

    def child(self, role: str) -> str:
        """Return the logical name of a part."""
        return self.component.child(role)

    def options(
        self,
        kind: type[pulumi.CustomResource],
        *,
        owner: Component | None = None,
        provider: pulumi.ProviderResource | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        **options: Any,
    ) -> pulumi.ResourceOptions:
        """Return the options of a part of this kind, owned by the cluster unless ``owner`` is given."""
        token = type_of(kind)
        if token in facts.REPLACE_BY_DELETE:
            options["delete_before_replace"] = True
        if self.args.cluster.protect and token in facts.PROTECTED:
            options["protect"] = True
        return (owner or self.component).options(provider=provider or self.provider, depends_on=depends_on, **options)

    def tags(self, name: str = "", *, owner: Component | None = None) -> dict[str, str]:
        """Return the tags of a part; ``name`` is what the cloud's console shows."""
        cluster, component = self.args.cluster, owner or self.component
        tags = {
            Tag.ENVIRONMENT.value: cluster.environment,
            Tag.STACK.value: cluster.stack,
            Tag.COMPONENT.value: f"{component.TYPE}::{component.logical_name}",
            Tag.OWNER.value: cluster.owner,
            Tag.COST_CENTRE.value: cluster.cost_centre,
            "Name": name,
        }
        return {key: value for key, value in tags.items() if value}


def type_of(kind: type[pulumi.CustomResource]) -> str:
    """Return the type token of a resource class."""
    token = getattr(kind, "pulumi_type", "")
    assert isinstance(token, str)
    return token
