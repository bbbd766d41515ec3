"""The outputs of a stack: one schema, versioned, for people and for other stacks.

The driver does not learn from them what exists (after a failed update the engine keeps old ones); it reads the state.
A field is only ever added; anything else is a new schema number.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

import pulumi
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

SCHEMA: Final = 1


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class ClusterSummary(_Model):
    """One cluster of the stack."""

    source: str
    endpoint: str
    """URL of the API server."""
    gateway_address: str | None = None
    """Where the cluster's own gateway is reached; absent on a cluster that serves nothing."""
    storage_class: str | None = None
    pools: tuple[str, ...] = ()


class StackOutputs(_Model):
    """What a stack puts out, as it is read back."""

    schema_version: Literal[1] = Field(alias="schema")
    berth: str
    environment: str
    simulated: bool
    backed: bool = False
    platform_digest: str = ""
    """Digest of the platform's manifests; lets the driver skip a preview when nothing of them changed since."""
    clusters: dict[str, ClusterSummary] = Field(default_factory=dict)
    services: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By ``namespace/name``: the service's URL by front door."""
    front_doors: dict[str, str] = Field(default_factory=dict)
    """Address by cluster."""


def export(
    *,
    berth: str,
    environment: str,
    simulated: bool,
    backed: bool,
    platform_digest: str,
    clusters: Mapping[str, Mapping[str, Any]],
    services: Mapping[str, Mapping[str, pulumi.Input[str]]],
    front_doors: Mapping[str, pulumi.Input[str]],
) -> None:
    """Export a stack's outputs; the values may be Outputs, the names are those of ``StackOutputs``."""
    pulumi.export("schema", SCHEMA)
    pulumi.export("berth", berth)
    pulumi.export("environment", environment)
    pulumi.export("simulated", simulated)
    if backed:
        pulumi.export("backed", backed)
    pulumi.export("platformDigest", platform_digest)
    pulumi.export("clusters", {name: dict(summary) for name, summary in sorted(clusters.items())})
    pulumi.export("services", {name: dict(sorted(urls.items())) for name, urls in sorted(services.items())})
    pulumi.export("frontDoors", dict(sorted(front_doors.items())))
