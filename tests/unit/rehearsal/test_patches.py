"""Patch resources on simulated clusters: adopt what is there, create what is not, and never delete."""

from tests.support.simulated import Provider

NAMESPACE = "kubernetes:core/v1:Namespace"
PATCH = "kubernetes:core/v1:NamespacePatch"
CONFIG = "kubernetes:core/v1:ConfigMap"


def space(**labels: str) -> dict[str, dict[str, object]]:
    """Write a namespace's inputs."""
    return {"metadata": {"name": "ml", "labels": labels}}


def test_patch_creates_the_namespace_that_is_missing(eks: Provider) -> None:
    """Objects can be put into it, as into any other."""
    inputs, failures = eks.check(PATCH, "n", space(a="1"))
    assert failures == []
    id_, outputs = eks.create(PATCH, "n", inputs)
    assert (id_, outputs["kind"], outputs["status"]) == ("ml", "Namespace", {"phase": "Active"})
    config, _ = eks.create(CONFIG, "c", {"metadata": {"name": "c", "namespace": "ml"}, "data": {"k": "v"}})
    assert config == "ml/c"


def test_patch_takes_over_a_namespace_that_is_there(existing: Provider) -> None:
    """What others set stays, and its identity too."""
    _, before = existing.create(NAMESPACE, "theirs", space(theirs="1", both="1"))
    id_, after = existing.create(PATCH, "ours", space(both="2"))
    assert id_ == "ml"
    assert after["metadata"]["labels"] == {"theirs": "1", "both": "2"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_deleted_patch_leaves_the_object_and_can_come_back(existing: Provider) -> None:
    """A namespace that was retained is adopted by the next run."""
    id_, _ = existing.create(PATCH, "n", space(a="1"))
    existing.delete(PATCH, "n", id_)
    assert existing.read(PATCH, "n", id_, inputs=space(a="1"))
    assert existing.create(PATCH, "n", space(a="2"))[0] == id_


def test_renamed_patch_is_a_replacement(existing: Provider) -> None:
    """Another name is another object."""
    other = {"metadata": {"name": "other"}}
    assert existing.diff(PATCH, "n", space(), other).replaces == ("metadata.name",)
