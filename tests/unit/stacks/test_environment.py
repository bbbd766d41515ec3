"""The environment's folder: what is read, and how the lock is written."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.errors import ConfigError, DriverError, LockError
from components.lock import Lock, dump_lock
from stacks.environment import (
    environment_folder,
    read_environment,
    read_lock,
    read_manifests,
    write_lock,
)
from tests.support.samples import Placed, deployment, fleet_of, lock_of, small_files

FLEET = fleet_of(small_files())
LOCK = lock_of(FLEET, (Placed("ml", "qwen", "a", "gpu"),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an environment's folder on disk."""
    for path, content in small_files().items():
        target = tmp_path / "dev" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return tmp_path / "dev"


def lock_files(folder: Path) -> dict[str, bytes]:
    """Return the lock's files as they are on disk, temporary ones too."""
    return {path.name: path.read_bytes() for path in sorted((folder / "lock").iterdir())}


def test_manifests_and_lock_are_read_back(folder: Path) -> None:
    """What was written is what is read."""
    write_lock(folder, LOCK)
    loaded, lock = read_environment(folder)
    assert loaded.raise_if_errors() == FLEET
    assert lock == LOCK


def test_folder_without_a_lock_has_none(folder: Path) -> None:
    """It was never planned."""
    assert read_environment(folder)[1] is None
    (folder / "lock").mkdir()
    assert read_lock(folder) is None


def test_hidden_and_other_files_are_passed_over(folder: Path) -> None:
    """Editors and checkouts leave all sorts of things."""
    for name in (".git/config.yaml", "models/ml/.swp.yaml", "README.md", "lock/ignored.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{not yaml")
    assert read_manifests(folder).raise_if_errors() == FLEET


@pytest.mark.parametrize("name", ["qwen.YAML", "qwen.Yml"])
def test_an_ending_in_capitals_is_read_too(folder: Path, name: str) -> None:
    """Passed over, what the file holds would be taken for deleted, and its replicas would be retired."""
    (folder / "models/ml/qwen.yaml").rename(folder / "models/ml" / name)
    assert read_manifests(folder).raise_if_errors().deployments == FLEET.deployments


def test_what_cannot_be_read_is_an_error_and_not_passed_over(folder: Path) -> None:
    """What it may hold would be taken for deleted: links that lead nowhere, files and folders without permission."""
    (folder / "models/ml/link.yaml").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "platform/pipe.yaml")
    (folder / "models/loop").symlink_to(folder / "models")
    (folder / "models/ml/.#qwen.yaml").symlink_to("somebody@host.41")
    shut = folder / "models/shut"
    shut.mkdir()
    read, listed = Path.read_bytes, Path.iterdir

    def refuse_file(self: Path) -> bytes:
        if self.name == "qwen.yaml":
            raise PermissionError(13, "Permission denied")
        return read(self)

    def refuse_folder(self: Path) -> Iterator[Path]:
        if self == shut:
            raise PermissionError(13, "Permission denied")
        return listed(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse_file)
        patch.setattr(Path, "iterdir", refuse_folder)
        with pytest.raises(ConfigError) as caught:
            read_manifests(folder)
    assert {(problem.file, problem.message) for problem in caught.value.problems} == {
        (str(folder / "models/loop"), "cannot be read: leads back to a folder above it"),
        (str(folder / "models/ml/link.yaml"), "cannot be read: a link that leads nowhere"),
        (str(folder / "models/ml/qwen.yaml"), "cannot be read: Permission denied"),
        (str(shut), "cannot be read: Permission denied"),
        (str(folder / "platform/pipe.yaml"), "cannot be read: not a file"),
    }


def test_links_are_followed(folder: Path, tmp_path: Path) -> None:
    """To files and to folders: environments share classes that way."""
    (folder / "models").rename(tmp_path / "elsewhere")
    (folder / "models").symlink_to(tmp_path / "elsewhere")
    assert read_manifests(folder).raise_if_errors() == FLEET


def test_broken_lock_names_its_file(folder: Path) -> None:
    """And leaves the manifests readable for whoever plans again."""
    write_lock(folder, LOCK)
    (folder / "lock" / "ml.yaml").write_text("kind: [")
    with pytest.raises(LockError, match=r"lock/ml\.yaml"):
        read_environment(folder)
    assert read_manifests(folder).raise_if_errors() == FLEET


def test_writing_returns_what_changed_and_touches_nothing_else(folder: Path) -> None:
    """Writing the same lock again writes nothing."""
    names = [path.name for path in write_lock(folder, LOCK)]
    assert names == ["ml.yaml", "platform.yaml"]
    before = {path: path.stat().st_mtime_ns for path in (folder / "lock").iterdir()}
    assert write_lock(folder, LOCK) == ()
    assert {path: path.stat().st_mtime_ns for path in (folder / "lock").iterdir()} == before


def test_files_of_namespaces_that_are_gone_are_removed(folder: Path) -> None:
    """A lock on disk is one lock."""
    files = {**small_files(), "models/new/x.yaml": deployment("x", namespace="new")}
    write_lock(folder, lock_of(fleet_of(files), ()))
    assert "new.yaml" in lock_files(folder)
    assert [path.name for path in write_lock(folder, LOCK)] == ["ml.yaml", "new.yaml"]
    assert lock_files(folder) == dump_lock(LOCK)


def test_full_disk_leaves_the_old_lock_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are written before the first one takes its place, and none is left behind."""
    write_lock(folder, LOCK)
    before = lock_files(folder)
    calls: list[int] = []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    empty = Lock(LOCK.platform.model_copy(update={"berth": "9"}), {})
    other = {name: part.model_copy(update={"berth": "9"}) for name, part in LOCK.namespaces.items()}
    with pytest.raises(DriverError, match="No space left on device"):
        write_lock(folder, empty.with_namespaces(other))
    assert lock_files(folder) == before


def test_folder_of_environments_is_option_then_variable_then_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repo that holds no source of Berth says where its environments are."""
    monkeypatch.delenv("BERTH_ENVIRONMENTS", raising=False)
    assert environment_folder(tmp_path, "dev") == tmp_path / "stacks" / "environments" / "dev"
    monkeypatch.setenv("BERTH_ENVIRONMENTS", "fleet")
    assert environment_folder(tmp_path, "dev") == tmp_path / "fleet" / "dev"
    assert environment_folder(tmp_path, "dev", environments=Path("/other")) == Path("/other/dev")
