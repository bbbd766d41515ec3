"""Inputs of objects, and how the real Kubernetes provider writes them when it checks them.

The simulated provider is held to them by every run, the real one by ``tests/kubernetes``.
"""

from dataclasses import dataclass
from typing import Any

from automation.rehearsal.wire import UNKNOWN

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
QUOTA = "kubernetes:core/v1:ResourceQuota"
SECRET = "kubernetes:core/v1:Secret"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"


@dataclass(frozen=True)
class Case:
    """An input and how it is written."""

    type: str
    body: dict[str, Any]
    path: str
    want: Any

    @property
    def inputs(self) -> dict[str, Any]:
        """The whole input, as the SDK sends it."""
        name = {"name": "things.x.test"} if self.type == DEFINITION else {"name": "x", "namespace": "default"}
        return {**head(self.type), **self.body, "metadata": name}


def head(type_: str) -> dict[str, str]:
    """Return what the SDK adds to every object of a type that it knows."""
    _, module, kind = type_.split(":")
    return {"apiVersion": module.removeprefix("core/"), "kind": kind}


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
        {"spec": {"listeners": [], "limits": {"a": "1000"}}},
        "spec",
        {"listeners": [], "limits": {"a": "1000"}},
    ),
}
