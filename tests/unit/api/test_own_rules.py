"""The rules of Berth's own fields: what bounds cannot say. Each is told before the field is refused or used."""

from typing import Any, Final

import pytest
import yaml

from components.api.base import BERTH_VERSION
from components.api.codes import Code
from components.api.load import load_fleet
from tests.support.own_fields import ENGINE, POD, PROBE, SHARED, OwnField

SPEC: Final = "spec.template.spec.engines[0].members[0].template.spec"
FIRST: Final = f"{SPEC}.containers[0]"


def environment(field: str, value: Any) -> OwnField:
    """Return a row of the Environment."""
    return OwnField("environment", {f"spec.{field}": value})


def pod(**values: Any) -> OwnField:
    """Return a row of the sample deployment's pod."""
    return OwnField("qwen", {f"{POD}.{key}": value for key, value in values.items()})


def engine(**values: Any) -> OwnField:
    """Return a row of the sample deployment's container."""
    return OwnField("qwen", {f"{ENGINE}.{key}": value for key, value in values.items()})


def source(kind: str, network: dict[str, str]) -> OwnField:
    """Return a row of a cluster on a cloud with its own ranges."""
    place = {"gke": {"region": "us-central1"}, "aks": {"location": "westeurope"}}[kind.lower()]
    return OwnField("edge", {"spec.cluster": {"source": kind, kind.lower(): {**place, "network": network}}})


def volume(**source: Any) -> OwnField:
    """Return a row with one volume."""
    return pod(volumes=[{"name": "a", **source}])


EXCEPTION: Final = {"policy": "a", "subject": "b", "reason": "c"}
GATE = "spec.promotion.gates[0]"
RULES: Final[tuple[tuple[OwnField, Code, str], ...]] = (
    (environment("quotas", {"ml": {}}), Code.FIELD_MISSING, "spec.quotas.ml"),
    (environment("quotas", {"ML": {"nodes": 1}}), Code.NAME_INVALID, "spec.quotas.ML"),
    (environment("quotas", {"ml": {"devices": {"a b": 1}}}), Code.NAME_INVALID, "spec.quotas.ml.devices.a b"),
    (environment("quotas", {"ml": {"devices": {"": 1}}}), Code.NAME_INVALID, "spec.quotas.ml.devices."),
    (environment("policies", {"settings": {"A_b": {}}}), Code.NAME_INVALID, "spec.policies.settings.A_b"),
    (
        environment("policies", {"settings": {"a": {"parameters": {"x": float("inf")}}}}),
        Code.VALUE_INVALID,
        "spec.policies.settings.a.parameters.x",
    ),
    (
        environment("policies", {"settings": {"a": {"parameters": {"x": [1]}}}}),
        Code.TYPE_WRONG,
        "spec.policies.settings.a.parameters.x",
    ),
    (
        environment(
            "policies", {"exceptions": [{"policy": "a", "subject": "b", "reason": "c", "until": "2026-02-30"}]}
        ),
        Code.VALUE_INVALID,
        "spec.policies.exceptions[0].until",
    ),
    (environment("promotion", {"to": "x", "gates": [{"type": "BakeTime"}]}), Code.FIELD_MISSING, GATE),
    (
        environment("promotion", {"to": "x", "gates": [{"type": "Drift", "duration": "1h"}]}),
        Code.FIELD_CONFLICT,
        f"{GATE}.duration",
    ),
    (
        environment("promotion", {"to": "x", "gates": [{"type": "Drift", "approvals": 1}]}),
        Code.FIELD_CONFLICT,
        f"{GATE}.approvals",
    ),
    (
        environment("registry", {"mirrors": [{"source": "https://a.b", "mirror": "c.d"}]}),
        Code.VALUE_INVALID,
        "spec.registry.mirrors[0].source",
    ),
    (OwnField("east", {"spec.overrides": {"a": {}}}), Code.FIELD_MISSING, "spec.overrides.a"),
    (OwnField("east", {"spec.overrides": {"A": {"version": "1"}}}), Code.NAME_INVALID, "spec.overrides.A"),
    (
        OwnField(
            "east",
            {
                "spec.nodePools.0.capacityType": "Spot",
                "spec.nodePools.0.capacityBlock": {"capacityReservationId": "cr-0a"},
            },
        ),
        Code.FIELD_CONFLICT,
        "spec.nodePools[0].capacityType",
    ),
    (
        OwnField("east", {"spec.nodePools.0.capacityType": "Reserved"}),
        Code.BLOCK_MISSING,
        "spec.nodePools[0].capacityType",
    ),
    (source("GKE", {"podCidr": "10.0.0.0/24"}), Code.NETWORK_INVALID, "spec.cluster.gke.network.podCidr"),
    (source("GKE", {"podCidr": "here"}), Code.NETWORK_INVALID, "spec.cluster.gke.network.podCidr"),
    (source("AKS", {"vnetCidr": "10.0.0.0/8"}), Code.NETWORK_INVALID, "spec.cluster.aks.network.vnetCidr"),
    (source("AKS", {"subnetCidr": "10.1.0.0/20"}), Code.NETWORK_INVALID, "spec.cluster.aks.network.subnetCidr"),
    (source("AKS", {"subnetCidr": "there"}), Code.NETWORK_INVALID, "spec.cluster.aks.network.subnetCidr"),
    (pod(sidecars=[{"name": "engine", "image": "a"}]), Code.NAME_INVALID, f"{SPEC}.sidecars[0].name"),
    (
        pod(sidecars=[{"name": "a", "image": "a"}], initContainers=[{"name": "a", "image": "a"}]),
        Code.LIST_DUPLICATE,
        f"{SPEC}.sidecars[0].name",
    ),
    (
        pod(
            volumes=SHARED,
            sidecars=[{"name": "a", "image": "a", "volumeMounts": [{"name": "shard", "mountPath": "/a"}]}],
        ),
        Code.REFERENCE_MISSING,
        f"{SPEC}.sidecars[0].volumeMounts[0].name",
    ),
    (
        pod(sidecars=[{"name": "a", "image": "a", "livenessProbe": {**PROBE, "successThreshold": 2}}]),
        Code.VALUE_OUT_OF_RANGE,
        f"{SPEC}.sidecars[0].livenessProbe.successThreshold",
    ),
    (volume(), Code.FIELD_CONFLICT, f"{SPEC}.volumes[0]"),
    (volume(emptyDir={}, hostPath={"path": "/a"}), Code.FIELD_CONFLICT, f"{SPEC}.volumes[0]"),
    (pod(volumes=[{"name": "dshm", "emptyDir": {}}]), Code.NAME_INVALID, f"{SPEC}.volumes[0].name"),
    (volume(hostPath={"path": "a"}), Code.VALUE_INVALID, f"{SPEC}.volumes[0].hostPath.path"),
    (volume(emptyDir={"sizeLimit": "-1Gi"}), Code.QUANTITY_INVALID, f"{SPEC}.volumes[0].emptyDir.sizeLimit"),
    (
        engine(volumeMounts=[{"name": "a", "mountPath": "/mnt/models/"}]),
        Code.FIELD_CONFLICT,
        f"{FIRST}.volumeMounts[0].mountPath",
    ),
    (engine(livenessProbe={}), Code.FIELD_CONFLICT, f"{FIRST}.livenessProbe"),
    (
        engine(resources={"limits": {"nvidia.com/gpu": "1"}}),
        Code.VALUE_NOT_ALLOWED,
        f'{FIRST}.resources.limits["nvidia.com/gpu"]',
    ),
    (
        engine(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        Code.VALUE_OUT_OF_RANGE,
        f"{FIRST}.resources.requests.cpu",
    ),
    (
        engine(securityContext={"seccompProfile": {"type": "Localhost"}}),
        Code.FIELD_MISSING,
        f"{FIRST}.securityContext.seccompProfile",
    ),
    (
        engine(securityContext={"seccompProfile": {"type": "Unconfined", "localhostProfile": "a"}}),
        Code.FIELD_CONFLICT,
        f"{FIRST}.securityContext.seccompProfile.localhostProfile",
    ),
    (
        engine(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        Code.FIELD_CONFLICT,
        f"{FIRST}.securityContext.allowPrivilegeEscalation",
    ),
    (
        engine(securityContext={"runAsUser": 0, "runAsNonRoot": True}),
        Code.FIELD_CONFLICT,
        f"{FIRST}.securityContext.runAsUser",
    ),
    (OwnField("cache", {"spec.include": ["../a"]}), Code.VALUE_INVALID, "spec.include[0]"),
    (OwnField("cache", {"spec.checksum": "md5:0"}), Code.VALUE_INVALID, "spec.checksum"),
    (OwnField("cache", {"spec.source": "S3"}), Code.BLOCK_MISSING, "spec.source"),
    (OwnField("service", {"spec.tls": {"issuerRef": {"name": "a"}}}), Code.FIELD_MISSING, "spec.tls"),
    (
        OwnField("service", {"spec.tls": {}, "spec.hostnames": ["a.example.com"]}),
        Code.FIELD_CONFLICT,
        "spec.tls",
    ),
    (OwnField("service", {"spec.hostnames": ["localhost"]}), Code.NAME_INVALID, "spec.hostnames[0]"),
    (OwnField("service", {"spec.authentication": {}}), Code.FIELD_MISSING, "spec.authentication"),
    (
        OwnField("service", {"spec.timeouts": {"request": "1m", "backendRequest": "2m"}}),
        Code.VALUE_OUT_OF_RANGE,
        "spec.timeouts.backendRequest",
    ),
    (
        OwnField("endpoint", {"spec.url": "http://a.example.com", "spec.tls": {"serverName": "a.example.com"}}),
        Code.FIELD_CONFLICT,
        "spec.tls",
    ),
)


@pytest.mark.parametrize(("row", "code", "path"), RULES, ids=[f"{code}-{path}" for _, code, path in RULES])
def test_a_broken_rule_is_told_where_it_is_broken(row: OwnField, code: Code, path: str) -> None:
    """One problem, besides the refusal of other fields that are not built."""
    text = yaml.safe_dump(row.document(BERTH_VERSION), sort_keys=False)
    errors = load_fleet([("x.yaml", text.encode())], complete=False).errors
    found = [(each.code, each.path) for each in errors if each.code is not Code.NOT_SUPPORTED_YET]
    assert found == [(code, path)], errors
