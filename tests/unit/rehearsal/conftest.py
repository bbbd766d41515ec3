"""Simulated providers for unit tests: installed once, then served in the test's process with a cloud of its own."""

import hashlib
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from automation.rehearsal import derive
from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.install import install
from automation.rehearsal.provider.faults import VARIABLE
from tests.support.simulated import Provider, kubeconfig, make_cluster, serving, settings_for


@pytest.fixture(scope="session")
def rules_folder() -> Path:
    """Name where derived rules are kept between test runs; another way of deriving them is another folder."""
    digest = hashlib.sha256(Path(derive.__file__).read_bytes()).hexdigest()[:12]
    return Path(__file__).resolve().parents[3] / ".berth" / "test-rules" / digest


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, rules_folder: Path) -> Path:
    """Install the providers, which derives the rules of every type in the tables."""
    home = tmp_path_factory.mktemp("home")
    install(home, interpreter=Path(sys.executable), database=home / "cloud.db", rules=rules_folder)
    return home


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Name the file of the test's own cloud."""
    return tmp_path / "cloud.db"


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name the file of the test's scenario; it does not exist until the test writes it."""
    path = tmp_path / "scenario.json"
    monkeypatch.setenv(VARIABLE, str(path))
    return path


@pytest.fixture
def cloud(database: Path, scenario: Path) -> SimulatedCloud:
    """Open the test's own cloud by its back door."""
    return SimulatedCloud(database, scenario=scenario)


@pytest.fixture
def aws(installed: Path, database: Path, scenario: Path) -> Generator[Provider]:
    """Serve a configured AWS provider."""
    with serving(settings_for(installed, "aws", database=database)) as provider:
        yield provider.configure(region="us-east-1")


@pytest.fixture
def kubernetes(installed: Path, database: Path, scenario: Path) -> Generator[Callable[..., Provider]]:
    """Give a maker of Kubernetes providers, each a process of its own to the engine, configured as asked."""
    with ExitStack() as stack:

        def make(server: str = "", **config: object) -> Provider:
            provider = stack.enter_context(serving(settings_for(installed, "kubernetes", database=database)))
            return provider.configure(**({"kubeconfig": kubeconfig(server)} if server else {}), **config)

        yield make


@pytest.fixture
def existing(kubernetes: Callable[..., Provider]) -> Provider:
    """Give a Kubernetes provider of a cluster that was made elsewhere."""
    return kubernetes("https://edge.test:6443", clusterIdentifier="edge")


@pytest.fixture
def east(aws: Provider) -> dict[str, Any]:
    """Make a simulated EKS cluster named ``east``; gives its outputs."""
    return make_cluster(aws)[0]


@pytest.fixture
def eks(kubernetes: Callable[..., Provider], east: dict[str, Any]) -> Provider:
    """Give a Kubernetes provider of that cluster."""
    return kubernetes(east["endpoint"], clusterIdentifier="eks-east")
