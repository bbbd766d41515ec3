"""Input checks with rules derived from the SDK's own classes, through the protocol."""

from typing import Any, NamedTuple

import pytest

from automation.rehearsal.provider.check import check
from automation.rehearsal.wire import SIGNATURE, UNKNOWN, Secret
from tests.support.simulated import CLUSTER, NODES, VPC, Provider

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SUBNETS = {"subnetIds": ["sim-subnet-1"]}
NODE_GROUP = {"clusterName": "c", "nodeRoleArn": "r", "subnetIds": ["s"]}
SCALING = {"desiredSize": 1, "maxSize": 2, "minSize": 1}


class Case(NamedTuple):
    """Inputs of a type and the failures they must give: path and a part of the reason."""

    name: str
    type: str
    inputs: dict[str, Any]
    want: list[tuple[str, str]]


AWS = [
    Case("fits", VPC, {"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}}, []),
    Case("null is absent", VPC, {"cidrBlock": None}, []),
    Case("unknown property", VPC, {"cidrBlok": "10.0.0.0/16"}, [("cidrBlok", "did you mean cidrBlock?")]),
    Case("no near match", VPC, {"zzz": 1}, [("zzz", "unknown property")]),
    Case("mistyped", VPC, {"enableDnsSupport": "yes"}, [("enableDnsSupport", "expected true or false, got a string")]),
    Case("a number for a string", VPC, {"cidrBlock": 10}, [("cidrBlock", "expected a string, got a number")]),
    Case("required", CLUSTER, {"roleArn": "r"}, [("vpcConfig", "missing required property")]),
    Case("nested required", CLUSTER, {"roleArn": "r", "vpcConfig": {}}, [("vpcConfig.subnetIds", "missing required")]),
    Case(
        "inside a list",
        CLUSTER,
        {"roleArn": "r", "vpcConfig": {"subnetIds": ["s", 1]}},
        [("vpcConfig.subnetIds[1]", "expected a string, got a number")],
    ),
    Case(
        "a list is wanted",
        CLUSTER,
        {"roleArn": "r", "vpcConfig": {"subnetIds": "s"}},
        [("vpcConfig.subnetIds", "a list")],
    ),
    Case("an object is wanted", CLUSTER, {"roleArn": "r", "vpcConfig": 1}, [("vpcConfig", "expected an object")]),
    Case("inside a map", VPC, {"tags": {"a": 1}}, [("tags.a", "expected a string")]),
    Case("odd map keys", VPC, {"tags": {"a/b": 1}}, [('tags["a/b"]', "expected a string")]),
    Case("unknown values fit", CLUSTER, {"roleArn": UNKNOWN, "vpcConfig": UNKNOWN}, []),
    Case("secrets are looked into", CLUSTER, {"roleArn": Secret(1), "vpcConfig": SUBNETS}, [("roleArn", "a string")]),
    Case("secret values fit", CLUSTER, {"roleArn": Secret("r"), "vpcConfig": Secret(SUBNETS)}, []),
    Case(
        "whole numbers",
        NODES,
        {**NODE_GROUP, "scalingConfig": {**SCALING, "minSize": 0.5}},
        [("scalingConfig.minSize", "expected a whole number, got a number")],
    ),
    Case(
        "several at once",
        NODES,
        {"clusterNam": "c", "scalingConfig": SCALING},
        [
            ("clusterNam", "did you mean clusterName?"),
            ("clusterName", "missing"),
            ("nodeRoleArn", "missing"),
            ("subnetIds", "missing"),
        ],
    ),
    Case(
        "exclusive",
        NODES,
        {**NODE_GROUP, "scalingConfig": SCALING, "diskSize": 9, "launchTemplate": {"version": "1"}},
        [("diskSize", "conflicts with launchTemplate")],
    ),
    Case("unknown type", "aws:nope/thing:Thing", {}, [("", "no resource type")]),
]


@pytest.mark.parametrize("case", AWS, ids=lambda case: case.name)
def test_cloud_inputs_are_checked(case: Case, aws: Provider) -> None:
    """Every failure names the property's path and what was wanted."""
    _, failures = aws.check(case.type, "sample", case.inputs)
    assert [path for path, _ in failures] == [path for path, _ in case.want]
    assert all(wanted in reason for (_, reason), (_, wanted) in zip(failures, case.want, strict=True)), failures


def deployment(**container: Any) -> dict[str, Any]:
    """Write a deployment's inputs with one container."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    return {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


CONTAINER = "spec.template.spec.containers[0]"
OBJECTS = [
    Case("fits", DEPLOYMENT, deployment(name="c", image="i"), []),
    Case("deep required", DEPLOYMENT, deployment(image="i"), [(f"{CONTAINER}.name", "missing required")]),
    Case("deep unknown", DEPLOYMENT, deployment(name="c", imag="i"), [(f"{CONTAINER}.imag", "did you mean image?")]),
    Case(
        "union: number",
        "kubernetes:core/v1:Service",
        {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1, "targetPort": 2}]}},
        [],
    ),
    Case(
        "union: string",
        "kubernetes:core/v1:Service",
        {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1, "targetPort": "http"}]}},
        [],
    ),
    Case(
        "union: neither",
        "kubernetes:core/v1:Service",
        {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1, "targetPort": True}]}},
        [("spec.ports[0].targetPort", "got true or false")],
    ),
    Case("literal", DEPLOYMENT, {**deployment(name="c"), "kind": "Deploymint"}, [("kind", "one of 'Deployment'")]),
    Case(
        "custom fits",
        "kubernetes:x.dev/v1:Thing",
        {"apiVersion": "x.dev/v1", "kind": "Thing", "metadata": {"name": "t"}, "anything": 1},
        [],
    ),
    Case(
        "custom kind",
        "kubernetes:x.dev/v1:Thing",
        {"apiVersion": "x.dev/v1", "kind": "Other", "metadata": {"name": "t"}},
        [("kind", "'Thing'")],
    ),
    Case(
        "custom apiVersion",
        "kubernetes:x.dev/v1:Thing",
        {"kind": "Thing", "metadata": {"name": "t"}},
        [("apiVersion", "'x.dev/v1'")],
    ),
    Case(
        "custom metadata",
        "kubernetes:x.dev/v1:Thing",
        {"apiVersion": "x.dev/v1", "kind": "Thing", "metadata": "t"},
        [("metadata", "an object")],
    ),
    Case("core custom", "kubernetes:v1:Pod", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, []),
    Case(
        "name pattern",
        "kubernetes:core/v1:ConfigMap",
        {"metadata": {"name": "a/b"}},
        [("metadata.name", "RFC 1123 subdomain")],
    ),
    Case(
        "namespace name",
        "kubernetes:core/v1:Namespace",
        {"metadata": {"name": "n" * 64}},
        [("metadata.name", "no more than 63")],
    ),
    Case("service name", "kubernetes:core/v1:Service", {"metadata": {"name": "1a"}}, [("metadata.name", "RFC 1035")]),
    Case(
        "job name", "kubernetes:batch/v1:Job", {"metadata": {"name": "j" * 64}}, [("metadata.name", "no more than 63")]
    ),
    Case("role name", "kubernetes:rbac.authorization.k8s.io/v1:Role", {"metadata": {"name": "system:node"}}, []),
    Case(
        "cluster-wide kind",
        "kubernetes:storage.k8s.io/v1:StorageClass",
        {"metadata": {"name": "s", "namespace": "n"}, "provisioner": "p"},
        [("metadata.namespace", "belong to no namespace")],
    ),
    Case(
        "label value",
        "kubernetes:core/v1:ConfigMap",
        {"metadata": {"name": "c", "labels": {"a": "x/y"}}},
        [('metadata.labels["a"]', "at most 63")],
    ),
    Case(
        "label key",
        "kubernetes:core/v1:ConfigMap",
        {"metadata": {"name": "c", "labels": {"/a": "x"}}},
        [('metadata.labels["/a"]', "label key")],
    ),
    Case("release name", "kubernetes:helm.sh/v3:Release", {"chart": "c", "name": "r" * 54}, [("name", "at most 53")]),
    Case("release chart", "kubernetes:helm.sh/v3:Release", {"name": "r"}, [("chart", "missing required")]),
]


@pytest.mark.parametrize("case", OBJECTS, ids=lambda case: case.name)
def test_objects_are_checked(case: Case, existing: Provider) -> None:
    """Known kinds are checked by the SDK's classes, custom ones by what every object must have."""
    _, failures = existing.check(case.type, "sample", case.inputs)
    assert [path for path, _ in failures] == [path for path, _ in case.want], failures
    assert all(wanted in reason for (_, reason), (_, wanted) in zip(failures, case.want, strict=True)), failures


def test_failures_never_show_values(aws: Provider) -> None:
    """A mistyped secret is named by its place alone."""
    _, failures = aws.check(VPC, "sample", {"enableDnsSupport": Secret("hf_sample-token-4711")})
    assert failures
    assert "4711" not in str(failures)


def test_provider_settings_are_checked(aws: Provider, existing: Provider) -> None:
    """A misspelt setting of a provider is a failure; the engine's own keys are not."""
    assert aws.check_config(region="us-east-1", version="7.51.1", regoin="x") == [("regoin", "unknown property")]
    assert existing.check_config(kubeconfig="x", __internal={}, clusterIdentifer="y") == [
        ("clusterIdentifer", "unknown property")
    ]


ASSET = {SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "x"}
SHAPES = {"o": {"a": ["str", True]}, "p": {"b": ["int", True]}}
BOTH = {"union": [{"object": "o"}, {"object": "p"}]}
EXPRESSIONS: dict[str, tuple[Any, Any, list[tuple[str, str]]]] = {
    "float": ("float", 1, []),
    "not a float": ("float", True, [("x", "expected a number, got true or false")]),
    "asset": ("asset", ASSET, []),
    "not an asset": ("asset", [], [("x", "expected an asset or archive, got a list")]),
    "asset for an object": ({"object": "o"}, ASSET, []),
    "asset for a list": ({"list": "str"}, ASSET, []),
    "anything": ("any", [{}], []),
    "one of two objects": (BOTH, {"b": 1}, []),
    "nearly one of two objects": (BOTH, {"b": "1"}, [("x.b", "expected a whole number, got a string")]),
    "neither": (BOTH, 1, [("x", "expected an object or an object, got a number")]),
    "nested union": (
        {"list": {"union": ["str", {"literal": [1, 2]}]}},
        [1, 3],
        [("x[1]", "expected a string or one of 1, 2, got a number")],
    ),
    "a map of lists": (
        {"map": {"list": "int"}},
        {"k": [1, "2"]},
        [("x.k[1]", "expected a whole number, got a string")],
    ),
}


@pytest.mark.parametrize(("rule", "value", "want"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_every_kind_of_type_is_checked(rule: Any, value: Any, want: list[tuple[str, str]]) -> None:
    """Types that the SDKs in use hardly have are checked as well."""
    found = check({"x": value}, {"inputs": {"x": [rule, True]}, "objects": SHAPES})
    assert [(failure.path, failure.reason) for failure in found] == want
