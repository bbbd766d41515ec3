"""The life of local clusters: side by side, one after the other, and how they end."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from tests.support.processes import listens, memory, running, served, soon

pytestmark = pytest.mark.kubernetes

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str) -> dict[str, object]:
    """Make a small object."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def names(cluster: LocalCluster) -> set[str]:
    """Give the config maps of a cluster."""
    return {each["metadata"]["name"] for each in cluster.api.items(CONFIG_MAPS)}


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM], ids=lambda sign: sign.name)
def test_a_killed_run_leaves_no_process_port_or_folder(
    programs: Mapping[str, Path], tmp_path: Path, sign: signal.Signals
) -> None:
    """The driver has no time to clean up; its warden does."""
    command = [sys.executable, "-m", "tests.support.kubernetes_run", str(tmp_path / "runs")]
    with subprocess.Popen(
        [*command, *(f"{name}={path}" for name, path in programs.items())], stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        said = json.loads(driver.stdout.readline())
        pids = list(said["pids"].values())
        assert running(pids) == pids
        assert len(pids) == 7
        assert any(listens(port) for port in said["ports"])
        os.kill(driver.pid, sign)
    start = time.monotonic()
    assert soon(lambda: not running(pids))
    assert soon(lambda: not Path(said["folder"]).exists())
    assert not [port for port in said["ports"] if listens(port)]
    assert time.monotonic() - start < 30
    assert list((tmp_path / "runs").iterdir()) == []


def test_two_runs_side_by_side_do_not_see_each_other(programs: Mapping[str, Path], tmp_path: Path) -> None:
    """Same names, same folder for runs; and the end of one is nothing to the other."""
    with LocalKubernetes(programs, parent=tmp_path) as first, LocalKubernetes(programs, parent=tmp_path) as second:
        here, there = first.start("a"), second.start("a")
        assert not set(first.ports()) & set(second.ports())
        here.api.create(CONFIG_MAPS, config_map("here"))
        assert "here" in names(here)
        assert "here" not in names(there)
        first.close()
        assert not first.folder.exists()
        there.api.create(CONFIG_MAPS, config_map("there"))
        assert "there" in names(there)
    assert list(tmp_path.iterdir()) == []


def test_other_users_reach_nothing_that_a_run_holds(programs: Mapping[str, Path], tmp_path: Path) -> None:
    """The store asks nobody who they are, so it serves on a socket in the private folder, however long its path."""
    parent = tmp_path / ("long" * 30)
    with LocalKubernetes(programs, parent=parent) as local:
        cluster = local.start("a")
        pids = local.pids()
        assert {name: ports for name, pid in pids.items() if (ports := served(pid))} == {
            "a/kube-apiserver": {cluster.port.number}
        }
        assert (local.folder / "etcd.sock").is_socket()
        assert stat.S_IMODE(local.folder.stat().st_mode) == 0o700
        cluster.api.create(CONFIG_MAPS, config_map("kept"))
        local.end(cluster, "kube-apiserver")
        local.restart(cluster, "kube-apiserver")
        assert soon(cluster.api.is_ready, seconds=60)
        assert "kept" in names(cluster)


def test_clusters_of_a_run_share_a_store_and_nothing_else(local: LocalKubernetes) -> None:
    """One is stopped and started again, and begins empty; the loss of its server is nothing to the other."""
    stays, goes = local.start("stays"), local.start("goes")
    stays.api.create(CONFIG_MAPS, config_map("kept"))
    goes.api.create(CONFIG_MAPS, config_map("lost"))
    gone = [*goes.pids.values()]
    local.stop(goes)
    assert running(gone) == []
    again = local.start("goes")
    assert "lost" not in names(again)
    local.end(again, "kube-apiserver")
    assert not again.api.is_ready()
    assert "kept" in names(stays)
    local.stop(again)
    local.stop(stays)


def test_a_cluster_starts_and_stops_in_seconds(
    programs: Mapping[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Generous limits, because a busy machine is no failure; ``tests/bench/bench_clusters.py`` has the targets."""
    begin = time.monotonic()
    with LocalKubernetes(programs, parent=tmp_path) as local:
        local.start("a")
        ready = time.monotonic()
        used = {name: memory(pid) for name, pid in {"warden": local.warden, **local.pids()}.items()}
        with capsys.disabled():
            parts = ", ".join(f"{name.rpartition('/')[2]} {size}" for name, size in used.items())
            print(f"\nlocal cluster: ready in {ready - begin:.1f} s, {sum(used.values())} MB ({parts})")  # noqa: T201
        end = time.monotonic()
    stopped = time.monotonic() - end
    with capsys.disabled():
        print(f"local cluster: stopped in {stopped:.1f} s")  # noqa: T201
    assert ready - begin < 120
    assert stopped < 15
