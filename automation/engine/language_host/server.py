"""Serves the host over gRPC: says its port as early as it can, then loads the Pulumi SDK, and watches its parent.

Loading the SDK takes longer than all the rest. The port is printed before it, so that the CLI connects meanwhile; the
calls are bound to the host when the first one comes.
"""

import os
import select
import stat
import threading
from concurrent import futures
from typing import Any

import grpc

from automation.engine.language_host import children

_SERVICE = "/pulumirpc.LanguageRuntime/"
_THREADS = 16
_SECONDS_BETWEEN_LOOKS = 0.5
_UNLIMITED = -1
_OPTIONS = [("grpc.max_receive_message_length", _UNLIMITED), ("grpc.max_send_message_length", _UNLIMITED)]


def serve(*, engine_address: str, parent: int) -> None:
    """Serve until the process is told to end or its parent is gone; does not return."""
    server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=_OPTIONS)
    calls = _Calls(engine_address)
    server.add_generic_rpc_handlers((calls,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201 - the CLI reads the port from here
    threading.Thread(target=calls.load, name="load", daemon=True).start()
    _wait_for_end_of(parent)
    children.leave()


def _wait_for_end_of(parent: int) -> None:
    """Return when the process that started us is gone, whatever way it went.

    The CLI gives its plugins a pipe as standard input and holds the other end; that end closes with the CLI, even when
    it is killed before we could look. Without a pipe (somebody tries the host by hand) only the look is left.
    """
    pipe = [0] if stat.S_ISFIFO(os.fstat(0).st_mode) else []
    while os.getppid() == parent:
        readable, _, _ = select.select(pipe, [], [], _SECONDS_BETWEEN_LOOKS)
        if readable and not os.read(0, 1):
            return


class _Calls(grpc.GenericRpcHandler):
    """Gives the handler of a call; the SDK is imported for the first call that is the host's."""

    def __init__(self, engine_address: str) -> None:
        self._engine_address = engine_address
        self._lock = threading.Lock()
        self._handlers: Any = None

    def load(self) -> Any:
        """Import the SDK and bind the calls, once."""
        with self._lock:
            if self._handlers is None:
                self._handlers = _bind(self._engine_address)
            return self._handlers

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        # The CLI first calls a method without a name, to see whether somebody is there.
        if not handler_call_details.method.startswith(_SERVICE):
            return None
        return self.load().service(handler_call_details)


class _Collector:
    """Takes the handlers that the generated code would add to a server."""

    def __init__(self) -> None:
        self.handlers: list[Any] = []

    def add_generic_rpc_handlers(self, handlers: tuple[Any, ...]) -> None:
        self.handlers.extend(handlers)

    def add_registered_method_handlers(self, _service: str, _handlers: dict[str, Any]) -> None:
        """Leave these alone: the same handlers for servers that want them by name."""


def _bind(engine_address: str) -> Any:
    from pulumi.runtime.proto import language_pb2_grpc  # noqa: PLC0415 - the slow part

    from automation.engine.language_host.host import LanguageHost  # noqa: PLC0415 - needs the SDK

    collector: Any = _Collector()
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(engine_address=engine_address), collector)
    return collector.handlers[0]
