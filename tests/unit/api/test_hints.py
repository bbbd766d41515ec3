"""What an answer advises: the field or value that was meant, the place it belongs to, the line to write."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from components.api.base import Model
from components.api.codes import Code
from components.api.kinds import ALL_KINDS
from components.api.predecessor import fields_of_other_versions
from components.api.shape import shape
from components.errors import Severity
from tests.support.api_manifests import DEPLOYMENT, ENDPOINT, OWN, SERVICE, Edit, load, pointed


@dataclass(frozen=True)
class Case:
    """Edits of the valid environment, where the one problem is, and what it advises."""

    name: str
    edits: tuple[Edit, ...]
    at: str
    help: str


def case(name: str, file: str, old: str, new: str, /, at: str, help_: str) -> Case:  # noqa: PLR0917 (a table's row)
    """Make a case of one edit."""
    return Case(name, (Edit(file, old, new),), at, help_)


FIELDS = [
    case("another cloud's word", "east", "EKS\n    eks:", "AKS\n    aks:", "region:", "did you mean `location`?"),
    case(
        "a region that the project fixes", "east", "EKS\n    eks:\n      region: us-east-1",
        "Nebius\n    nebius: {region: eu}", "region",
        "remove it: the region is that of the project, which `providers.nebius` of the Environment names",
    ),
    case(
        "a namespace of the kubeconfig", "edge", "{name: edge-kubeconfig}", "{name: edge-kubeconfig, namespace: x}",
        "namespace", "remove it: the secret is looked up in `modelplane-system`",
    ),
    case(
        "a namespace of a cache", "qwen", "        name: weights", "        name: weights\n        namespace: x",
        "namespace", "remove it: the name is looked up in the namespace of this document",
    ),
    case(
        "a level too high", "qwen", "            spec:\n              containers:", "            containers:",
        "containers:", "`containers` belongs to spec.template.spec.engines.members.template.spec",
    ),
    case(
        "a level too deep", "qwen", "      engines:", "      replicas: 3\n      engines:",
        "replicas", "`replicas` belongs to spec",
    ),
    case(
        "no space in a key of a flow", "east", "{key: reserved,", "{key:reserved,", "key:reserved",
        "a space is missing after the `:`; write `key: reserved`",
    ),
    case(
        "a key without a value", "qwen", "  replicas: 2", "  repilcas:", "repilcas", "did you mean `replicas`?",
    ),
    case(
        "a hard space", "qwen", "  replicas: 2", "  replicas: 2\n\u00a0\u00a0surge: {}", "\u00a0",
        "write `surge: {}`",
    ),
    Case(
        "a field that is not built", (Edit("qwen", *OWN), Edit("qwen", "replicas: 2", "replicas: 2\n  kepOld: 30m")),
        "kepOld", "did you mean `keepOld`? It is not supported yet",
    ),
    Case(
        "a value that is not built", (Edit("cache", *OWN), Edit("cache", "source: HuggingFace", "source: s3")),
        "s3", "`S3` is not supported yet",
    ),
]  # fmt: skip
TYPES = [
    case("text for a reference", "cache", "{name: hf}", "hf", "hf", "write `{name: hf}`"),
    case(
        "no space", "east", "region: us-east-1", "region:us-east-1", "region:us",
        "a space is missing after the `:`; write `region: us-east-1`",
    ),
    case(
        "no colon", "east", "region: us-east-1", "region us-east-1", "region us",
        "there is no `:` after `region`; write `region: us-east-1`",
    ),
    case(
        "a colon of another script", "east", "region: us-east-1", "region\uff1aus-east-1", "region",
        "U+FF1A looks like a colon, and is none to YAML; write `region:us-east-1`",
    ),
    case(
        "names as keys", "qwen", "      - name: main\n", "        main:\n          name: main\n", "main:",
        "write each as an item with its name: `- name: main`",
    ),
    case(
        "two words for a mapping", "classes", "{string: Ada Lovelace}", "Ada Lovelace", "Ada",
        "write `{string: Ada Lovelace}`",
    ),
    case("a number for a mapping", "classes", "{string: Ada Lovelace}", "8", "8", "write `{int: 8}`"),
    case(
        "a text for two fields", "classes", "accelerator: {type: nvidia-l4, count: 1}", "accelerator: nvidia-l4",
        "nvidia-l4", "write its fields below it: type, count",
    ),
    case(
        "a command as one text", "qwen", "args:\n                - --max-model-len=8192", "args: vllm serve x",
        "vllm", "write it as a list: `[vllm, serve, x]`",
    ),
    case("a list of one number", "qwen", "replicas: 2", "replicas: [2]", "replicas", "write it alone: 2"),
    case("a colon in an argument", "qwen", "--max-model-len=8192", "--x: y", "--x", 'put it in quotes: "--x: y"'),
]  # fmt: skip
REFERENCES = [
    case("a cache misspelt", "qwen", "name: weights", "name: wieghts", "wieghts", "did you mean `weights`?"),
    case("a label misspelt", "service", "model: qwen", "modle: qwen", "matchLabels", "did you mean `model`?"),
    case("a label's value", "service", "model: qwen", "model: qwne", "matchLabels", "did you mean `qwen`?"),
    case(
        "a label's other value", "service", "model: qwen", "model: llama", "matchLabels", "`model` is one of qwen here"
    ),
    case("a cluster's label", "qwen", "tier: prod", "tier: prd", "clusterSelector:", "did you mean `prod`?"),
]


@pytest.mark.parametrize("given", [*FIELDS, *TYPES, *REFERENCES], ids=lambda given: given.name)
def test_one_problem_advises_what_was_meant(given: Case) -> None:
    """Nothing else is said of the same mistake, and the advice fits the place."""
    (problem,) = load(*given.edits).problems
    assert pointed(problem).startswith(given.at)
    assert problem.help == given.help


def test_a_name_in_another_namespace_is_told() -> None:
    """A deployment uses the caches of its own."""
    (problem,) = load(**{"models/other/q.yaml": DEPLOYMENT}).problems
    assert problem.message == "there is no ModelCache named `weights` in namespace other"
    assert problem.help == "there is one in namespace ml, which cannot be used from here"


def test_the_first_of_a_kind_is_explained() -> None:
    """No name is near where there is none."""
    (problem,) = load(without=("cache",)).problems
    assert (
        problem.help
        == "no manifest of namespace ml is of kind ModelCache; `berth explain ModelCache` says what it needs"
    )


def test_a_folder_that_can_be_no_namespace_is_told_once() -> None:
    """Of the folder itself; none of its documents is to blame."""
    text = SERVICE.replace("        model: qwen", "        provider: together")
    (problem,) = load(**{"models/ML_x/a.yaml": text, "models/ML_x/b.yaml": ENDPOINT}).problems
    assert (problem.code, problem.file, problem.line) == (Code.NAME_INVALID, "models/ML_x/a.yaml", 0)
    assert "models/ML_x/" in problem.message
    assert "`ml-x` perhaps" in problem.message


def test_a_namespace_that_can_be_none_is_told_once() -> None:
    """That it is not the folder's is the smaller mistake."""
    (problem,) = load(Edit("service", "name: chat\n", "name: chat\n  namespace: ML_x\n")).problems
    assert (problem.code, problem.path) == (Code.NAME_INVALID, "metadata.namespace")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (Edit("service", "matchLabels:\n        model: qwen", "matchLabels: {}"), "every endpoint of all namespaces"),
        (Edit("qwen", "matchLabels:\n          tier: prod", "matchLabels: {}"), "every cluster"),
        (Edit("cache", "spec:\n", "spec:\n  clusterSelector: {matchLabels: {}}\n"), "every cluster"),
    ],
    ids=["service", "deployment", "cache"],
)
def test_an_empty_selector_is_warned_of(edit: Edit, says: str) -> None:
    """It chooses everything, which is seldom meant by one who writes it."""
    result = load(edit)
    (problem,) = result.problems
    assert (problem.code, problem.severity) == (Code.SELECTOR_EMPTY, Severity.WARNING)
    assert says in problem.message
    assert result.fleet is not None


@pytest.mark.parametrize("region", ["\u201cus-east-1\u201d", "us-east-1\u200b", "us-east-1,", "us-east-1 // x"])
def test_a_region_holds_nothing_that_no_cloud_has(region: str) -> None:
    """The rest of the manifest is not blamed for it, and what nobody sees is written as its number."""
    (problem,) = load(Edit("east", "us-east-1", region)).problems
    assert (problem.code, problem.path) == (Code.NAME_INVALID, "spec.cluster.eks.region")
    assert problem.message.isprintable()


@pytest.mark.parametrize(
    ("old", "new", "help_"),
    [
        ("apiVersion: modelplane.ai/v1alpha1\nkind: ModelDeployment",
         "apiVersion: ModelDeployment\nkind: modelplane.ai/v1alpha1",
         "write `apiVersion: modelplane.ai/v1alpha1` and `kind: ModelDeployment`"),
        ("modelplane.ai/v1alpha1\nkind: ModelDeployment", "modelplane.ai/v1\nkind: ModelDeploymnt",
         "did you mean `modelplane.ai/v1alpha1`?"),
    ],
)  # fmt: skip
def test_a_document_of_ours_is_never_taken_for_somebody_else_s(old: str, new: str, help_: str) -> None:
    """What is ignored would be deleted."""
    problem = load(Edit("qwen", old, new)).errors[0]
    assert (problem.code, problem.line, problem.help) == (Code.API_VERSION_UNKNOWN, 1, help_)


VERSIONS = [
    case(
        "a gateway of v0.5", "gateway", "spec:\n", "spec:\n  clusterName: edge\n", "clusterName",
        "the predecessor has this field since v0.5, and Berth reads v0.3; `frontDoors` of the Environment names the"
        " clusters of gateways",
    ),
    case(
        "a stack after v0.3", "east", "spec:\n", "spec:\n  stack: Dynamo\n", "stack",
        "the predecessor has this field after v0.3, and Berth reads v0.3",
    ),
    case(
        "a reference before v0.3", "qwen", "  replicas: 2", "  replicas: 2\n  environments: 1", "environments",
        "the predecessor has this field before v0.3, and Berth reads v0.3; `replicas` says how many there are",
    ),
]  # fmt: skip


@pytest.mark.parametrize("given", VERSIONS, ids=lambda given: given.name)
def test_a_field_of_another_version_of_the_predecessor_says_which(given: Case) -> None:
    """It is no slip of the pen."""
    (problem,) = load(*given.edits).problems
    assert (problem.code, pointed(problem).startswith(given.at)) == (Code.FIELD_UNKNOWN, True)
    assert problem.help == given.help


def test_a_kind_of_another_version_of_the_predecessor_says_which() -> None:
    """As its fields do."""
    text = "apiVersion: modelplane.ai/v1alpha1\nkind: MetricMapping\n"
    (problem,) = load(**{"platform/metrics.yaml": text}).problems
    assert problem.help == "the predecessor has this kind since v0.5, and Berth reads v0.3"


def test_no_field_of_ours_is_called_another_version_s() -> None:
    """A field that is built leaves the list."""
    models = {each.__name__: each for kind in ALL_KINDS.values() for each in _models(kind)}
    for name, key in fields_of_other_versions():
        assert key not in shape(models[name]), (name, key)


def _models(model: type[Model]) -> Iterator[type[Model]]:
    yield model
    for field in shape(model).values():
        if field.model is not None:
            yield from _models(field.model)


def test_fields_that_stand_too_high_stand_for_what_is_missing_below() -> None:
    """The predecessor had them there once; that their place is missing is the same mistake."""
    text = DEPLOYMENT.replace(
        "  template:\n    metadata:\n      labels:\n        model: qwen\n    spec:\n", ""
    ).replace("\n      ", "\n  ")
    found = {(problem.code, problem.path) for problem in load(qwen=text).errors}
    assert found == {
        (Code.FIELD_UNKNOWN, f"spec.{key}")
        for key in ("clusterSelector", "modelCacheRef", "serving", "tolerations", "engines")
    }


def test_the_page_of_a_repository_names_it() -> None:
    """People copy it from the browser."""
    (problem,) = load(Edit("cache", "Qwen/Qwen3-8B", "https://huggingface.co/Qwen/Qwen3-8B/tree/main")).problems
    assert "`Qwen/Qwen3-8B` perhaps" in problem.message


@pytest.mark.parametrize("amount", ["2", "0.5", "1e3", "4Gi"])
def test_a_quantity_may_be_written_as_a_number(amount: str) -> None:
    """As Kubernetes takes it."""
    resources = f"                resources: {{requests: {{cpu: {amount}}}}}\n                args:"
    result = load(Edit("qwen", *OWN), Edit("qwen", "                args:", resources))
    assert result.problems == ()
    assert result.fleet is not None
    container = (
        result.fleet.deployments["ml", "qwen"].spec.template.spec.engines[0].members[0].template.spec.containers[0]
    )
    assert container.resources is not None
    assert container.resources.requests["cpu"] == {"1e3": "1000"}.get(amount, amount)


@pytest.mark.parametrize(("amount", "code"), [("-2", Code.QUANTITY_INVALID), ("true", Code.TYPE_WRONG)])
def test_a_number_that_is_no_quantity_is_refused(amount: str, code: Code) -> None:
    """Below zero, or none at all."""
    resources = f"                resources: {{requests: {{cpu: {amount}}}}}\n                args:"
    (problem,) = load(Edit("qwen", *OWN), Edit("qwen", "                args:", resources)).problems
    assert problem.code == code
