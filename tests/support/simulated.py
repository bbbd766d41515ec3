"""Speaks the provider protocol to simulated providers, as the engine does, and gives plain Python back.

``Provider`` wraps one connection; ``serving`` starts a servicer in the test's own process. Values go in and come out as
``automation.rehearsal.wire`` has them (``Secret``, ``UNKNOWN``).
"""

import json
from collections.abc import Generator, Mapping
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from automation.rehearsal.provider.program import LIMITS, world
from automation.rehearsal.provider.servicer import Servicer, cloud_of
from automation.rehearsal.wire import decode, encode

STACK = "urn:pulumi:dev::sample::"
VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROLE = "aws:iam/role:Role"
CLUSTER = "aws:eks/cluster:Cluster"
NODES = "aws:eks/nodeGroup:NodeGroup"


class Refusal(Exception):
    """The provider answered with an error; ``reasons``, ``id`` and ``outputs`` are set when the resource exists."""

    def __init__(self, error: Any) -> None:
        super().__init__(error.details())
        self.reasons: tuple[str, ...] = ()
        self.id = ""
        self.outputs: dict[str, Any] = {}
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                detail = provider_pb2.ErrorResourceInitFailed()
                status_pb2.Status.FromString(value).details[0].Unpack(detail)
                self.reasons, self.id, self.outputs = tuple(detail.reasons), detail.id, decode(detail.properties)


@dataclass(frozen=True)
class Change:
    """What Diff or DiffConfig said."""

    paths: tuple[str, ...]
    replaces: tuple[str, ...]
    delete_first: bool
    kinds: Mapping[str, str] = field(default_factory=dict)
    """What became of each path, in the protocol's words."""
    of_inputs: tuple[str, ...] = ()
    """The paths that differ between old and new inputs, as far as the provider says so."""


class Provider:
    """One connection to one provider process."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._stub = provider_pb2_grpc.ResourceProviderStub(channel)

    def _ask(self, method: str, request: Any) -> Any:
        try:
            return getattr(self._stub, method)(request)
        except grpc.RpcError as error:
            raise Refusal(error) from None

    def version(self) -> str:
        """Ask GetPluginInfo."""
        return self._ask("GetPluginInfo", empty_pb2.Empty()).version

    def handshake(self) -> Any:
        """Shake hands as the engine does."""
        return self._ask("Handshake", provider_pb2.ProviderHandshakeRequest())

    def schema(self) -> str:
        """Ask for the schema."""
        return self._ask("GetSchema", provider_pb2.GetSchemaRequest()).schema

    def configure(self, **config: Any) -> "Provider":
        """Configure and give the provider back."""
        variables = {f"kubernetes:config:{key}": value for key, value in config.items() if isinstance(value, str)}
        request = provider_pb2.ConfigureRequest(args=encode(config), variables=variables, acceptSecrets=True)
        self._ask("Configure", request)
        return self

    def check_config(self, **config: Any) -> list[tuple[str, str]]:
        """Check settings; gives (property, reason) of each failure."""
        answer = self._ask("CheckConfig", provider_pb2.CheckRequest(news=encode(config)))
        return [(failure.property, failure.reason) for failure in answer.failures]

    def diff_config(self, olds: Mapping[str, Any], news: Mapping[str, Any]) -> Change:
        """Compare settings."""
        request = provider_pb2.DiffRequest(old_inputs=encode(olds), olds=encode(olds), news=encode(news))
        return _change(self._ask("DiffConfig", request))

    def check(
        self,
        type_: str,
        name: str,
        news: Mapping[str, Any],
        *,
        olds: Mapping[str, Any] | None = None,
        seed: bytes = b"1",
    ) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """Check inputs; gives the completed inputs and (property, reason) of each failure."""
        request = provider_pb2.CheckRequest(
            urn=urn(type_, name), type=type_, name=name, news=encode(news), olds=encode(olds or {}), randomSeed=seed
        )
        answer = self._ask("Check", request)
        return decode(answer.inputs), [(failure.property, failure.reason) for failure in answer.failures]

    def diff(
        self,
        type_: str,
        name: str,
        olds: Mapping[str, Any],
        news: Mapping[str, Any],
        *,
        outputs: Mapping[str, Any] | None = None,
    ) -> Change:
        """Compare inputs; ``outputs`` are the old ones."""
        request = provider_pb2.DiffRequest(
            urn=urn(type_, name),
            type=type_,
            name=name,
            id="sim-x",
            old_inputs=encode(olds),
            olds=encode({**olds, **(outputs or {})}),
            news=encode(news),
        )
        return _change(self._ask("Diff", request))

    def create(
        self, type_: str, name: str, inputs: Mapping[str, Any], *, preview: bool = False
    ) -> tuple[str, dict[str, Any]]:
        """Create; gives id and outputs."""
        request = provider_pb2.CreateRequest(
            urn=urn(type_, name), type=type_, name=name, properties=encode(inputs), preview=preview
        )
        answer = self._ask("Create", request)
        return answer.id, decode(answer.properties)

    def preview(self, type_: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Preview a creation; gives the outputs."""
        return self.create(type_, name, inputs, preview=True)[1]

    def read(
        self,
        type_: str,
        name: str,
        id_: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Read; gives inputs and outputs, ``None`` when it is gone."""
        request = provider_pb2.ReadRequest(
            urn=urn(type_, name),
            type=type_,
            name=name,
            id=id_,
            inputs=encode(inputs or {}),
            properties=encode(outputs or {}),
        )
        answer = self._ask("Read", request)
        return (decode(answer.inputs), decode(answer.properties)) if answer.id else None

    def update(
        self,
        type_: str,
        name: str,
        id_: str,
        *,
        olds: Mapping[str, Any],
        news: Mapping[str, Any],
        preview: bool = False,
    ) -> dict[str, Any]:
        """Update; gives the outputs."""
        request = provider_pb2.UpdateRequest(
            urn=urn(type_, name), type=type_, name=name, id=id_, olds=encode(olds), news=encode(news), preview=preview
        )
        return decode(self._ask("Update", request).properties)

    def delete(self, type_: str, name: str, id_: str, *, outputs: Mapping[str, Any] | None = None) -> None:
        """Delete."""
        request = provider_pb2.DeleteRequest(
            urn=urn(type_, name), type=type_, name=name, id=id_, properties=encode(outputs or {})
        )
        self._ask("Delete", request)

    def invoke(self, token: str, **arguments: Any) -> dict[str, Any]:
        """Call a function."""
        request = provider_pb2.InvokeRequest(tok=token, args=encode(arguments))
        return decode(getattr(self._ask("Invoke", request), "return"))

    def call(self, token: str) -> None:
        """Call a method of a resource."""
        self._ask("Call", provider_pb2.CallRequest(tok=token))

    def construct(self, type_: str) -> None:
        """Ask for a component."""
        self._ask("Construct", provider_pb2.ConstructRequest(type=type_))

    def cancel(self) -> None:
        """Say that the engine wants to stop."""
        self._ask("Cancel", empty_pb2.Empty())

    def attach(self) -> None:
        """Tell an engine's address."""
        self._ask("Attach", plugin_pb2.PluginAttach(address="127.0.0.1:1"))


def urn(type_: str, name: str) -> str:
    """Write the URN of a resource of the sample stack."""
    return f"{STACK}{type_}::{name}"


def _change(answer: Any) -> Change:
    return Change(
        paths=tuple(sorted(answer.detailedDiff)),
        replaces=tuple(sorted(answer.replaces)),
        delete_first=answer.deleteBeforeReplace,
        kinds={
            path: provider_pb2.PropertyDiff.Kind.Name(each.kind) for path, each in sorted(answer.detailedDiff.items())
        },
        of_inputs=tuple(path for path, each in sorted(answer.detailedDiff.items()) if each.inputDiff),
    )


@contextmanager
def connected(address: str) -> Generator[Provider]:
    """Connect to a provider that serves already."""
    with grpc.insecure_channel(address, options=LIMITS) as channel:
        yield Provider(channel)


@contextmanager
def serving(settings: Mapping[str, Any]) -> Generator[Provider]:
    """Serve one package in this process; ``settings`` are those that ``install`` writes for a launcher."""
    server = grpc.server(futures.ThreadPoolExecutor(8))
    built = world(settings)
    servicer = Servicer(cloud_of(built), faults=built.faults, version=f"{settings['version']}+simulated")
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with connected(f"127.0.0.1:{port}") as provider:
            yield provider
    finally:
        server.stop(grace=None)


def kubeconfig(server: str, *, name: str = "sample") -> str:
    """Write a kubeconfig for a server, with a token that must never be seen."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "clusters": [{"name": name, "cluster": {"server": server}}],
            "users": [{"name": name, "user": {"token": "hf_sample-token-4711"}}],
        }
    )


def settings_for(installed: Path, package: str, *, database: Path) -> dict[str, Any]:
    """Read what ``install`` wrote for a package, with another database and without patience."""
    marker = next(installed.glob(f"plugins/resource-{package}-v*/simulated.json"))
    return {**json.loads(marker.read_text()), "database": str(database), "patience": 0}


def make_network(aws: Provider, *, zones: str = "ab") -> tuple[str, list[str]]:
    """Create a VPC with one subnet per zone; gives their ids."""
    vpc, _ = aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    subnets = [
        aws.create(
            SUBNET,
            f"net-{zone}",
            {"vpcId": vpc, "cidrBlock": f"10.0.{16 * index}.0/20", "availabilityZone": f"us-east-1{zone}"},
        )[0]
        for index, zone in enumerate(zones)
    ]
    return vpc, subnets


def make_cluster(aws: Provider, name: str = "east", *, version: str = "") -> tuple[dict[str, Any], str, list[str]]:
    """Create a role and an EKS cluster in a network of its own; gives the cluster's outputs, VPC and subnets."""
    vpc, subnets = make_network(aws)
    _, role = aws.create(ROLE, "role", {"name": f"{name}-role", "assumeRolePolicy": "{}"})
    inputs = {"name": name, "roleArn": role["arn"], "vpcConfig": {"subnetIds": subnets}}
    inputs |= {"version": version} if version else {}
    _, cluster = aws.create(CLUSTER, name, inputs)
    return cluster, vpc, subnets
