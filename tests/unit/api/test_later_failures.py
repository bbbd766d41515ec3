"""What Kubernetes or a cloud would refuse later is an error where it is written; what it passes over is a warning."""

import pytest

from components.api.codes import Code
from components.errors import Severity
from tests.support.api_manifests import OWN, Edit, load

DEVICE = "spec.devices[0]"
VERSION = ("region: us-east-1", "region: us-east-1\n      kubernetesVersion: %s")
VARIABLE = "spec.template.spec.engines[0].members[0].template.spec.containers[0].env[0].valueFrom"
SECRET = "secretKeyRef:\n                      name: hf\n                      key: token"
BALANCER = "version: 40.2.0\n    loadBalancer: MetalLB\n    metallb: {addressPool: %s}"
POOL = "spec.traefik.metallb.addressPool"

REFUSED = [
    # A node label
    (Edit("classes", "type: nvidia-l4", "type: nvidia l4"), Code.NAME_INVALID,
     "spec.provisioning.eks.accelerator.type"),
    # What ResourceSlices and claims can hold
    (Edit("classes", "driver: gpu.nvidia.com", "driver: GPU.nvidia.com"), Code.NAME_INVALID, f"{DEVICE}.driver"),
    (Edit("classes", "driver: gpu.nvidia.com", f"driver: {'a' * 64}"), Code.NAME_INVALID, f"{DEVICE}.driver"),
    (Edit("classes", "deviceClassName: gpu", "deviceClassName: GPU"), Code.NAME_INVALID, f"{DEVICE}.deviceClassName"),
    (Edit("classes", "architecture: {", "cuda-arch: {"), Code.NAME_INVALID, f"{DEVICE}.attributes.cuda-arch"),
    (Edit("classes", "architecture: {", "9arch: {"), Code.NAME_INVALID, f"{DEVICE}.attributes.9arch"),
    (Edit("classes", "architecture: {", "GPU.x/arch: {"), Code.NAME_INVALID, f'{DEVICE}.attributes["GPU.x/arch"]'),
    (Edit("classes", "architecture: {", f"{'a' * 33}: {{"), Code.NAME_INVALID, f"{DEVICE}.attributes.{'a' * 33}"),
    (Edit("classes", "memory: {", "mem-ory: {"), Code.NAME_INVALID, f"{DEVICE}.capacity.mem-ory"),
    # Keys of Secrets, fields of pods
    (Edit("cache", "{name: hf}", "{name: hf, key: HF TOKEN}"), Code.NAME_INVALID, "spec.huggingFace.authSecret.key"),
    (Edit("cache", "{name: hf}", "{name: hf, key: ..data}"), Code.NAME_INVALID, "spec.huggingFace.authSecret.key"),
    (Edit("edge", "{name: edge-kubeconfig}", "{name: edge-kubeconfig, key: a/b}"), Code.NAME_INVALID,
     "spec.cluster.existing.secretRef.key"),
    (Edit("qwen", "key: token", "key: a b"), Code.NAME_INVALID, f"{VARIABLE}.secretKeyRef.key"),
    (Edit("qwen", SECRET, "fieldRef: {fieldPath: spec.containers}"), Code.VALUE_NOT_ALLOWED,
     f"{VARIABLE}.fieldRef.fieldPath"),
    # Versions in the form of the cloud, of a chart
    (Edit("east", VERSION[0], VERSION[1] % "'1.36.1'"), Code.VALUE_INVALID, "spec.cluster.eks.kubernetesVersion"),
    (Edit("east", VERSION[0], VERSION[1] % "v1.36.1+3"), Code.VALUE_INVALID, "spec.cluster.eks.kubernetesVersion"),
    (Edit("east", VERSION[0], VERSION[1] % "'2.0'"), Code.VALUE_INVALID, "spec.cluster.eks.kubernetesVersion"),
    (Edit("gateway", "40.2.0", "newest one"), Code.VALUE_INVALID, "spec.traefik.version"),
    # Addresses
    (Edit("gateway", "version: 40.2.0", BALANCER % "10.0.0.9"), Code.NETWORK_INVALID, POOL),
    (Edit("gateway", "version: 40.2.0", BALANCER % "10.0.0.9-10.0.0.1"), Code.NETWORK_INVALID, POOL),
    (Edit("gateway", "version: 40.2.0", BALANCER % "10.0.0.1-fd00::1"), Code.NETWORK_INVALID, POOL),
    (Edit("gateway", "version: 40.2.0", BALANCER % "10.0.0.1 to 10.0.0.9"), Code.NETWORK_INVALID, POOL),
    # Zones
    (Edit("east", "[us-east-1a]", "[us-east-1a, us-east-1b, us-east-1a]"), Code.LIST_DUPLICATE,
     "spec.nodePools[0].zones[2]"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "code", "path"), REFUSED, ids=lambda each: each.new if isinstance(each, Edit) else "")
def test_what_would_be_refused_later_is_an_error_at_its_place(edit: Edit, code: Code, path: str) -> None:
    """One problem, where the text stands."""
    (problem,) = load(edit).problems
    assert (problem.code, problem.severity, problem.path) == (code, Severity.ERROR, path)


@pytest.mark.parametrize(
    "edit",
    [
        Edit("classes", "linkType: {", "link-type: {"),
        Edit("classes", "driver: nic.nvidia.com", "driver: NIC"),
        Edit("classes", "architecture: {", "gpu.nvidia.com/architecture: {"),
        Edit("gateway", "version: 40.2.0", BALANCER % "10.0.0.240/28"),
        Edit("gateway", "version: 40.2.0", BALANCER % "fd00::1 - fd00::9"),
        Edit("gateway", "40.2.0", "v40.2.0-rc.1"),
        Edit("gateway", "40.2.0", "'^40'"),
        Edit("qwen", SECRET, "fieldRef: {fieldPath: \"metadata.labels['app']\"}"),
    ],
    ids=lambda edit: edit.new,
)
def test_what_nobody_refuses_loads(edit: Edit) -> None:
    """What is only matched bears any name, and every form that is taken is taken here."""
    assert load(edit).errors == ()


WEST = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: west}
spec:
  cluster: {source: %s, %s}
  nodePools: [{name: h100, className: h100x8, zones: [%s]}]
"""


def test_zones_of_azure_are_numbers() -> None:
    """A zone's full name is what AWS and Google Cloud have."""
    for zone in ("eastus-1", "a", '"01"'):
        (problem,) = load(**{"platform/west.yaml": WEST % ("AKS", "aks: {location: eastus}", zone)}).problems
        assert (problem.code, problem.path) == (Code.ZONE_INVALID, "spec.nodePools[0].zones[0]")
    assert load(**{"platform/west.yaml": WEST % ("AKS", "aks: {location: eastus}", '"1"')}).problems == ()


@pytest.mark.parametrize(("source", "block"), [("Vultr", "vultr: {region: ewr}"), ("Nebius", "nebius: {}")])
def test_zones_have_no_effect_where_a_cloud_takes_none(source: str, block: str) -> None:
    """The predecessor passes over them in silence."""
    (problem,) = load(**{"platform/west.yaml": WEST % (source, block, "a")}).problems
    assert (problem.code, problem.severity, problem.path) == (
        Code.FIELD_IGNORED, Severity.WARNING, "spec.nodePools[0].zones"
    )  # fmt: skip


def test_a_mount_s_folder_cannot_lead_out_of_its_volume() -> None:
    """Not at the end either."""
    engine = "- name: engine\n                volumeMounts: [{name: a, mountPath: /a, subPath: %s}]"
    volumes = "              volumes: [{name: a, emptyDir: {}}]\n              containers:"
    for path in ("..", "a/.."):
        edits = (Edit("qwen", *OWN), Edit("qwen", "              containers:", volumes))
        (problem,) = load(*edits, Edit("qwen", "- name: engine", engine % path)).problems
        assert (problem.code, problem.path.rpartition(".")[2]) == (Code.VALUE_INVALID, "subPath")
