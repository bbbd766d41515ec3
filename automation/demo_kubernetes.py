"""``make demo-kubernetes``: the fleet of the environment ``local``, on real control planes on this machine.

The clouds are simulated and every cluster is real: API server, scheduler and controllers of Kubernetes, objects applied
by the real Pulumi Kubernetes provider. Machines and containers are not: kwok says that bound pods run. What else is
played is said at the end. All processes belong to one keeper, which is a child of this process and ends with it.
"""

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from automation.demo import ROOT, Demo
from automation.engine.toolchain.install import ensure_tool
from automation.engine.toolchain.kubernetes import DEFAULT_MINOR, minor_of, rehearsal_tools
from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.door import RECORD, Door, KeeperRefused, NotKept
from automation.rehearsal.kubernetes.api import Api, ApiError
from components.errors import BerthError, DriverError
from components.labels import Label

_LOCAL: Final = ROOT / "automation" / "rehearsal" / "environments" / "local"
_CLUSTERS: Final = ("gpu-a", "gpu-b", "door")
_GPUS: Final = {"chat": 1, "search": 2}
"""How many GPUs a replica of a namespace asks for."""
_GOOD, _BROKEN, _NEWER = "v0.23.0", "v0.24.0-broken", "v0.25.1"
_SECONDS_TO_START: Final = 60.0
_SECONDS_TO_END: Final = 30.0
_SECONDS_BETWEEN_LOOKS: Final = 0.1

_PLAYED: Final = """\
What was played, because it exists only on real clusters:
  clouds           simulated AWS, in a file; its node groups became Node objects here
  nodes and pods   kwok: no kubelet, no container; a tag that ends in -broken cannot be pulled
  devices          slices as NVIDIA's driver publishes them, from the table of machine types
  charts           not fetched: namespaces, definitions of custom resources, DeviceClasses; none of their controllers
  addresses        load balancers and gateways got addresses of 203.0.113.0/24, where nothing listens
  logins           `aws eks get-token` was a stand-in"""


class KubernetesDemo(Demo):
    """The demonstration, with a way to the clusters."""

    def __init__(self) -> None:
        super().__init__(Layout(ROOT).berth / "demo-kubernetes", _LOCAL, backed=True)
        self.door = Door(self.layout.simulated / RECORD)
        self._tools = rehearsal_tools(minor_of(DEFAULT_MINOR))

    def prepare(self) -> None:
        """Make the project, and get the programs into the checkout: what lies in the project goes with every run."""
        super().prepare()
        for tool in self._tools:
            ensure_tool(tool, Layout(ROOT), progress=_say)

    def variables(self) -> Mapping[str, str]:
        """Return the variables of every command; what was downloaded or built for the checkout is on their PATH."""
        variables = super().variables()
        folders = [str(tool.place(Layout(ROOT)).folder) for tool in self._tools]
        return {**variables, "PATH": os.pathsep.join((*folders, variables["PATH"]))}

    @contextmanager
    def kept(self) -> Generator[None]:
        """Keep control planes while the block runs."""
        command = [sys.executable, "-m", "automation.cli", "backing", "--with-parent"]
        keeper = subprocess.Popen(  # noqa: S603 (our own command)
            command, cwd=self.layout.root, env=dict(self.variables()), stdin=subprocess.PIPE
        )
        try:
            self._await(keeper)
            yield
        finally:
            assert keeper.stdin is not None
            keeper.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                keeper.wait(_SECONDS_TO_END)
            keeper.kill()
            keeper.wait()

    def _await(self, keeper: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + _SECONDS_TO_START
        while not self.door.is_kept():
            if keeper.poll() is not None or time.monotonic() > deadline:
                raise DriverError(
                    "the keeper of the control planes did not start", help=f"berth doctor --kubernetes {DEFAULT_MINOR}"
                )
            time.sleep(0.1)

    def clusters(self) -> "list[Watched]":
        """Give the clusters that run, by name."""
        return sorted(map(Watched, self.door.ask("list")["clusters"]), key=lambda each: each.name)

    def cluster(self, name: str) -> "Watched":
        """Give a cluster by its name in the environment."""
        return next(each for each in self.clusters() if each.name == name)


class Watched:
    """A local cluster, as whoever looks at it sees it."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.physical: str = described["name"]
        self.name: str = next(each for each in _CLUSTERS if f"-{each}-" in self.physical)
        self.pids: dict[str, int] = described["pids"]
        folder = Path(described["kubeconfig"]).parent
        token = (folder / "tokens.csv").read_text(encoding="utf-8").partition(",")[0]
        self.api = Api(described["server"], authority=folder / "apiserver.crt", token=token)

    def pods(self) -> "Iterator[Pod]":
        """Give the pods of replicas that are not asked to go; raises ApiError when the API server does not answer."""
        claims = {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each
            for each in self.api.items("/apis/resource.k8s.io/v1/resourceclaims")
        }
        for each in self.api.items("/api/v1/pods"):
            metadata = each["metadata"]
            if Label.WORKLOAD.value in metadata.get("labels", {}) and "deletionTimestamp" not in metadata:
                yield Pod.read(self.name, each, claims)


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a replica: where it is bound, what it was given, and whether it is ready."""

    cluster: str
    namespace: str
    name: str
    tag: str
    pool: str
    node: str
    devices: tuple[str, ...]
    ready: bool

    @property
    def place(self) -> str:
        """What it serves and where, as the demo checks it."""
        return f"{self.namespace} {self.tag} on {self.cluster}"

    @classmethod
    def read(cls, cluster: str, pod: dict[str, Any], claims: dict[tuple[str, str], dict[str, Any]]) -> "Pod":
        """Read a pod and its claims."""
        namespace = pod["metadata"]["namespace"]
        names = [each.get("resourceClaimName") for each in pod["status"].get("resourceClaimStatuses", ())]
        found = [claims[namespace, name] for name in names if (namespace, name) in claims]
        results = [
            result
            for claim in found
            for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
        ]
        conditions = pod["status"].get("conditions", ())
        return cls(
            cluster=cluster,
            namespace=namespace,
            name=pod["metadata"]["name"],
            tag=pod["spec"]["containers"][0]["image"].rpartition(":")[2],
            pool=pod["spec"].get("nodeSelector", {}).get(Label.POOL.value, ""),
            node=pod["spec"].get("nodeName", ""),
            devices=tuple(sorted(result["device"] for result in results)),
            ready=any(each["type"] == "Ready" and each["status"] == "True" for each in conditions),
        )


class Watch:
    """Looks at all pods again and again, and remembers when each was first ready and when it was asked to go."""

    def __init__(self, clusters: list[Watched]) -> None:
        self.came: dict[Pod, float] = {}
        self.went: dict[Pod, float] = {}
        self._clusters = clusters
        self._known: dict[tuple[str, str], Pod] = {}

    @contextmanager
    def watching(self) -> Generator[None]:
        """Look while the block runs; what is there before it did not come."""
        self._look()
        self.came.clear()
        done = threading.Event()

        def look() -> None:
            while not done.wait(_SECONDS_BETWEEN_LOOKS):
                with suppress(ApiError):
                    self._look()

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
        self._look()

    def _look(self) -> None:
        ready = {(each.cluster, each.name): each for cluster in self._clusters for each in cluster.pods() if each.ready}
        now = time.monotonic()
        for key in ready.keys() - self._known.keys():
            self._known[key] = ready[key]
            self.came[ready[key]] = now
        for key in self._known.keys() - ready.keys():
            self.went.setdefault(self._known[key], now)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> None:
    """Run every scene; any surprise ends the demo with a failure, and all processes with it."""
    try:
        _scenes()
    except (BerthError, KeeperRefused, NotKept) as error:
        sys.stdout.flush()
        sys.exit(f"the demo stops: {error}")


def _scenes() -> None:
    demo = KubernetesDemo()
    demo.prepare()
    with demo.kept():
        _apply(demo)
        _broken_image(demo)
        _lost_server(demo)
        _drain(demo)
        _teardown(demo)
    demo.scene("Done", f"Every control plane has ended.\n{_PLAYED}")


def _apply(demo: KubernetesDemo) -> None:
    demo.scene(
        "1. Apply a plan",
        "Two GPU clusters and a front door, with a control plane of its own each: they start when the simulated cloud\n"
        "is asked for a cluster.",
    )
    demo.run("up", "--yes")
    demo.run("observe")
    _check(demo, f"chat {_GOOD} on gpu-a", f"chat {_GOOD} on gpu-b", f"search {_GOOD} on gpu-a")
    _memory(demo)


def _broken_image(demo: KubernetesDemo) -> None:
    demo.scene(
        "2. An image that cannot be pulled",
        "The scheduler binds the successor and its container waits for the image for ever. It gets no traffic, and\n"
        "the old replica keeps serving.",
    )
    demo.edit("models/search/embedder.yaml", (f"vllm-openai:{_GOOD}", f"vllm-openai:{_BROKEN}"))
    demo.run("up", "--yes", code=4)
    _check(
        demo,
        f"chat {_GOOD} on gpu-a",
        f"chat {_GOOD} on gpu-b",
        f"search {_GOOD} on gpu-a",
        waiting=[f"search {_BROKEN} on gpu-a"],
    )


def _lost_server(demo: KubernetesDemo) -> None:
    demo.scene(
        "3. An API server is killed",
        "That of gpu-b. The others go on: the run leaves gpu-b out and says so, and a good image replaces the broken\n"
        "one on gpu-a.",
    )
    lost = demo.cluster("gpu-b")
    demo.door.ask("end", cluster=lost.physical, program="kube-apiserver")
    demo.edit("models/search/embedder.yaml", (f"vllm-openai:{_BROKEN}", f"vllm-openai:{_NEWER}"))
    demo.run("up", "--yes")
    _check(demo, f"chat {_GOOD} on gpu-a", f"search {_NEWER} on gpu-a", silent=["gpu-b"])
    demo.door.ask("restart", cluster=lost.physical, program="kube-apiserver")
    deadline = time.monotonic() + _SECONDS_TO_START
    while not lost.api.is_ready() and time.monotonic() < deadline:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    # Its controllers would look for it again after up to a minute; where they hold a lease they lose it and start anew.
    for program in lost.pids.keys() - {"kube-apiserver"}:
        demo.door.ask("end", cluster=lost.physical, program=program)
        demo.door.ask("restart", cluster=lost.physical, program=program)
    sys.stdout.write("\n# the API server of gpu-b is started again with its controllers; what it held is still there\n")
    _check(demo, f"chat {_GOOD} on gpu-a", f"chat {_GOOD} on gpu-b", f"search {_NEWER} on gpu-a")


def _drain(demo: KubernetesDemo) -> None:
    demo.scene(
        "4. Drain a cluster",
        "A NoExecute taint: what runs on gpu-a moves to gpu-b, and its successor is ready there before it goes.",
    )
    cluster = "  name: gpu-a\n  labels:\n    site: a\nspec:\n"
    demo.edit(
        "platform/clusters.yaml",
        (cluster, f"{cluster}  taints:\n    - key: maintenance\n      effect: NoExecute\n"),
    )
    watch = Watch(demo.clusters())
    with watch.watching():
        demo.run("up", "--yes")
    sys.stdout.write("\n# seen at the API servers while that ran\n")
    for old, left in watch.went.items():
        successors = [at for new, at in watch.came.items() if new.namespace == old.namespace and new.cluster == "gpu-b"]
        if old.cluster != "gpu-a" or not successors or max(successors) > left:
            raise DriverError(f"{old.namespace}/{old.name} on {old.cluster} went before a successor was ready")
        before = left - max(successors)
        sys.stdout.write(f"  {old.namespace}/{old.name} left gpu-a {before:.1f} s after its successor was ready\n")
    _check(demo, f"chat {_GOOD} on gpu-b", f"chat {_GOOD} on gpu-b", f"search {_NEWER} on gpu-b")


def _teardown(demo: KubernetesDemo) -> None:
    demo.scene("5. Teardown", "Everything goes; each control plane ends with its cluster.")
    demo.run("destroy", "--yes")
    if left := demo.left_in_clouds():
        raise DriverError(f"the teardown left {', '.join(left)}")
    deadline = time.monotonic() + _SECONDS_TO_END
    while kept := demo.clusters():
        if time.monotonic() > deadline:
            raise DriverError(f"the teardown left the control planes of {', '.join(each.name for each in kept)}")
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _check(demo: KubernetesDemo, *ready: str, waiting: Collection[str] = (), silent: Collection[str] = ()) -> None:
    """Print what the schedulers made of the plan, and raise DriverError unless it is what the plan promised.

    ``ready`` and ``waiting`` are the places of pods that are and are not ready, ``silent`` the clusters that do not
    answer. Every pod is bound to a node of its pool, and has as many devices as its replica asks for, for itself alone.
    """
    pods: list[Pod] = []
    quiet: list[str] = []
    for cluster in demo.clusters():
        try:
            pods += cluster.pods()
        except ApiError:
            quiet.append(cluster.name)
    _print(pods, quiet)
    seen = sorted(each.place for each in pods if each.ready), sorted(each.place for each in pods if not each.ready)
    if (*seen, quiet) != (sorted(ready), sorted(waiting), sorted(silent)):
        raise DriverError(f"expected to be ready: {', '.join(ready)}; waiting: {', '.join(waiting) or 'none'}")
    given = Counter((each.cluster, each.node, device) for each in pods for device in each.devices)
    for each in pods:
        if not each.node or len(each.devices) != _GPUS[each.namespace]:
            raise DriverError(f"{each.name} does not have what the plan promised")
    if doubled := [device for device, owners in given.items() if owners > 1]:
        raise DriverError(f"devices with two owners: {doubled}")


def _print(pods: Iterable[Pod], quiet: Iterable[str]) -> None:
    sys.stdout.write("\n# what the schedulers did: pods, the pool that the plan promised, and the devices they got\n")
    rows = [("CLUSTER", "POD", "IMAGE", "POOL", "NODE", "DEVICES", "READY")]
    rows += [
        (
            each.cluster,
            f"{each.namespace}/{each.name}",
            each.tag,
            each.pool,
            each.node or "-",
            " ".join(each.devices) or "-",
            str(each.ready).lower(),
        )
        for each in pods
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = zip(row, widths, strict=True)
        sys.stdout.write("  ".join(text.ljust(width) for text, width in cells).rstrip() + "\n")
    sys.stdout.writelines(f"{each} does not answer\n" for each in quiet)
    sys.stdout.flush()


def _memory(demo: KubernetesDemo) -> None:
    """Print what the control planes take."""
    sizes = {each.name: sum(map(_resident, each.pids.values())) for each in demo.clusters()}
    each = ", ".join(f"{name} {size} MB" for name, size in sizes.items())
    sys.stdout.write(f"\n# memory of the control planes: {each}; {sum(sizes.values())} MB together, and etcd\n")


def _resident(pid: int) -> int:
    """Return the resident memory of a process in MB; 0 where the system does not tell."""
    with suppress(OSError, StopIteration, ValueError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) // 1024
    return 0


if __name__ == "__main__":
    main()
