"""How a service is reached and guarded: names, certificate, callers, rates and patience."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import Items, LocalReference, Model, Ruled
from components.api.codes import Code
from components.api.conditions import AtLeastOne, ExactlyOne
from components.api.rules import Subdomain, Violation, checked, shown
from components.api.values import MAX_INT32, Duration, Key

Hostname = Annotated[str, Field(min_length=1, max_length=253), checked(syntax.hostname, Code.NAME_INVALID)]
Url = Annotated[str, Field(min_length=1), checked(syntax.url, Code.URL_INVALID)]
Header = Annotated[str, Field(min_length=1), checked(syntax.header, Code.NAME_INVALID)]


class SecretRef(LocalReference):
    """A secret of the service's namespace, as a whole."""

    name: Subdomain
    """Name of the secret."""


class CaSecretRef(LocalReference):
    """Certificates of authorities, in a secret of the document's namespace."""

    name: Subdomain
    """Name of the secret."""

    key: Key = "ca.crt"
    """Key in the secret."""


class IssuerRef(Model):
    """An issuer of cert-manager on the front doors."""

    name: Subdomain
    """Name of the issuer."""

    kind: Literal["Issuer", "ClusterIssuer"] = "ClusterIssuer"
    """Whether it serves one namespace or all."""


class ServiceTls(Ruled):
    """The certificate of a service's names, and how it is spoken."""

    CONDITIONS: ClassVar = (ExactlyOne("TLS needs exactly one of", ("certificate_ref", "issuer_ref"), at_key=True),)

    certificate_ref: SecretRef | None = None
    """A secret of type `kubernetes.io/tls` that holds it."""

    issuer_ref: IssuerRef | None = None
    """Who issues the certificate and renews it."""

    min_version: Literal["1.2", "1.3"] = "1.2"
    """Oldest version of TLS that is spoken."""


class ApiKeys(Model):
    """Keys that callers show, in a secret of the service's namespace: each key of the secret is one caller."""

    secret_ref: SecretRef
    """The secret."""

    header: Header = "Authorization"
    """Header that holds the key; after `Bearer ` in `Authorization`."""


class Jwt(Model):
    """Tokens that an identity provider has signed."""

    issuer: Url
    """Who must have issued the token."""

    audiences: Annotated[Items[Annotated[str, Field(min_length=1, max_length=253)]], Field(max_length=16)] = ()
    """For whom it must be, one of these; anybody without it."""

    jwks_url: Url | None = None
    """Where the provider's keys are; found by the issuer's own configuration without it."""


class ClientCertificate(Model):
    """Certificates that callers show."""

    ca_secret_ref: CaSecretRef
    """Who must have signed them."""


class Authentication(Ruled):
    """Which clients may call; of several ways any one is enough."""

    CONDITIONS: ClassVar = (
        AtLeastOne(
            "authentication needs one of apiKeys, jwt and clientCertificate; none is set",
            ("api_keys", "jwt", "client_certificate"),
            at_key=True,
        ),
    )

    api_keys: ApiKeys | None = None
    """By a key."""

    jwt: Jwt | None = None
    """By a signed token."""

    client_certificate: ClientCertificate | None = None
    """By a certificate."""


class RateLimit(Model):
    """How often a service may be called."""

    requests: Annotated[int, Field(ge=1, le=MAX_INT32)]
    """Requests in each unit of time."""

    unit: Literal["Second", "Minute", "Hour"]
    """The unit of time."""

    burst: Annotated[int, Field(ge=1, le=MAX_INT32)] | None = None
    """Requests that may come at once; as many as `requests` without it."""

    per: Literal["Client", "Address", "Service"] = "Client"
    """What is counted by itself: each authenticated client, each address, or the whole service."""


class ServiceTimeouts(Ruled):
    """How long things may take; as Gateway API has them, and `0s` is for ever."""

    request: Duration | None = None
    """From the request's first byte to the answer's last."""

    backend_request: Duration | None = None
    """One try of one endpoint."""

    idle: Duration | None = None
    """Between two bytes of an answer that comes in pieces."""

    def rules(self) -> Iterator[Violation]:
        """Check that one try is not given more time than all of them."""
        whole, single = (syntax.duration_seconds(text or "") for text in (self.request, self.backend_request))
        if whole and self.backend_request is not None and not 0 < single <= whole:
            message = f"backendRequest {shown(self.backend_request)} may not be longer than request, {self.request}"
            yield Violation(Code.VALUE_OUT_OF_RANGE, message, ("backendRequest",))
