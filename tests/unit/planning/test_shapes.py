"""Shapes: what of a manifest makes another replica or another copy of a cache, and what does not."""

from typing import Any

import pytest

from automation.planning.shapes import cache_shape, replica_shape
from components.errors import SchedulingError
from components.lock import shape_digest
from tests.unit.planning.world import cache, cluster, deployment, document, fleet


def digest(one: dict[str, Any], *others: dict[str, Any]) -> str:
    """Return the digest of a deployment's shape."""
    loaded = fleet(cluster("a", storage=True), cache("weights"), one, *others)
    return shape_digest(replica_shape(loaded, loaded.deployments["ml", "d"]))


BASE = deployment("d")


@pytest.mark.parametrize(
    "other",
    [
        deployment("d", image="vllm:2"),
        deployment("d", count=4),
        deployment("d", cache="weights"),
    ],
    ids=["image", "devices", "cache"],
)
def test_what_runs_is_the_shape(other: dict[str, Any]) -> None:
    """An edit of it is another shape."""
    assert digest(other) != digest(BASE)


@pytest.mark.parametrize(
    "other",
    [
        deployment("d", 7),
        deployment("d", labels={"app": "other"}),
        deployment("d", tolerations=[{"key": "k", "operator": "Exists"}]),
        deployment("d", gap=True),
    ],
    ids=["replicas", "labels", "tolerations", "surge"],
)
def test_how_many_and_where_is_not(other: dict[str, Any]) -> None:
    """An edit of it leaves what runs alone."""
    assert digest(other) == digest(BASE)


def test_a_shape_is_resolved_and_reads_back() -> None:
    """Selectors are verbatim, defaults filled in, the cache pinned to its revision; JSON gives the same value."""
    loaded = fleet(cluster("a", storage=True), cache("weights"), deployment("d", cache="weights"))
    shape = replica_shape(loaded, loaded.deployments["ml", "d"])
    (member,) = shape.engines[0].members
    assert (member.role, member.pods, member.requests[0].count) == ("Standalone", 1, 8)
    assert member.requests[0].selectors == (
        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('70Gi')) >= 0",
    )
    assert member.template["spec"]["containers"][0]["image"] == "vllm:1"
    assert shape.cache is not None
    assert shape.cache.shape == shape_digest(cache_shape(loaded.caches["ml", "weights"]))
    assert type(shape).from_json(shape.to_json()) == shape


def test_workers_count_as_pods_of_the_gang() -> None:
    """A worker's nodes are its pods; without the block there is one."""
    pod = {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}}
    request = {"name": "gpu", "count": 8, "selectors": [{"cel": "device.driver == 'gpu.nvidia.com'"}]}
    leader = {"role": "Leader", "nodeSelector": {"devices": [request]}, "template": pod}
    for block, pods in (({"worker": {"nodes": 3}}, 3), ({}, 1)):
        worker = {"role": "Worker", "template": pod, **block}
        spec = {"engines": [{"name": "main", "copies": 2, "members": [leader, worker]}]}
        body = {"replicas": 1, "template": {"spec": spec}}
        loaded = fleet(cluster("a"), document("ModelDeployment", "d", body, namespace="ml"))
        engine = replica_shape(loaded, loaded.deployments["ml", "d"]).engines[0]
        assert (engine.copies, engine.members[0].pods, engine.members[1].pods) == (2, 1, pods)


def test_a_cache_is_its_source_and_size() -> None:
    """Where it is staged is not part of it."""
    loaded = fleet(
        cluster("a"),
        cache("one"),
        cache("two", revision="v2"),
        cache("three", selector={"a": "b"}),
    )
    one, two, three = (cache_shape(loaded.caches["ml", name]) for name in ("one", "two", "three"))
    assert one == three
    assert shape_digest(one) != shape_digest(two)


def test_a_missing_cache_is_an_error_that_keeps_replicas() -> None:
    """Without its revision the shape is not known."""
    loaded = fleet(cluster("a", storage=True), cache("weights"), deployment("d", cache="weights"))
    wanted = loaded.deployments["ml", "d"]
    with pytest.raises(SchedulingError, match="ml/d reads cache weights, which has no manifest"):
        replica_shape(fleet(cluster("a")), wanted)


def test_a_cache_without_a_source_is_refused() -> None:
    """Loading asks for one; nothing is staged from nowhere."""
    manifest = fleet(cluster("a"), cache("w")).caches["ml", "w"]
    spec = manifest.spec.model_copy(update={"hugging_face": None})
    with pytest.raises(SchedulingError, match="ml/w names no source"):
        cache_shape(manifest.model_copy(update={"spec": spec}))
