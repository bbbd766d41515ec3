"""Digests of a fleet: what changes them, and what must not."""

import pytest

from components.api.fleet import Fleet
from components.api.load import load_fleet
from components.api.secrets import secret_uses
from tests.support.api_manifests import OWN, Edit, files, load

BASE = load().raise_if_errors()


def digests(fleet: Fleet) -> tuple[str, str]:
    """Return the platform's digest and that of the one namespace."""
    return fleet.platform_digest(), fleet.namespace_digest("ml")


SAME = [
    ("a comment", [Edit("east", "spec:", "spec: # comment")]),
    ("an explicit default", [Edit("east", "    className: l4", "    className: l4\n    fabric: {type: None}")]),
    (
        "an explicit default of a block",
        [Edit("coder", "      engines:", "      serving: {mode: Unified}\n      engines:")],
    ),
    ("Berth's apiVersion", [Edit("east", *OWN)]),
    ("an explicit default of Berth's own", [Edit("east", *OWN), Edit("east", "spec:", "spec:\n  removing: false")]),
    (
        "an explicit default network",
        [Edit("east", *OWN), Edit("east", "us-east-1\n", "us-east-1\n      network: {}\n")],
    ),
    ("key order", [Edit("east", "    className: l4\n    nodeCount: 2\n", "    nodeCount: 2\n    className: l4\n")]),
    ("quotes", [Edit("east", "name: east", "name: 'east'")]),
    ("the namespace written out", [Edit("qwen", "name: qwen\n", "name: qwen\n  namespace: ml\n")]),
    ("an empty value", [Edit("edge", "spec:", "spec:\n  taints:")]),
]


@pytest.mark.parametrize("edits", [edits for _, edits in SAME], ids=[name for name, _ in SAME])
def test_what_means_the_same_has_the_same_digest(edits: list[Edit]) -> None:
    """A reviewer never sees a lock change for nothing."""
    assert digests(load(*edits).raise_if_errors()) == digests(BASE)


PLATFORM = [
    Edit("east", "nodeCount: 2", "nodeCount: 3"),
    Edit("east", "tier: prod", "tier: dev"),
    Edit("classes", "81559Mi", "81560Mi"),
    Edit("gateway", "40.2.0", "40.3.0"),
    Edit("environment", "layout: Single", "layout: PerCluster"),
]


@pytest.mark.parametrize("edit", PLATFORM)
def test_a_platform_change_changes_the_platform_s_digest_alone(edit: Edit) -> None:
    """Teams' locks stay as they are."""
    platform, namespace = digests(load(edit).raise_if_errors())
    assert platform != BASE.platform_digest()
    assert namespace == BASE.namespace_digest("ml")


MODELS = [
    Edit("qwen", "replicas: 2", "replicas: 3"),
    Edit("qwen", "v0.23.0", "v0.24.0"),
    Edit("service", "weight: 95", "weight: 94"),
    Edit("cache", "revision: main", "revision: v2"),
    Edit("endpoint", "rewritePath: /", "rewritePath: /v1"),
    Edit("qwen", "name: gpu\n", "name: gpus\n"),
]


@pytest.mark.parametrize("edit", MODELS)
def test_a_model_change_changes_its_namespace_s_digest_alone(edit: Edit) -> None:
    """The platform's lock stays as it is."""
    platform, namespace = digests(load(edit).raise_if_errors())
    assert platform == BASE.platform_digest()
    assert namespace != BASE.namespace_digest("ml")


def test_namespaces_do_not_touch_each_other() -> None:
    """A new team's document leaves the others' digests alone."""
    service = files()["models/ml/service.yaml"]
    fleet = load(**{"models/other/s.yaml": service.decode()}).raise_if_errors()
    assert digests(fleet) == digests(BASE)
    assert fleet.namespaces == ("ml", "other")
    assert fleet.namespace_digest("other") != fleet.namespace_digest("ml")
    assert fleet.namespace_digest("other") != fleet.namespace_digest("none")


def test_digests_say_how_they_were_made() -> None:
    """The prefix names the hash."""
    for digest in digests(BASE):
        assert digest.startswith("sha256:")
        assert len(digest) == len("sha256:") + 64


def test_moving_documents_between_files_changes_nothing() -> None:
    """Where a document stands is no part of what it says."""
    found = files()
    found["models/ml/all.yaml"] = b"---\n".join(
        found.pop(path) for path in sorted(found, reverse=True) if path.startswith("models/")
    )
    fleet = load_fleet(found.items()).raise_if_errors()
    assert fleet == BASE
    assert digests(fleet) == digests(BASE)


def test_every_document_of_a_fleet_can_be_walked() -> None:
    """The environment first, then kind by kind, each sorted."""
    keys = [document.key for document in BASE.documents()]
    assert keys[0] == ("Environment", "", "dev")
    assert set(keys) == set(BASE.sources)
    assert len(keys) == len(BASE.sources)


def test_every_use_of_a_secret_is_known_with_its_key() -> None:
    """Planning asks the configuration for exactly these."""
    uses = {(use.secret, use.key) for use in secret_uses(BASE.documents())}
    assert uses == {("modelplane-system/edge-kubeconfig", "kubeconfig"), ("ml/hf", "HF_TOKEN"), ("ml/hf", "token")}
