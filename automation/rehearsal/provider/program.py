"""The provider program: what a launcher in the plugin cache runs, one process per provider resource.

It reads its settings (which package, which version, where the cloud's database and the derived rules are), serves the
provider protocol on a loopback port, prints the port as the first line of its standard output, and ends quietly when
the engine says so.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from automation.rehearsal.provider.base import World
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.provider.rules import Rules
from automation.rehearsal.provider.servicer import Servicer, cloud_of
from automation.rehearsal.provider.table import DATA, load_table
from automation.rehearsal.store import Store

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # the engine's own limit
_LARGEST_METADATA: Final = 16 * 1024 * 1024  # what gRPC for Go takes
LIMITS: Final = [
    ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
    ("grpc.max_send_message_length", _LARGEST_MESSAGE),
    # An object that is not ready stands whole in the details of the error, and those are metadata.
    ("grpc.max_metadata_size", _LARGEST_METADATA),
    ("grpc.absolute_max_metadata_size", _LARGEST_METADATA),
]
"""Options of whoever speaks the protocol here."""
_PARENT_POLL: Final = 0.5  # seconds
_WORKERS: Final = 64  # a delay in a scenario must not starve other calls


def world(settings: Mapping[str, Any]) -> World:
    """Build what a cloud stands on from a launcher's settings."""
    store = Store(Path(settings["database"]))
    rules = Rules(settings["package"], folder=Path(settings["rules"]), interpreter=Path(settings["interpreter"]))
    table = load_table(settings["package"], folder=Path(settings.get("data") or DATA))
    patience = float(settings.get("patience", table.facts.get("settle_seconds", 0)))
    found = World(table=table, store=store, rules=rules, faults=Faults.from_environment(store), patience=patience)
    if not settings.get("backing"):
        return found
    from automation.rehearsal.backing.door import Door  # noqa: PLC0415 (backed runs only; start-up is short)

    return replace(found, door=Door(Path(settings["backing"])))


def serve(path: Path) -> None:
    """Serve the simulated cloud of a launcher until told to stop."""
    parent = os.getppid()  # taken first: an engine may be killed as soon as it has read the port
    settings = json.loads(path.read_text(encoding="utf-8"))
    server = make_server()
    built = world(settings)
    built.store.keep_open()
    servicer = Servicer(cloud_of(built), faults=built.faults, version=f"{settings['version']}+simulated")
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    run(server, parent=parent)


def make_server() -> grpc.Server:
    """Make a server that takes what the engine sends."""
    return grpc.server(futures.ThreadPoolExecutor(_WORKERS), options=LIMITS)


def run(server: grpc.Server, *, parent: int, at_end: Callable[[], object] = lambda: None) -> NoReturn:
    """Serve on a free port and say which, until a signal comes or the process ``parent`` is gone.

    Then do what is left (``at_end``) and end the process.
    """
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not done.wait(_PARENT_POLL):
        if os.getppid() != parent:
            break  # the engine was killed: nobody will ever ask again
    server.stop(grace=None)
    at_end()
    os._exit(0)  # worker threads may be in a scenario's delay; nothing is left to write
