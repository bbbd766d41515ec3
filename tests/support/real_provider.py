"""Speaks to Pulumi's real Kubernetes provider as the engine does, without an engine."""

import subprocess
from collections.abc import Generator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2_grpc

from automation.rehearsal.kubernetes.local import LocalCluster
from tests.support.simulated import Provider, connected


class _Host(engine_pb2_grpc.EngineServicer):
    """The engine, as far as a provider needs one: somebody to talk to."""

    def Log(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802 (the protocol's)
        """Listen to nothing."""
        return empty_pb2.Empty()


@contextmanager
def real_provider(program: Path, cluster: LocalCluster) -> Generator[Provider]:
    """Start the provider and configure it for a cluster, as Berth does; it ends with the block."""
    host = grpc.server(futures.ThreadPoolExecutor(4))
    engine_pb2_grpc.add_EngineServicer_to_server(_Host(), host)
    address = f"127.0.0.1:{host.add_insecure_port('127.0.0.1:0')}"
    host.start()
    with subprocess.Popen([program, address], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            with connected(f"127.0.0.1:{int(process.stdout.readline())}") as provider:
                kubeconfig = cluster.kubeconfig.read_text(encoding="utf-8")
                yield provider.configure(kubeconfig=kubeconfig, enableServerSideApply="true")
        finally:
            process.kill()
            host.stop(grace=None)
