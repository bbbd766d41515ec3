"""The doctor asks about the clouds that an environment's clusters are on, and about no others."""

from pathlib import Path

import pytest

from automation.driver.needs import needs_of
from automation.engine.toolchain.clouds import NOTHING, Login
from automation.engine.toolchain.finding import Status
from tests.support.samples import environment_files, small_files


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of environments and work there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place: Path, files: dict[str, bytes]) -> None:
    """Write the environment ``dev``."""
    for path, content in files.items():
        file = place / "dev" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def test_identities_are_those_that_clusters_use(place: Path) -> None:
    """Each with its profile and its clusters; a cluster that is lost needs no login."""
    files = environment_files()
    environment = files["environment.yaml"].decode()
    assert "providers" not in environment
    write(place, files)
    check, needs = needs_of("dev", environments=place)
    assert (check.status, check.found) == (Status.OK, "EKS: eks-euw1, eks-use1; Existing: edge")
    assert needs.aws == (Login("default", "", ("eks-euw1", "eks-use1")),)


def test_an_environment_on_clusters_that_exist_needs_nothing(place: Path) -> None:
    """Their logins are in their kubeconfigs."""
    write(place, small_files())
    assert needs_of("dev", environments=place)[1] == NOTHING


def test_broken_manifests_are_a_warning_and_a_missing_environment_is_none(place: Path) -> None:
    """The doctor is asked before the first environment is made, too."""
    check, needs = needs_of("dev", environments=place)
    assert (check.status, needs) == (Status.OK, NOTHING)
    assert "there is no environment 'dev'" in check.found
    write(place, {**small_files(), "platform/a.yaml": b"["})
    check, needs = needs_of("dev", environments=place)
    assert (check.status, check.fix, needs) == (Status.WARNING, "berth validate -e dev", NOTHING)
