"""The simulated AWS through the provider protocol: as strict as the real one, as far as the tables know it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.scenario import Fault, Scenario
from automation.rehearsal.wire import UNKNOWN, Secret
from tests.support.simulated import (
    CLUSTER,
    NODES,
    ROLE,
    SUBNET,
    VPC,
    Provider,
    Refusal,
    make_cluster,
    make_network,
    serving,
    settings_for,
)

ADDON = "aws:eks/addon:Addon"
EIP = "aws:ec2/eip:Eip"
FILES = "aws:efs/fileSystem:FileSystem"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
MOUNT = "aws:efs/mountTarget:MountTarget"
NAT = "aws:ec2/natGateway:NatGateway"
POLICY = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
SIZES = {"minSize": 1, "desiredSize": 1, "maxSize": 2}


def test_the_provider_says_that_it_is_simulated(aws: Provider) -> None:
    """The version is the SDK's for the engine, and telling for people."""
    assert aws.version().endswith("+simulated")
    assert aws.schema() == "{}"
    aws.attach()
    shaken = aws.handshake()
    assert (shaken.accept_secrets, shaken.accept_outputs) == (True, False)


def test_a_region_is_required(aws: Provider) -> None:
    """Without a region nothing works, and no ambient setting is looked at."""
    with pytest.raises(Refusal, match="missing region information"):
        aws.configure(accessKey="x")


def test_what_the_cloud_computes_is_unknown_in_a_preview(aws: Provider) -> None:
    """Inputs, defaults and joined tags are known; ids and addresses are not."""
    aws.configure(region="us-east-1", defaultTags='{"tags":{"owner":"ml"}}')
    outputs = aws.preview(
        CLUSTER, "east", {"name": "east", "roleArn": "r", "tags": {"a": "b"}, "vpcConfig": {"subnetIds": ["s"]}}
    )
    assert outputs["name"] == "east"
    assert outputs["deletionProtection"] is False
    assert outputs["tagsAll"] == {"owner": "ml", "a": "b"}
    assert outputs["vpcConfig"]["subnetIds"] == ["s"]
    unknown = [
        outputs["arn"],
        outputs["endpoint"],
        outputs["certificateAuthority"]["data"],
        outputs["vpcConfig"]["vpcId"],
    ]
    assert unknown == [UNKNOWN] * 4


def test_previews_create_nothing(aws: Provider, cloud: SimulatedCloud) -> None:
    """The cloud is as before."""
    before = cloud.dump()
    aws.preview(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    assert cloud.dump() == before


def test_a_cluster_gets_plausible_outputs(aws: Provider) -> None:
    """Endpoint, certificate, network and ARN look like the real ones and begin with what marks them."""
    cluster, vpc, _ = make_cluster(aws)
    assert cluster["endpoint"].startswith("https://sim-")
    assert cluster["endpoint"].endswith(".us-east-1.eks.amazonaws.com")
    assert cluster["arn"] == "arn:aws:eks:us-east-1:000000000000:cluster/east"
    assert cluster["certificateAuthority"]["data"]
    assert cluster["vpcConfig"]["vpcId"] == vpc
    assert cluster["vpcConfig"]["clusterSecurityGroupId"].startswith("sim-sg-")
    assert (cluster["status"], cluster["version"]) == ("ACTIVE", "1.36")


def test_every_id_is_marked(aws: Provider, cloud: SimulatedCloud) -> None:
    """No resource of a simulated cloud has an id that a real one could have given."""
    make_cluster(aws)
    assert [item.id for item in cloud.resources() if not item.id.startswith("sim-")] == []


def test_a_type_without_a_row_works_by_its_class(aws: Provider) -> None:
    """What the SDK says is always set gets a value; inputs come back; nothing else is invented."""
    token = "aws:sqs/queue:Queue"
    inputs, failures = aws.check(token, "jobs", {"delaySeconds": 5})
    assert failures == []
    assert inputs["name"].startswith("jobs-")
    id_, outputs = aws.create(token, "jobs", inputs)
    assert id_.startswith("sim-")
    assert outputs["delaySeconds"] == 5
    assert outputs["arn"] == f"arn:aws:sqs:us-east-1:000000000000:{id_}"
    assert outputs["name"] == inputs["name"]
    read = aws.read(token, "jobs", id_, inputs=inputs, outputs=outputs)
    assert read == (inputs, outputs)


def test_names_are_made_up_once(aws: Provider) -> None:
    """Without a name there is one with seven hexadecimal digits, kept while the resource lives, new for a new one."""
    first, _ = aws.check(ROLE, "role", {"assumeRolePolicy": "{}"}, seed=b"1")
    assert first["name"].startswith("role-")
    assert len(first["name"]) == len("role-") + 7
    again, _ = aws.check(ROLE, "role", {"assumeRolePolicy": "{}"}, olds=first, seed=b"2")
    assert again["name"] == first["name"]
    other, _ = aws.check(ROLE, "role", {"assumeRolePolicy": "{}"}, seed=b"2")
    assert other["name"] != first["name"]
    given, _ = aws.check(ROLE, "role", {"assumeRolePolicy": "{}", "namePrefix": "r-"})
    assert "name" not in given


@pytest.mark.parametrize(
    ("type_", "logical", "inputs", "reason"),
    [
        (ROLE, "eks-a/l4", {"assumeRolePolicy": "{}"}, "letters, digits and"),
        (ROLE, "role", {"assumeRolePolicy": "{}", "name": "r" * 65}, "65 characters, at most 64"),
        (
            NODES,
            "eks-a/l4",
            {"clusterName": "c", "nodeRoleArn": "r", "scalingConfig": SIZES, "subnetIds": ["s"]},
            "letter",
        ),
        (TEMPLATE, "lt", {"name": "ab"}, "3 to 128"),
        (GROUP, "sg", {"name": "sg-own"}, "not starting with sg-"),
    ],
)
def test_names_that_the_service_refuses_are_check_failures(
    type_: str, logical: str, inputs: dict[str, Any], reason: str, aws: Provider
) -> None:
    """Nothing is tidied up: a logical name with a slash makes a name that IAM would not take."""
    _, failures = aws.check(type_, logical, inputs)
    assert len(failures) == 1
    assert reason in failures[0][1]


class Immutable(NamedTuple):
    """An edit of a type's inputs and the paths that force a replacement."""

    type: str
    old: dict[str, Any]
    new: dict[str, Any]
    replaces: tuple[str, ...]
    delete_first: bool = False


EDITS = {
    "tags": Immutable(VPC, {"cidrBlock": "a"}, {"cidrBlock": "a", "tags": {"x": "y"}}, ()),
    "cidr": Immutable(VPC, {"cidrBlock": "a"}, {"cidrBlock": "b"}, ("cidrBlock",)),
    "zone": Immutable(SUBNET, {"availabilityZone": "a"}, {"availabilityZone": "b"}, ("availabilityZone",)),
    "region": Immutable(VPC, {"region": "a"}, {"region": "b"}, ("region",)),
    "unknown": Immutable(SUBNET, {"vpcId": "a"}, {"vpcId": UNKNOWN}, ("vpcId",)),
    "nested": Immutable(
        CLUSTER,
        {"accessConfig": {"bootstrapClusterCreatorAdminPermissions": True, "authenticationMode": "API"}},
        {"accessConfig": {"bootstrapClusterCreatorAdminPermissions": False, "authenticationMode": "API"}},
        ("accessConfig.bootstrapClusterCreatorAdminPermissions",),
    ),
    "nested in place": Immutable(
        CLUSTER,
        {"accessConfig": {"authenticationMode": "CONFIG_MAP"}},
        {"accessConfig": {"authenticationMode": "API"}},
        (),
    ),
    "upgrade": Immutable(CLUSTER, {"version": "1.35"}, {"version": "1.36"}, ()),
    "instance type": Immutable(NODES, {"instanceTypes": ["a"]}, {"instanceTypes": ["b"]}, ("instanceTypes[0]",)),
    "subnets are a set": Immutable(NODES, {"subnetIds": ["a", "b"]}, {"subnetIds": ["b", "a"]}, ()),
    "subnets change": Immutable(NODES, {"subnetIds": ["a", "b"]}, {"subnetIds": ["a", "c"]}, ("subnetIds[1]",)),
    "scaling": Immutable(NODES, {"scalingConfig": SIZES}, {"scalingConfig": {**SIZES, "maxSize": 3}}, ()),
    "labels": Immutable(NODES, {"labels": {"a": "b"}}, {"labels": {"a": "c"}}, ()),
    "template version": Immutable(
        NODES, {"launchTemplate": {"id": "a", "version": "1"}}, {"launchTemplate": {"id": "a", "version": "2"}}, ()
    ),
    "template": Immutable(
        NODES, {"launchTemplate": {"id": "a"}}, {"launchTemplate": {"id": "b"}}, ("launchTemplate.id",)
    ),
    "kept name": Immutable(
        NODES,
        {"nodeGroupName": "n", "diskSize": 1},
        {"nodeGroupName": "n", "diskSize": 2},
        ("diskSize",),
        delete_first=True,
    ),
    "changed name": Immutable(
        NODES,
        {"nodeGroupName": "n", "diskSize": 1},
        {"nodeGroupName": "m", "diskSize": 2},
        ("diskSize", "nodeGroupName"),
    ),
    "made-up name": Immutable(
        NODES,
        {"nodeGroupName": "n", "__defaults": ["nodeGroupName"], "diskSize": 1},
        {"nodeGroupName": "n", "__defaults": ["nodeGroupName"], "diskSize": 2},
        ("diskSize",),
    ),
    "mount target": Immutable(MOUNT, {"subnetId": "a"}, {"subnetId": "b"}, ("subnetId",)),
    "encryption": Immutable(FILES, {"encrypted": False}, {"encrypted": True}, ("encrypted",)),
    "throughput": Immutable(FILES, {"throughputMode": "bursting"}, {"throughputMode": "elastic"}, ()),
    "template content": Immutable(TEMPLATE, {"name": "t", "instanceType": "a"}, {"name": "t", "instanceType": "b"}, ()),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_immutable_inputs_replace(edit: Immutable, aws: Provider) -> None:
    """What the real provider replaces is replaced here; what it changes in place is not."""
    change = aws.diff(edit.type, "x", edit.old, edit.new)
    assert change.replaces == edit.replaces
    assert change.delete_first is edit.delete_first


class Wrong(NamedTuple):
    """A resource that the cloud must refuse, and what it says."""

    type: str
    inputs: dict[str, Any]
    says: str


REFUSED = {
    "no such VPC": Wrong(SUBNET, {"vpcId": "sim-vpc-none", "cidrBlock": "10.0.0.0/20"}, "InvalidVpcID.NotFound"),
    "not a network": Wrong(VPC, {"cidrBlock": "10.0.0.1/16"}, "not a valid CIDR block"),
    "outside the VPC": Wrong(SUBNET, {"vpcId": "{vpc}", "cidrBlock": "10.1.0.0/20"}, "InvalidSubnet.Range"),
    "overlapping": Wrong(SUBNET, {"vpcId": "{vpc}", "cidrBlock": "10.0.8.0/24"}, "InvalidSubnet.Conflict"),
    "zone of another region": Wrong(
        SUBNET,
        {"vpcId": "{vpc}", "cidrBlock": "10.0.64.0/20", "availabilityZone": "eu-west-1a"},
        "availabilityZone is invalid",
    ),
    "one zone": Wrong(
        CLUSTER, {"name": "x", "roleArn": "{role}", "vpcConfig": {"subnetIds": ["{subnet}"]}}, "two different AZs"
    ),
    "no such role": Wrong(
        CLUSTER, {"name": "x", "roleArn": "arn:none", "vpcConfig": {"subnetIds": []}}, "cannot be found"
    ),
    "a cluster's name twice": Wrong(
        CLUSTER, {"name": "east", "roleArn": "{role}", "vpcConfig": {"subnetIds": "{subnets}"}}, "already exists"
    ),
    "a role's name twice": Wrong(ROLE, {"name": "east-role", "assumeRolePolicy": "{}"}, "EntityAlreadyExists"),
    "no such cluster": Wrong(ADDON, {"clusterName": "west", "addonName": "vpc-cni"}, "No cluster found for name: west"),
    "sizes": Wrong(
        NODES,
        {
            "clusterName": "east",
            "nodeGroupName": "n",
            "nodeRoleArn": "{role}",
            "subnetIds": "{subnets}",
            "scalingConfig": {"minSize": 3, "desiredSize": 1, "maxSize": 4},
        },
        "3 > 1 > 4",
    ),
    "no such address": Wrong(
        NAT, {"subnetId": "{subnet}", "allocationId": "sim-eipalloc-x"}, "InvalidAllocationID.NotFound"
    ),
    "no such group": Wrong(GROUP, {"name": "g", "vpcId": "sim-vpc-none"}, "InvalidVpcID.NotFound"),
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_the_cloud_refuses_what_does_not_fit(wrong: Wrong, aws: Provider, cloud: SimulatedCloud) -> None:
    """The refusal is in the cloud's own words, and nothing was created."""
    _, vpc, subnets = make_cluster(aws)
    role = cloud.resources(type=ROLE)[0].outputs["arn"]
    known = {"{vpc}": vpc, "{subnet}": subnets[0], "{subnets}": subnets, "{role}": role}
    before = cloud.dump()
    with pytest.raises(Refusal, match=wrong.says):
        aws.create(wrong.type, "wrong", _filled(wrong.inputs, known))
    assert cloud.dump() == before


def _filled(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, known) for item in value]
    return known.get(value, value) if isinstance(value, str) else value


def test_names_are_free_again_after_deletion(aws: Provider) -> None:
    """A name may be used again; the new resource is another one."""
    vpc, first = aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    aws.delete(VPC, "net", vpc)
    again, second = aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    assert again != vpc
    assert first["arn"] != second["arn"]


def test_what_others_use_cannot_be_deleted(aws: Provider, cloud: SimulatedCloud) -> None:
    """A network goes only after everything in it, a role after its policies, a cluster after its nodes."""
    _, vpc, subnets = make_cluster(aws)
    role = cloud.resources(type=ROLE)[0]
    aws.create(POLICY, "p", {"role": role.name, "policyArn": "arn:aws:iam::aws:policy/X"})
    nodes = {
        "clusterName": "east",
        "nodeGroupName": "n",
        "nodeRoleArn": role.outputs["arn"],
        "subnetIds": subnets,
        "scalingConfig": SIZES,
    }
    group, _ = aws.create(NODES, "n", nodes)
    address, _ = aws.create(EIP, "ip", {"domain": "vpc"})
    nat, _ = aws.create(NAT, "nat", {"subnetId": subnets[0], "allocationId": address})
    steps = [
        (VPC, vpc, "DependencyViolation"),
        (SUBNET, subnets[1], "EKS cluster east"),
        (SUBNET, subnets[0], "NAT gateway"),
        (EIP, address, "NAT gateway"),
        (CLUSTER, "sim-east", "Cluster has nodegroups attached"),
        (ROLE, role.id, "must detach all policies first"),
    ]
    for type_, id_, says in steps:
        with pytest.raises(Refusal, match=says):
            aws.delete(type_, "x", id_)
    policy = cloud.resources(type=POLICY)[0].id
    order = [
        (NODES, group),
        (CLUSTER, "sim-east"),
        (NAT, nat),
        (EIP, address),
        (SUBNET, subnets[0]),
        (SUBNET, subnets[1]),
        (VPC, vpc),
        (POLICY, policy),
        (ROLE, role.id),
    ]
    for type_, id_ in order:
        aws.delete(type_, "x", id_)
    assert cloud.resources() == ()


def test_a_subnet_waits_for_what_is_going_from_it(installed: Path, database: Path, scenario: Path) -> None:
    """The real provider tries a deletion again while something that goes at the same time still stands in the way."""
    slow = Fault(type=MOUNT, call="delete", delay=0.3)
    Scenario.of(slow).write(scenario)
    settings = {**settings_for(installed, "aws", database=database), "patience": 30}
    with serving(settings) as provider, ThreadPoolExecutor(max_workers=1) as pool:
        aws = provider.configure(region="us-east-1")
        _, subnets = make_network(aws)
        files, _ = aws.create(FILES, "files", {})
        target, _ = aws.create(MOUNT, "target", {"fileSystemId": files, "subnetId": subnets[0]})
        gone = pool.submit(aws.delete, MOUNT, "target", target)
        aws.delete(SUBNET, "net-a", subnets[0])
        gone.result()
        assert SimulatedCloud(database).get(SUBNET, subnets[0]) is None


def test_mount_targets_are_one_per_zone(aws: Provider) -> None:
    """A second target in a zone is refused even in another subnet; a file system with targets stays."""
    vpc, subnets = make_network(aws)
    extra, _ = aws.create(
        SUBNET, "extra", {"vpcId": vpc, "cidrBlock": "10.0.96.0/20", "availabilityZone": "us-east-1a"}
    )
    files, _ = aws.create(FILES, "fs", {"encrypted": True})
    aws.create(MOUNT, "a", {"fileSystemId": files, "subnetId": subnets[0]})
    with pytest.raises(Refusal, match="MountTargetConflict"):
        aws.create(MOUNT, "b", {"fileSystemId": files, "subnetId": extra})
    with pytest.raises(Refusal, match="FileSystemInUse"):
        aws.delete(FILES, "fs", files)


def test_updates_keep_what_was_computed(aws: Provider) -> None:
    """An update in place changes inputs and nothing that the cloud gave; removed inputs go."""
    cluster, _, subnets = make_cluster(aws)
    inputs = {"name": "east", "roleArn": cluster["roleArn"], "vpcConfig": {"subnetIds": subnets}, "tags": {"a": "b"}}
    previewed = aws.update(CLUSTER, "east", "sim-east", olds=cluster, news=inputs, preview=True)
    changed = aws.update(CLUSTER, "east", "sim-east", olds=cluster, news=inputs)
    assert previewed == changed
    assert changed == {**cluster, "tags": {"a": "b"}, "tagsAll": {"a": "b"}}
    back = aws.update(CLUSTER, "east", "sim-east", olds=changed, news={k: v for k, v in inputs.items() if k != "tags"})
    assert back == cluster


def test_a_changed_template_gets_a_new_version(aws: Provider) -> None:
    """The version is unknown in the preview of an update, and one higher after it."""
    template, outputs = aws.create(TEMPLATE, "lt", {"name": "template", "instanceType": "a"})
    assert outputs["latestVersion"] == 1
    news = {"name": "template", "instanceType": "b"}
    assert aws.update(TEMPLATE, "lt", template, olds=outputs, news=news, preview=True)["latestVersion"] is UNKNOWN
    assert aws.update(TEMPLATE, "lt", template, olds=outputs, news=news)["latestVersion"] == 2


def test_reading_sees_what_happened_behind_the_engine(aws: Provider, cloud: SimulatedCloud) -> None:
    """Unchanged, changed and deleted resources are told apart."""
    inputs = {"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}}
    vpc, outputs = aws.create(VPC, "net", inputs)
    assert aws.read(VPC, "net", vpc, inputs=inputs, outputs=outputs) == (inputs, outputs)
    cloud.edit(VPC, vpc, {"tags.a": "c", "enableDnsSupport": False})
    seen = aws.read(VPC, "net", vpc, inputs=inputs, outputs=outputs)
    assert seen == ({**inputs, "tags": {"a": "c"}}, {**outputs, "tags": {"a": "c"}, "enableDnsSupport": False})
    cloud.delete(VPC, vpc)
    assert aws.read(VPC, "net", vpc, inputs=inputs, outputs=outputs) is None
    with pytest.raises(Refusal, match="does not exist"):
        aws.update(VPC, "net", vpc, olds=outputs, news=inputs)
    aws.delete(VPC, "net", vpc)


def test_resources_can_be_imported_by_id(aws: Provider) -> None:
    """A read without a state gives inputs and outputs; an id that nobody has is gone."""
    vpc, outputs = aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    assert aws.read(VPC, "taken-over", vpc) == ({"cidrBlock": "10.0.0.0/16"}, outputs)
    assert aws.read(VPC, "taken-over", "sim-vpc-0") is None


@pytest.mark.parametrize("call", ["read", "update", "delete"])
def test_ids_of_real_clouds_are_refused(call: str, aws: Provider) -> None:
    """A state of a real cloud never becomes one of a simulated cloud by accident."""
    calls = {
        "read": lambda: aws.read(VPC, "net", "vpc-0123"),
        "update": lambda: aws.update(VPC, "net", "vpc-0123", olds={}, news={}),
        "delete": lambda: aws.delete(VPC, "net", "vpc-0123"),
    }
    with pytest.raises(Refusal, match="belongs to a real cloud, and this run is simulated"):
        calls[call]()


def test_secrets_come_back_wrapped(aws: Provider) -> None:
    """A secret input is a secret output, in the preview, after creation, and when it is read again."""
    token = "aws:rds/instance:Instance"
    inputs = {"instanceClass": "db.t3.micro", "engine": "postgres", "password": Secret("hf_sample-token-4711")}
    assert aws.preview(token, "db", inputs)["password"] == Secret("hf_sample-token-4711")
    id_, outputs = aws.create(token, "db", inputs)
    assert outputs["password"] == Secret("hf_sample-token-4711")
    read = aws.read(token, "db", id_, inputs=inputs, outputs=outputs)
    assert read == (inputs, outputs)


def test_regions_and_accounts_are_scopes(aws: Provider) -> None:
    """A regional name may exist once per region, an account's only once; a resource lives where it says."""
    for region in ("us-east-1", "eu-west-1"):
        aws.create(TEMPLATE, f"lt-{region}", {"name": "template", "region": region})
    with pytest.raises(Refusal, match="already in use"):
        aws.create(TEMPLATE, "again", {"name": "template"})
    aws.create(ROLE, "r", {"name": "role", "assumeRolePolicy": "{}"})
    aws.configure(region="eu-west-1")
    with pytest.raises(Refusal, match="EntityAlreadyExists"):
        aws.create(ROLE, "r2", {"name": "role", "assumeRolePolicy": "{}"})


def test_a_provider_that_moves_replaces_what_followed_it(aws: Provider, cloud: SimulatedCloud) -> None:
    """A resource that names no region is where its provider was; it is found there, and replaced when that changes."""
    vpc, outputs = aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    aws.configure(region="eu-west-1")
    inputs = {"cidrBlock": "10.0.0.0/16"}
    assert aws.diff(VPC, "net", inputs, inputs, outputs=outputs).replaces == ("region",)
    assert aws.diff(VPC, "net", inputs, {**inputs, "region": "us-east-1"}, outputs=outputs).replaces == ("region",)
    assert aws.read(VPC, "net", vpc, inputs=inputs, outputs=outputs) == (inputs, outputs)
    with pytest.raises(Refusal, match=r"InvalidVpcID\.NotFound"):
        aws.create(SUBNET, "s", {"vpcId": vpc, "cidrBlock": "10.0.0.0/20"})
    aws.delete(VPC, "net", vpc, outputs=outputs)
    assert cloud.resources() == ()


def test_a_file_that_cannot_be_written_is_an_error_in_words(aws: Provider, database: Path) -> None:
    """A broken database reaches the user as what it is."""
    for path in database.parent.glob("cloud.db*"):
        path.write_bytes(b"this is no database, whatever its name says" * 50)
    with pytest.raises(Refusal, match="the simulated cloud's file cannot be used"):
        aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})


def test_a_bug_names_its_place_and_no_values(aws: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong inside, no input is printed."""

    def broken(*_: object) -> None:
        raise KeyError("hf_sample-token-4711")

    monkeypatch.setattr("automation.rehearsal.provider.relations.require", broken)
    with pytest.raises(Refusal, match=r"simulated provider failed: KeyError at test_aws\.py:\d+") as caught:
        aws.create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
    assert "4711" not in str(caught.value)


def test_only_functions_of_the_table_answer(aws: Provider) -> None:
    """Account and zones are told; anything else says that it is not simulated."""
    assert aws.invoke("aws:index/getCallerIdentity:getCallerIdentity")["accountId"] == "000000000000"
    assert (
        aws.invoke("aws:index/getAvailabilityZones:getAvailabilityZones", state="available")["names"][0] == "us-east-1a"
    )
    for refused in (
        lambda: aws.invoke("aws:ec2/getAmi:getAmi"),
        lambda: aws.call("aws:x/y:z"),
        lambda: aws.construct("aws:x:Y"),
    ):
        with pytest.raises(Refusal, match="not simulated"):
            refused()
