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
from collections.abc import Mapping
from concurrent import futures
from pathlib import Path
from typing import Any, Final

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from automation.rehearsal.provider.base import World
from automation.rehearsal.provider.faults import Faults
from automation.rehearsal.provider.rules import Rules
from automation.rehearsal.provider.servicer import Servicer
from automation.rehearsal.provider.table import DATA, load_table
from automation.rehearsal.store import Store

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # the engine's own limit
_PARENT_POLL: Final = 0.5  # seconds
_WORKERS: Final = 64  # a delay in a scenario must not starve other calls


def world(settings: Mapping[str, Any]) -> World:
    """Build what a cloud stands on from a launcher's settings."""
    store = Store(Path(settings["database"]))
    rules = Rules(settings["package"], folder=Path(settings["rules"]), interpreter=Path(settings["interpreter"]))
    table = load_table(settings["package"], folder=Path(settings.get("data") or DATA))
    patience = float(settings.get("patience", table.facts.get("settle_seconds", 0)))
    return World(table=table, store=store, rules=rules, faults=Faults.from_environment(store), patience=patience)


def serve(path: Path) -> None:
    """Serve until told to stop."""
    parent = os.getppid()  # taken first: an engine may be killed as soon as it has read the port
    settings = json.loads(path.read_text(encoding="utf-8"))
    limits = [("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.max_send_message_length", _LARGEST_MESSAGE)]
    server = grpc.server(futures.ThreadPoolExecutor(_WORKERS), options=limits)
    built = world(settings)
    built.store.keep_open()
    servicer = Servicer(built, version=settings["version"])
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
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
    os._exit(0)  # worker threads may be in a scenario's delay; nothing is left to write
