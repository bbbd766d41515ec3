"""A user's repo whose simulated clouds have real control planes behind their clusters, kept by whoever tests.

Everything is as in ``fleet_run``; the two fleets there and here can run the same environment. ``two_clusters`` is small
enough for real control planes: two clusters of one pool each, and room on each for all replicas together.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from unittest import mock

from automation.driver.planner import Plan, make_plan
from automation.driver.reading import read_situation, unmake
from automation.driver.reporter import Silent
from automation.driver.session import open_session
from automation.driver.workspace import Workspace
from automation.engine.interruption import Interruption
from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.door import RECORD, Door
from tests.support.fleet_run import GATEWAY, FleetRun, deployment, environment
from tests.support.kubernetes_minor import MINOR


def two_clusters() -> dict[str, str]:
    """Return two clusters on EKS, ``a`` also the front door, and two teams with a deployment each."""
    return {
        "environment.yaml": environment(),
        "platform/classes.yaml": f"{gpu_class('a')}---\n{gpu_class('b')}",
        "platform/gateway.yaml": GATEWAY,
        "platform/a.yaml": cluster("a"),
        "platform/b.yaml": cluster("b"),
        "models/ml/qwen.yaml": deployment("qwen", replicas=2),
        "models/search/embed.yaml": deployment("embed", namespace="search"),
    }


def gpu_class(cluster: str, *, disk: int = 200) -> str:
    """Return the class of a cluster's nodes; each cluster has its own, so that an edit is one of that cluster."""
    return f"""\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {{name: l40s-{cluster}}}
spec:
  provisioning:
    provider: EKS
    eks: {{instanceType: g6e.12xlarge, diskSizeGb: {disk}, accelerator: {{type: nvidia-l40s, count: 4}}}}
  devices:
    - name: gpu
      driver: gpu.nvidia.com
      deviceClassName: gpu.nvidia.com
      count: 4
      capacity: {{memory: {{value: 46068Mi}}}}
"""


def cluster(name: str, *, nodes: int = 3, more: str = "", version: str = MINOR.name) -> str:
    """Return a cluster with one pool."""
    return f"""\
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {{name: {name}, labels: {{cluster: {name}}}}}
spec:
  cluster: {{source: EKS, eks: {{region: us-east-1, kubernetesVersion: "{version}"}}}}
  nodePools: [{{name: gpu, className: l40s-{name}, nodeCount: {nodes}, zones: [us-east-1a]}}]
{more}"""


@dataclass
class BackedRun(FleetRun):
    """A repo whose runs are backed; whoever uses it keeps the control planes."""

    @classmethod
    def with_provider(cls, root: Path, pulumi: Path, files: Mapping[str, str], *, provider: Path) -> Self:
        """Make the repo and its environment; ``provider`` is Pulumi's real one for Kubernetes."""
        run = cls.make(root, pulumi, files)
        path = (str(root / "bin"), str(provider.parent), os.environ["PATH"])
        run.variables |= {"BERTH_BACKED": "1", "PATH": os.pathsep.join(path)}
        return run

    @property
    def layout(self) -> Layout:
        """Where Berth keeps things."""
        return Layout(self.repo, backed=True)

    @property
    def door(self) -> Door:
        """The way to the keeper."""
        return Door(self.layout.simulated / RECORD)


def plan_of(run: FleetRun) -> Plan:
    """Plan as ``berth plan`` does, in this process, and write nothing."""
    with mock.patch.dict(os.environ, run._environment(), clear=True):
        workspace = Workspace(run.layout, "dev", run.folder, simulated=True)
        session = open_session(workspace, Silent(), interruption=Interruption())
        situation = read_situation(session)
        try:
            return make_plan(session, situation)
        finally:
            unmake(session, situation)
