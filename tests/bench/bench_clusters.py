"""Measures local clusters: how long one takes to start, to run its first pod and to stop, and how much memory it takes.

The targets are ten seconds for a start and three for a stop. Seconds of the clock depend on what else the machine does,
so each is printed as a ratio too. The baseline of the same run is how long the machine takes to start and end the API
server's program for its version: loading the largest of the programs, and none of its work.

Run by hand or by ``make bench``; prints one JSON object. It needs the programs of ``make toolchain-kubernetes``, and
where one is missing it says so and measures nothing. Memory is the proportional set size of a cluster's processes when
its first pod runs; what clusters of a run share (the store and the warden) is printed apart.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from automation.demonstration.memory import proportional
from automation.engine.toolchain.install import locate_tool
from automation.engine.toolchain.kubernetes import DEFAULT_MINOR, kubernetes_tools, minor_of
from automation.engine.toolchain.layout import Layout
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from automation.rehearsal.kubernetes.machines import machine

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {"start": 10.0, "stop": 3.0}
PATIENCE = 300.0
NAMESPACE = "/api/v1/namespaces/default"
MB = 1_000_000


def found_programs() -> tuple[dict[str, Path], list[str]]:
    """Give the programs that are there, and the names of those that are not; nothing is installed for a measurement."""
    located = {tool.name: locate_tool(tool, Layout(ROOT))[0] for tool in kubernetes_tools(minor_of(DEFAULT_MINOR))}
    found = {name: each.path for name, each in located.items() if each is not None}
    return found, sorted(located.keys() - found.keys())


def timed(act: Callable[[], object]) -> float:
    """Do something; gives the seconds that it took."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def load(programs: Mapping[str, Path]) -> float:
    """Start the API server's program for its version; gives the seconds."""
    command = [programs["kube-apiserver"], "--version"]
    return timed(lambda: subprocess.run(command, check=True, capture_output=True))


def first_pod(cluster: LocalCluster) -> float:
    """Join a node and run a pod there; gives the seconds until it is ready."""
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "first"},
        "spec": {
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "c", "image": "registry.test/engine:v1"}],
        },
    }
    began = time.perf_counter()
    cluster.install_device_classes()
    cluster.join("n", machine("aws", "g6e.12xlarge"))
    cluster.api.create(f"{NAMESPACE}/pods", pod)
    while not ready(cluster):
        if time.perf_counter() - began > PATIENCE:
            raise TimeoutError("the first pod is not ready")
        time.sleep(0.02)
    return time.perf_counter() - began


def ready(cluster: LocalCluster) -> bool:
    """Whether the pod is ready."""
    conditions = cluster.api.get(f"{NAMESPACE}/pods/first")["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def life(local: LocalKubernetes, name: str) -> dict[str, float]:
    """Lead one cluster through its life; gives what it took."""
    began = time.perf_counter()
    cluster = local.start(name)
    started = time.perf_counter() - began
    pod = first_pod(cluster)
    size = sum(map(proportional, cluster.pids.values())) / MB
    return {"start": started, "first_pod": pod, "stop": timed(lambda: local.stop(cluster)), "megabytes": size}


def measured(programs: Mapping[str, Path], rounds: int) -> dict[str, Any]:
    """Give medians, ratios to the baseline, and whether the targets hold."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalKubernetes(programs, parent=Path(folder))
        # The first one warms the disk's cache and starts the store.
        life(local, "warm")
        lives = [life(local, f"c{number}") for number in range(rounds)]
        mine = set(local.pids().values()) | {local.warden}
        shared = round(sum(map(proportional, mine)) / MB)
        close = timed(local.close)
    baseline = statistics.median(load(programs) for _ in range(rounds))
    medians = {name: statistics.median(each[name] for each in lives) for name in lives[0]}
    megabytes = round(medians.pop("megabytes"))
    return {
        "seconds": {name: round(value, 2) for name, value in medians.items()},
        "seconds_to_end_the_run": round(close, 2),
        "load_of_the_api_server": round(baseline, 3),
        "ratio_to_the_load": {name: round(value / baseline, 1) for name, value in medians.items()},
        "megabytes_of_a_cluster": megabytes,
        "megabytes_shared": shared,
        "target_seconds": TARGETS,
        "within_target": all(medians[name] <= limit for name, limit in TARGETS.items()),
    }


def main() -> None:
    """Print what was measured, or which programs are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    programs, missing = found_programs()
    if missing:
        said: dict[str, Any] = {"skipped": f"{', '.join(missing)} not there; `make toolchain-kubernetes` gets them"}
    else:
        said = measured(programs, rounds)
    json.dump(said, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
