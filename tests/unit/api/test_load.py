"""Loading an environment: folders, lists, other people's files, duplicates, and what a partly broken load says."""

import gc

import pytest

from components.api.codes import Code
from components.api.load import folder_namespace, load_fleet
from components.api.location import Location
from components.api.nodes import MappingNode
from components.errors import ConfigError, Problem, Severity
from tests.support.api_manifests import DEPLOYMENT, EDGE, ENVIRONMENT, GATEWAY, SERVICE, Edit, files, load


def codes(problems: tuple[Problem, ...]) -> list[str]:
    """Return the codes of problems in order."""
    return [problem.code for problem in problems]


def test_an_environment_loads_whole_and_sorted() -> None:
    """Every kind is there, by name, and each document's place is known."""
    fleet = load().raise_if_errors()
    assert fleet.name == "dev"
    assert list(fleet.classes) == ["h100x8", "l4"]
    assert list(fleet.clusters) == ["east", "edge"]
    assert list(fleet.gateways) == ["default"]
    assert list(fleet.deployments) == [("ml", "coder"), ("ml", "qwen")]
    assert list(fleet.services) == [("ml", "chat")]
    assert list(fleet.caches) == [("ml", "weights")]
    assert list(fleet.endpoints) == [("ml", "together")]
    assert fleet.namespaces == ("ml",)
    assert fleet.sources["InferenceClass", "", "h100x8"] == Location("platform/classes.yaml", 25)
    assert fleet.deployments["ml", "qwen"].namespace == "ml"


@pytest.mark.parametrize(
    ("path", "namespace"),
    [
        ("models/ml/a.yaml", "ml"), ("models/ml/deep/er/a.yaml", "ml"), ("./models/ml/a.yaml", "ml"),
        ("models\\ml\\a.yaml", "ml"), ("models/a.yaml", ""), ("platform/a.yaml", ""), ("environment.yaml", ""),
        ("x/models/ml/a.yaml", ""),
    ],
)  # fmt: skip
def test_a_folder_gives_its_namespace(path: str, namespace: str) -> None:
    """Only models/<namespace>/ does."""
    assert folder_namespace(path) == namespace


def test_a_document_elsewhere_has_the_namespace_default() -> None:
    """As kubectl has it."""
    fleet = load(**{"extra.yaml": DEPLOYMENT.replace("      modelCacheRef:\n        name: weights\n", "")})
    assert ("default", "qwen") in fleet.raise_if_errors().deployments


def test_a_document_may_say_its_folder_s_namespace_and_no_other() -> None:
    """So that code owners can be set per team."""
    assert load(Edit("qwen", "name: qwen\n", "name: qwen\n  namespace: ml\n")).problems == ()
    (problem,) = load(Edit("coder", "name: coder\n", "name: coder\n  namespace: other\n")).problems
    assert (problem.code, problem.path, problem.line) == (Code.NAMESPACE_WRONG, "metadata.namespace", 5)
    assert problem.help == "remove the line, or move the document to models/other/"


@pytest.mark.parametrize(("text", "name"), [(EDGE, "edge2"), (ENVIRONMENT, "dev")])
def test_what_belongs_to_all_may_not_stand_in_a_team_s_folder(text: str, name: str) -> None:
    """A cluster in models/ would slip past the platform team's review."""
    text = text.replace("name: edge\n", f"name: {name}\n")
    without = ("environment",) if "Environment" in text else ()
    result = load(without=without, **{"models/ml/x.yaml": text})
    assert Code.FOLDER_WRONG in codes(result.errors)


def test_a_namespace_that_the_lock_needs_is_refused() -> None:
    """lock/platform.yaml is taken."""
    text = SERVICE.replace("        model: qwen", "        provider: together")
    assert codes(load(**{"models/platform/s.yaml": text}).errors) == [Code.NAMESPACE_WRONG]
    text = text.replace("name: chat\n", "name: chat\n  namespace: platform\n")
    assert codes(load(**{"elsewhere.yaml": text}).errors) == [Code.NAMESPACE_WRONG]


def test_a_namespace_on_a_cluster_wide_kind_is_warned_of() -> None:
    """It has no effect, as with kubectl."""
    result = load(Edit("edge", "name: edge\n", "name: edge\n  namespace: prod\n"))
    assert [(problem.code, problem.severity) for problem in result.problems] == [
        (Code.NAMESPACE_IGNORED, Severity.WARNING)
    ]
    assert result.fleet is not None
    assert not result.fleet.clusters["edge"].namespace


def test_one_file_may_hold_everything() -> None:
    """Many documents in a file are the same as many files."""
    whole = "---\n".join(content.decode() for path, content in files().items() if not path.startswith("models"))
    rest = {path: content for path, content in files().items() if path.startswith("models")}
    fleet = load_fleet([("all.yml", whole.encode()), *rest.items()]).raise_if_errors()
    assert fleet == load().fleet


def test_a_list_holds_documents() -> None:
    """`kubectl get -o yaml` gives a List."""
    items = "".join("  " + line + "\n" for line in ("- " + EDGE.replace("\n", "\n  ")).rstrip().split("\n"))
    text = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    result = load(without=("edge",), **{"platform/list.yaml": text})
    assert result.problems == ()
    assert result.fleet is not None
    assert result.fleet.sources["InferenceCluster", "", "edge"].line == 4
    assert load(**{"platform/empty.yaml": "apiVersion: v1\nkind: List\nitems: []\n"}).problems == ()
    typed = text.replace("apiVersion: v1\nkind: List", "apiVersion: modelplane.ai/v1alpha1\nkind: InferenceClusterList")
    assert load(without=("edge",), **{"platform/list.yaml": typed}) == result


def test_a_list_whose_items_are_no_list_is_refused() -> None:
    """It may hold anything, so nothing is called missing; without items it holds nothing."""
    text = "apiVersion: v1\nkind: List\nitems:\n  kind: InferenceClass\n"
    (problem,) = load(classes=text).problems
    assert (problem.code, problem.line, problem.column) == (Code.DOCUMENT_SHAPE, 4, 3)
    assert problem.message == "the items of a List must be a list, and this is a mapping"
    for items in ("", "items:\n"):
        assert load(**{"platform/x.yaml": f"apiVersion: v1\nkind: List\n{items}"}).problems == ()


def test_what_a_server_wrote_is_left_out() -> None:
    """A manifest read back from a cluster is the manifest that was applied."""
    text = EDGE.replace(
        "metadata:\n",
        "metadata:\n  uid: x\n  generation: 2\n  creationTimestamp: 2026-01-01T00:00:00Z\n  managedFields: [{a: b}]\n"
        "  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}\n",
    )
    text += "status: {anything: [1, 2]}\n"
    result = load(edge=text)
    assert result.problems == ()
    assert result.fleet == load().fleet


def test_settings_of_the_predecessor_s_machinery_are_warned_of() -> None:
    """They say how it composes, and have no meaning here."""
    result = load(Edit("edge", "spec:", "spec:\n  crossplane: {compositionRef: {name: x}}"))
    assert [(problem.code, problem.severity) for problem in result.problems] == [(Code.FIELD_IGNORED, Severity.WARNING)]


def test_other_people_s_documents_are_reported_once_per_file() -> None:
    """They are ignored, and not in silence."""
    text = "apiVersion: v1\nkind: ConfigMap\n---\napiVersion: apps/v1\nkind: Deployment\n"
    result = load(**{"platform/other.yaml": text})
    (problem,) = result.problems
    assert (problem.code, problem.severity, problem.line) == (Code.OTHER_DOCUMENT, Severity.WARNING, 1)
    assert "apps/v1 Deployment, v1 ConfigMap" in problem.message
    assert result.fleet is not None


def test_only_yaml_files_are_read() -> None:
    """A README beside the manifests is no manifest."""
    assert load(**{"README.md": "# [x", "models/ml/notes.txt": ": :"}).problems == ()


TEMPLATES = [
    ("Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n", "Helm chart"),
    ("values.yaml", "replicas: 2\n", "Helm chart"),
    ("platform/kustomization.yaml", "resources: [a.yaml]\n", "kustomize"),
    ("platform/x.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", "kustomize"),
    ("platform/x.yaml", "{{- if .Values.x }}\na: 1\n{{- end }}\n", "Helm template"),
    ("platform/x.yaml", "a: 1\nname: {{ .Values.name }}\n", "Helm template"),
]


@pytest.mark.parametrize(("path", "text", "says"), TEMPLATES)
def test_templates_are_named_as_such(path: str, text: str, says: str) -> None:
    """One problem that says what to run, instead of a heap of syntax errors."""
    (problem,) = load_fleet({**files(), path: text.encode()}.items()).problems
    assert problem.code == Code.TEMPLATE_FILE
    assert says in problem.message
    assert "`helm template`" in problem.help or "`kustomize build`" in problem.help


def test_braces_inside_a_text_are_no_template() -> None:
    """Chat templates are full of them."""
    result = load(Edit("qwen", "- --max-model-len=8192", "- --chat-template={{ messages[0] }}"))
    assert result.problems == ()


def test_a_values_file_that_holds_manifests_is_read() -> None:
    """The name alone makes no chart."""
    assert load(without=("edge",), **{"platform/values.yaml": EDGE}).problems == ()


SHAPES = [
    ("- a\n- b\n", Code.DOCUMENT_SHAPE, "this one is a list"),
    ("just text\n", Code.DOCUMENT_SHAPE, "this one is text"),
    ("a: 1\n", Code.FIELD_MISSING, "`apiVersion` and `kind` are missing"),
    ("apiVersion: modelplane.ai/v1alpha1\nKind: InferenceClass\n", Code.FIELD_MISSING, "`kind` is missing"),
    ("apiVersion: 1\nkind: InferenceClass\n", Code.TYPE_WRONG, "apiVersion must be text"),
    ("apiVersion: modelplane.ai/v1alpha1\nkind: [x]\n", Code.TYPE_WRONG, "kind must be text"),
    ("apiVersion: modelplane.ai/v1alpha1\nkind: InferenceClas\n", Code.KIND_UNKNOWN, "not a kind"),
    ("apiVersion: modelplane.ai/v1\nkind: InferenceClass\n", Code.API_VERSION_UNKNOWN, "not an apiVersion of"),
    ("apiVersion: modelplane.ai/v1alpha1\nkind: Environment\n", Code.API_VERSION_UNKNOWN, "not an apiVersion of"),
    (GATEWAY.replace("metadata:\n  name: default", "metadata: x"), Code.TYPE_WRONG, "metadata must be a mapping"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "says"), SHAPES)
def test_a_document_that_is_none_is_told_so(text: str, code: Code, says: str) -> None:
    """Every way not to be a document has its own sentence."""
    (problem,) = load(**{"platform/x.yaml": text}).problems
    assert problem.code == code
    assert says in problem.message


def test_two_documents_of_one_name_show_both_places() -> None:
    """The second is reported, and names the first."""
    result = load(**{"platform/zz.yaml": "# again\n" + EDGE})
    (problem,) = result.problems
    assert (problem.code, problem.file, problem.line) == (Code.NAME_DUPLICATE, "platform/zz.yaml", 5)
    assert "the first is at platform/edge.yaml:1" in problem.message
    assert result.broken == {("InferenceCluster", "", "edge")}


def test_one_name_in_two_namespaces_is_no_duplicate() -> None:
    """Names are per namespace."""
    text = SERVICE.replace("        model: qwen", "        provider: together")
    assert load(**{"models/other/s.yaml": text}).problems == ()


def test_an_empty_environment_says_what_to_add() -> None:
    """Nothing at all is a clear error too."""
    result = load_fleet([], name="staging")
    (problem,) = result.problems
    assert (problem.code, problem.file) == (Code.ENVIRONMENT_MISSING, "environment.yaml")
    assert "kind: Environment, metadata: {name: staging}" in problem.help
    assert result.fleet is None


def test_an_environment_file_that_cannot_be_read_is_not_also_missing() -> None:
    """One mistake, one problem."""
    assert codes(load(environment="a: [").problems) == [Code.YAML_SYNTAX]


def test_there_is_one_environment() -> None:
    """A second is an error that shows the first."""
    (problem,) = load(**{"platform/second.yaml": ENVIRONMENT}).problems
    assert problem.code == Code.ENVIRONMENT_DUPLICATE
    assert "environment.yaml:1" in problem.message


def test_an_environment_bears_its_folder_s_name() -> None:
    """The folder is the stack's name; another name inside would mislead."""
    (problem,) = load_fleet(files().items(), name="prod").problems
    assert (problem.code, problem.path, problem.help) == (Code.ENVIRONMENT_NAME, "metadata.name", "name it `prod`")
    assert load_fleet(files().items()).problems == ()


def test_what_is_broken_is_known_by_name() -> None:
    """So that the replicas of a broken deployment are left alone, and those of others are not."""
    result = load(
        Edit("qwen", "replicas: 2", "replicas: two"),
        Edit("classes", "diskSizeGb: 200", "diskSizeGb: 1"),
        **{"models/other/x.yaml": "a: [", "models/third/x.yaml": "kind: ModelService\n"},
    )
    assert result.fleet is None
    assert result.broken == {
        ("ModelDeployment", "ml", "qwen"),
        ("InferenceClass", "", "l4"),
        ("", "other", ""),
        ("", "third", ""),
    }


def test_a_fleet_or_an_error_with_all_problems() -> None:
    """`raise_if_errors` gives the one or raises the other."""
    result = load(Edit("qwen", "replicas: 2", "replicas: two"), Edit("service", "model: qwen", "model: x"))
    with pytest.raises(ConfigError) as caught:
        result.raise_if_errors()
    assert caught.value.problems == result.problems
    assert codes(result.errors) == [Code.TYPE_WRONG]
    assert result.warnings == ()


def test_warnings_do_not_stop_a_run() -> None:
    """They travel beside the fleet."""
    result = load(Edit("service", "model: qwen", "model: x"))
    assert codes(result.warnings) == [Code.SERVICE_EMPTY]
    assert result.raise_if_errors() is result.fleet


def test_a_value_that_the_composer_refused_is_reported_once() -> None:
    """An unknown tag is not also a missing field or a wrong type."""
    for old, new in [
        ("replicas: 2", "replicas: !x 2"),
        ("name: qwen", "name: !x qwen"),
        ("- role", "- !x role"),
        ("kind: Model", "kind: !x Model"),
    ]:
        result = load(Edit("qwen", old, new))
        assert codes(result.errors) == [Code.YAML_TAG], new


def test_an_alias_reports_its_mistake_where_the_value_stands() -> None:
    """The anchor is what must be mended, and it is reported once."""
    text = EDGE.replace("name: edge-kubeconfig", "name: &n Edge_1") + "      identitySecretRef: {name: *n}\n"
    result = load(edge=text)
    assert [(problem.line, problem.code) for problem in result.problems] == [(9, Code.NAME_INVALID)]


def test_a_document_that_the_composer_refused_is_reported_once() -> None:
    """A whole document with an unknown tag has the tag's problem alone."""
    assert codes(load(**{"platform/x.yaml": "!x text\n"}).problems) == [Code.YAML_TAG]


def test_what_a_load_read_is_freed_with_it() -> None:
    """No cycle keeps the trees and lines of files until garbage is collected; fleets are large."""

    def trees() -> int:
        return sum(type(each) is MappingNode for each in gc.get_objects())

    gc.collect()
    before = trees()
    gc.disable()
    try:
        assert load().fleet is not None
        assert trees() == before
    finally:
        gc.enable()
