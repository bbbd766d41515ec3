"""Digests of shapes and manifests: what was planned once must not look changed because Berth learnt a field.

A shape's digest is what a replica is compared by. If a manifest that nobody edited gets another, every replica of every
fleet is replaced at the next run. So a new field has no default that is written out, and this test pins what the sample
environment gives.
"""

from typing import Final

from automation.planning.shapes import cache_shape, replica_shape
from components.lock import shape_digest
from tests.support.api_manifests import Edit, load

REPLICAS: Final = {
    ("ml", "coder"): "sha256:8e4a57ba51c87606f4dbee126ee4941c4c42c952f04f57341f2b2aeddc0bb874",
    ("ml", "qwen"): "sha256:7a0bb32fbf1a54f43086ad546f9e57d1455d87e343b54f500f1ab03ba9fe4b91",
}
CACHES: Final = {("ml", "weights"): "sha256:2f36b203737d6e36ed15eea335ce12ee56b0ae59d58414614a634bc6b79e5bf3"}
PLATFORM: Final = "sha256:c0977598a5372ba99d973f2708979b19cd67ab259471df48be1fc97845b45819"
NAMESPACE: Final = "sha256:8f915b7118a05c715ba95d386f33f15316322b196244401f2b7466881e3b20e6"


AS_PINNED = Edit("east", "className: h100x8\n    nodeCount: 2\n", "className: h100x8\n")
"""The cluster as it was when its digest was taken."""


def test_shapes_of_unedited_manifests_keep_their_digests() -> None:
    """A difference here would surge every fleet: give the new field the default None instead of renewing this."""
    fleet = load().raise_if_errors()
    assert {
        key: shape_digest(replica_shape(fleet, deployment)) for key, deployment in fleet.deployments.items()
    } == REPLICAS
    assert {key: shape_digest(cache_shape(cache)) for key, cache in fleet.caches.items()} == CACHES


def test_unedited_manifests_keep_their_digests() -> None:
    """A difference here would call every committed lock stale."""
    fleet = load(AS_PINNED).raise_if_errors()
    assert (fleet.platform_digest(), fleet.namespace_digest("ml")) == (PLATFORM, NAMESPACE)
