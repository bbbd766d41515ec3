"""The entry of plain Pulumi: a stack's name becomes an environment, and errors of ours stay readable."""

import json
import re
from pathlib import Path

import pulumi
import pytest

from components.errors import ConfigError, LockError, Problem
from stacks.entry import message, project_root, run
from stacks.environment import write_lock
from tests.support.mini_engine import Recorded, run_program
from tests.support.samples import EDGE_SECRETS, Placed, fleet_of, lock_of, small_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment in a repo that holds nothing of Berth."""
    for path, content in small_files().items():
        target = tmp_path / "dev" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    monkeypatch.setenv("BERTH_ENVIRONMENTS", str(tmp_path))
    return tmp_path / "dev"


def applied(stack: str = "dev") -> Recorded:
    """Run the entry as the language host does."""
    secrets = json.dumps(dict(EDGE_SECRETS))
    return run_program(run, stack=stack, secret_config={"berth:secrets": secrets}, check=False)


def test_committed_lock_is_what_is_built(folder: Path) -> None:
    """From the files alone, with the configuration of the stack."""
    fleet = fleet_of(small_files())
    write_lock(folder, lock_of(fleet, (Placed("ml", "qwen", "b", "gpu"),)))
    recorded = applied()
    assert recorded.error == ""
    assert recorded.one("berth:index:Replica").name == "ml/qwen/b/0"


def test_environment_without_a_lock_says_how_to_get_one(folder: Path) -> None:
    """Nothing is guessed."""
    recorded = applied()
    assert "environment dev has no lock" in recorded.error
    assert "help: berth plan -e dev" in recorded.error


def test_lock_of_older_manifests_is_refused(folder: Path) -> None:
    """The past is not built without saying so."""
    write_lock(folder, lock_of(fleet_of(small_files()), ()))
    path = folder / "models/ml/qwen.yaml"
    path.write_bytes(path.read_bytes().replace(b"vllm:1", b"vllm:2"))
    assert "lock/ml.yaml no longer fits" in applied().error


def test_broken_manifest_shows_every_problem_with_its_place(folder: Path) -> None:
    """A typo is the user's to read, not a bug of the program."""
    path = folder / "models/ml/qwen.yaml"
    path.write_bytes(path.read_bytes().replace(b"replicas: 1", b"replica: 1"))
    error = applied().error
    assert re.search(r"models/ml/qwen\.yaml:\d+:\d+: .*replica", error)


def test_stack_of_no_environment_says_where_it_looked(folder: Path) -> None:
    """The name of a stack is the name of a folder."""
    assert f"{folder.parent}/other" in applied("other").error


def test_stack_of_no_cluster_lists_those_there_are(folder: Path) -> None:
    """With one stack for everything there is none for a cluster."""
    write_lock(folder, lock_of(fleet_of(small_files()), ()))
    assert "environment dev has no stack dev.a; it has dev" in applied("dev.a").error


def test_errors_end_the_run_as_pulumi_wants_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A RunError is shown without a traceback by every language host."""
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    monkeypatch.setattr(pulumi, "get_root_directory", lambda: str(folder))
    with pytest.raises(pulumi.RunError, match="has no lock") as caught:
        run()
    assert isinstance(caught.value.__cause__, LockError)


def test_project_of_a_simulated_run_finds_the_environments_of_the_real_one(tmp_path: Path) -> None:
    """It lies inside the checkout and has no environments of its own."""
    inner = tmp_path / ".berth" / "simulated" / "project"
    inner.mkdir(parents=True)
    (tmp_path / "stacks" / "environments").mkdir(parents=True)
    assert project_root(inner) == tmp_path
    assert project_root(Path("/nowhere/else")) == Path("/nowhere/else")


def test_message_lists_problems_then_consequence_then_help() -> None:
    """Problems without a file show their path."""
    error = ConfigError([Problem("x", "is wrong", path="spec.a", help="do this")])
    assert message(error) == ("1 problem in the manifests\n  spec.a: is wrong\n  help: do this\nNothing was changed.")
