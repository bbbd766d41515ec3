"""Serves an inline program to the engine and takes its events: the only place that imports ``pulumi.automation``.

The engine asks a *language host* to run a program and sends its events to an address. Both are answered here, in this
process and on one loopback port: the program is a function, an exception that it raises on purpose comes through as it
is, and events are read from their JSON because the SDK's own classes lose fields. Starting the engine is ``pulumi``'s
work.
"""

import asyncio
import json
from collections.abc import Callable, Generator, Iterator
from concurrent import futures
from contextlib import contextmanager, suppress

import grpc
from google.protobuf import empty_pb2
from pulumi.automation._server import LanguageServer
from pulumi.runtime.proto import events_pb2, events_pb2_grpc, language_pb2, language_pb2_grpc

from automation.engine.event_json import parse_event
from automation.engine.events import Diagnostic, DiagnosticSeverity, Event
from automation.engine.runner import Listener, Program
from stacks.sdk import leave_debugging_out, leave_stack_traces_out, wait_once

INLINE_ERROR = "python inline source runtime error"
"""How the language server begins the message about an exception of the program."""

_MESSAGE_LIMIT = 400 * 1024 * 1024  # bytes; the engine's own limit for one message
_CHANNEL = (("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT))
_STREAM_GRACE = 10.0  # seconds to wait for the last events after the engine has ended


class InlineProgram:
    """The program, remembering what it raised (the engine only gets the text) and the event loop it ran in."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loop: asyncio.AbstractEventLoop | None = None
        self.error: BaseException | None = None

    def __call__(self) -> None:
        """Run the program."""
        self._loop = asyncio.get_running_loop()
        try:
            self._program()
        except BaseException as error:
            self.error = error
            raise

    def settle(self) -> None:
        """End what the SDK leaves behind when the engine goes away in the middle of a program."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                loop.run_until_complete(task)
        loop.close()


class _Host(LanguageServer):
    """Runs the program when the engine asks; never lets an error of a dying engine out as a traceback."""

    def __init__(self, inline: InlineProgram) -> None:
        super().__init__(inline)
        self._inline = inline

    def Run(self, request: language_pb2.RunRequest, context: grpc.ServicerContext) -> language_pb2.RunResponse:  # noqa: N802 (the protocol's name)
        """Run the program once."""
        try:
            return super().Run(request, context)
        except Exception as error:  # noqa: BLE001 (whatever it is, the engine only takes text)
            return language_pb2.RunResponse(error=str(error))
        finally:
            self._inline.settle()


class _Events(events_pb2_grpc.EventsServicer):
    """Receives the engine's events. What cannot be read is skipped: the run goes on whatever an event says."""

    def __init__(self, take: Listener, tap: Callable[[str], None] | None) -> None:
        self._take = take
        self._tap = tap

    def StreamEvents(  # noqa: N802 (the protocol's name)
        self, request_iterator: Iterator[events_pb2.EventRequest], context: grpc.ServicerContext
    ) -> empty_pb2.Empty:
        """Take events until the engine closes the stream."""
        del context
        for request in request_iterator:
            if self._tap:
                self._tap(request.event)
            event = _read(request.event)
            if event:
                self._take(event)
        return empty_pb2.Empty()


def _read(text: str) -> Event | None:
    """Read one event; None for one that cannot be read, and for the SDK's tracing, most of what is sent."""
    try:
        event = parse_event(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if isinstance(event, Diagnostic) and event.severity is DiagnosticSeverity.DEBUG else event


@contextmanager
def serving(inline: InlineProgram, take: Listener, *, tap: Callable[[str], None] | None = None) -> Generator[str]:
    """Serve the program and take the events on one loopback port while the block runs; yield its address.

    ``tap`` gets the text of every event before it is read.
    """
    leave_debugging_out()
    leave_stack_traces_out()
    wait_once()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=_CHANNEL)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(_Host(inline), server)
    events_pb2_grpc.add_EventsServicer_to_server(_Events(take, tap), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(_STREAM_GRACE).wait()
