"""A project, a backend and simulated clouds in a temporary folder, and the real engine on them.

The program is a small town in place of the fleet: clusters that exist, components with the fleet's type tokens, one
object each, and a role in a cloud. Each test says what the town looks like; the engine does the rest.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from automation.engine.pulumi import PulumiRunner
from automation.rehearsal.cloud import Known, SimulatedCloud, known_resources
from automation.rehearsal.install import install
from automation.rehearsal.provider.faults import VARIABLE
from components.naming import StackName
from tests.support.simulated import kubeconfig

STACK = StackName("dev")
TOKEN = "hf_sample-token-4711"
PASSPHRASE = "correct horse"


@dataclass(frozen=True)
class Town:
    """What the program registers. ``replicas`` holds, by cluster, the names of those there."""

    replicas: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"east": ("a",), "west": ("a",)})
    clusters: tuple[str, ...] = ("east", "west")
    image: str = "server:1"
    roles: tuple[str, ...] = ("nodes",)
    path: str = "/"
    """The role's path, which cannot be changed: another one replaces the role."""
    protect: bool = False
    raises: BaseException | None = None
    front_door: str = ""
    """A replica (``cluster/name``) that an endpoint on the first cluster depends on."""

    def but(self, **changes: Any) -> "Town":
        """Return the same town with something changed."""
        return replace(self, **changes)

    def __call__(self) -> None:
        """Register it."""
        import pulumi  # noqa: PLC0415 (a slow SDK, for those who need it)
        import pulumi_aws as aws  # noqa: PLC0415 (a slow SDK, for those who need it)

        if self.raises:
            raise self.raises
        cloud = aws.Provider("aws", region="us-east-1")
        for name in self.roles:
            aws.iam.Role(
                f"role-{name}",
                name=f"town-{name}{self.path.strip('/')}",
                path=self.path,
                assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": []}),
                tags={"berth:component": name},
                opts=pulumi.ResourceOptions(provider=cloud, protect=self.protect),
            )
        workloads: dict[str, pulumi.Resource] = {}
        providers: dict[str, pulumi.ProviderResource] = {}
        for cluster in self.clusters:
            providers[cluster] = self._cluster(cluster, workloads)
        if self.front_door:
            first = self.clusters[0]
            endpoint = pulumi.ComponentResource("berth:index:Endpoint", f"{first}/ml/x", {"frontDoor": first})
            _account("endpoint", endpoint, providers[first], "", depends_on=[workloads[self.front_door]])
        pulumi.export("simulated", True)
        pulumi.export("token", pulumi.Output.secret(TOKEN))

    def _cluster(self, cluster: str, workloads: dict[str, Any]) -> Any:
        import pulumi  # noqa: PLC0415 (a slow SDK, for those who need it)
        import pulumi_kubernetes as kubernetes  # noqa: PLC0415 (a slow SDK, for those who need it)

        props = {"cluster": cluster, "source": "Existing"}
        component = pulumi.ComponentResource("berth:index:ExistingCluster", cluster, props)
        provider = kubernetes.Provider(
            f"{cluster}-kubernetes",
            kubeconfig=pulumi.Output.secret(kubeconfig(f"https://{cluster}.test:6443", name=cluster)),
            cluster_identifier=cluster,
            opts=pulumi.ResourceOptions(parent=component),
        )
        kubernetes.core.v1.Secret(
            f"{cluster}-token",
            metadata={"name": "token", "namespace": "default"},
            string_data={"token": pulumi.Output.secret(TOKEN)},
            opts=pulumi.ResourceOptions(parent=component, provider=provider),
        )
        for name in self.replicas.get(cluster, ()):
            identity = f"ml/{name}/{cluster}/0"
            props = {"cluster": cluster, "namespace": "ml", "image": self.image}
            replica = pulumi.ComponentResource("berth:index:Replica", identity, props)
            made = _account(f"{identity}-workload-main", replica, provider, self.image, physical=f"{name}-main")
            workloads[f"{cluster}/{name}"] = made
            replica.register_outputs({**props, "made": [made.id]})
        component.register_outputs({"endpoint": f"https://{cluster}.test:6443"})
        return provider


def _account(
    name: str, parent: Any, provider: Any, note: str, *, physical: str = "", depends_on: Sequence[Any] = ()
) -> Any:
    """Register an object that is changed in place."""
    import pulumi  # noqa: PLC0415 (a slow SDK, for those who need it)
    from pulumi_kubernetes.core.v1 import ServiceAccount  # noqa: PLC0415 (a slow SDK, for those who need it)

    return ServiceAccount(
        name,
        metadata={"name": physical or name, "namespace": "default", "annotations": {"note": note}},
        opts=pulumi.ResourceOptions(parent=parent, provider=provider, depends_on=list(depends_on)),
    )


@dataclass
class Lab:
    """One project with a backend and a cloud of its own."""

    root: Path
    cli: Path
    home: Path

    def __post_init__(self) -> None:
        """Make the folders."""
        for folder in (self.project, self.state):
            folder.mkdir(parents=True)
        (self.project / "Pulumi.yaml").write_text("name: town\nruntime: python\n")
        self.scenario.write_text('{"rules": []}')
        shutil.copytree(self.home, self.root / "home")
        for marker in (self.root / "home").glob("plugins/*/simulated.json"):
            settings = json.loads(marker.read_text())
            marker.write_text(json.dumps({**settings, "database": str(self.root / "cloud.db")}))
            launcher = next(marker.parent.glob("pulumi-resource-*"))
            launcher.write_text(launcher.read_text().replace(str(self.home), str(self.root / "home")))

    @property
    def project(self) -> Path:
        """The folder with the project file and the stacks' configuration."""
        return self.root / "project"

    @property
    def state(self) -> Path:
        """The backend."""
        return self.root / "state"

    @property
    def scenario(self) -> Path:
        """The file with the clouds' faults."""
        return self.root / "scenario.json"

    @property
    def cloud(self) -> SimulatedCloud:
        """The clouds, by the back door."""
        return SimulatedCloud(self.root / "cloud.db", scenario=self.scenario)

    @property
    def environment(self) -> dict[str, str]:
        """What the engine sees."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.root),
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": self.state.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
            VARIABLE: str(self.scenario),
        }

    def runner(self, **options: Any) -> PulumiRunner:
        """Return a runner on the lab; upper-case options are variables, the others the runner's own."""
        variables = {name: value for name, value in options.items() if name.isupper()}
        others: dict[str, Any] = {name: value for name, value in options.items() if not name.isupper()}
        return PulumiRunner(self.cli, project=self.project, environment={**self.environment, **variables}, **others)

    def faults(self, *rules: Mapping[str, Any]) -> None:
        """Tell the clouds how to fail from now on."""
        self.scenario.write_text(json.dumps({"rules": list(rules)}))

    def pending(self) -> set[str]:
        """Read from the backend what types are in doubt right now, without starting anything."""
        try:
            raw = json.loads((self.state / ".pulumi" / "stacks" / "town" / f"{STACK}.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return set()
        latest = raw["checkpoint"].get("latest") or {}
        return {entry["resource"]["type"] for entry in latest.get("pending_operations") or ()}

    def orphans(self, runner: PulumiRunner) -> list[str]:
        """List what is live and not in the state."""
        known: list[Known] = list(known_resources(runner.export(STACK).raw["deployment"]))
        return [f"{item.type} {item.id}" for item in self.cloud.orphans(known)]

    def files_with(self, text: str) -> list[Path]:
        """List the files of backend, project and home that hold a text."""
        folders = (self.state, self.project, self.root / "home")
        files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
        return [path for path in files if text.encode() in path.read_bytes()]


def installed_home(folder: Path) -> Path:
    """Install the simulated providers once, for labs to copy."""
    install(folder, interpreter=Path(sys.executable), database=folder / "cloud.db")
    return folder


def until(condition: Callable[[], object], *, seconds: float = 60) -> None:
    """Wait until something is so; fail when it never is."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "what the test waits for does not happen"
        time.sleep(0.02)
