"""ModelEndpoint: an address that serves a model, written by hand for one outside the fleet."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Later, Manifest, Model, ServiceMetadata
from components.api.codes import Code
from components.api.rules import checked


class ModelEndpointSpec(Model):
    """An address."""

    url: Annotated[str, Field(min_length=1), checked(syntax.url, Code.URL_INVALID)]
    """Full URL; scheme, host and port are used for routing."""

    rewrite_path: Annotated[str, Field(max_length=1024)] | None = None
    """Prefix that takes the place of the service's prefix."""

    credentials: Later = None
    """Key for an external provider."""

    host: Later = None
    """Host header that is sent."""

    tls_server_name: Later = None
    """Name the certificate must bear."""


class ModelEndpoint(Manifest):
    """An address that serves a model."""

    SHORT_NAME: ClassVar[str] = "me"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("URL", "spec.url"),)

    kind: Literal["ModelEndpoint"]
    """Always `ModelEndpoint`."""

    metadata: ServiceMetadata
    """Name, namespace, labels and annotations; services match its labels."""

    spec: ModelEndpointSpec
    """The endpoint."""
