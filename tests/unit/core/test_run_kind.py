"""Which kind of run a lock was planned for, also of a lock that a merge tore."""

import pytest

from components.lock import PLATFORM_FILE, Lock, PlatformLock, dump_lock
from components.run_kind import RunKind, kind_of_lock

MARKS: dict[RunKind, dict[str, bool]] = {
    RunKind.REAL: {},
    RunKind.SIMULATED: {"simulated": True},
    RunKind.BACKED: {"simulated": True, "backed": True},
}


def written(kind: RunKind) -> dict[str, bytes]:
    """Return the files of a lock of that kind."""
    head = {"berth": "1", "environment": "dev", "digest": "sha256:1"}
    return dump_lock(Lock(PlatformLock.from_json({**head, **MARKS[kind]})))


def kind_of(files: dict[str, bytes]) -> RunKind | None:
    """Return the kind of a lock."""
    return kind_of_lock(files, platform=PLATFORM_FILE)


@pytest.mark.parametrize("kind", RunKind)
def test_what_is_written_is_found_again(kind: RunKind) -> None:
    """By the text as by the value."""
    head = PlatformLock.from_json({"berth": "1", "environment": "dev", "digest": "sha256:1", **MARKS[kind]})
    assert kind_of(written(kind)) is head.planned_for is kind
    assert kind_of({"ml.yaml": b"kind: NamespaceLock\n", **written(kind)}) is kind


@pytest.mark.parametrize("files", [{}, {PLATFORM_FILE: b""}, {PLATFORM_FILE: b" \n", "ml.yaml": b""}])
def test_a_lock_that_holds_nothing_has_no_kind(files: dict[str, bytes]) -> None:
    """Nothing is lost with it."""
    assert kind_of(files) is None


def conflict(ours: bytes, theirs: bytes) -> bytes:
    """Return what a merge leaves of two versions of some lines."""
    return b"<<<<<<< ours\n" + ours + b"=======\n" + theirs + b">>>>>>> theirs\n"


def test_a_torn_lock_is_a_rehearsals_only_when_both_sides_say_so() -> None:
    """In doubt it is real: that one must not be lost."""
    digests = conflict(b"digest: sha256:1\n", b"digest: sha256:2\n")
    (text,) = written(RunKind.SIMULATED).values()
    assert kind_of({PLATFORM_FILE: text.replace(b"digest: sha256:1\n", digests)}) is RunKind.SIMULATED
    mark = b"simulated: true\n"
    assert kind_of({PLATFORM_FILE: text.replace(mark, conflict(b"", mark))}) is RunKind.REAL
    assert kind_of({PLATFORM_FILE: digests + text.replace(mark, b"") + digests}) is RunKind.REAL
    assert kind_of({"ml.yaml": b"kind: NamespaceLock\nsimulated: true\n"}) is RunKind.REAL
