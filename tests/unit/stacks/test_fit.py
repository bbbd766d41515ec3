"""Fit: a lock is applied with the manifests it was planned from, or not at all."""

import pytest

from components.errors import LockError
from components.lock import Lock
from stacks.fit import check_fit, misfits
from tests.support.samples import Placed, deployment, fleet_of, lock_of, small_files

FLEET = fleet_of(small_files())
LOCK = lock_of(FLEET, (Placed("ml", "qwen", "a", "gpu"),))


def edited(path: str, old: bytes, new: bytes) -> dict[str, bytes]:
    """Return the manifests with one text replaced."""
    files = small_files()
    assert old in files[path]
    files[path] = files[path].replace(old, new)
    return files


def test_lock_of_these_manifests_fits() -> None:
    """Whatever is placed or not."""
    check_fit(FLEET, LOCK, simulated=False)


@pytest.mark.parametrize(
    ("files", "want"),
    [
        (edited("models/ml/qwen.yaml", b"vllm:1", b"vllm:2"), ("ml",)),
        (edited("platform/a.yaml", b"nodeCount: 2", b"nodeCount: 3"), ("platform",)),
        ({**small_files(), "models/new/x.yaml": deployment("x", namespace="new")}, ("new",)),
        ({path: text for path, text in small_files().items() if "/ml/" not in path}, ("ml",)),
    ],
    ids=["deployment edited", "platform edited", "namespace added", "namespace gone"],
)
def test_lock_of_other_manifests_is_refused_with_the_command_that_renews_it(
    files: dict[str, bytes], want: tuple[str, ...]
) -> None:
    """The error names the files that no longer fit."""
    fleet = fleet_of(files)
    assert misfits(fleet, LOCK) == want
    with pytest.raises(LockError, match=f"lock/{want[0]}.yaml no longer fits") as caught:
        check_fit(fleet, LOCK, simulated=False)
    assert caught.value.help == "berth plan -e dev"


@pytest.mark.parametrize(
    "files",
    [
        edited("models/ml/qwen.yaml", b"spec:\n  replicas", b"# a comment\nspec:\n  replicas"),
        edited("models/ml/qwen.yaml", b"replicas: 1", b"replicas:   1"),
        {
            f"models/ml/moved-{path.rpartition('/')[2]}" if "/ml/" in path else path: t
            for path, t in small_files().items()
        },
    ],
    ids=["comment", "spelling", "renamed files"],
)
def test_what_changes_nothing_is_no_misfit(files: dict[str, bytes]) -> None:
    """Digests are over parsed manifests."""
    check_fit(fleet_of(files), LOCK, simulated=False)


def test_lock_of_another_environment_is_refused() -> None:
    """Two environments may have the same manifests but for the name."""
    platform = LOCK.platform.model_copy(update={"environment": "prod"})
    with pytest.raises(LockError, match="the lock is of environment prod, the manifests are of dev"):
        check_fit(FLEET, Lock(platform, LOCK.namespaces), simulated=False)


@pytest.mark.parametrize("simulated", [True, False])
def test_a_lock_of_real_clouds_may_be_rehearsed(*, simulated: bool) -> None:
    """The other way round it is refused: it was planned around replicas that only the simulation has."""
    check_fit(FLEET, LOCK, simulated=simulated)
    rehearsed = Lock(LOCK.platform.model_copy(update={"simulated": True}), LOCK.namespaces)
    check_fit(FLEET, rehearsed, simulated=True)
    with pytest.raises(LockError, match="planned for simulated clouds"):
        check_fit(FLEET, rehearsed, simulated=False)


@pytest.mark.parametrize(
    ("planned", "run"),
    [("simulated", "real"), ("simulated", "backed"), ("backed", "real"), ("backed", "simulated")],
)
def test_kinds_of_runs_refuse_each_others_locks(planned: str, run: str) -> None:
    """Each was planned around the live replicas of its own world; only a real one may be rehearsed."""
    kinds = {"real": {}, "simulated": {"simulated": True}, "backed": {"simulated": True, "backed": True}}
    lock = Lock(LOCK.platform.model_copy(update=kinds[planned]), LOCK.namespaces)
    check_fit(FLEET, lock, **{"simulated": False, **kinds[planned]})
    check_fit(FLEET, LOCK, **{"simulated": False, **kinds[run]})
    with pytest.raises(LockError, match=f"planned for {planned} clouds, and this run is a {run} one") as caught:
        check_fit(FLEET, lock, **{"simulated": False, **kinds[run]})
    assert caught.value.help == "berth plan -e dev"
