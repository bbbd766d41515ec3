"""The rules of what platform engineers write: classes, clusters, gateways, the environment."""

from dataclasses import dataclass

import pytest

from components.api.codes import Code
from components.errors import Severity
from components.labels import SYSTEM_POOL
from tests.support.api_manifests import OWN, Edit, load

CLUSTER = """\
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata:
  name: west
spec:
  cluster:
    source: {source}
    {block}: {{{settings}}}
  nodePools:
  - {{name: {name}, className: h100x8{pool}}}
"""


def cluster(source: str, settings: str = "", pool: str = "", name: str = "h100") -> str:
    """Write a cluster of a source with one pool."""
    return CLUSTER.format(source=source, block=source.lower(), settings=settings, pool=pool, name=name)


GKE, AKS, VULTR = "region: us-central1", "location: eastus", "region: ewr"


@dataclass(frozen=True)
class Refused:
    """A cluster that its source's cloud would refuse."""

    name: str
    text: str
    code: Code
    path: str
    says: str = ""


REFUSED = [
    Refused("GKE without zones", cluster("GKE", GKE), Code.ZONE_INVALID, "spec.nodePools[0]", "GKE needs them"),
    Refused("GKE zone elsewhere", cluster("GKE", GKE, ", zones: [us-east1-b]"), Code.ZONE_INVALID,
            "spec.nodePools[0].zones[0]", "not in the cluster's region"),
    Refused("GKE pool name", cluster("GKE", GKE, ", zones: [us-central1-a]", "9h"), Code.NAME_INVALID,
            "spec.nodePools[0].name", "begin with a letter"),
    Refused("EKS zone elsewhere", cluster("EKS", "region: us-east-1", ", zones: [us-west-2a]"), Code.ZONE_INVALID,
            "spec.nodePools[0].zones[0]", "not in the cluster's region"),
    Refused("EKS zone without a subnet", cluster("EKS", "region: us-east-1", ", zones: [us-east-1f]"),
            Code.ZONE_INVALID, "spec.nodePools[0].zones", "no subnet in any"),
    Refused("EKS too many nodes", cluster("EKS", "region: us-east-1", ", zones: [us-east-1a], nodeCount: 1001"),
            Code.VALUE_OUT_OF_RANGE, "spec.nodePools[0].nodeCount", "from 0 to 1000"),
    Refused("AKS pool name", cluster("AKS", AKS, "", "h100-pool"), Code.NAME_INVALID, "spec.nodePools[0].name",
            "`h100pool` perhaps"),
    Refused("AKS zones", cluster("AKS", AKS, ', zones: ["1", "2", "3", "4"]'), Code.VALUE_LENGTH,
            "spec.nodePools[0].zones", "at most 3 zones"),
    Refused("AKS zone names", cluster("AKS", AKS, ", zones: [eastus-zone-1]"), Code.ZONE_INVALID,
            "spec.nodePools[0].zones[0]", "a number such as `1`"),
    Refused("Nebius InfiniBand without a fabric", cluster("Nebius", "", ", fabric: {type: InfiniBand}"),
            Code.BLOCK_MISSING, "spec.nodePools[0].fabric.type", "names the fabric"),
    Refused("Nebius minimum alone", cluster("Nebius", "", ", minNodeCount: 1"), Code.FIELD_CONFLICT,
            "spec.nodePools[0].minNodeCount", "needs maxNodeCount"),
    Refused("Vultr without a node", cluster("Vultr", VULTR, ", nodeCount: 0"), Code.VALUE_OUT_OF_RANGE,
            "spec.nodePools[0].nodeCount", "from 1 to 1000"),
    Refused("Vultr minimum of none", cluster("Vultr", VULTR, ", minNodeCount: 0, maxNodeCount: 2"),
            Code.VALUE_OUT_OF_RANGE, "spec.nodePools[0].minNodeCount"),
    Refused("minimum above maximum", cluster("Nebius", "", ", nodeCount: 3, minNodeCount: 4, maxNodeCount: 3"),
            Code.VALUE_OUT_OF_RANGE, "spec.nodePools[0].minNodeCount", "4 is more than maxNodeCount 3"),
    Refused("InfiniBand settings without InfiniBand", cluster("Nebius", "", ", fabric: {infiniband: {fabric: f-1}}"),
            Code.FIELD_CONFLICT, "spec.nodePools[0].fabric.infiniband", "the type is None"),
    Refused("reservation id", cluster("EKS", "region: us-east-1", ", zones: [us-east-1a], capacityBlock: "
            "{capacityReservationId: cr-XYZ}"), Code.VALUE_INVALID,
            "spec.nodePools[0].capacityBlock.capacityReservationId", "must match"),
    Refused("pool name", cluster("Nebius", "", "", "GPU_pool"), Code.NAME_INVALID, "spec.nodePools[0].name"),
    Refused("long pool name", cluster("Nebius", "", "", "a" * 41), Code.VALUE_LENGTH, "spec.nodePools[0].name",
            "at most 40 characters, and has 41"),
    Refused("the system's pool name", cluster("EKS", "region: us-east-1", ", zones: [us-east-1a]", SYSTEM_POOL),
            Code.POOL_NAME_RESERVED, "spec.nodePools[0].name", "reserved for the pool"),
    Refused("the system's pool name elsewhere", cluster("Nebius", "", "", SYSTEM_POOL), Code.POOL_NAME_RESERVED,
            "spec.nodePools[0].name", "reserved for the pool"),
    Refused("block of another source", cluster("EKS").replace("eks:", "gke:").replace("{}", "{region: a}"),
            Code.BLOCK_MISSING, "spec.cluster.source", "needs the block `eks`"),
    Refused("unknown identity", cluster("Nebius", "credentials: {name: prod}"), Code.REFERENCE_MISSING,
            "spec.cluster.nebius.credentials.name", "no identity `prod` under providers.nebius"),
    Refused("network of another source", cluster("GKE", GKE + ", network: {vpcCidr: 10.0.0.0/8}",
            ", zones: [us-central1-a]"), Code.FIELD_UNKNOWN, "spec.cluster.gke.network.vpcCidr", "belongs"),
]  # fmt: skip


@pytest.mark.parametrize("given", REFUSED, ids=lambda given: given.name)
def test_a_cloud_s_own_rules_hold_at_load(given: Refused) -> None:
    """What the cloud would refuse hours later is an error now, at the field that causes it."""
    (problem,) = load(**{"platform/west.yaml": given.text}).problems
    assert (problem.code, problem.path) == (given.code, given.path)
    assert given.says in problem.message + problem.help


@pytest.mark.parametrize(
    "text",
    [
        cluster("GKE", GKE, ", zones: [us-central1-a, us-central1-b]"),
        cluster("EKS", "region: us-east-1, kubernetesVersion: '1.35'", ", zones: [us-east-1a, us-east-1f]"),
        cluster("AKS", AKS, ", minNodeCount: 1, maxNodeCount: 2, fabric: {type: InfiniBand}"),
        cluster("AKS", AKS, ', zones: ["1"]'),
        cluster("Nebius", "", ", fabric: {type: InfiniBand, infiniband: {fabric: fabric-2}}"),
        cluster("Vultr", VULTR),
        cluster("Existing", "secretRef: {name: west}, region: eu, zone: eu-1, kubernetesVersion: '1.35'"),
        cluster("Existing", "secretRef: {name: w}, identitySecretRef: {name: i}, cache: {storageClassName: nfs}"),
        cluster("EKS", "region: us-east-1, network: {vpcCidr: 10.9.0.0/16, publicSubnetCidrs: [10.9.0.0/24, "
                "10.9.1.0/24], privateSubnetCidrs: [10.9.2.0/24, 10.9.3.0/24]}", ", zones: [us-east-1b]"),
    ],
)  # fmt: skip
def test_every_source_has_a_valid_form(text: str) -> None:
    """All six sources load without a problem."""
    result = load(**{"platform/west.yaml": text})
    assert result.problems == ()
    assert result.fleet is not None
    west = result.fleet.clusters["west"]
    assert west.spec.cluster.block is not None


NETWORKS = [
    ("{vpcCidr: 10.0.0.0/8}", "network.vpcCidr", "prefix from /16 to /28"),
    ("{vpcCidr: ten}", "network.vpcCidr", "is not an IPv4 range"),
    ("{vpcCidr: 10.0.0.1/16}", "network.vpcCidr", "is not an IPv4 range"),
    ("{privateSubnetCidrs: [10.0.48.0/20, 10.1.0.0/20, 10.0.80.0/20]}", "network.privateSubnetCidrs[1]", "not lie in"),
    ("{privateSubnetCidrs: [10.0.48.0/20, 10.0.32.0/20, 10.0.80.0/20]}", "network.privateSubnetCidrs[1]", "overlaps"),
    ("{privateSubnetCidrs: [10.0.48.0/20, x, 10.0.80.0/20]}", "network.privateSubnetCidrs[1]", "is not an IPv4"),
    ("{privateSubnetCidrs: [10.0.48.0/20, 10.0.64.0/20]}", "network", "one length"),
    ("{privateSubnetCidrs: [10.0.48.0/20]}", "network.privateSubnetCidrs", "at least 2 items"),
]


@pytest.mark.parametrize(("network", "path", "says"), NETWORKS)
def test_address_ranges_nest_and_do_not_overlap(network: str, path: str, says: str) -> None:
    """A network that AWS would refuse, or that would cut zones off, is an error with the range at fault."""
    text = cluster("EKS", f"region: us-east-1, network: {network}", ", zones: [us-east-1a]")
    (problem,) = load(**{"platform/west.yaml": text}).problems
    assert problem.path == f"spec.cluster.eks.{path}"
    assert says in problem.message


def test_a_cluster_without_pools_is_legal_only_as_a_front_door() -> None:
    """The edge has no GPU; any other cluster that Berth makes must have a pool."""
    text = cluster("EKS", "region: us-east-1").split("  nodePools")[0]
    (problem,) = load(**{"platform/west.yaml": text}).problems
    assert (problem.code, problem.severity) == (Code.POOLS_MISSING, Severity.ERROR)
    assert load(Edit("environment", "[edge]", "[edge, west]"), **{"platform/west.yaml": text}).fleet is not None
    leaving = text + "  removing: true\n"
    assert load(**{"platform/west.yaml": leaving}).fleet is not None


def test_an_existing_cluster_without_pools_is_only_warned_of() -> None:
    """The predecessor accepts and runs it, so it loads."""
    result = load(Edit("environment", "[edge]", "[east]"))
    assert [(problem.code, problem.file) for problem in result.problems] == [(Code.POOLS_MISSING, "platform/edge.yaml")]
    assert result.fleet is not None


@pytest.mark.parametrize("state", ["removing", "lost"])
def test_a_front_door_cannot_be_on_its_way_out(state: str) -> None:
    """The gateway goes first."""
    result = load(Edit("edge", *OWN), Edit("edge", "spec:", f"spec:\n  {state}: true"))
    assert [(problem.code, problem.file) for problem in result.problems] == [(Code.FIELD_CONFLICT, "environment.yaml")]


PLATFORM = [
    ("classes", "provider: EKS", "provider: Vultr", Code.BLOCK_MISSING, "spec.provisioning.provider"),
    ("classes", "    deviceClassName: gpu.nvidia.com\n", "", Code.FIELD_MISSING, "spec.devices[0]"),
    ("classes", "deviceClassName: gpu.nvidia.com", "deviceClassName: GPU", Code.NAME_INVALID,
     "spec.devices[0].deviceClassName"),
    ("classes", "{string: Ada Lovelace}", "{string: Ada, int: 1}", Code.FIELD_CONFLICT,
     "spec.devices[0].attributes.architecture"),
    ("classes", "{string: Ada Lovelace}", "{}", Code.FIELD_CONFLICT, "spec.devices[0].attributes.architecture"),
    ("classes", "{string: Ada Lovelace}", "{int: 9223372036854775808}", Code.VALUE_OUT_OF_RANGE,
     "spec.devices[0].attributes.architecture.int"),
    ("classes", "name: nic", "name: gpu", Code.LIST_DUPLICATE, "spec.devices[1].name"),
    ("classes", "diskSizeGb: 200", "diskSizeGb: 9", Code.VALUE_OUT_OF_RANGE, "spec.provisioning.eks.diskSizeGb"),
    ("classes", "count: 1}", "count: 17}", Code.VALUE_OUT_OF_RANGE, "spec.provisioning.eks.accelerator.count"),
    ("classes", "    count: 1\n", "    count: 65\n", Code.VALUE_OUT_OF_RANGE, "spec.devices[0].count"),
    ("classes", "claim: DRA", "claim: dra", Code.VALUE_NOT_ALLOWED, "spec.devices[0].claim"),
    ("east", "  - {key: reserved, value: search, effect: NoSchedule}",
     "  - {key: a, effect: NoSchedule}\n  - {key: a, effect: NoSchedule}", Code.LIST_DUPLICATE, "spec.taints[1].key"),
    ("east", "name: h100\n", "name: l4\n", Code.LIST_DUPLICATE, "spec.nodePools[1].name"),
    ("east", "tier: prod", "tier: prod/x", Code.LABEL_INVALID, "metadata.labels.tier"),
    ("east", "tier: prod", "-tier: prod", Code.LABEL_INVALID, "metadata.labels.-tier"),
    ("gateway", "  traefik:\n    version: 40.2.0\n", "", Code.BLOCK_MISSING, "spec.backend"),
    ("gateway", "version: 40.2.0", "version: 40.2.0\n    loadBalancer: MetalLB", Code.BLOCK_MISSING,
     "spec.traefik.loadBalancer"),
    ("gateway", "backend: Traefik", "backend: Envoy", Code.VALUE_NOT_ALLOWED, "spec.backend"),
    ("environment", "[edge]", "[edge, edge]", Code.LIST_DUPLICATE, "spec.frontDoors[1]"),
    ("environment", "layout: Single", "layout: single", Code.VALUE_NOT_ALLOWED, "spec.layout"),
    ("environment", "layout: Single", "scheduling: {strategy: Compatible, accounting: Device}", Code.FIELD_CONFLICT,
     "spec.scheduling.accounting"),
    ("environment", "layout: Single", "secrets: [hf]", Code.NAME_INVALID, "spec.secrets[0]"),
    ("environment", "layout: Single", "owner: 'a;b'", Code.VALUE_INVALID, "spec.owner"),
    ("environment", "layout: Single", "providers: {aws: {prod: {rgion: a}}}", Code.FIELD_UNKNOWN,
     "spec.providers.aws.prod.rgion"),
    ("environment", "layout: Single", "keepOld: 30m", Code.NOT_SUPPORTED_YET, "spec.keepOld"),
    ("environment", "name: dev", "name: dev.eu", Code.NAME_INVALID, "metadata.name"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "code", "path"), PLATFORM)
def test_a_platform_document_keeps_its_rules(file: str, old: str, new: str, code: Code, path: str) -> None:
    """One edit, one problem, at the field."""
    found = [problem for problem in load(Edit(file, old, new)).problems if problem.code != Code.ENVIRONMENT_NAME]
    assert [(problem.code, problem.path) for problem in found] == [(code, path)]


def test_gateways_need_no_more_than_the_predecessor_asks() -> None:
    """MetalLB with addresses is right."""
    result = load(
        Edit(
            "gateway",
            "version: 40.2.0",
            "version: 40.2.0\n    loadBalancer: MetalLB\n    metallb: {addressPool: 10.0.0.1-10.0.0.9}",
        )
    )
    assert result.problems == ()


def test_an_environment_reads_all_its_settings() -> None:
    """Every supported setting of an environment arrives under its own name."""
    text = """\
apiVersion: berth.dev/v1alpha1
kind: Environment
metadata: {name: dev}
spec:
  layout: PerCluster
  frontDoors: [edge]
  release: "2026.11"
  protect: true
  scheduling: {strategy: Compatible}
  secrets: [ml/hf, modelplane-system/edge-kubeconfig]
  providers:
    aws: {prod: {region: us-east-1, profile: prod, roleArn: "arn:aws:iam::1:role/x", externalId: e}}
    gcp: {prod: {project: p, impersonateServiceAccount: a@p.iam}}
    azure: {prod: {subscriptionId: s, tenantId: t, clientId: c}}
    nebius: {prod: {project: p, secret: a/b}}
    vultr: {prod: {secret: a/b}}
  owner: ML Platform
  costCentre: cc-42
"""
    fleet = load(environment=text).raise_if_errors()
    spec = fleet.environment.spec
    assert (spec.layout, spec.front_doors, spec.release, spec.protect) == ("PerCluster", ("edge",), "2026.11", True)
    assert (spec.scheduling.strategy, spec.scheduling.accounting) == ("Compatible", "Node")
    assert spec.secrets == ("ml/hf", "modelplane-system/edge-kubeconfig")
    assert spec.providers.aws["prod"].role_arn == "arn:aws:iam::1:role/x"
    assert (spec.owner, spec.cost_centre) == ("ML Platform", "cc-42")


def test_an_identity_of_the_environment_can_build_a_cluster() -> None:
    """Credentials name an entry of the cloud's providers."""
    west = cluster("Nebius", "credentials: {name: prod}")
    environment = "layout: Single\n  providers: {nebius: {prod: {project: p}}}"
    fleet = load(Edit("environment", "layout: Single", environment), **{"platform/w.yaml": west}).raise_if_errors()
    credentials = fleet.clusters["west"].spec.cluster.credentials
    assert credentials is not None
    assert credentials.name == "prod"
