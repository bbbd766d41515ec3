"""Starting local control planes, with programs that only pretend."""

import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from automation.rehearsal.kubernetes import flags
from automation.rehearsal.kubernetes.flags import ClusterFiles
from automation.rehearsal.kubernetes.local import LocalKubernetes
from automation.rehearsal.kubernetes.ports import Port
from components.errors import DriverError, TimedOut

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="programs end with their warden as on Linux")

WAITS = "exec sleep 1000"


@pytest.fixture
def programs(tmp_path: Path) -> Callable[..., dict[str, Path]]:
    """Write programs as shell scripts; those that are not given wait."""

    def write(**scripts: str) -> dict[str, Path]:
        folder = tmp_path / "programs"
        folder.mkdir()
        found = {}
        for name in ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok"):
            found[name] = folder / name
            found[name].write_text(f"#!/bin/sh\n{scripts.get(name.replace('-', '_'), WAITS)}\n")
            found[name].chmod(0o755)
        return found

    return write


@pytest.mark.parametrize(
    ("scripts", "said"),
    [
        pytest.param(
            {"kube_apiserver": "echo 'Error: unknown flag: --x' >&2; exit 1"},
            "kube-apiserver ended with status 1 instead of starting:\nError: unknown flag: --x",
            id="api-server",
        ),
        pytest.param(
            {"etcd": "echo 'bind: address already in use'; exit 2"},
            "etcd ended with status 2 instead of starting:\nbind: address already in use",
            id="etcd",
        ),
    ],
)
def test_a_program_that_ends_instead_of_starting_is_quoted(
    tmp_path: Path, programs: Callable[..., dict[str, Path]], scripts: dict[str, str], said: str
) -> None:
    """At once, not when the time has run out; and nothing is left."""
    start = time.monotonic()
    local = LocalKubernetes(programs(**scripts), parent=tmp_path / "runs", minor="1.35")
    with local, pytest.raises(DriverError) as caught:
        local.start("a")
    assert said in caught.value.summary
    assert caught.value.help == "berth doctor --kubernetes 1.35"
    assert time.monotonic() - start < 60
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_server_that_does_not_get_ready_is_given_up(tmp_path: Path, programs: Callable[..., dict[str, Path]]) -> None:
    """What it says last may tell why."""
    with LocalKubernetes(programs(kube_apiserver=f"echo waiting for etcd; {WAITS}"), parent=tmp_path / "runs") as local:
        with pytest.raises(TimedOut, match="kube-apiserver is not ready in time") as caught:
            local.start("a", seconds=1.0)
        assert set(local.pids()) == {"etcd"}
    assert "waiting for etcd" in caught.value.summary


def test_every_program_listens_on_the_loopback_interface_or_not_at_all() -> None:
    """Nobody else on the network may reach a server, and no other user of this machine a store without a password."""
    files, program = ClusterFiles(Path("/run/a")), Path("/bin/x")
    commands = {
        "etcd": flags.etcd(program, Path("/run/etcd")),
        "api": flags.api_server(program, files, port=1003, prefix="/clusters/a"),
        "controllers": flags.controller_manager(program, files),
        "scheduler": flags.scheduler(program, files),
        "kwok": flags.kwok(program, files),
        "gangs": flags.gang_controller(program, files, port=1004),
    }
    for name, argv in commands.items():
        given = dict(argument.partition("=")[::2] for argument in argv)
        addresses = [value for flag, value in given.items() if flag.endswith(("-urls", "-address", "-cluster"))]
        assert all("127.0.0.1" in value or "unix://" in value for value in addresses), name
        assert addresses or given.get("--node-port") == "0", name
    urls = {value.rpartition("=")[2] for value in commands["etcd"] if "-url" in value or "--initial-cluster" in value}
    assert {url.partition("://")[0] for url in urls} == {"unix"}
    assert f"--etcd-servers={flags.STORE}" in commands["api"]
    assert "--node-port=0" in commands["kwok"], "kwok serves on every interface otherwise"
    assert "--secure-port=0" in commands["scheduler"]
    assert "--secure-port=0" in commands["controllers"]


def test_a_port_is_kept_while_nothing_listens_on_it() -> None:
    """Another program that wants one does not get it, a program that shares it does."""
    port = Port()
    try:
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", port.number))
        with socket.socket() as ours:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            ours.bind(("127.0.0.1", port.number))
            ours.listen()
            # The socket that keeps the port takes no connection away.
            with socket.create_connection(("127.0.0.1", port.number), timeout=5), ours.accept()[0]:
                pass
    finally:
        port.close()


def test_a_port_for_a_program_that_reuses_addresses_is_kept_from_all_others() -> None:
    """Servers written in Go do, and share no ports; a restarted one gets its own again."""
    port = Port(reuse=socket.SO_REUSEADDR)
    try:
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", port.number))
        for _ in range(2):
            with socket.socket() as server:
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                server.bind(("127.0.0.1", port.number))
                server.listen()
                with socket.create_connection(("127.0.0.1", port.number), timeout=5), server.accept()[0]:
                    pass
    finally:
        port.close()
