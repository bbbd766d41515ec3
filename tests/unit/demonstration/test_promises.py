"""What the demonstration holds against the lock."""

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from automation.demonstration.pods import Device, Pod
from automation.demonstration.promises import Promises
from components.lock import (
    Claim,
    EnginePlacement,
    EngineShape,
    Lock,
    MemberPlacement,
    MemberShape,
    NamespaceLock,
    PlatformLock,
    ReplicaEntry,
    ReplicaShape,
    RequestShape,
    shape_digest,
)

GOOD, NEWER = "registry.test/engine:v1", "registry.test/engine:v2"


def lock(*names: str, image: str = GOOD, count: int = 2, copies: int = 1) -> Lock:
    """Give a lock with these replicas on the cluster ``gpu-a``, in the pool ``l40s``."""
    request = RequestShape(name="gpu", count=count, selectors=())
    unclaimed = RequestShape(name="nic", count=1, selectors=())
    template: dict[str, Any] = {"spec": {"containers": [{"name": "engine", "image": image}]}}
    member = MemberShape(role="Standalone", requests=(request, unclaimed), template=template)
    shape = ReplicaShape(engines=(EngineShape(name="vllm", copies=copies, members=(member,)),))
    claim = Claim(request="gpu", device_class="gpu.nvidia.com")
    placed = EnginePlacement(engine="vllm", members=(MemberPlacement(pool="l40s", claims=(claim,)),))
    key = shape_digest(shape)
    replicas = [
        ReplicaEntry(deployment="e", cluster="gpu-a", index=index, name=name, shape=key, placement=(placed,))
        for index, name in enumerate(names)
    ]
    part = NamespaceLock(berth="1", namespace="search", digest="d", replicas=tuple(replicas), shapes={key: shape})
    return Lock(PlatformLock(berth="1", environment="local", digest="d"), MappingProxyType({"search": part}))


def devices(*names: str, node: str = "n-0") -> tuple[Device, ...]:
    """Give devices for the request."""
    return tuple(Device("gpu", node, each) for each in names)


POD = Pod(
    cluster="gpu-a",
    namespace="search",
    name="e-0-x",
    replica="e-0",
    image=GOOD,
    node="n-0",
    pool="l40s",
    devices=devices("gpu-0", "gpu-1"),
    ready=True,
)


def broken(*pods: Pod, of: Lock | None = None, silent: tuple[str, ...] = ()) -> str:
    """Say what these pods do not keep of one replica's promise, or of another lock's."""
    promises = Promises()
    promises.renew(of or lock("e-0"))
    return "; ".join(promises.broken(promises.rows(pods), silent=silent))


def test_a_kept_promise_is_no_trouble() -> None:
    """With the pool, the image and the number of devices that the lock has."""
    assert broken(POD) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda pod: replace(pod, pool="l4"), "promised were l40s, 2 x gpu"),
        (lambda pod: replace(pod, devices=devices("gpu-0")), "found are l40s, 1 x gpu"),
        (lambda pod: replace(pod, devices=devices("gpu-0", "gpu-1", "gpu-2")), "found are l40s, 3 x gpu"),
        (lambda pod: replace(pod, image=NEWER), f"found are l40s, 2 x gpu, {NEWER}"),
        (lambda pod: replace(pod, devices=devices("gpu-0", "gpu-1", node="n-1")), "its devices are n-1/gpu-0"),
        (lambda pod: replace(pod, node="", pool="", devices=()), "its node is none"),
        (lambda pod: replace(pod, replica="e-7"), "no plan promised search/e-0-x on gpu-a"),
        (lambda pod: replace(pod, replica="e-7"), "search/e-0 on gpu-a has 0 pods of 1"),
        (lambda pod: replace(pod, cluster="gpu-b"), "no plan promised search/e-0-x on gpu-b"),
    ],
)
def test_what_differs_is_said(change: Callable[[Pod], Pod], said: str) -> None:
    """The lock says where and how many; nothing that the pod asks for does."""
    assert said in broken(change(POD))


def test_the_count_is_the_locks() -> None:
    """One that asks for four is not content with two."""
    assert "promised were l40s, 4 x gpu" in broken(POD, of=lock("e-0", count=4))


def test_every_copy_has_a_pod() -> None:
    """And each pod devices of its own."""
    other = replace(POD, name="e-0-y", devices=devices("gpu-2", "gpu-3"))
    assert broken(POD, other, of=lock("e-0", copies=2)) == ""
    assert "has 1 pods of 2" in broken(POD, of=lock("e-0", copies=2))
    assert "no plan promised search/e-0-y" in broken(POD, other)
    shared = replace(other, devices=devices("gpu-1", "gpu-3"))
    assert "gpu-a/n-0/gpu-1 has 2 owners" in broken(POD, shared, of=lock("e-0", copies=2))


def test_nothing_is_missed_on_a_silent_cluster() -> None:
    """It may all be there."""
    assert broken(silent=("gpu-a",)) == ""
    assert "has 0 pods of 1" in broken(silent=("gpu-b",))


def test_who_stays_on_is_held_to_the_plan_that_made_it() -> None:
    """A broken successor is in the lock, and its predecessor serves on."""
    promises = Promises()
    promises.renew(lock("e-0"))
    promises.renew(lock("e-1", image=NEWER))
    successor = replace(POD, name="e-1-x", replica="e-1", image=NEWER, devices=devices("gpu-2", "gpu-3"))
    rows = promises.rows([POD, successor])
    assert [row.earlier for row in rows] == [True, False]
    assert list(promises.broken(rows)) == []
    moved = replace(POD, pool="l4")
    assert [text for text in promises.broken(promises.rows([moved, successor])) if "promised were l40s" in text]
