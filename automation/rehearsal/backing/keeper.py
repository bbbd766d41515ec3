"""The keeper: one process that owns the control planes behind a project's simulated clusters.

A control plane must outlive the provider process that asked for it and the run that it belongs to, and must not
outlive its owner. So neither makes one: the keeper does, and when it ends, in whatever way, its warden ends them all.
There is one keeper per backed folder, which a lock in the folder decides; the lock goes with the process, so nothing is
looked up by the number of a process that may have become another's.

What a cluster of the simulated cloud asks for is done at once and awaited. For the rest the keeper follows that cloud:
once a second it compares the clusters and node groups there with what runs. So a deletion, a scaled group or a
change behind the engine's back arrives, whoever made it. Then stand-ins do what controllers would.
"""

import base64
import fcntl
import json
import os
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from automation.engine.toolchain.kubernetes import DEFAULT_MINOR
from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing import charts, stand_ins
from automation.rehearsal.backing.departures import take_away
from automation.rehearsal.backing.door import RECORD, Answer, write_record
from automation.rehearsal.backing.eks import CLUSTER, LAUNCH_TEMPLATE, NODE_GROUP, Group, cluster_key_of, group
from automation.rehearsal.backing.minors import Kits, Look
from automation.rehearsal.kubernetes.api import Api, ApiError
from automation.rehearsal.kubernetes.gangs import start_gangs, stop_gangs
from automation.rehearsal.kubernetes.local import Kit, LocalCluster, LocalKubernetes
from automation.rehearsal.store import Row, Store
from components.errors import BerthError, DriverError, UsageError

Say = Callable[[str], None]

_SECONDS_BETWEEN_LOOKS: Final = 1.0
_ATTEMPTS_TO_DESCRIBE: Final = 4
_CALLERS: Final = 1024
"""How many may wait to be heard: every provider of a run may call for many resources at once."""
_LOCK: Final = "backing.lock"


@dataclass(slots=True)
class _Kept:
    """A cluster of the simulated cloud and what runs for it."""

    key: str
    local: LocalCluster
    groups: dict[str, Group] = field(default_factory=dict)
    """Its nodes as they were joined, by node group."""
    settling: threading.Lock = field(default_factory=threading.Lock)


class Keeper:
    """Keeps control planes until it is closed. Use it as a context.

    A new keeper begins a new world: state, clouds and clusters of an earlier one are removed, because the control
    planes that they speak of ended with theirs.
    """

    def __init__(
        self,
        programs: Mapping[str, Path],
        layout: Layout,
        *,
        say: Say,
        minor: str = DEFAULT_MINOR,
        look: Look = lambda _: None,
    ) -> None:
        """Take the ``kubernetes_tools`` of a minor, and ``look`` for those of others when a cluster is to have one.

        Raises UsageError when another keeper has the folder.
        """
        self._say = say
        self._kits = Kits(Kit(minor, programs), look)
        self._faults: set[str] = set()
        self._record = layout.simulated / RECORD
        self._kept: dict[str, _Kept] = {}
        self._starting: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._answers: Mapping[str, Callable[..., Answer | None]] = {
            "ping": dict,
            "cluster": self._cluster,
            "nodes": self._join,
            "token": self._token,
            "install": self._install,
            "release": self._release,
            "uninstall": self._uninstall,
            "list": self._list,
            "minors": lambda: {"minors": list(self.minors)},
            "end": self._end_program,
            "restart": self._restart,
        }
        layout.simulated.mkdir(parents=True, exist_ok=True)
        with ExitStack() as undo:
            undo.callback(os.close, _only_one(layout.simulated / _LOCK))
            for path in (layout.simulated_state, layout.simulated_project):
                shutil.rmtree(path, ignore_errors=True)
            for path in layout.simulated.glob(f"{layout.simulated_clouds.name}*"):
                path.unlink()
            self._store = Store(layout.simulated_clouds)
            self._local = undo.enter_context(
                LocalKubernetes(programs, parent=layout.simulated / "kubernetes", minor=minor)
            )
            self._key = secrets.token_bytes(32)
            # A caller who finds no room in the queue would wait for ever: the system takes it for connected.
            self._listener = undo.enter_context(Listener(("127.0.0.1", 0), backlog=_CALLERS))
            write_record(self._record, port=self._listener.address[1], key=self._key)
            undo.callback(self._record.unlink, missing_ok=True)
            self._undo = undo.pop_all()

    def __enter__(self) -> Self:
        for work in (self._listen, self._follow):
            threading.Thread(target=work, name=work.__name__, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._undo.close()

    @property
    def minors(self) -> tuple[str, ...]:
        """The minors of Kubernetes whose programs are there now."""
        return self._kits.minors

    def keep(self, ready: Callable[[], object], *, with_parent: bool = False) -> None:
        """Keep them until this process is told to end: by Ctrl-C, a signal, a terminal that goes away.

        It says that it is ``ready`` when it can be told. ``with_parent`` ends it with its standard input too. Raises
        DriverError when the warden was killed, and with it every control plane. Only the main thread may call this.
        """
        told = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: told.set())
        if with_parent:
            threading.Thread(target=lambda: (sys.stdin.buffer.read(), told.set()), daemon=True).start()
        ready()
        while not told.wait(_SECONDS_BETWEEN_LOOKS):
            self._local.check()

    # -- what it is asked ----------------------------------------------------------------------------------------------

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Do what a request asks for; raises BerthError with what the asker shall hear."""
        wanted = dict(request)
        do = wanted.pop("do")
        if do not in self._answers:
            raise DriverError(f"the keeper does not know {do!r}")
        return self._answers[do](**wanted) or {}

    def _list(self) -> Answer:
        return {"clusters": [self._description(each) for each in self._all()], "warden": self._local.warden}

    def _install(self, server: str, release: Mapping[str, Any]) -> Answer:
        local = self._at(server)

        def run(chart: str) -> None:
            if chart == charts.GANG_CHART:
                start_gangs(self._local, local)
                self._say(f"{local.name} runs the controller of gangs")

        return {"revision": charts.install(local.api, release, run=run)}

    def _release(self, server: str, namespace: str, name: str) -> Answer:
        return {"release": charts.find(self._at(server).api, namespace, name)}

    def _uninstall(self, server: str, namespace: str, name: str) -> None:
        local = self._at(server)

        def end(chart: str) -> None:
            if chart == charts.GANG_CHART:
                stop_gangs(self._local, local)

        charts.uninstall(local.api, namespace, name, end=end)

    def _token(self, cluster: str) -> Answer:
        return {"token": self._named(cluster).local.token}

    def _restart(self, cluster: str, program: str) -> None:
        self._local.restart(self._named(cluster).local, program)

    def _end_program(self, cluster: str, program: str) -> None:
        self._local.end(self._named(cluster).local, program)

    def _cluster(self, key: str, name: str, issuer: str, version: str = "") -> Answer:
        """Start the control plane of a cluster, or find it; whoever asks a second time waits for the same.

        It is of the minor of the ``version`` that the cloud says. Raises UsageError where no programs are of that.
        """
        with self._lock:
            starting = self._starting.setdefault(key, threading.Lock())
        with starting:
            if key not in self._kept:
                kit = self._kits.of(name, version)
                self._say(f"starting a control plane of Kubernetes {kit.minor} for {name}")
                local = self._local.start(name, issuer=issuer, kit=kit)
                _let_describe(local.api)
                with self._lock:
                    self._kept[key] = _Kept(key, local)
                self._say(f"{name} answers at {local.server}")
        local = self._kept[key].local
        return {"server": local.server, "authority": base64.b64encode(local.files.certificate.read_bytes()).decode()}

    def _join(self, group_id: str) -> None:
        """Join the nodes of a group now, so that whoever made it finds them."""
        with self._store.reading() as transaction:
            rows = [each for each in transaction.select(type_=NODE_GROUP) if each.id == group_id]
            templates = transaction.select(type_=LAUNCH_TEMPLATE)
        for row in rows:
            wanted = group(row, templates)
            self._settle_group(self._named(wanted.cluster), wanted)

    def _at(self, server: str) -> LocalCluster:
        found = next((each for each in self._all() if each.local.server == server), None)
        if found is None:
            raise DriverError(f"no control plane is kept at {server}")
        return found.local

    def _named(self, name: str) -> _Kept:
        found = next((each for each in self._all() if each.local.name == name), None)
        if found is None:
            raise DriverError(f"no control plane is kept for a cluster {name}")
        return found

    def _all(self) -> list[_Kept]:
        with self._lock:
            return list(self._kept.values())

    @staticmethod
    def _description(kept: _Kept) -> dict[str, Any]:
        local = kept.local
        return {
            "name": local.name,
            "minor": local.kit.minor,
            "server": local.server,
            "kubeconfig": str(local.kubeconfig),
            "pids": dict(local.pids),
        }

    # -- what it sees --------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Compare the simulated cloud with what runs, once, and let the stand-ins work."""
        # First: all of this was in the cloud before it was kept, so what the cloud then lacks has gone from there.
        known = {each.key: (each, dict(each.groups)) for each in self._all()}
        with self._store.reading() as transaction:
            live = {cluster_key_of(row) for row in transaction.select(type_=CLUSTER)}
            rows = transaction.select(type_=NODE_GROUP)
            templates = transaction.select(type_=LAUNCH_TEMPLATE)
        faults: set[str] = set()
        groups, unread = self._groups(rows, templates, faults)
        for kept, joined in known.values():
            name = kept.local.name
            wanted = {each.name: each for each in groups if each.cluster == name}
            gone = {each for each in joined.keys() - wanted.keys() if (name, each) not in unread}
            try:
                if kept.key not in live:
                    self._end(kept)
                else:
                    self._compare(kept, {each: joined[each] for each in gone}, wanted)
            except ApiError:
                pass  # its server may be down, which is the cluster's own misfortune
            except Exception as error:  # noqa: BLE001 - one cluster must not keep the others from anything
                faults.add(f"looking after {name} failed: {_words(error)}")
        self._say_new(faults)

    def _groups(
        self, rows: Iterable[Row], templates: Iterable[Row], faults: set[str]
    ) -> tuple[list[Group], set[tuple[str, str]]]:
        """Read the node groups, each for itself; give those that can be read, and cluster and name of the others."""
        found: list[Group] = []
        unread: set[tuple[str, str]] = set()
        for row in rows:
            try:
                found.append(group(row, templates))
            except Exception as error:  # noqa: BLE001 - rows are what others wrote, and may be wrong in any way
                cluster = str(row.outputs.get("clusterName"))
                unread.add((cluster, row.name))
                faults.add(f"node group {row.name} of {cluster} stays as it was: {_words(error)}")
        return found, unread

    def _say_new(self, faults: set[str]) -> None:
        """Say what was not wrong at the last look."""
        for fault in sorted(faults - self._faults):
            self._say(fault)
        self._faults = faults

    def _compare(self, kept: _Kept, gone: Mapping[str, Group], wanted: Mapping[str, Group]) -> None:
        """Make a cluster's nodes what they should be, and let the stand-ins work on it."""
        for name in sorted(gone):
            self._end_group(kept, gone[name])
        for each in wanted.values():
            self._settle_group(kept, each)
        with kept.settling:
            machines = {node: each.machine for each in kept.groups.values() for node in each.nodes()}
        stand_ins.play(kept.local.api, machines)

    def _settle_group(self, kept: _Kept, wanted: Group) -> None:
        """Make a group's nodes what they should be; a node that changes is another node."""
        wanted = replace(wanted, kubelet=kept.local.version)
        with kept.settling:
            known = kept.groups.get(wanted.name)
            if known != wanted:
                before, after = known.nodes() if known else {}, wanted.nodes()
                take_away(kept.local.api, [name for name, each in before.items() if after.get(name) != each])
                for name, each in after.items():
                    if before.get(name) != each:
                        charts.ensure(kept.local.api, "/api/v1/nodes", each)
                self._say(f"{kept.local.name} has {wanted.count} nodes {wanted.machine.name} ({wanted.name})")
            kept.groups[wanted.name] = wanted

    def _end_group(self, kept: _Kept, gone: Group) -> None:
        """Remove the nodes of a group that has gone, unless one of its name was settled since."""
        with kept.settling:
            if kept.groups.get(gone.name) is gone:
                take_away(kept.local.api, gone.nodes())
                del kept.groups[gone.name]

    def _end(self, kept: _Kept) -> None:
        with self._lock:
            self._kept.pop(kept.key, None)
            self._starting.pop(kept.key, None)
        self._local.stop(kept.local)
        self._say(f"the control plane of {kept.local.name} has ended with its cluster")

    # -- threads -------------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        while not self._done.wait(_SECONDS_BETWEEN_LOOKS):
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - one bad look must not end all clusters
                self._say_new({f"a look at the simulated cloud failed: {_words(error)}"})

    def _listen(self) -> None:
        while not self._done.is_set():
            try:
                connection = self._listener.accept()
            except OSError:
                continue  # it is being closed, or the caller has gone already
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection, suppress(OSError, EOFError, AuthenticationError):
            # Here, not where calls are taken: one who says nothing must not hold up the others.
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            request = json.loads(connection.recv_bytes())
            try:
                answer = self.answer(request)
            except Exception as error:  # noqa: BLE001 - whoever asked must hear of it
                answer = {"error": _words(error)}
            connection.send_bytes(json.dumps(answer).encode())


def _words(error: Exception) -> str:
    return error.summary if isinstance(error, BerthError) else f"{type(error).__name__}: {error}"


def _let_describe(api: Api) -> None:
    """Let a server make the description of all that it serves, which it does when it is first asked.

    On a busy machine that takes longer than the 32 seconds that Pulumi's provider waits for it, once for each run.
    """
    for _ in range(_ATTEMPTS_TO_DESCRIBE):
        try:
            api.get("/openapi/v2")
        except ApiError as error:
            if error.status:
                return  # it has answered; whoever asks next hears why
        else:
            return


def _only_one(path: Path) -> int:
    """Take the lock of the folder for as long as this process lives."""
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise UsageError(
            f"another process keeps the control planes of {path.parent.parent.parent} already",
            consequence="Nothing was changed.",
            help="use that one, or end it (Ctrl-C where it runs)",
        ) from None
    return held
