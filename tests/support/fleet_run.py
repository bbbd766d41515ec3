"""A user's repo that holds no source of Berth, and the real ``berth`` command in it.

The repo has the two files that ``berth init`` writes, the environments lie elsewhere, and the engine is started through
a wrapper that writes down every start, so that a test can count them. Everything else is what a user has: commands,
their answers, their exit codes. ``applied`` gives a fleet that is up already: it is made once and copied.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import pytest

from automation.cli.init import project_files
from automation.engine.checkpoint import Checkpoint
from automation.engine.state import read_existing
from automation.engine.toolchain.layout import Layout
from automation.rehearsal import derive
from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.install import install
from automation.rehearsal.scenario import SCENARIO_VARIABLE, Fault, Scenario
from automation.scheduling.existing import Existing
from components.naming import StackName
from tests.support.environment_folder import EnvironmentFolder

_WRAPPER: Final = """\
#!/bin/sh
# Writes down how the engine is started, then becomes it.
printf '%s\\n' "$*" >> {log}
exec {pulumi} "$@"
"""

GATEWAY: Final = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceGateway
metadata: {name: default}
spec: {backend: Traefik, traefik: {version: 40.2.0}}
"""


def gpu_class(name: str, count: int) -> str:
    """Return a class of nodes with that many equal GPUs."""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {{name: {name}}}
spec:
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: {count}
      capacity: {{memory: {{value: 46068Mi}}}}
"""


def environment(*, doors: str = "a", layout: str = "Single", more: str = "") -> str:
    """Return the Environment."""
    return f"""\
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {{name: dev}}
spec: {{layout: {layout}, frontDoors: [{doors}]{more}}}
"""


def cluster(name: str, *, small: int = 1, big: int = 1, more: str = "", storage: str = "") -> str:
    """Return a cluster that exists, with a pool of nodes with four GPUs and one of nodes with eight."""
    pools = f"""  nodePools:
    - {{name: small, className: gpu-4x, nodeCount: {small}}}
    - {{name: big, className: gpu-8x, nodeCount: {big}}}
"""
    return f"{front_door(name, storage=storage)}{pools}{more}"


def front_door(name: str, *, storage: str = "") -> str:
    """Return a cluster that exists and serves no models."""
    cache = f"\n      cache: {{storageClassName: {storage}}}" if storage else ""
    return f"""\
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {{name: {name}, labels: {{cluster: {name}}}}}
spec:
  cluster:
    source: Existing
    existing:
      secretRef: {{name: {name}-kubeconfig}}{cache}
"""


def deployment(
    name: str,
    *,
    namespace: str = "ml",
    gpus: int = 2,
    replicas: int = 1,
    image: str = "vllm:1",
    labels: str = "",
    spec: str = "",
    env: str = "",
) -> str:
    """Return a deployment of one pod with that many GPUs of one node, and a service in front of it."""
    more = f"\n      {spec}" if spec else ""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  replicas: {replicas}
  template:
    metadata: {{labels: {{app: {name}{labels}}}}}
    spec:{more}
      engines:
        - name: main
          members:
            - nodeSelector:
                devices:
                  - {{name: gpu, count: {gpus}, selectors: [{{cel: "true"}}]}}
              template:
                spec:
                  containers: [{{name: engine, image: "{image}", env: [{env}]}}]
---
apiVersion: modelplane.ai/v1alpha1
kind: ModelService
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{endpoints: [{{selector: {{matchLabels: {{app: {name}}}}}}}]}}
"""


ON_B: Final = "clusterSelector: {matchLabels: {cluster: b}}"
"""Keeps a deployment on cluster ``b``."""


def small_fleet() -> dict[str, str]:
    """Return two clusters that exist, ``a`` also the front door, and two teams with a deployment each.

    One of them may only be on ``b``; the other one goes to ``a``, by its name.
    """
    return {
        "environment.yaml": environment(),
        "platform/classes.yaml": f"{gpu_class('gpu-4x', 4)}---\n{gpu_class('gpu-8x', 8)}",
        "platform/gateway.yaml": GATEWAY,
        "platform/a.yaml": cluster("a"),
        "platform/b.yaml": cluster("b"),
        "models/ml/qwen.yaml": deployment("qwen"),
        "models/search/embed.yaml": deployment("embed", namespace="search", spec=ON_B),
    }


@dataclass(frozen=True)
class Answer:
    """How a command ended, and how often it started the engine for what."""

    code: int
    stdout: str
    stderr: str
    starts: tuple[str, ...]
    seconds: float

    @property
    def document(self) -> Any:
        """What it printed for a machine: one document."""
        return json.loads(self.stdout)

    @property
    def said(self) -> str:
        """Everything that it printed."""
        return f"{self.stdout}\n{self.stderr}"

    def count(self, operation: str) -> int:
        """Return how often the engine was started for an operation (``preview``, ``up``)."""
        return sum(f" {operation} " in f" {start} " for start in self.starts)


@dataclass
class FleetRun(EnvironmentFolder):
    """One user's repo with its environments, state and simulated clouds, all under ``root``."""

    root: Path
    pulumi: Path
    variables: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, root: Path, pulumi: Path, files: Mapping[str, str]) -> Self:
        """Make the repo, and an environment of ``files``.

        The rules of the simulated providers, which take a while to derive, are kept from one test run to the next.
        """
        run = cls(root, pulumi)
        home, kept = run.layout.simulated_home, kept_rules()
        install(home, interpreter=Path(sys.executable), database=run.layout.simulated_clouds, rules=kept)
        shutil.copytree(kept, home / "rehearsal")
        for path, text in project_files(run.repo).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run.place_wrapper()
        run.scenario()
        for path, text in files.items():
            run.write(path, text)
        return run

    def copy(self, root: Path) -> "FleetRun":
        """Copy everything to another folder."""
        shutil.copytree(self.root, root, symlinks=True)
        run = FleetRun(root, self.pulumi, dict(self.variables))
        run.place_wrapper()
        return run

    def place_wrapper(self) -> None:
        """Put a ``pulumi`` on this run's PATH that writes its starts down."""
        wrapper = self.root / "bin" / "pulumi"
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        wrapper.write_text(_WRAPPER.format(log=self._log, pulumi=self.pulumi))
        wrapper.chmod(0o755)

    # Places

    @property
    def repo(self) -> Path:
        """The user's repo, where commands run."""
        return self.root / "repo"

    @property
    def layout(self) -> Layout:
        """Where Berth keeps things."""
        return Layout(self.repo)

    @property
    def _log(self) -> Path:
        return self.root / "starts.log"

    # Commands

    def berth(self, *arguments: str, code: int | Collection[int] = 0) -> Answer:
        """Run one command to its end; fail unless it ends with ``code``, or one of them."""
        return self._run([sys.executable, "-P", "-m", "automation.cli", *arguments], self._environment(), code)

    def by_hand(self, *arguments: str, code: int = 0, stdin: str = "") -> Answer:
        """Run plain ``pulumi`` with the variables that ``berth env --simulated`` prints."""
        answer = self.berth("env", "--simulated", "--json")
        environment = self._environment()
        for name, value in answer.document["variables"].items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        return self._run(["pulumi", *arguments, "--non-interactive"], environment, code, stdin)

    def _run(
        self, command: list[str], environment: Mapping[str, str], code: int | Collection[int], stdin: str = ""
    ) -> Answer:
        already = len(self._starts())
        began = time.monotonic()
        done = subprocess.run(
            command,
            cwd=self.repo,
            env=dict(environment),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        answer = Answer(
            done.returncode,
            done.stdout,
            done.stderr,
            tuple(self._starts()[already:]),
            time.monotonic() - began,
        )
        _note(command, answer)
        wanted = {code} if isinstance(code, int) else {*code}
        assert done.returncode in wanted, (
            f"{' '.join(command)} ended with {done.returncode}, not {code}:\n{answer.said}"
        )
        return answer

    def _starts(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("BERTH_", "PULUMI_", "PYTEST_"))
        }
        return {
            **kept,
            "PATH": os.pathsep.join([str(self.root / "bin"), kept.get("PATH", "")]),
            "BERTH_ENVIRONMENTS": str(self.folder.parent),
            "BERTH_SIMULATED": "1",
            "NO_COLOR": "1",
            SCENARIO_VARIABLE: str(self._scenario),
            **self.variables,
        }

    # What exists

    @property
    def cloud(self) -> SimulatedCloud:
        """The simulated clouds, by the back door."""
        return SimulatedCloud(self.layout.simulated_clouds, scenario=self._scenario)

    @property
    def _scenario(self) -> Path:
        return self.root / "scenario.json"

    def scenario(self, *faults: Fault) -> None:
        """Tell the clouds how to fail from now on."""
        Scenario.of(*faults).write(self._scenario)

    def stacks(self) -> list[str]:
        """Return the stacks that the backend has."""
        return sorted(path.stem for path in self._backend.glob("*.json"))

    def checkpoint(self, stack: str = "dev") -> Checkpoint:
        """Return the state of a stack, from the backend's own file."""
        raw = json.loads((self._backend / f"{stack}.json").read_bytes())
        return Checkpoint.from_json(StackName.parse(stack), {"deployment": raw["checkpoint"].get("latest") or {}})

    def existing(self) -> Existing:
        """Return what exists, of all stacks together."""
        return read_existing([self.checkpoint(stack) for stack in self.stacks()])

    def facts(self) -> tuple[str, str]:
        """Return the states and the clouds as text, to compare before with after."""
        states = {stack: self.checkpoint(stack).raw["deployment"] for stack in self.stacks()}
        return json.dumps(states, sort_keys=True), self.cloud.dump()

    def urns(self) -> set[str]:
        """Return the URN of everything that exists."""
        return {resource.urn for stack in self.stacks() for resource in self.checkpoint(stack)}

    @property
    def _backend(self) -> Path:
        return self.layout.simulated_state / ".pulumi" / "stacks" / "berth"

    def replicas(self) -> dict[str, str]:
        """Return every replica that exists with its phase, ``Failed`` for one that did not come up."""
        return {
            str(identity): "Failed" if each.failure else each.entry.phase.value
            for identity, each in self.existing().replicas.items()
        }

    def backends(self, namespace: str, service: str) -> dict[str, int]:
        """Return where a service leads, by the names of endpoints."""
        found = self.existing().services[namespace, service].entry.backends
        return {backend.endpoint: backend.weight for backend in found}

    def name_of(self, replica: str) -> str:
        """Return the name of a replica's objects."""
        return next(each.entry.name for identity, each in self.existing().replicas.items() if str(identity) == replica)


def kept_rules() -> Path:
    """Name a folder for derived rules; another way of deriving them is another folder."""
    digest = hashlib.sha256(Path(derive.__file__).read_bytes()).hexdigest()[:12]
    return Path(__file__).resolve().parents[2] / ".berth" / "test-rules" / digest


def _note(command: list[str], answer: Answer) -> None:
    """Write down what a command cost, if somebody asks for it by naming a file in ``BERTH_TEST_TIMES``."""
    place = os.environ.get("BERTH_TEST_TIMES")
    if place:
        words = " ".join(command[command.index("automation.cli") + 1 :] if "automation.cli" in command else command)
        counted = f"{answer.count('preview')} previews, {answer.count('up')} ups of {len(answer.starts)} starts"
        with Path(place).open("a") as file:
            file.write(f"{answer.seconds:6.1f} s  {counted}: {words}\n")


def shared(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """Return a folder that is built once in a test run, whichever worker comes first."""
    base = factory.getbasetemp()
    place = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / f"shared-{name}"
    with (place.with_suffix(".lock")).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            scratch = place.with_suffix(".part")
            shutil.rmtree(scratch, ignore_errors=True)
            build(scratch)
            scratch.rename(place)
    return place


def applied(factory: pytest.TempPathFactory, pulumi: Path, name: str, files: Mapping[str, str]) -> FleetRun:
    """Return a fleet that is up, made once for each ``name``; a test works on a copy of it."""

    def build(root: Path) -> None:
        FleetRun.make(root, pulumi, files).berth("up", "--yes")

    return FleetRun(shared(factory, name, build), pulumi)
