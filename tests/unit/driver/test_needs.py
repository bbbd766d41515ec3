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
    check, needs = needs_of("dev", named=True, environments=place)
    assert (check.status, check.found) == (Status.OK, "EKS: eks-euw1, eks-use1; Existing: edge")
    assert needs.aws == (Login("default", "", ("eks-euw1", "eks-use1")),)


def test_an_environment_on_clusters_that_exist_needs_nothing(place: Path) -> None:
    """Their logins are in their kubeconfigs."""
    write(place, small_files())
    assert needs_of("dev", named=False, environments=place)[1] == NOTHING


@pytest.mark.parametrize(("named", "status"), [(True, Status.PROBLEM), (False, Status.WARNING)])
def test_an_environment_that_is_missing_or_wrong_is_a_problem_where_it_was_named(
    place: Path, *, named: bool, status: Status
) -> None:
    """The doctor is asked before the first environment is made, too: then it is a word about what comes next."""
    check, needs = needs_of("dev", named=named, environments=place)
    assert (check.status, needs) == (status, NOTHING)
    assert "there is no environment 'dev'" in check.found
    assert ("none was named" in check.found) is not named
    assert check.fix.startswith("berth init dev")
    write(place, {**small_files(), "platform/a.yaml": b"["})
    check, needs = needs_of("dev", named=named, environments=place)
    assert (check.status, check.fix, needs) == (status, "berth validate -e dev", NOTHING)
    assert needs_of("prod", named=named, environments=place)[0].fix.startswith("-e dev")


def test_a_name_that_no_environment_can_have_is_found(place: Path) -> None:
    """A path, above all."""
    check, _ = needs_of("./dev", named=True, environments=place)
    assert check.status is Status.PROBLEM
    assert "not a DNS label" in check.found
