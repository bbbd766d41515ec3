"""ModelEndpoint: an address that serves a model, written by hand for one outside the fleet."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import LATER, Manifest, Model, Ruled, ServiceMetadata
from components.api.codes import Code
from components.api.conditions import Together, given
from components.api.rules import Subdomain, Violation, checked
from components.api.service_settings import CaSecretRef, Header
from components.api.values import Key


class EndpointKey(Model):
    """A key, in a secret of the endpoint's namespace."""

    name: Subdomain
    """Name of the secret."""

    key: Key = "apiKey"
    """Key in the secret."""


class EndpointCredentials(Model):
    """How an external provider is told who calls."""

    secret_ref: EndpointKey
    """The key."""

    header: Header = "Authorization"
    """Header that holds it."""

    prefix: Annotated[str, Field(max_length=64)] = "Bearer "
    """What stands before the key in the header; empty for a header of its own such as `x-api-key`."""


class EndpointTls(Model):
    """What the endpoint's certificate must be."""

    server_name: Annotated[str, Field(max_length=253), checked(syntax.hostname, Code.NAME_INVALID)] | None = None
    """Name it must bear, and that is asked for; the URL's host without it."""

    ca_secret_ref: CaSecretRef | None = None
    """Who must have signed it; the public authorities without it."""


def _certified(spec: "ModelEndpointSpec") -> Iterator[Violation]:
    if spec.tls is not None and not spec.url.startswith("https://"):
        message = "`tls` belongs to a URL that begins with `https://`"
        yield Violation(Code.FIELD_CONFLICT, message, ("tls",), at_key=True)


class ModelEndpointSpec(Ruled):
    """An address."""

    CONDITIONS: ClassVar = (
        Together(_certified, ({"if": given("tls"), "then": {"properties": {"url": {"pattern": "^https://"}}}},)),
    )

    url: Annotated[str, Field(min_length=1), checked(syntax.url, Code.URL_INVALID)]
    """Full URL; scheme, host and port are used for routing."""

    rewrite_path: Annotated[str, Field(max_length=1024)] | None = None
    """Prefix that takes the place of the service's prefix."""

    credentials: Annotated[EndpointCredentials | None, LATER] = None
    """Key for an external provider; the front door adds it, so that no caller sees it."""

    rewrite_host: Annotated[Annotated[str, checked(syntax.hostname, Code.NAME_INVALID)] | None, LATER] = None
    """Host header that is sent; the URL's host without it."""

    tls: Annotated[EndpointTls | None, LATER] = None
    """What the endpoint's certificate must be."""


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
