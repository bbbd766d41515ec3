"""The provider protocol over gRPC: messages in and out, secrets and errors in their wire forms. It knows no cloud.

The version it gives is the SDK's with the kind of provider as build metadata: equal for the engine, which ignores that,
and telling for people.
"""
# ruff: noqa: ARG002, N802 - the signatures and names are those of the generated protocol

import sqlite3
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from automation.rehearsal.provider.base import Cloud, Difference, Live, Target, World
from automation.rehearsal.provider.catalog import CatalogCloud
from automation.rehearsal.provider.errors import NotReady, Refused
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.provider.patches import PatchingCloud
from automation.rehearsal.wire import Changed, decode, encode

_STYLES: Mapping[str, Callable[[World], Cloud]] = {"catalog": CatalogCloud, "kubernetes": PatchingCloud}


def cloud_of(world: World) -> Cloud:
    """Make the cloud that a world's table describes."""
    return _STYLES[world.table.style](world)


def _answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what a cloud refuses into the protocol's errors."""

    @wraps(method)
    def call(self: "Servicer", request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(self, request, context)
        except Refused as refusal:
            return context.abort(grpc.StatusCode.UNKNOWN, str(refusal))
        except NotReady as trouble:
            detail = provider_pb2.ErrorResourceInitFailed(
                id=trouble.id, properties=encode(trouble.outputs), reasons=trouble.reasons
            )
            if trouble.inputs is not None:
                detail.inputs.CopyFrom(encode(trouble.inputs))
            status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(trouble))
            status.details.add().Pack(detail)
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            return context.abort(grpc.StatusCode.UNKNOWN, str(trouble))
        except sqlite3.Error as error:
            return context.abort(grpc.StatusCode.UNKNOWN, f"the simulated cloud's file cannot be used: {error}")
        except Exception as error:  # noqa: BLE001 - a bug of the simulation; its text may hold what must not be printed
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {place.filename.rpartition('/')[2]}:{place.lineno}"
            return context.abort(grpc.StatusCode.INTERNAL, f"the simulated provider failed: {where}")

    return call


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """Answers the engine for one provider resource."""

    def __init__(self, cloud: Cloud, *, faults: Faults, version: str) -> None:
        self._cloud = cloud
        self._faults = faults
        self._version = version

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Say what this provider understands."""
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=True, accept_resources=False, accept_outputs=False, supports_autonaming_configuration=False
        )

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Take an engine's address; nothing is told to it."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Name the version that the SDK asks for."""
        return plugin_pb2.PluginInfo(version=self._version)

    def GetSchema(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Give an empty schema; the SDK's classes are the schema of a simulated cloud."""
        return provider_pb2.GetSchemaResponse(schema="{}")

    @_answering
    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Check the provider's inputs."""
        failures = self._cloud.check_config(decode(request.news))
        return provider_pb2.CheckResponse(inputs=request.news, failures=[_failure(item) for item in failures])

    @_answering
    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Compare the provider's inputs."""
        olds = request.old_inputs if request.HasField("old_inputs") else request.olds
        return _difference(self._cloud.diff_config(decode(olds), decode(request.news)))

    @_answering
    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Take the provider's inputs."""
        self._cloud.configure(decode(request.args))
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=False, acceptOutputs=False
        )

    @_answering
    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Check a resource's inputs and name it."""
        olds, news = decode(request.olds), decode(request.news)
        inputs, failures = self._cloud.check(target_of(request), olds, news, request.randomSeed)
        return provider_pb2.CheckResponse(inputs=encode(inputs), failures=[_failure(item) for item in failures])

    @_answering
    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Compare old and new inputs."""
        olds = request.old_inputs if request.HasField("old_inputs") else request.olds
        return _difference(
            self._cloud.diff(target_of(request), decode(olds), decode(request.news), decode(request.olds))
        )

    @_answering
    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Create a resource, or preview that."""
        live = self._cloud.create(target_of(request), decode(request.properties), preview=request.preview)
        return provider_pb2.CreateResponse(id=live.id, properties=encode(live.outputs))

    @_answering
    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Read a resource; an empty answer says it is gone."""
        live = self._cloud.read(target_of(request), decode(request.inputs), decode(request.properties))
        if live is None:
            return provider_pb2.ReadResponse()
        return _read(live)

    @_answering
    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Change a resource in place, or preview that."""
        olds, news = decode(request.olds), decode(request.news)
        return provider_pb2.UpdateResponse(
            properties=encode(self._cloud.update(target_of(request), olds, news, preview=request.preview))
        )

    @_answering
    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Delete a resource."""
        self._cloud.delete(target_of(request), decode(request.properties))
        return empty_pb2.Empty()

    @_answering
    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer a function."""
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(encode(self._cloud.invoke(request.tok, decode(request.args))))
        return response

    @_answering
    def Call(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Refuse methods of resources: no simulated type has one."""
        raise Refused(f"{request.tok} is not simulated")

    @_answering
    def Construct(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Refuse components of a provider: they render charts and manifests, which needs the real one."""
        raise Refused(f"{request.type} is a component of the real provider and is not simulated")

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        """End all waiting that a scenario ordered; calls under way then end by themselves."""
        self._faults.cancel()
        return empty_pb2.Empty()


def target_of(request: Any) -> Target:
    """Say which resource a request is about."""
    kind = request.type or request.urn.split("::")[2].rpartition("$")[2]
    name = request.name or request.urn.partition("::")[2].split("::", 2)[2]
    return Target(urn=request.urn, type=kind, name=name, id=getattr(request, "id", ""))


def _failure(item: Any) -> Any:
    return provider_pb2.CheckFailure(property=item.path, reason=item.reason)


def _read(live: Live) -> Any:
    return provider_pb2.ReadResponse(id=live.id, properties=encode(live.outputs), inputs=encode(live.inputs))


def _difference(found: Difference) -> Any:
    kinds = provider_pb2.PropertyDiff
    detail = {
        path: kinds(
            kind=kinds.Kind.Value(f"{changed.name}_REPLACE" if path in found.replaces else changed.name),
            inputDiff=not found.of_live or changed is Changed.DELETE,
        )
        for path, changed in found.changed.items()
    }
    some = provider_pb2.DiffResponse.DIFF_SOME if found.paths else provider_pb2.DiffResponse.DIFF_NONE
    return provider_pb2.DiffResponse(
        changes=some,
        diffs=sorted({path.split(".")[0].split("[")[0] for path in found.paths}),
        replaces=list(found.replaces),
        deleteBeforeReplace=found.delete_first,
        detailedDiff=detail,
        hasDetailedDiff=True,
    )
