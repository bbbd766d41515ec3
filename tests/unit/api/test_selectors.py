"""Selectors at load: what Kubernetes would refuse is refused, at its place inside the expression."""

import pytest

from components.api.codes import Code
from components.api.load import load_fleet
from components.errors import Severity
from tests.support.api_manifests import NAMES, OWN, Edit, files, load, pointed

CEL = 'cel: device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace"'
PATH = "spec.template.spec.engines[0].members[0].nodeSelector.devices[0].selectors[0].cel"

ROWS = [
    ("plain", "cel: device.foo == 1", ".foo == 1", "undefined field 'foo'"),
    ("single quotes", "cel: 'device.foo == 1'", ".foo == 1'", "undefined field 'foo'"),
    ("double quotes", 'cel: "device.foo == 1"', '.foo == 1"', "undefined field 'foo'"),
    ("literal block", "cel: |\n                  true &&\n                    foo", "foo", "undeclared reference"),
    ("folded block", "cel: >\n                  true &&\n                  foo", ">", "undeclared reference"),
    ("escapes", 'cel: "device.driver == \\"a\\" && foo"', '"device', "undeclared reference"),
    ("literal block that begins blank", "cel: |\n\n                  foo", "|", "undeclared reference"),
    ("literal block that begins indented", "cel: |2\n                    foo", "|2", "undeclared reference"),
    ("plain on several lines", "cel: device.driver ==\n                  foo", "device", "undeclared reference"),
    ("end", "cel: 'device.driver =='", "'", "end of the expression"),
    ("result type", "cel: 1 + 1", "1 + 1", "must evaluate to bool"),
]


@pytest.mark.parametrize(("new", "at", "says"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_selector_that_does_not_compile_is_located(new: str, at: str, says: str) -> None:
    """The caret stands inside the expression wherever the text stands as it was written."""
    (problem,) = load(Edit("qwen", CEL, new)).problems
    assert (problem.code, problem.path) == (Code.SELECTOR_INVALID, PATH)
    assert says in problem.message
    assert pointed(problem).startswith(at)


@pytest.mark.parametrize(
    ("expression", "help_"),
    [
        ('device.capacity["gpu.nvidia.com"].memory.isGreaterThan("20Gi")', "quantity('20Gi'), not as text"),
        ('device.capacity["gpu.nvidia.com"].memory == "20Gi"', "quantity('20Gi'), not as text"),
        ("semver('9.0.0').isLessThan('9.1.0')", "semver('9.0.0'), not as text"),
        ("device.driver.startsWith(1)", ""),
        ("nope", ""),
    ],
)
def test_a_text_beside_a_quantity_or_a_version_gets_the_way_to_write_it(expression: str, help_: str) -> None:
    """The commonest mistake in selectors, and the engine's own words do not say what to do."""
    (problem,) = load(Edit("qwen", CEL, f"cel: {expression}")).problems
    assert problem.code == Code.SELECTOR_INVALID
    assert problem.help.endswith(help_)
    assert bool(problem.help) is bool(help_)


READERS = [
    ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80GB')) >= 0", "'80GB'", "`80Gi` perhaps"),
    ("device.attributes['gpu.nvidia.com'].v.isGreaterThan(semver('9.0'))", "'9.0'", "`9.0.0` perhaps"),
    ("true || semver('9.x', true) == semver('9.0.0')", "'9.x'", "must be a semantic version"),
    ("device.driver == 'a' && [1].all(x, ip('1.2.3') == ip('1.2.3.4'))", "'1.2.3'", "IP address '1.2.3'"),
    ("cidr('10.0.0.0/40').prefixLength() == 3", "'10.0", "network address"),
    ("url(':').getHost() == device.driver", "':'", "URL parse error"),
]


@pytest.mark.parametrize(("expression", "at", "says"), READERS, ids=[row[1] for row in READERS])
def test_a_text_that_no_function_can_read_is_warned_of_where_it_stands(expression: str, at: str, says: str) -> None:
    """Kubernetes takes the selector, and every device fails it; other files need not be there to say so."""
    content = files(Edit("qwen", CEL, f'cel: "{expression}"'))[NAMES["qwen"]]
    result = load_fleet([(NAMES["qwen"], content)], complete=False)
    (problem,) = [problem for problem in result.problems if problem.code == Code.SELECTOR_FAILS]
    assert (problem.severity, problem.path) == (Severity.WARNING, PATH)
    assert says in problem.message
    assert pointed(problem).startswith(at)


@pytest.mark.parametrize(
    "expression",
    [
        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80G')) >= 0",
        "semver('v9.0', true) == semver('9.0.0')",
        "isQuantity('80GB') || quantity(device.driver) == quantity('8')",
        "device.driver == 'ip'",
    ],
)
def test_a_text_that_can_be_read_is_not_warned_of(expression: str) -> None:
    """Nor is a text that a device has, or one that is only asked about."""
    result = load(Edit("qwen", CEL, f'cel: "{expression}"'))
    assert Code.SELECTOR_FAILS not in {problem.code for problem in result.problems}


@pytest.mark.parametrize(
    ("expression", "codes"),
    [
        ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80GB')) >= 0", [Code.SELECTOR_FAILS]),
        (
            "device.attributes['gpu.nvidia.com'].cudaComputeCapability.isGreaterThan(semver('9.0'))",
            [Code.SELECTOR_FAILS],
        ),
        ("cidr('10.0.0.0/40').prefixLength() == 3", [Code.SELECTOR_FAILS]),
        ("false && quantity('80GB').isInteger()", [Code.DEPLOYMENT_UNPLACEABLE, Code.SELECTOR_FAILS]),
        (
            "device.attributes['gpu.nvidia.com'].archtecture == 'x' || quantity('80GB').isInteger()",
            [Code.DEPLOYMENT_UNPLACEABLE, Code.SELECTOR_FAILS],
        ),
    ],
    ids=["a quantity", "a version", "a network", "never asked", "another mistake"],
)
def test_one_mistake_in_a_selector_is_one_warning(expression: str, codes: list[Code]) -> None:
    """That nothing can take the deployment follows from it; what follows from something else is said as well."""
    assert [each.code for each in load(Edit("qwen", CEL, f'cel: "{expression}"')).problems] == codes


AT_FAULT = [
    ("attribute", CEL, 'cel: device.attributes["gpu.nvidia.com"].archtecture == "x"', ".archtecture"),
    ("selector", CEL, 'cel: device.driver == "a"', "device.driver"),
    ("first of two", CEL, 'cel: device.driver == "a"\n              - cel: "true"', "device.driver"),
    ("second of two", CEL, 'cel: "true"\n              - cel: device.driver == "a"', "device.driver"),
    (
        "one that is never asked",
        CEL,
        'cel: device.driver == "a"\n              - cel: device.attributes["x"].y == "a"',
        "device.d",
    ),
    ("count", "count: 1\n", "count: 9\n", "9"),
    ("labels", "tier: prod", "tier: gold", "clusterSelector:"),
    ("copies", "copies: 1", "copies: 64", "engines:"),
]


@pytest.mark.parametrize(("old", "new", "at"), [row[1:] for row in AT_FAULT], ids=[row[0] for row in AT_FAULT])
def test_what_no_cluster_can_take_is_warned_of_where_it_is_asked_for(old: str, new: str, at: str) -> None:
    """The place is that of the field to change, and not the name of the deployment."""
    (problem,) = load(Edit("qwen", old, new)).problems
    assert problem.code == Code.DEPLOYMENT_UNPLACEABLE
    assert pointed(problem).startswith(at)


def test_one_wrong_expression_in_two_places_is_two_problems() -> None:
    """Each member has its own."""
    text = 'device.driver == "gpu.nvidia.com"'
    result = load(Edit("coder", text, "nope"), Edit("coder", text, "nope"))
    assert [problem.code for problem in result.problems] == [Code.SELECTOR_INVALID] * 2


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ('device.capacity["gpu.nvidia.com"].memory.isGreaterThen(quantity("20Gi"))', "did you mean `isGreaterThan`?"),
        ('devices.driver == "gpu.nvidia.com"', "did you mean `device`?"),
        ('Quantity("1Gi").isInteger()', "did you mean `quantity`?"),
        ("haz(device.driver)", "did you mean `has`?"),
        ("frobnicate(1)", ""),
    ],
)
def test_a_name_that_the_language_does_not_have_is_told_the_nearest(wrong: str, meant: str) -> None:
    """Its functions, its macros, and the one variable."""
    (problem,) = load(Edit("qwen", CEL, f"cel: '{wrong}'")).problems
    assert (problem.code, problem.help) == (Code.SELECTOR_INVALID, meant)


def test_an_expression_is_judged_for_the_newest_cluster() -> None:
    """What only newer clusters take is right as long as one is that new; the scheduler asks each cluster."""
    new = "cel: device.allowMultipleAllocations == false"
    assert [p.code for p in load(Edit("qwen", CEL, new)).errors] == []
    older = Edit("east", "region: us-east-1", "region: us-east-1\n      kubernetesVersion: '1.34'")
    assert [p.code for p in load(Edit("qwen", CEL, new), older).errors] == [Code.SELECTOR_INVALID]


RANGED = "cel: lists.range(3).exists(i, i == 1)"
"""Kubernetes has ``lists.range`` for new selectors from 1.35 on."""
OLDER = Edit("east", "region: us-east-1", "region: us-east-1\n      kubernetesVersion: '1.34'")
NEWER = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata:
  name: west
spec:
  cluster:
    source: EKS
    eks: {region: us-west-2, kubernetesVersion: "1.35"}
  nodePools:
  - {name: l4, className: l4, nodeCount: 1, zones: [us-west-2a]}
"""


def test_what_no_cluster_is_new_enough_for_says_what_it_needs() -> None:
    """The newest cluster that says its version is named, with the two things that may be done."""
    (problem,) = load(Edit("qwen", CEL, RANGED), OLDER).errors
    assert (problem.code, problem.path) == (Code.SELECTOR_INVALID, PATH)
    assert problem.message == (
        "the selector needs Kubernetes 1.35, and no cluster is said to have it: undeclared reference to 'lists'"
    )
    assert problem.help == (
        "upgrade a cluster (the newest is `east` with 1.34), or write the `kubernetesVersion` of one that has it"
    )
    assert pointed(problem).startswith("lists.range")


CHANNEL = Edit(
    "east",
    "source: EKS\n    eks:\n      region: us-east-1",
    "source: GKE\n    gke:\n      region: us-east-1\n      kubernetesVersion: latest",
)
OLDEST = Edit("east", "region: us-east-1", "region: us-east-1\n      kubernetesVersion: '1.33'")


def test_a_cluster_that_names_no_minor_is_not_said_to_have_one() -> None:
    """It is judged as one of the oldest; one older than all of them has its own."""
    refused = [each for each in load(Edit("qwen", CEL, RANGED), CHANNEL).errors if each.code == Code.SELECTOR_INVALID]
    assert [each.help for each in refused] == ["upgrade a cluster, or write the `kubernetesVersion` of one that has it"]
    (older,) = load(Edit("qwen", CEL, RANGED), OLDEST).errors
    assert "(the newest is `east` with 1.33)" in older.help


UNSAID = Edit(
    "east",
    "source: EKS\n    eks:\n      region: us-east-1",
    "source: Existing\n    existing: {secretRef: {name: east-kubeconfig}, cache: {storageClassName: shared}}",
)


def test_a_cluster_that_names_no_minor_only_counts_as_the_oldest() -> None:
    """The warning does not say that it has that one."""
    problems = load(Edit("qwen", CEL, RANGED), UNSAID, **{"platform/west.yaml": NEWER}).problems
    (warning,) = [each for each in problems if each.code == Code.DEPLOYMENT_UNPLACEABLE]
    assert (
        "Kubernetes 1.34 (what a cluster counts as that names no minor) refuses it, and 1.35 would" in warning.message
    )


def test_where_the_clusters_that_are_asked_for_are_too_old_the_warning_says_so() -> None:
    """Another cluster takes the selector, so it is right; its deployment selects only the older one."""
    (problem,) = load(Edit("qwen", CEL, RANGED), OLDER, **{"platform/west.yaml": NEWER}).problems
    assert (problem.code, problem.path) == (Code.DEPLOYMENT_UNPLACEABLE, PATH)
    assert problem.message.endswith(
        "its selector cannot be evaluated: Kubernetes 1.34 refuses it, and 1.35 would take it:"
        " undeclared reference to 'lists'"
    )


def test_a_request_that_no_device_fits_is_warned_of() -> None:
    """The hardware is not there, however much room there is."""
    (problem,) = load(Edit("qwen", '"Ada Lovelace"', '"Hopper"')).problems
    assert problem.code == Code.DEPLOYMENT_UNPLACEABLE
    assert "no node has 1 of the devices that the request `gpu` selects" in problem.message


@pytest.mark.parametrize("name", ["aside", "zone"])
def test_the_reason_is_that_of_the_whole_fleet(name: str) -> None:
    """A cluster of small nodes does not hide that another has nodes that are large enough and of the wrong kind."""
    small = "apiVersion: modelplane.ai/v1alpha1\nkind: InferenceCluster\n"
    small += f"metadata: {{name: {name}}}\nspec:\n"
    small += "  cluster: {source: Existing, existing: {secretRef: {name: small-kubeconfig}}}\n"
    small += "  nodePools: [{name: p, className: l4}]\n"
    other = Edit("coder", 'device.driver == "gpu.nvidia.com"', 'device.driver == "gpu.example.com"')
    (problem,) = load(other, **{"platform/small.yaml": small}).problems
    assert problem.code == Code.DEPLOYMENT_UNPLACEABLE
    assert problem.message.endswith("no node has 8 of the devices that the request `gpu` selects")


def test_a_request_that_only_a_newer_cluster_would_take_is_warned_of() -> None:
    """The one newer cluster is the edge, which has no pools."""
    new = "cel: device.allowMultipleAllocations == false"
    result = load(
        Edit("qwen", CEL, new),
        Edit("east", "region: us-east-1", "region: us-east-1\n      kubernetesVersion: '1.34'"),
        Edit("edge", *OWN),
        Edit("edge", "existing:", "existing:\n      kubernetesVersion: '1.36'"),
    )
    assert [problem.code for problem in result.problems] == [Code.DEPLOYMENT_UNPLACEABLE]


def test_a_device_that_no_selector_can_match_is_warned_of() -> None:
    """The API server would not take such a device, so no driver publishes it."""
    result = load(Edit("classes", "{string: Ada Lovelace}", f"{{string: {'x' * 100}}}"))
    assert Code.DEVICE_UNUSABLE in [problem.code for problem in result.warnings]
    (problem,) = [problem for problem in result.warnings if problem.code == Code.DEVICE_UNUSABLE]
    assert problem.path == "spec.devices[0]"
