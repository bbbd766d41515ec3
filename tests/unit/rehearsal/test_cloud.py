"""The back door to the simulated cloud: listing, editing, orphans, comparing before with after."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automation.rehearsal.cloud import Known, SimulatedCloud, known_resources
from components.errors import DriverError
from tests.support.simulated import CLUSTER, ROLE, VPC, Provider, make_cluster

CONFIG = "kubernetes:core/v1:ConfigMap"
NET = {"cidrBlock": "10.0.0.0/16"}


def config(name: str = "c") -> dict[str, Any]:
    """Write a ConfigMap's inputs."""
    return {"metadata": {"name": name, "namespace": "default", "labels": {"berth.dev/environment": "dev"}}}


def test_resources_are_listed_with_who_asked_for_them(aws: Provider, eks: Provider, cloud: SimulatedCloud) -> None:
    """Type, id, tags, owner and times are there; globs and packages narrow the list."""
    aws.configure(region="us-east-1", defaultTags={"tags": {"owner": "dev"}})
    vpc, _ = aws.create(VPC, "net2", {**NET, "tags": {"a": "b"}})
    eks.create(CONFIG, "c", config())
    found = cloud.get(VPC, vpc)
    assert found is not None
    assert found.tags == {"owner": "dev", "a": "b"}
    assert found.urn == f"urn:pulumi:dev::sample::{VPC}::net2"
    assert (found.scope, found.uid, found.made_for) == ("aws/000000000000/us-east-1", "", "")
    obj = cloud.resources(package="kubernetes")[0]
    assert obj.tags == {"berth.dev/environment": "dev"}
    assert obj.uid.startswith("sim-")
    assert {item.type for item in cloud.resources(type="aws:iam/*")} == {ROLE}
    assert {item.id for item in cloud.resources(scope="https://*")} == {"default/c"}
    assert cloud.get(VPC, "sim-vpc-none") is None


def test_a_file_that_cannot_be_used_is_an_error_for_a_person(tmp_path: Path) -> None:
    """It says which file and what to do, whoever asks first; a full disk gets other help than a broken file."""
    file = tmp_path / "clouds.sqlite"
    file.write_bytes(b"no database" * 100)
    with pytest.raises(DriverError, match=r"clouds\.sqlite cannot be used: file is not a database") as broken:
        SimulatedCloud(file)
    assert broken.value.help.startswith(f"rm -r {tmp_path}")
    file.unlink()
    cloud = SimulatedCloud(file)
    for leftover in tmp_path.iterdir():
        leftover.unlink()
    file.mkdir()
    for ask in (cloud.resources, lambda: cloud.reachable("a"), lambda: cloud.get(VPC, "v")):
        with pytest.raises(DriverError, match="unable to open database file") as shut:
            ask()
        assert shut.value.help.startswith("free some space")


def test_orphans_are_what_no_state_knows(aws: Provider, cloud: SimulatedCloud) -> None:
    """Known resources, and what controllers keep for them, are no orphans; a resource that is gone is no matter."""
    vpc, _ = aws.create(VPC, "a", NET)
    lost, _ = aws.create(VPC, "b", NET)
    known = [Known(VPC, vpc), Known(VPC, "sim-vpc-gone")]
    assert [item.id for item in cloud.orphans(known)] == [lost]
    assert [item.id for item in cloud.orphans([])] == [vpc, lost]


def test_a_patch_knows_the_object_it_is_laid_upon(existing: Provider, cloud: SimulatedCloud) -> None:
    """The state has the patch, the cluster the object; they are one."""
    id_, outputs = existing.create("kubernetes:core/v1:NamespacePatch", "ml", {"metadata": {"name": "ml"}})
    known = Known("kubernetes:core/v1:NamespacePatch", id_, outputs["metadata"]["uid"])
    assert cloud.orphans([known]) == ()


def test_objects_of_one_name_on_two_clusters_are_told_apart(
    kubernetes: Callable[..., Provider], cloud: SimulatedCloud
) -> None:
    """The uid says which of them a state knows; a name alone must say its cluster."""
    _, known = kubernetes("https://one.test").create(CONFIG, "c", config())
    kubernetes("https://two.test").create(CONFIG, "c", config())
    uid = known["metadata"]["uid"]
    assert [item.scope for item in cloud.orphans([Known(CONFIG, "default/c", uid)])] == ["https://two.test"]
    with pytest.raises(LookupError, match="live in several scopes"):
        cloud.get(CONFIG, "default/c")
    assert cloud.get(CONFIG, "default/c", scope="*one*") is not None


def test_known_resources_come_from_an_exported_state() -> None:
    """Custom resources count, with their uid; components, providers and pending creations do not."""
    deployment = {
        "resources": [
            {"type": "pulumi:pulumi:Stack", "custom": False},
            {"type": "pulumi:providers:aws", "custom": True, "id": "x"},
            {"type": VPC, "custom": True, "id": "sim-vpc-1", "outputs": {"arn": "x"}},
            {"type": CONFIG, "custom": True, "id": "default/c", "outputs": {"metadata": {"uid": "sim-1"}}},
            {"type": VPC, "custom": True, "id": ""},
        ]
    }
    assert list(known_resources(deployment)) == [Known(VPC, "sim-vpc-1"), Known(CONFIG, "default/c", "sim-1")]
    assert list(known_resources({})) == []


def test_dumps_are_equal_when_nothing_changed(
    aws: Provider, eks: Provider, cloud: SimulatedCloud, tmp_path: Path
) -> None:
    """Reading and previewing changes nothing; creating and editing does. Without times, two runs are equal."""
    eks.create(CONFIG, "c", config())
    before = cloud.dump()
    assert json.loads(before)
    vpc = cloud.resources(type=VPC)[0].id
    aws.read(VPC, "net", vpc)
    aws.preview(VPC, "x", NET)
    assert cloud.dump() == before
    cloud.edit(VPC, vpc, {"tags.x": "y"})
    assert cloud.dump() != before
    assert "creationTimestamp" in before
    assert "creationTimestamp" not in cloud.dump(timeless=True)


def test_the_same_program_makes_the_same_cloud(
    aws: Provider, installed: Path, cloud: SimulatedCloud, tmp_path: Path
) -> None:
    """Ids and addresses depend on what is asked for and on nothing else."""
    from tests.support.simulated import serving, settings_for  # noqa: PLC0415 (only in rehearsals)

    make_cluster(aws)
    other = tmp_path / "other.db"
    with serving(settings_for(installed, "aws", database=other)) as second:
        make_cluster(second.configure(region="us-east-1"))
    assert SimulatedCloud(other).dump(timeless=True) == cloud.dump(timeless=True)


def test_edits_reach_lists_and_remove_values(aws: Provider, cloud: SimulatedCloud) -> None:
    """Dotted paths go through lists; None takes a value away; an unknown resource is an error."""
    make_cluster(aws)
    cloud.edit(CLUSTER, "sim-east", {"vpcConfig.subnetIds.0": "sim-other", "version": None})
    found = cloud.get(CLUSTER, "sim-east")
    assert found is not None
    assert found.outputs["vpcConfig"]["subnetIds"][0] == "sim-other"
    assert found.inputs["vpcConfig"]["subnetIds"][0] == "sim-other"
    assert "version" not in found.outputs
    with pytest.raises(LookupError, match="has no aws:eks/cluster:Cluster sim-west"):
        cloud.edit(CLUSTER, "sim-west", {})


def test_deleting_behind_the_engine_asks_nobody(eks: Provider, cloud: SimulatedCloud) -> None:
    """Nothing blocks it, and what hangs on the resource goes too."""
    eks.create(CONFIG, "c", config())
    cloud.delete(CLUSTER, "sim-east")
    assert cloud.resources(package="kubernetes") == ()
    assert not cloud.reachable("eks-east")


def test_unknown_clusters_are_taken_to_answer(existing: Provider, cloud: SimulatedCloud) -> None:
    """A cluster that nobody cut off is reachable, by identifier, name or address."""
    assert all(cloud.reachable(name) for name in ("edge", "https://edge.test:6443", "never-heard-of"))
