"""The programs of a local control plane, found or installed once for all tests with one."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from automation.engine.toolchain.install import ensure_tool, locate_tool
from automation.engine.toolchain.kubernetes import PROVIDER, kubernetes_tools
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes
from tests.support.kubernetes_minor import MINOR
from tests.support.pod_watch import PodWatch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def programs(tell: Callable[[str], None]) -> Mapping[str, Path]:
    """Give the programs of this checkout, or those in the folder that ``BERTH_TEST_KUBERNETES`` names."""
    given = os.environ.get("BERTH_TEST_KUBERNETES")
    sources = [Source.PATH] if given else None
    environ = {"PATH": str(Path(given).resolve())} if given else None
    return {
        tool.name: ensure_tool(tool, Layout(ROOT), progress=tell, sources=sources, environ=environ).path
        for tool in kubernetes_tools(MINOR)
    }


@pytest.fixture(scope="session")
def provider() -> Path:
    """Give Pulumi's Kubernetes provider; without it the tests with it are skipped: building it takes minutes."""
    found, failures = locate_tool(PROVIDER, Layout(ROOT))
    if found is None:
        why = "; ".join(failures.values()) or "not installed"
        pytest.skip(f"{PROVIDER.phrase} is not there ({why}); `make provider-kubernetes` gets it")
    return found.path


@pytest.fixture(scope="session")
def local(programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKubernetes]:
    """Run local clusters for all tests that do not end them."""
    with LocalKubernetes(programs, parent=tmp_path_factory.mktemp("runs"), minor=MINOR.name) as local:
        yield local


@pytest.fixture(scope="session")
def shared(local: LocalKubernetes) -> LocalCluster:
    """Give one cluster to all tests that keep to nodes and namespaces of their own."""
    cluster = local.start("shared")
    cluster.install_device_classes()
    return cluster


@pytest.fixture(scope="session")
def pods(shared: LocalCluster) -> Iterator[PodWatch]:
    """Watch the pods of the shared cluster."""
    with PodWatch(shared) as pods:
        yield pods
