"""Cloud identities: who Berth is towards each cloud, by name."""

from typing import Annotated

from pydantic import Field

from components.api.base import Model
from components.api.frozen import FrozenDict, FrozenMap
from components.api.values import SecretName

Text = Annotated[str, Field(min_length=1, max_length=253)]


class AwsProvider(Model):
    """One identity on AWS."""

    region: Text | None = None
    """Region for calls that no cluster fixes; a cluster's own region always wins."""

    profile: Text | None = None
    """Name of a profile of the shared AWS configuration."""

    role_arn: Text | None = None
    """Role to assume."""

    external_id: Text | None = None
    """External id that the role asks for."""


class GcpProvider(Model):
    """One identity on Google Cloud."""

    project: Text
    """Project in which clusters are made."""

    impersonate_service_account: Text | None = None
    """Service account to impersonate."""


class AzureProvider(Model):
    """One identity on Azure."""

    subscription_id: Text
    """Subscription in which clusters are made."""

    tenant_id: Text | None = None
    """Tenant of the identity."""

    client_id: Text | None = None
    """Client id of a workload or managed identity."""


class NebiusProvider(Model):
    """One identity on Nebius."""

    project: Text
    """Project (parent id), which also fixes the region."""

    secret: SecretName | None = None
    """`namespace/name` of the secret that holds the service account's key."""


class VultrProvider(Model):
    """One identity on Vultr."""

    secret: SecretName
    """`namespace/name` of the secret that holds the API key."""


class Providers(Model):
    """Cloud identities by cloud and name; `default` is the ambient identity unless it is given here."""

    aws: FrozenMap[str, AwsProvider] = FrozenDict()
    """Identities on AWS."""

    gcp: FrozenMap[str, GcpProvider] = FrozenDict()
    """Identities on Google Cloud."""

    azure: FrozenMap[str, AzureProvider] = FrozenDict()
    """Identities on Azure."""

    nebius: FrozenMap[str, NebiusProvider] = FrozenDict()
    """Identities on Nebius."""

    vultr: FrozenMap[str, VultrProvider] = FrozenDict()
    """Identities on Vultr."""
