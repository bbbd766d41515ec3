"""Every kind of reference: right, wrong, nearly right, in another namespace, and outside the files that are given."""

from dataclasses import dataclass, field

import pytest

from components.api.codes import Code
from components.api.load import load_fleet
from components.errors import Severity
from tests.support.api_manifests import CACHE, CLASSES, ENVIRONMENT, NAMES, SERVICE, Edit, files

ERROR, WARNING = Severity.ERROR, Severity.WARNING

CACHE_REF = "spec.template.spec.modelCacheRef.name"
CLASS_REF = "spec.nodePools[1].className"
MATCH = "spec.endpoints[0].selector.matchLabels"
TOKEN = "spec.huggingFace.authSecret.name"
VARIABLE = "spec.template.spec.engines[0].members[0].template.spec.containers[0].env[0].valueFrom.secretKeyRef.name"
LISTED = "secrets: [modelplane-system/edge-kubeconfig, ml/hf]"
IDENTITY = "      region: us-east-1\n      credentials: {name: %s}"
TEAM = "providers: {aws: {team: {profile: team}}}"
KNOWN = "credentials.name"


@dataclass(frozen=True)
class Case:
    """Edited files, and the problems they give: code, severity, short name of the file, path, and what is said."""

    name: str
    edits: tuple[Edit, ...]
    wants: tuple[tuple[Code, Severity, str, str, str], ...] = ()
    without: tuple[str, ...] = ()
    more: dict[str, str] = field(default_factory=dict)
    complete: bool = True


def edit(file: str, old: str, new: str) -> tuple[Edit, ...]:
    """Make one edit."""
    return (Edit(file, old, new),)


CASES = [
    # The class of a pool
    Case("class: right", ()),
    Case("class: wrong", edit("east", "className: h100x8", "className: b200"),
         ((Code.REFERENCE_MISSING, ERROR, "east", CLASS_REF, "no InferenceClass named `b200`"),)),
    Case("class: near", edit("east", "className: h100x8", "className: h100x9"),
         ((Code.REFERENCE_MISSING, ERROR, "east", CLASS_REF, "`h100x8`"),)),
    Case("class: outside", (), (
         (Code.REFERENCE_MISSING, WARNING, "east", "spec.nodePools[0].className", "among these files"),
         (Code.REFERENCE_MISSING, WARNING, "east", CLASS_REF, "among these files")), ("classes",), complete=False),
    Case("class: without the block of the cluster's cloud", edit("classes", "provider: EKS\n    eks: {instanceType: "
         "p5.48xlarge, accelerator: {type: nvidia-h100, count: 8}}", "provider: GKE"),
         ((Code.PROVISIONING_MISSING, ERROR, "east", CLASS_REF, "add the block `provisioning.eks`"),)),
    # The cache of a deployment
    Case("cache: wrong", edit("qwen", "name: weights", "name: gone"),
         ((Code.REFERENCE_MISSING, ERROR, "qwen", CACHE_REF, "no ModelCache named `gone` in namespace ml"),)),
    Case("cache: near", edit("qwen", "name: weights", "name: wieghts"),
         ((Code.REFERENCE_MISSING, ERROR, "qwen", CACHE_REF, "`weights`"),)),
    Case("cache: another namespace", (), ((Code.REFERENCE_MISSING, ERROR, "qwen", CACHE_REF, "in namespace ml"),),
         ("cache",), {"models/other/cache.yaml": CACHE}),
    Case("cache: outside", (), ((Code.REFERENCE_MISSING, WARNING, "qwen", CACHE_REF, "among these files"),),
         ("cache",), complete=False),
    # Secrets; what holds them is asked when planning
    Case("secret: right", edit("environment", "layout: Single", LISTED)),
    Case("secret: wrong", edit("environment", "layout: Single", "secrets: [modelplane-system/edge-kubeconfig, ml/x]"),
         ((Code.SECRET_UNDECLARED, WARNING, "cache", TOKEN, "`ml/hf`"),
          (Code.SECRET_UNDECLARED, WARNING, "qwen", VARIABLE, "`ml/hf`"))),
    Case("secret: another namespace", edit("environment", "layout: Single", LISTED.replace("ml/hf", "other/hf")),
         ((Code.SECRET_UNDECLARED, WARNING, "cache", TOKEN, "`ml/hf`"),
          (Code.SECRET_UNDECLARED, WARNING, "qwen", VARIABLE, "`ml/hf`"))),
    Case("secret: of a cluster", edit("environment", "layout: Single", "secrets: [ml/hf]"),
         ((Code.SECRET_UNDECLARED, WARNING, "edge", "spec.cluster.existing.secretRef.name",
           "`modelplane-system/edge-kubeconfig`"),)),
    Case("secret: outside", (), without=("environment",), complete=False),
    # Front doors, and the gateway on them
    Case("front door: wrong", edit("environment", "[edge]", "[edge, moon]"),
         ((Code.REFERENCE_MISSING, ERROR, "environment", "spec.frontDoors[1]", "no InferenceCluster named `moon`"),)),
    Case("front door: near", edit("environment", "[edge]", "[edge, eats]"),
         ((Code.REFERENCE_MISSING, ERROR, "environment", "spec.frontDoors[1]", "`east`"),)),
    Case("front door: outside", (), ((Code.REFERENCE_MISSING, WARNING, "environment", "spec.frontDoors[0]", "among"),),
         ("edge",), complete=False),
    Case("gateway: wrong", (), ((Code.REFERENCE_MISSING, ERROR, "environment", "spec.frontDoors", "`default`"),),
         ("gateway",)),
    Case("gateway: outside", (), ((Code.REFERENCE_MISSING, WARNING, "environment", "spec.frontDoors", "`default`"),),
         ("gateway",), complete=False),
    # Identities
    Case("identity: right", (Edit("environment", "layout: Single", TEAM),
                             Edit("east", "      region: us-east-1", IDENTITY % "team"))),
    Case("identity: wrong", edit("east", "      region: us-east-1", IDENTITY % "prod"),
         ((Code.REFERENCE_MISSING, ERROR, "east", "spec.cluster.eks.credentials.name", "`prod` under providers.aws"),)),
    Case("identity: outside", edit("east", "      region: us-east-1", IDENTITY % "prod"), (),
         ("environment",), complete=False),
    # Pools
    Case("pool: twice", edit("east", "name: h100\n", "name: l4\n"),
         ((Code.LIST_DUPLICATE, ERROR, "east", "spec.nodePools[1].name", "the pool `l4` is already item 0"),)),
    # Services
    Case("service: wrong", edit("service", "model: qwen", "model: other"),
         ((Code.SERVICE_EMPTY, WARNING, "service", MATCH, "matches no deployment"),)),
    Case("service: another key", edit("service", "model: qwen", "modle: qwen"),
         ((Code.SERVICE_EMPTY, WARNING, "service", MATCH, "matches no deployment"),)),
    Case("service: another namespace", (), (), ("service",), {"models/other/service.yaml": SERVICE}),
    Case("service: outside", edit("service", "model: qwen", "model: other"), complete=False),
    # Deployments that nobody can take
    Case("unplaceable: labels", edit("qwen", "tier: prod", "tier: gold"),
         ((Code.DEPLOYMENT_UNPLACEABLE, WARNING, "qwen", "spec.template.spec.clusterSelector",
          "labels of its clusterSelector"),)),
    Case("unplaceable: outside", edit("qwen", "count: 1\n", "count: 9\n"), complete=False),
    # One name for two
    Case("duplicate: a class", (), ((Code.NAME_DUPLICATE, ERROR, "platform/more.yaml", "metadata.name",
         "the first is at platform/classes.yaml:1"),), (), {"platform/more.yaml": CLASSES.split("---\n")[0]}),
    Case("duplicate: in two namespaces", (), (), (), {"models/other/cache.yaml": CACHE}),
    Case("duplicate: the Environment", (), ((Code.ENVIRONMENT_DUPLICATE, ERROR, "platform/more.yaml", "kind",
         "the first is at environment.yaml:1"),), (), {"platform/more.yaml": ENVIRONMENT}),
    # Folders
    Case("folder: its own namespace", edit("qwen", "  name: qwen\n", "  name: qwen\n  namespace: ml\n")),
    Case("folder: another namespace", edit("endpoint", "  name: together\n", "  name: together\n  namespace: other\n"),
         ((Code.NAMESPACE_WRONG, ERROR, "endpoint", "metadata.namespace", "models/other/"),)),
    Case("folder: a class among models", (), ((Code.FOLDER_WRONG, ERROR, "models/ml/x.yaml", "kind", "platform/"),),
         (), {"models/ml/x.yaml": CLASSES.split("---\n")[0].replace("name: l4", "name: l40")}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_reference_is_answered_at_its_place(case: Case) -> None:
    """One answer each, with what is meant or where it is looked for; nothing beside it."""
    result = load_fleet(
        files(*case.edits, without=case.without, **case.more).items(), name="dev", complete=case.complete
    )
    found = [(problem.code, problem.severity, problem.file, problem.path) for problem in result.problems]
    assert sorted(found) == sorted(
        (str(code), severity, NAMES.get(file, file), path) for code, severity, file, path, _ in case.wants
    )
    for code, _, file, path, says in case.wants:
        (problem,) = (
            each for each in result.problems if (each.code, each.file, each.path) == (code, NAMES.get(file, file), path)
        )
        assert says in f"{problem.message} {problem.help}"
