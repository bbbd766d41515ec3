"""A question that the node asks a container again and again."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api.base import Items, Model, Ruled
from components.api.codes import Code
from components.api.conditions import ExactlyOne, Schema
from components.api.rules import Violation
from components.api.values import MAX_INT32

Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[int, Field(ge=1, le=MAX_INT32)]


class HttpGet(Model):
    """A request whose answer is good from 200 to 399."""

    path: Annotated[str, Field(min_length=1, max_length=1024, pattern="^/")] = "/"
    """Path."""

    port: Port
    """Port."""

    scheme: Literal["HTTP", "HTTPS"] = "HTTP"
    """Scheme; a certificate is not looked at."""


class TcpSocket(Model):
    """A connection that is taken."""

    port: Port
    """Port."""


class Exec(Model):
    """A command in the container that ends with 0."""

    command: Items[str] = Field(min_length=1)
    """The command; no shell reads it."""


class GrpcProbe(Model):
    """The standard health service of gRPC."""

    port: Port
    """Port."""

    service: Annotated[str, Field(max_length=253)] | None = None
    """Name of the service that is asked about."""


class Probe(Ruled):
    """A question, and how often and how patiently it is asked."""

    CONDITIONS: ClassVar = (
        ExactlyOne("a probe asks in exactly one way,", ("http_get", "tcp_socket", "exec_command", "grpc"), at_key=True),
    )

    http_get: HttpGet | None = None
    """Ask by HTTP."""

    tcp_socket: TcpSocket | None = None
    """Ask by a connection."""

    exec_command: Annotated[Exec | None, Field(alias="exec")] = None
    """Ask by a command."""

    grpc: GrpcProbe | None = None
    """Ask by gRPC."""

    initial_delay_seconds: Annotated[int, Field(ge=0, le=MAX_INT32)] = 0
    """Seconds before the first question."""

    period_seconds: Seconds = 10
    """Seconds between questions."""

    timeout_seconds: Seconds = 1
    """Seconds an answer may take."""

    success_threshold: Seconds = 1
    """Good answers in a row that count as good; 1 for probes that restart."""

    failure_threshold: Seconds = 3
    """Bad answers in a row that count as bad."""


def restart_violations(startup: Probe | None, liveness: Probe | None) -> Iterator[Violation]:
    """Yield what is wrong with the probes that restart a container; paths lead from the container."""
    for field, probe in (("startupProbe", startup), ("livenessProbe", liveness)):
        if probe is not None and probe.success_threshold != 1:
            message = f"successThreshold must be 1 in {field}, and is {probe.success_threshold}"
            yield Violation(Code.VALUE_OUT_OF_RANGE, message, (field, "successThreshold"))


_ONCE: Final = {"properties": {"successThreshold": {"enum": [1, None]}}}

RESTART_SCHEMA: Final[Schema] = {"properties": {"startupProbe": _ONCE, "livenessProbe": _ONCE}}
"""What ``restart_violations`` is in JSON Schema."""
