"""Rules between documents, and the warnings of what does nothing or can never work."""

import pytest

from components.api.codes import Code
from components.api.load import LoadResult, load_fleet
from components.errors import Severity
from tests.support.api_manifests import CLASSES, OWN, Edit, files, load


def found(result: LoadResult) -> list[tuple[Code, str, str]]:
    """Return the problems as code, file and path."""
    return [(Code(problem.code), problem.file, problem.path) for problem in result.problems]


def test_a_class_must_say_how_the_cluster_s_cloud_makes_a_node() -> None:
    """A class for EKS alone does not make a node on Vultr."""
    west = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: west}
spec:
  cluster: {source: Vultr, vultr: {region: ewr}}
  nodePools: [{name: l4, className: l4}]
"""
    (problem,) = load(**{"platform/west.yaml": west}).problems
    assert (problem.code, problem.path) == (Code.PROVISIONING_MISSING, "spec.nodePools[0].className")
    assert "`provisioning.vultr`" in problem.help


def test_an_existing_cluster_needs_no_provisioning() -> None:
    """Hardware that exists is only described."""
    bare = CLASSES.split("---")[0].replace("name: l4", "name: bare")
    bare = bare.split("  provisioning")[0] + "  devices" + bare.split("  devices")[1]
    edge = Edit("edge", "spec:", "spec:\n  nodePools: [{name: p, className: bare}]")
    assert load(edge, **{"platform/bare.yaml": bare}).problems == ()


def test_front_doors_need_the_default_gateway() -> None:
    """Without it nobody knows what to run there."""
    (problem,) = load(without=("gateway",)).problems
    assert (problem.code, problem.file, problem.path) == (
        Code.REFERENCE_MISSING, "environment.yaml", "spec.frontDoors"
    )  # fmt: skip


def test_a_gateway_of_another_name_is_only_warned_of() -> None:
    """The predecessor accepts it, and no service uses it."""
    extra = "apiVersion: modelplane.ai/v1alpha1\nkind: InferenceGateway\nmetadata: {name: other}\n"
    extra += "spec: {backend: Traefik, traefik: {version: '1'}}\n"
    result = load(**{"platform/other.yaml": extra})
    assert found(result) == [(Code.GATEWAY_UNUSED, "platform/other.yaml", "metadata.name")]
    assert result.fleet is not None


TWIN = """\
apiVersion: berth.dev/v1alpha1
kind: InferenceCluster
metadata: {name: twin}
spec:
  cluster: {source: Existing, existing: {secretRef: {name: edge-kubeconfig}}}
  removing: true
"""


def test_two_clusters_with_one_kubeconfig_are_refused_with_both_places() -> None:
    """They are one cluster; one that goes would take with it what the other has there."""
    (problem,) = load(**{"platform/twin.yaml": TWIN}).problems
    assert (problem.code, problem.file) == (Code.CLUSTER_TWICE, "platform/twin.yaml")
    assert (problem.line, problem.path) == (5, "spec.cluster.existing.secretRef.name")
    assert "`edge` (platform/" in problem.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("edge-kubeconfig}", "twin-kubeconfig}"),
        ("edge-kubeconfig}", "edge-kubeconfig, key: twin}"),
        ("removing", "lost"),
    ],
    ids=["another secret", "another key", "a cluster that is given up"],
)
def test_clusters_that_are_two_are_let_through(old: str, new: str) -> None:
    """One secret may hold several kubeconfigs, and nothing is built on a lost cluster."""
    problems = load(**{"platform/twin.yaml": TWIN.replace(old, new)}).problems
    assert Code.CLUSTER_TWICE not in {problem.code for problem in problems}


def test_secrets_that_the_environment_does_not_list_are_warned_of() -> None:
    """Every use is named, once a list is there."""
    result = load(Edit("environment", "layout: Single", "secrets: [modelplane-system/edge-kubeconfig]"))
    assert result.fleet is not None
    assert {problem.severity for problem in result.problems} == {Severity.WARNING}
    assert found(result) == [
        (Code.SECRET_UNDECLARED, "models/ml/cache.yaml", "spec.huggingFace.authSecret.name"),
        (
            Code.SECRET_UNDECLARED,
            "models/ml/qwen.yaml",
            "spec.template.spec.engines[0].members[0].template.spec.containers[0].env[0].valueFrom.secretKeyRef.name",
        ),
    ]


def test_every_kind_of_secret_is_looked_for() -> None:
    """Pull secrets and cloud identities count too; an optional key does not."""
    pull = "            spec:\n              imagePullSecrets: [{name: ngc}]\n"
    result = load(
        Edit("environment", "layout: Single", "secrets: [a/b]"),
        Edit("edge", "{name: edge-kubeconfig}", "{name: edge-kubeconfig}\n      identitySecretRef: {name: gcp}"),
        Edit("qwen", "            spec:\n", pull),
        Edit("qwen", "key: token", "key: token\n                      optional: true"),
    )
    named = sorted(problem.message.split("`")[1] for problem in result.problems)
    assert named == ["ml/hf", "ml/ngc", "modelplane-system/edge-kubeconfig", "modelplane-system/gcp"]


def test_a_listed_secret_is_not_warned_of() -> None:
    """Silence where everything is declared."""
    result = load(Edit("environment", "layout: Single", "secrets: [modelplane-system/edge-kubeconfig, ml/hf]"))
    assert result.problems == ()


def test_a_service_group_that_matches_nothing_is_warned_of() -> None:
    """The group is named, the service still loads."""
    result = load(Edit("service", "model: qwen", "model: qwem"))
    assert found(result) == [(Code.SERVICE_EMPTY, "models/ml/service.yaml", "spec.endpoints[0].selector.matchLabels")]
    assert result.fleet is not None


@pytest.mark.parametrize(
    "labels",
    [
        "modelplane.ai/deployment: qwen",
        "modelplane.ai/cluster: east",
        "modelplane.ai/replica-index: '0'",
        "modelplane.ai/deployment: coder\n        modelplane.ai/cluster: east",
    ],
)
def test_a_service_may_select_on_what_berth_writes(labels: str) -> None:
    """Deployment, cluster and index are labels of every endpoint."""
    assert load(Edit("service", "model: qwen", labels)).problems == ()


def test_services_without_a_front_door_are_warned_of() -> None:
    """They would have no address."""
    result = load(Edit("environment", "  frontDoors: [edge]\n", ""))
    assert found(result)[0][:2] == (Code.FRONT_DOOR_MISSING, "models/ml/service.yaml")


IGNORED = [
    ("fabric: {type: EFA}", "fabric: {type: InfiniBand}", "spec.nodePools[1].fabric.type", "on Nebius and AKS"),
    (
        "    nodeCount: 2\n    maxNodeCount: 4\n",
        "    minNodeCount: 1\n",
        "spec.nodePools[0].minNodeCount",
        "maxNodeCount",
    ),
    ("    nodeCount: 2\n", "    nodeCount: 9\n", "spec.nodePools[0].nodeCount", "outside 0 to 4"),
]


@pytest.mark.parametrize(("old", "new", "path", "says"), IGNORED)
def test_what_has_no_effect_is_warned_of(old: str, new: str, path: str, says: str) -> None:
    """The predecessor passes over it in silence."""
    result = load(Edit("east", old, new))
    (problem,) = result.problems
    assert (problem.code, problem.severity, problem.path) == (Code.FIELD_IGNORED, Severity.WARNING, path)
    assert says in problem.message


@pytest.mark.parametrize(("dwell", "warned"), [("30m", True), ("0s", False)])
def test_a_dwell_time_that_nobody_can_measure_is_warned_of(dwell: str, *, warned: bool) -> None:
    """No run knows since when a cluster has not been ready; that it is not ready now is enough for none at all."""
    result = load(Edit("environment", "layout: Single", f"layout: Single\n  scheduling: {{repinDwell: {dwell}}}"))
    assert [(problem.code, problem.path) for problem in result.problems] == (
        [(Code.FIELD_IGNORED, "spec.scheduling.repinDwell")] if warned else []
    )


@pytest.mark.parametrize(
    ("quotas", "at", "hint"),
    [
        ("{ml: {devices: {nvidia-l4: 1, nvidia-h100: 8}, nodes: 2}}", "", ""),
        ("{mll: {nodes: 2}}", "spec.quotas.mll", "did you mean `ml`?"),
        ("{finance: {nodes: 2}}", "spec.quotas.finance", ""),
        ("{ml: {devices: {nvidia-l40: 1}}}", "spec.quotas.ml.devices.nvidia-l40", "did you mean `nvidia-l4`?"),
    ],
)
def test_a_quota_that_limits_nothing_is_warned_of(quotas: str, at: str, hint: str) -> None:
    """A misspelt one would let a team take what it likes."""
    found = load(Edit("environment", "layout: Single", f"layout: Single\n  quotas: {quotas}")).problems
    assert [(problem.code, problem.severity, problem.path, problem.help) for problem in found] == (
        [(Code.FIELD_IGNORED, Severity.WARNING, at, hint)] if at else []
    )


def test_a_capacity_block_has_no_effect_elsewhere() -> None:
    """Only EKS has them."""
    edge = "spec:\n  nodePools: [{name: p, className: h100x8, capacityBlock: {capacityReservationId: cr-0a}}]"
    (problem,) = load(Edit("edge", "spec:", edge)).problems
    assert (problem.code, problem.path) == (Code.FIELD_IGNORED, "spec.nodePools[0].capacityBlock")


UNPLACEABLE = [
    ([Edit("qwen", "          tier: prod", "          tier: dev")], "labels of its clusterSelector"),
    ([Edit("coder", "      tolerations: [{key: reserved, value: search}]\n", "")], "a taint it does not tolerate"),
    ([Edit("coder", "value: search", "value: other")], "a taint it does not tolerate"),
    ([Edit("coder", "{key: reserved, value: search}", "{key: reserved, value: search, effect: NoExecute}")],
     "a taint it does not tolerate"),
    ([Edit("cache", "  source:", "  clusterSelector: {matchLabels: {a: b}}\n  source:")], "cache cannot be staged"),
    ([Edit("qwen", "              count: 1", "              count: 9")], "the request `gpu` wants 9 of one kind"),
    ([Edit("east", *OWN), Edit("east", "    className: l4", "    capacityType: Spot\n    className: l4")],
     "only spot nodes could carry it, and it does not say `spot: true`"),
    ([Edit("east", *OWN), Edit("east", "spec:", "spec:\n  removing: true")], "every cluster is being removed"),
    ([Edit("qwen", "copies: 1", "copies: 5")], "the largest, `east/l4`, takes 4 at its most nodes"),
    ([Edit("east", "    nodeCount: 2\n    maxNodeCount: 4\n", "    nodeCount: 0\n")], "no pool has nodes"),
    ([Edit("coder", "worker: {nodes: 1}", "worker: {nodes: 3}")],
     "the 3 pods of one role of the engine `main` go into one pool, and the largest, `east/h100`, takes 2"),
    ([Edit("coder", "worker: {nodes: 1}", "worker: {nodes: 2}")], "nodes for all of its requests together"),
    ([Edit("qwen", ".architecture", ".archtecture")],
     "cannot be evaluated: this device has no attribute gpu.nvidia.com/archtecture"),
]  # fmt: skip


@pytest.mark.parametrize(("edits", "says"), UNPLACEABLE, ids=[says for _, says in UNPLACEABLE])
def test_a_deployment_that_no_cluster_can_ever_take_is_warned_of(edits: list[Edit], says: str) -> None:
    """The warning gives the reason; capacity is not asked here."""
    result = load(*edits)
    assert result.fleet is not None
    warned = [problem for problem in result.problems if problem.code == Code.DEPLOYMENT_UNPLACEABLE]
    assert warned
    assert all(says in problem.message for problem in warned)


def test_a_cache_needs_storage_that_many_nodes_can_mount() -> None:
    """An existing cluster without a storage class stages no cache."""
    edge = Edit("edge", "spec:", "spec:\n  nodePools: [{name: p, className: l4}]")
    labels = Edit("edge", "name: edge\n", "name: edge\n  labels: {tier: edge}\n")
    qwen = Edit("qwen", "          tier: prod", "          tier: edge")
    (problem,) = load(edge, labels, qwen).problems
    assert "its cache cannot be staged" in problem.message
    storage = Edit("edge", "{name: edge-kubeconfig}", "{name: edge-kubeconfig}\n      cache: {storageClassName: nfs}")
    assert load(edge, labels, qwen, storage).problems == ()


def test_without_a_cluster_nothing_can_be_placed() -> None:
    """The reason is said even when no cluster is there at all."""
    result = load(Edit("environment", "  frontDoors: [edge]\n", ""), without=("east", "edge", "service"))
    assert [problem.message for problem in result.problems] == [
        "no cluster can ever take this deployment: there is no cluster with GPU pools"
    ] * 2


def test_nothing_is_missing_that_an_unreadable_file_may_hold() -> None:
    """A syntax error in one file does not make the others' references wrong."""
    result = load(Edit("classes", "kind: InferenceClass", "kind: [InferenceClass"))
    assert [problem.code for problem in result.problems] == [Code.YAML_SYNTAX]


def test_a_broken_document_still_counts_as_being_there() -> None:
    """A class with a mistake is not also missing."""
    result = load(Edit("classes", "diskSizeGb: 200", "diskSize: 200"))
    assert [problem.code for problem in result.problems] == [Code.FIELD_UNKNOWN]


def test_an_unreadable_file_of_one_namespace_hides_nothing_of_another() -> None:
    """What a team's broken file may hold is its own namespace's business."""
    result = load(Edit("qwen", "name: weights", "name: missing"), **{"models/other/x.yaml": "a: ["})
    assert sorted(problem.code for problem in result.problems) == [Code.REFERENCE_MISSING, Code.YAML_SYNTAX]


def test_references_that_leave_a_part_of_an_environment_are_warnings() -> None:
    """Validating a few files says what is not among them, and does not fail."""
    part = {path: content for path, content in files().items() if path.startswith("models/")}
    part["platform/east.yaml"] = files()["platform/east.yaml"]
    result = load_fleet(part.items(), complete=False)
    assert result.fleet is not None
    assert result.fleet.name == "default"
    assert {(problem.code, problem.severity) for problem in result.problems} == {
        (Code.REFERENCE_MISSING, Severity.WARNING)
    }


def test_front_doors_and_identities_of_a_part_are_warnings_too() -> None:
    """An Environment alone may name what is elsewhere."""
    only = {"environment.yaml": files()["environment.yaml"]}
    result = load_fleet(only.items(), complete=False)
    assert result.fleet is not None
    assert [problem.severity for problem in result.problems] == [Severity.WARNING, Severity.WARNING]


def test_a_source_without_shared_storage_stages_no_cache() -> None:
    """Vultr has none."""
    west = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: west, labels: {tier: vultr}}
spec:
  cluster: {source: Vultr, vultr: {region: ewr}}
  nodePools: [{name: gpu, className: h100x8}]
"""
    qwen = (
        Edit("qwen", "          tier: prod", "          tier: vultr"),
        Edit("qwen", '.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace"', '.driver == "gpu.nvidia.com"'),
    )
    (problem,) = load(*qwen, **{"platform/west.yaml": west}).problems
    assert "its cache cannot be staged" in problem.message
    without = Edit("qwen", "      modelCacheRef:\n        name: weights\n", "")
    assert load(*qwen, without, **{"platform/west.yaml": west}).problems == ()


def test_deployments_that_ask_for_the_same_get_the_same_answer() -> None:
    """The question is asked once, and each is warned of."""
    twin = files()["models/ml/coder.yaml"].decode().replace("name: coder", "name: twin")
    result = load(Edit("coder", "value: search", "value: x"), **{"models/ml/t.yaml": twin.replace("search", "x")})
    assert [problem.code for problem in result.problems] == [Code.DEPLOYMENT_UNPLACEABLE] * 2


def test_a_cache_without_a_token_uses_no_secret() -> None:
    """Public repositories need none."""
    listed = Edit("environment", "layout: Single", "secrets: [modelplane-system/edge-kubeconfig, ml/hf]")
    assert load(listed, Edit("cache", "    authSecret: {name: hf}\n", "")).problems == ()
