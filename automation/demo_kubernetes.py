"""``make demo-kubernetes``: the fleet of the environment ``local``, on real control planes on this machine.

The clouds are simulated and every cluster is real: API server, scheduler and controllers of Kubernetes, objects applied
by the real Pulumi Kubernetes provider. Machines and containers are not: kwok says that bound pods run. What else is
played is said at the end. All processes belong to one keeper, which is a child of this process and ends with it.

After every run what the API servers tell is held against the lock that the run was planned with (``promises``).
"""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from automation.demo import ROOT, Demo
from automation.demonstration.memory import Memory, proportional
from automation.demonstration.pods import Pod, Watched
from automation.demonstration.promises import Promises, Row
from automation.demonstration.watch import Watch
from automation.engine.toolchain.install import ensure_tool
from automation.engine.toolchain.kubernetes import DEFAULT_MINOR, minor_of, rehearsal_tools
from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.door import RECORD, Door, KeeperRefused, NotKept
from automation.rehearsal.backing.played import played_in_full
from automation.rehearsal.kubernetes.api import ApiError
from components.errors import BerthError, DriverError
from stacks.environment import read_lock

_LOCAL: Final = ROOT / "automation" / "rehearsal" / "environments" / "local"
_CLUSTERS: Final = ("gpu-a", "gpu-b", "door")
_GOOD, _BROKEN, _NEWER = "v0.23.0", "v0.24.0-broken", "v0.25.1"
_SECONDS_TO_START: Final = 60.0
_SECONDS_TO_END: Final = 30.0
_SECONDS_BETWEEN_LOOKS: Final = 0.1
_MEGABYTES_MEANT: Final = 3000
_PROGRAMS_SHOWN: Final = 5


class KubernetesDemo(Demo):
    """The demonstration, with a way to the clusters."""

    def __init__(self) -> None:
        super().__init__(Layout(ROOT).berth / "demo-kubernetes", _LOCAL, backed=True)
        self.door = Door(self.layout.simulated / RECORD)
        self.promises = Promises()
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
        command = [sys.executable, "-m", "automation.cli", "backing", "--kubernetes", DEFAULT_MINOR, "--with-parent"]
        keeper = subprocess.Popen(  # noqa: S603 (our own command)
            command, cwd=self.layout.root, env=dict(self.variables()), stdin=subprocess.PIPE, pass_fds=self.handed_down
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

    def up(self, *, code: int = 0) -> None:
        """Plan and apply, and read what the plan promised."""
        self.run("up", "--yes", code=code)
        lock = read_lock(self.environment)
        if lock is None:
            raise DriverError(f"berth up left no lock in {self.environment}")
        self.promises.renew(lock)

    def clusters(self) -> list[Watched]:
        """Give the clusters that run, by name."""
        found = (Watched(each, _CLUSTERS) for each in self.door.ask("list")["clusters"])
        return sorted(found, key=lambda each: each.name)

    def cluster(self, name: str) -> Watched:
        """Give a cluster by its name in the environment."""
        return next(each for each in self.clusters() if each.name == name)


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
    memory = Memory()
    with memory.measuring(), demo.kept():
        _apply(demo)
        _broken_image(demo)
        _lost_server(demo)
        _drain(demo)
        _teardown(demo)
    demo.scene("Done", "\n".join(["Every control plane has ended.", *_memory_taken(memory), *played_in_full()]))


def _apply(demo: KubernetesDemo) -> None:
    demo.scene(
        "1. Apply a plan",
        "Two GPU clusters and a front door, with a control plane of its own each: they start when the simulated cloud\n"
        "is asked for a cluster.",
    )
    demo.up()
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
    demo.up(code=4)
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
    demo.up()
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
        demo.up()
    sys.stdout.write("\n# seen at the API servers while that ran\n")
    for old, before in watch.moved(away="gpu-a", to="gpu-b"):
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
    """Print what was promised beside what is there, and raise DriverError unless they agree.

    ``ready`` and ``waiting`` are the places of pods that are and are not ready, ``silent`` the clusters that do not
    answer: what this scene is about. Where every pod is bound and on which devices is what the lock promised.
    """
    pods: list[Pod] = []
    quiet: list[str] = []
    for cluster in demo.clusters():
        try:
            pods += cluster.pods()
        except ApiError:
            quiet.append(cluster.name)
    rows = demo.promises.rows(pods)
    _print(rows, quiet)
    seen = sorted(each.place for each in pods if each.ready), sorted(each.place for each in pods if not each.ready)
    if (*seen, quiet) != (sorted(ready), sorted(waiting), sorted(silent)):
        raise DriverError(f"expected to be ready: {', '.join(ready)}; waiting: {', '.join(waiting) or 'none'}")
    if broken := list(demo.promises.broken(rows, silent=quiet)):
        raise DriverError(f"not as the lock promised: {'; '.join(broken)}")


def _print(rows: Iterable[Row], quiet: Iterable[str]) -> None:
    sys.stdout.write("\n# promised by the lock: pool and devices; found at the API servers: node, its pool, devices\n")
    cells = [("CLUSTER", "POD", "IMAGE", "PROMISED", "NODE", "POOL", "DEVICES", "READY")]
    cells += [
        (
            row.pod.cluster,
            f"{row.pod.namespace}/{row.pod.name}",
            row.pod.tag,
            f"{row.promise or 'nothing'}{' (earlier plan)' if row.earlier else ''}",
            row.pod.node or "-",
            row.pod.pool or "-",
            " ".join(each.name for each in row.pod.devices) or "-",
            str(row.pod.ready).lower(),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for each in cells:
        texts = (text.ljust(width) for text, width in zip(each, widths, strict=True))
        sys.stdout.write("  ".join(texts).rstrip() + "\n")
    sys.stdout.writelines(f"{each} does not answer\n" for each in quiet)
    sys.stdout.flush()


def _memory(demo: KubernetesDemo) -> None:
    """Print what the control planes take."""
    sizes = {each.name: sum(map(proportional, each.pids.values())) // 1_000_000 for each in demo.clusters()}
    each = ", ".join(f"{name} {size} MB" for name, size in sizes.items())
    sys.stdout.write(f"\n# memory of the control planes: {each}; {sum(sizes.values())} MB together, without etcd\n")


def _memory_taken(memory: Memory) -> Iterable[str]:
    """Say what all processes took at the most. Too much is a warning: what is there at once is a matter of chance."""
    if not memory.peak:
        yield "This system does not tell how much memory was taken."
        return
    first = [f"{name} {size}" for name, size in list(memory.programs.items())[:_PROGRAMS_SHOWN]]
    yield f"All processes together took {memory.peak} MB at the most (proportional set size): {', '.join(first)}."
    if memory.peak > _MEGABYTES_MEANT:
        yield f"Warning: that is more than the {_MEGABYTES_MEANT} MB that it is meant to take."


if __name__ == "__main__":
    main()
