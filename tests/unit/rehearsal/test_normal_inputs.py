"""Inputs of objects as the real Kubernetes provider writes them when it checks them."""

import base64
from dataclasses import dataclass
from typing import Any

import pytest

from automation.rehearsal.wire import UNKNOWN, Secret, lookup
from tests.support.simulated import Provider

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
QUOTA = "kubernetes:core/v1:ResourceQuota"
SECRET = "kubernetes:core/v1:Secret"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"


@dataclass(frozen=True)
class Case:
    """An input and how it is written."""

    type: str
    inputs: dict[str, Any]
    path: str
    want: Any


def workload(**container: Any) -> dict[str, Any]:
    """Write a Deployment of one container."""
    pod = {"containers": [{"name": "c", **container}], "volumes": [{"name": "v", "emptyDir": {}}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    return {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


def definition(*, status: Any = None, **schema: Any) -> dict[str, Any]:
    """Write a definition whose schema has one extension."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Thing", "plural": "things"}
    spec = {"group": "x.test", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"spec": {**spec, "preserveUnknownFields": False}, **({"status": status} if status else {})}


POD = "spec.template.spec"
SCHEMA = "spec.versions.0.schema.openAPIV3Schema"
CASES = {
    "an empty list": Case(DEPLOYMENT, workload(args=[]), f"{POD}.containers.0.args", None),
    "a list": Case(DEPLOYMENT, workload(args=["-x"]), f"{POD}.containers.0.args", ["-x"]),
    "an empty map": Case(DEPLOYMENT, workload(resources={"limits": {}}), f"{POD}.containers.0.resources", {}),
    "an empty object means something": Case(DEPLOYMENT, workload(), f"{POD}.volumes.0.emptyDir", {}),
    "an amount": Case(
        DEPLOYMENT,
        workload(resources={"requests": {"memory": "2048Mi", "cpu": "0.5"}}),
        f"{POD}.containers.0.resources.requests",
        {"memory": "2Gi", "cpu": "500m"},
    ),
    "an amount that is none": Case(
        DEPLOYMENT, workload(resources={"limits": {"cpu": "many"}}), f"{POD}.containers.0.resources.limits.cpu", "many"
    ),
    "a text that looks like an amount": Case(
        DEPLOYMENT, workload(env=[{"name": "N", "value": "1000"}]), f"{POD}.containers.0.env.0.value", "1000"
    ),
    "a quota": Case(QUOTA, {"spec": {"hard": {"pods": "1000"}}}, "spec.hard.pods", "1k"),
    "nothing while a value is unknown": Case(
        DEPLOYMENT, workload(args=[], image=UNKNOWN), f"{POD}.containers.0.args", []
    ),
    "an extension of a schema": Case(
        DEFINITION,
        definition(x_kubernetes_preserve_unknown_fields=True),
        SCHEMA,
        {"x-kubernetes-preserve-unknown-fields": True},
    ),
    "what the server drops of a definition": Case(DEFINITION, definition(), "spec.preserveUnknownFields", None),
    "a custom resource": Case(
        GATEWAY,
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "spec": {"listeners": [], "limits": {"a": "1000"}},
        },
        "spec",
        {"listeners": [], "limits": {"a": "1000"}},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_means_the_same_is_written_the_same(case: Case, existing: Provider) -> None:
    """As pulumi-kubernetes 4.25.0 answers on a real API server."""
    inputs = {**case.inputs, "metadata": {"name": "x", "namespace": "default"}}
    if case.type == DEFINITION:
        inputs["metadata"] = {"name": "things.x.test"}
    checked, failures = existing.check(case.type, "x", inputs)
    assert failures == []
    assert lookup(checked, case.path) == case.want


def test_texts_of_a_secret_are_kept_as_its_data(existing: Provider) -> None:
    """Encoded, beside the data that is given, and all of it secret."""
    inputs = {"metadata": {"name": "s"}, "stringData": Secret({"a": "x"}), "data": {"b": "Yg=="}}
    checked, failures = existing.check(SECRET, "s", inputs)
    assert failures == []
    assert "stringData" not in checked
    assert checked["data"] == Secret({"a": base64.b64encode(b"x").decode(), "b": "Yg=="})


def test_a_diff_says_what_the_real_one_says(existing: Provider) -> None:
    """It compares with what is live, so that only what goes away is a difference of inputs; and by what is meant."""
    old = {**workload(args=["-x"], resources={"limits": {"cpu": "1000m"}}), "metadata": {"name": "w"}}
    new = {**workload(image="i:2", resources={"limits": {"cpu": "1"}}), "metadata": {"name": "w"}}
    change = existing.diff(DEPLOYMENT, "w", old, new)
    container = f"{POD}.containers[0]"
    assert change.kinds == {f"{container}.args": "DELETE", f"{container}.image": "ADD"}
    assert change.of_inputs == (f"{container}.args",)
