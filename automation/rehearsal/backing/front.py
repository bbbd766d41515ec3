"""Stands before the real Kubernetes provider in backed runs: passes everything on, but for three things.

A kubeconfig that leads off this machine is refused before the provider sees it. Helm releases go to stand-ins, because
charts are not fetched here. And no wait is longer than what pods without containers can need, so that one which cannot
become ready says so soon. Every other request and answer goes through as the bytes it is.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import grpc
from pulumi.runtime.proto import plugin_pb2, provider_pb2

from automation.rehearsal.backing.door import Door
from automation.rehearsal.backing.loopback import stray_server
from automation.rehearsal.backing.releases import ReleaseCloud
from automation.rehearsal.provider.base import settings
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.provider.kinds import HELM_RELEASE
from automation.rehearsal.provider.program import LIMITS, make_server, run
from automation.rehearsal.provider.rules import Rules
from automation.rehearsal.provider.servicer import Servicer, target_of
from automation.rehearsal.store import Store
from automation.rehearsal.wire import decode

if TYPE_CHECKING:
    from subprocess import Popen

SECONDS_OF_PATIENCE: Final = 15.0
"""How long the provider waits for an object. Pods here are ready a second after they are bound, or never."""

_SERVICE: Final = "/pulumirpc.ResourceProvider/"
_CONFIGURING: Final[Mapping[str, tuple[Any, str]]] = {
    "CheckConfig": (provider_pb2.CheckRequest, "news"),
    "DiffConfig": (provider_pb2.DiffRequest, "news"),
    "Configure": (provider_pb2.ConfigureRequest, "args"),
}
"""Requests that bring a kubeconfig, and where."""

_OF_RESOURCES: Final[Mapping[str, Any]] = {
    "Check": provider_pb2.CheckRequest,
    "Diff": provider_pb2.DiffRequest,
    "Create": provider_pb2.CreateRequest,
    "Read": provider_pb2.ReadRequest,
    "Update": provider_pb2.UpdateRequest,
    "Delete": provider_pb2.DeleteRequest,
}
_WAITING: Final = frozenset({"Create", "Update", "Delete"})


class Front(grpc.GenericRpcHandler):
    """Answers the engine for one provider resource."""

    def __init__(self, real: grpc.Channel, releases: Servicer, *, version: str) -> None:
        self._real = real
        self._releases = releases
        self._version = version

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """Take every call of the protocol as bytes."""
        method = handler_call_details.method
        if not method.startswith(_SERVICE):
            return None
        name = method.removeprefix(_SERVICE)
        return grpc.unary_unary_rpc_method_handler(lambda raw, context: self._answer(name, raw, context))

    def _answer(self, name: str, raw: bytes, context: grpc.ServicerContext) -> bytes:
        if name == "GetPluginInfo":
            return plugin_pb2.PluginInfo(version=self._version).SerializeToString()
        if name in _CONFIGURING:
            kind, field = _CONFIGURING[name]
            self._configure(name, kind.FromString(raw), field, context)
        elif name in _OF_RESOURCES:
            request = _OF_RESOURCES[name].FromString(raw)
            if target_of(request).type == HELM_RELEASE:
                return bytes(getattr(self._releases, name)(request, context).SerializeToString())
            if name in _WAITING:
                request.timeout = min(request.timeout or SECONDS_OF_PATIENCE, SECONDS_OF_PATIENCE)
                raw = request.SerializeToString()
        return self._pass_on(name, raw, context)

    def _configure(self, name: str, request: Any, field: str, context: grpc.ServicerContext) -> None:
        stray = stray_server(settings(decode(getattr(request, field))))
        if stray:
            context.abort(
                grpc.StatusCode.PERMISSION_DENIED,
                f"this run is backed: it reaches control planes on this machine, and a kubeconfig leads to {stray}",
            )
        if name == "Configure":
            self._releases.Configure(request, context)

    def _pass_on(self, name: str, raw: bytes, context: grpc.ServicerContext) -> bytes:
        call: Callable[[bytes], bytes] = self._real.unary_unary(f"{_SERVICE}{name}")
        try:
            return call(raw)
        except grpc.RpcError as error:
            said = cast("grpc.Call", error)  # what a failed call raises is also the call, with what the other side said
            context.set_trailing_metadata(said.trailing_metadata() or ())
            context.abort(said.code(), said.details() or "")
            raise  # never reached: abort raises


def stand_before(real: "Popen[bytes]", launcher: Mapping[str, Any], *, parent: int) -> NoReturn:
    """Serve before the provider ``real``, by the settings of a launcher, until told to stop or ``parent`` is gone."""
    rules = Rules(launcher["package"], folder=Path(launcher["rules"]), interpreter=Path(launcher["interpreter"]))
    cloud = ReleaseCloud(Door(Path(launcher["backing"])), rules)
    faults = Faults.from_environment(Store(Path(launcher["database"])))
    version = launcher["version"]
    assert real.stdout is not None
    said = real.stdout.readline()
    if not said.strip().isdigit():
        raise SystemExit(f"{launcher['provider']} ended with {real.wait()} before it said its port")
    port = int(said)
    channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=LIMITS)
    front = Front(channel, Servicer(cloud, faults=faults, version=version), version=version)
    server = make_server()
    server.add_generic_rpc_handlers((front,))
    run(server, parent=parent, at_end=real.kill)
