"""Starts and ends local control planes: one etcd for a run, and for each cluster an API server and what works on it.

Everything lives in a private folder and ends with the run, however that ends: see ``warden_process``. The API server
makes its own certificate; administrators come with a token that is made for the run. Nothing is kept.
"""

import base64
import itertools
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import yaml

from automation.engine.toolchain.disk import write_whole
from automation.engine.toolchain.kubernetes import DEFAULT_MINOR
from automation.rehearsal.kubernetes import flags
from automation.rehearsal.kubernetes.api import Api
from automation.rehearsal.kubernetes.flags import ClusterFiles
from automation.rehearsal.kubernetes.machines import Machine
from automation.rehearsal.kubernetes.nodes import Object, device_classes, node, resource_slices
from automation.rehearsal.kubernetes.ports import Port
from automation.rehearsal.kubernetes.warden import Warden
from components.errors import DriverError, TimedOut

_STORE: Final = "etcd"
_API_SERVER: Final = "kube-apiserver"

SECONDS_TO_START: Final = 120.0
"""How long a program may take until it is ready: five seconds, on a busy machine a minute."""

_BETWEEN_LOOKS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Kit:
    """What a cluster is made of: the programs of a minor, by the names of ``kubernetes_tools``."""

    minor: str
    programs: Mapping[str, Path]


@dataclass(slots=True)
class LocalCluster:
    """A control plane that runs. ``pids`` are its processes, by program."""

    name: str
    files: ClusterFiles
    port: Port
    api: Api
    token: str = field(repr=False)
    """What its administrator shows."""
    kit: Kit = field(repr=False)
    version: str
    """What its API server says it is, such as ``v1.34.4``; the kubelets of its nodes say the same."""
    pids: dict[str, int] = field(default_factory=dict)
    commands: dict[str, list[str]] = field(default_factory=dict)
    """How its programs were started."""
    ports: dict[str, Port] = field(default_factory=dict)
    """What else its programs serve on, by program."""

    @property
    def server(self) -> str:
        """The address of its API server."""
        return self.api.server

    @property
    def kubeconfig(self) -> Path:
        """The file that reaches it as its administrator."""
        return self.files.kubeconfig

    def install_device_classes(self) -> None:
        """Create the DeviceClasses that the charts of the DRA drivers would."""
        for each in device_classes():
            self.api.create("/apis/resource.k8s.io/v1/deviceclasses", each)

    def join(
        self, name: str, machine: Machine, *, labels: Mapping[str, str] | None = None, tainted: bool = True
    ) -> Object:
        """Add a node that looks like a machine, with the slices its drivers would publish."""
        made = node(name, machine, labels=labels, tainted=tainted, kubelet=self.version)
        joined = self.api.create("/api/v1/nodes", made)
        for each in resource_slices(joined, machine):
            self.api.create("/apis/resource.k8s.io/v1/resourceslices", each)
        return joined


class LocalKubernetes:
    """The local clusters of one run; threads may start several at once. Use it as a context: nothing of it is left."""

    def __init__(self, programs: Mapping[str, Path], *, parent: Path, minor: str = DEFAULT_MINOR) -> None:
        """Take the ``programs`` of a minor by the names of ``kubernetes_tools``; the folder is made in ``parent``.

        One store serves clusters of any minor, so each cluster may bring its own.
        """
        self._kit = Kit(minor, programs)
        self._warden = Warden(parent)
        self._ports: list[Port] = []
        self._clusters: list[LocalCluster] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._store_pid = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self._warden.folder

    @property
    def warden(self) -> int:
        """The number of the process that all others are children of."""
        return self._warden.pid

    def check(self) -> None:
        """Raise DriverError when the warden process has ended, and every cluster with it."""
        self._warden.check()

    def start(
        self,
        name: str,
        *,
        issuer: str = flags.ISSUER,
        seconds: float = SECONDS_TO_START,
        kit: Kit | None = None,
    ) -> LocalCluster:
        """Start a cluster and give it when its API server is ready; what works on it is starting then.

        ``issuer`` is the one of its service accounts' tokens; ``kit`` is another than the run's.

        Raises DriverError with a program's last words when it ends instead, and TimedOut.
        """
        deadline = time.monotonic() + seconds
        with self._lock:
            if not self._store_pid:
                argv = flags.etcd(self._kit.programs[_STORE], self.folder / "etcd")
                self._store_pid = self._warden.start(_STORE, argv)
        # Numbered, so that a cluster of the same name begins empty.
        unique = f"{next(self._numbers)}-{name}"
        files = ClusterFiles(self.folder / unique)
        files.folder.mkdir(mode=0o700)
        kit = kit or self._kit
        port, token = self._port(), secrets.token_urlsafe(32)
        write_whole(files.tokens, f'{token},admin,admin,"system:masters"\n'.encode(), mode=0o600)
        server, prefix = f"{unique}/{_API_SERVER}", f"/clusters/{unique}"
        argv = flags.api_server(kit.programs[_API_SERVER], files, port=port.number, prefix=prefix, issuer=issuer)
        pids = {_API_SERVER: self._warden.start(server, argv)}
        with ExitStack() as undo:
            undo.callback(lambda: self._warden.stop(pids.values()))
            # The certificate is written before the key.
            self._await(server, pids[_API_SERVER], files.key.exists, deadline, minor=kit.minor)
            api = Api(f"https://{port.address}", authority=files.certificate, token=token)
            undo.callback(api.close)
            self._await(server, pids[_API_SERVER], api.is_ready, deadline, minor=kit.minor)
            version = str(api.get("/version")["gitVersion"])
            write_whole(files.kubeconfig, _kubeconfig(name, api.server, files, token).encode(), mode=0o600)
            commands = {_API_SERVER: argv}
            for client, command in _CLIENTS.items():
                commands[client] = command(kit.programs[client], files)
                pids[client] = self._warden.start(f"{unique}/{client}", commands[client])
            undo.pop_all()
        cluster = LocalCluster(name, files, port, api, token, kit, version, pids, commands)
        self._clusters.append(cluster)
        return cluster

    def stop(self, cluster: LocalCluster) -> None:
        """End a cluster and forget what it held."""
        cluster.api.close()
        self._warden.stop(cluster.pids.values())
        cluster.pids.clear()
        for port in (cluster.port, *cluster.ports.values()):
            port.close()
        self._clusters.remove(cluster)

    def end(self, cluster: LocalCluster, program: str) -> None:
        """End one program of a cluster, as a failure would."""
        self._warden.stop([cluster.pids.pop(program)])

    def restart(self, cluster: LocalCluster, program: str) -> None:
        """Start a program again that was ended; what the cluster holds is in the store and is still there."""
        log = f"{cluster.files.folder.name}/{program}"
        cluster.pids[program] = self._warden.start(log, cluster.commands[program])

    def port(self, cluster: LocalCluster, program: str) -> Port:
        """Give the port that is kept for a program which reuses addresses and shares no ports."""
        if program not in cluster.ports:
            cluster.ports[program] = self._port(reuse=socket.SO_REUSEADDR)
        return cluster.ports[program]

    def add(
        self,
        cluster: LocalCluster,
        program: str,
        command: Callable[[Path, ClusterFiles], list[str]],
        *,
        done: Callable[[], bool],
    ) -> None:
        """Start another program on a cluster, which ends with it, and wait until it is ``done`` with its start.

        Raises DriverError with its last words when it ends instead, and TimedOut; then it does not run.
        """
        cluster.commands[program] = command(cluster.kit.programs[program], cluster.files)
        self.restart(cluster, program)
        with ExitStack() as undo:
            undo.callback(lambda: program in cluster.pids and self.end(cluster, program))
            name = f"{cluster.files.folder.name}/{program}"
            lost = f"{cluster.name} goes on without {program}."
            deadline = time.monotonic() + SECONDS_TO_START
            self._await(name, cluster.pids[program], done, deadline, minor=cluster.kit.minor, lost=lost)
            undo.pop_all()

    def pids(self) -> dict[str, int]:
        """Give the processes that were started and not ended, by cluster and program."""
        found = {f"{cluster.name}/{name}": pid for cluster in self._clusters for name, pid in cluster.pids.items()}
        return {"etcd": self._store_pid, **found} if self._store_pid else found

    def ports(self) -> tuple[int, ...]:
        """Give the ports that are kept for the run."""
        return tuple(port.number for port in self._ports)

    def close(self) -> None:
        """End everything; does nothing the second time."""
        for cluster in self._clusters:
            cluster.api.close()
            cluster.pids.clear()
        self._warden.close()
        self._store_pid = 0
        for port in self._ports:
            port.close()

    def _port(self, *, reuse: int = socket.SO_REUSEPORT) -> Port:
        port = Port(reuse=reuse)
        self._ports.append(port)
        return port

    def _await(
        self,
        name: str,
        pid: int,
        done: Callable[[], bool],
        deadline: float,
        *,
        minor: str,
        lost: str = "The cluster was not started.",
    ) -> None:
        while not done():
            for program, number in ((_STORE, self._store_pid), (name, pid)):
                code = self._warden.look(number)
                if code is not None:
                    raise DriverError(
                        f"{program} ended with status {code} instead of starting:\n{self._warden.last_words(program)}",
                        consequence=lost,
                        help=f"berth doctor --kubernetes {minor}",
                    )
            if time.monotonic() > deadline:
                raise TimedOut(
                    f"{name} is not ready in time; it says last:\n{self._warden.last_words(name)}",
                    consequence=lost,
                )
            time.sleep(_BETWEEN_LOOKS)


_CLIENTS: Final[Mapping[str, Callable[[Path, ClusterFiles], list[str]]]] = {
    "kube-controller-manager": flags.controller_manager,
    "kube-scheduler": flags.scheduler,
    "kwok": flags.kwok,
}
"""What works on a cluster; each ends at once when there is no API server, so they come after it."""


def _kubeconfig(name: str, server: str, files: ClusterFiles, token: str) -> str:
    authority = base64.b64encode(files.certificate.read_bytes()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "admin"}}],
        "current-context": name,
    }
    return yaml.safe_dump(document, sort_keys=False)
