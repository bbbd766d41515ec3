"""Where a cache's weights come from: one block for each source."""

from typing import Annotated

from pydantic import Field

from components.api import syntax
from components.api.base import LocalReference, Model
from components.api.codes import Code
from components.api.rules import Subdomain, checked
from components.api.values import Key

SizeGib = Annotated[int, Field(alias="sizeGiB", ge=1, le=100_000)]
Bucket = Annotated[str, Field(min_length=3, max_length=63), checked(syntax.bucket, Code.NAME_INVALID)]
Folder = Annotated[str, Field(min_length=1, max_length=1024), checked(syntax.folder, Code.VALUE_INVALID)]


class AuthSecret(LocalReference):
    """A token, in a secret of the cache's namespace."""

    name: Subdomain
    """Name of the secret."""

    key: Key = "HF_TOKEN"
    """Key in the secret."""


class HuggingFace(Model):
    """A repository on Hugging Face."""

    repo: Annotated[str, Field(min_length=1), checked(syntax.repository, Code.VALUE_INVALID)]
    """Repository, as `owner/name`."""

    revision: Annotated[str, checked(syntax.revision, Code.VALUE_INVALID)] | None = None
    """Branch, tag or commit; the default branch without it."""

    auth_secret: AuthSecret | None = None
    """Token for a gated repository."""

    size_gib: SizeGib
    """Size of the volume, in GiB."""


class AccessKeySecret(LocalReference):
    """An access key and its secret, in a secret of the cache's namespace."""

    name: Subdomain
    """Name of the secret."""

    access_key_id_key: Key = "AWS_ACCESS_KEY_ID"
    """Key of the access key's id."""

    secret_access_key_key: Key = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 (where the secret is, not the secret)
    """Key of the secret access key."""


class S3(Model):
    """Objects of a bucket on S3, or on a store that speaks its language."""

    bucket: Bucket
    """Name of the bucket."""

    prefix: Folder | None = None
    """What the objects' keys begin with; it is left out of the staged names. The whole bucket without it."""

    region: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    """Region of the bucket."""

    endpoint: Annotated[str, Field(min_length=1), checked(syntax.url, Code.URL_INVALID)] | None = None
    """URL of a store that is not AWS."""

    auth_secret: AccessKeySecret | None = None
    """Access key; the cluster's own identity without it."""

    size_gib: SizeGib
    """Size of the volume, in GiB."""


class ServiceAccountSecret(LocalReference):
    """The key file of a service account, in a secret of the cache's namespace."""

    name: Subdomain
    """Name of the secret."""

    key: Key = "credentials.json"
    """Key in the secret."""


class Gcs(Model):
    """Objects of a bucket on Google Cloud Storage."""

    bucket: Bucket
    """Name of the bucket."""

    prefix: Folder | None = None
    """What the objects' names begin with; it is left out of the staged names. The whole bucket without it."""

    auth_secret: ServiceAccountSecret | None = None
    """Key of a service account; the cluster's own identity without it."""

    size_gib: SizeGib
    """Size of the volume, in GiB."""


class RegistrySecret(LocalReference):
    """Registry credentials, in a secret of type `kubernetes.io/dockerconfigjson` of the cache's namespace."""

    name: Subdomain
    """Name of the secret."""


class Oci(Model):
    """An artefact in an OCI registry; its layers are unpacked."""

    artifact: Annotated[str, Field(min_length=1), checked(syntax.image, Code.IMAGE_INVALID)]
    """Reference, best with a digest: `ghcr.io/team/weights@sha256:...`."""

    auth_secret: RegistrySecret | None = None
    """Registry credentials."""

    size_gib: SizeGib
    """Size of the volume, in GiB."""


class Pvc(Model):
    """A volume claim of the cache's namespace that many nodes can mount; nothing is downloaded."""

    claim_name: Subdomain
    """Name of the claim; it must exist on every cluster that the cache is for."""

    path: Folder | None = None
    """Folder of the volume that holds the weights; its root without it."""


class ApiKeySecret(LocalReference):
    """An API key of NGC, in a secret of the cache's namespace."""

    name: Subdomain
    """Name of the secret."""

    key: Key = "NGC_API_KEY"
    """Key in the secret."""


class Ngc(Model):
    """A model on NVIDIA NGC."""

    model: Annotated[str, Field(min_length=1), checked(syntax.ngc_model, Code.VALUE_INVALID)]
    """Model, as `org[/team]/name:version`."""

    auth_secret: ApiKeySecret | None = None
    """API key; public models need none."""

    size_gib: SizeGib
    """Size of the volume, in GiB."""
