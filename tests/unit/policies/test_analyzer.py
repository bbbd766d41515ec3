"""The pack as the engine speaks to it: what is not known is deferred, inputs stand in for outputs, nothing passes."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2

from components.checks.taints import CLUSTER_RULE
from policies.analyzer import Analyzer
from policies.pack import NAME, RULES
from policies.resources import Stack
from policies.rule import Rule
from policies.wire import UNKNOWN, Unknown
from tests.support.policy_stack import Parts, fleet, pod, props, request

UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def wire(value: Any) -> Any:
    """Spell a value as the engine does."""
    match value:
        case Unknown():
            return UNKNOWN_TEXT
        case Mapping():
            return {key: wire(each) for key, each in value.items()}
        case list():
            return [wire(each) for each in value]
    return value


def struct(bag: Mapping[str, Any]) -> struct_pb2.Struct:
    """Make a property bag."""
    made = struct_pb2.Struct()
    made.update(wire(bag))
    return made


def stack(parts: Parts, *, backwards: bool = False) -> analyzer_pb2.AnalyzeStackRequest:
    """Ask about a whole stack."""
    asked = analyzer_pb2.AnalyzeStackRequest()
    items = list(parts.items())
    for name, part in reversed(items) if backwards else items:
        made = asked.resources.add(
            type=part["type"], name=name, urn=name, properties=struct(part["props"]), parent=part.get("parent", "")
        )
        if ":" in part["type"] and not part["type"].startswith(("berth:", "pulumi:")):
            made.provider.urn = part.get("provider", "eks-a-kubernetes")
    return asked


def shown(analyzer: Analyzer, parts: Parts) -> None:
    """Show every resource's inputs, as the engine does before it knows outputs."""
    for name, part in parts.items():
        asked = analyzer_pb2.AnalyzeRequest(
            type=part["type"], name=name, urn=name, properties=struct(part.get("inputs", part["props"]))
        )
        assert not analyzer.Analyze(asked, None).diagnostics
        assert not analyzer.Remediate(asked, None).remediations


def said(analyzer: Analyzer, parts: Parts) -> list[str]:
    """Return what the pack says: level, rule and message."""
    found = analyzer.AnalyzeStack(stack(parts), None).diagnostics
    return [f"{analyzer_pb2.EnforcementLevel.Name(d.enforcementLevel)} {d.policyName} {d.message}" for d in found]


def undiscovered(parts: Parts) -> Parts:
    """Take away what a preview does not know of objects on a cluster that is not there yet: all outputs."""
    for part in parts.values():
        if part["type"].startswith("kubernetes:"):
            part["inputs"], part["props"] = part["props"], {}
    return parts


def test_a_fleet_in_order_passes() -> None:
    """Also in a preview in which no object on the new cluster has outputs."""
    assert said(Analyzer(), fleet()) == []
    analyzer, parts = Analyzer(), undiscovered(fleet())
    shown(analyzer, parts)
    assert said(analyzer, parts) == []


def test_objects_without_outputs_are_judged_by_their_inputs() -> None:
    """A broken object on a cluster that is not there yet is found in the first preview."""
    parts = undiscovered(fleet())
    parts["ml/qwen/eks-a/0-workload"]["inputs"]["spec"]["template"]["spec"]["tolerations"] = []
    analyzer = Analyzer()
    shown(analyzer, parts)
    assert [line.split()[:2] for line in said(analyzer, parts)] == [["MANDATORY", "gpu-taint-tolerated"]]


def test_objects_that_nobody_could_look_at_are_deferred() -> None:
    """Without outputs and without inputs nothing passes: each rule that needs them says so, and none is violated."""
    found = said(Analyzer(), undiscovered(fleet()))
    assert all(line.startswith("ADVISORY ") for line in found)
    assert {line.split()[1] for line in found} == {
        "gpu-taint-tolerated",
        "device-one-owner",
        "devices-within-pool",
        "cache-fits-volume",
        "component-truthful",
    }


def test_an_unknown_value_is_deferred_and_named() -> None:
    """The finding names the resource and the property, and rules that do not need it are not concerned."""
    parts = fleet()
    props(parts, "eks-a/l4-nodes")["taints"] = UNKNOWN
    found = Analyzer().AnalyzeStack(stack(parts), None).diagnostics
    assert [each.policyName for each in found] == ["gpu-pool-tainted", "component-truthful"]
    assert all(each.enforcementLevel == analyzer_pb2.ADVISORY for each in found)
    assert all(each.urn == "eks-a/l4-nodes" for each in found)
    assert found[0].message.startswith("can't run policy 'gpu-pool-tainted' from policy pack 'berth")
    assert found[0].message.endswith(" during preview: eks-a/l4-nodes: taints is not known before it is applied")


@pytest.mark.parametrize(
    "hide",
    [
        pytest.param(lambda parts: pod(parts).update(tolerations=UNKNOWN), id="tolerations"),
        pytest.param(lambda parts: request(parts)["exactly"].update(count=UNKNOWN), id="a count"),
        pytest.param(lambda parts: props(parts, "eks-a/l4-nodes").update(scalingConfig=UNKNOWN), id="the nodes"),
        pytest.param(lambda parts: pod(parts).update(volumes=UNKNOWN), id="volumes"),
    ],
)
def test_what_may_still_come_is_no_violation(hide: Callable[[Parts], object]) -> None:
    """Only advice, never a stop: it is judged again when it is known."""
    parts = fleet()
    hide(parts)
    found = said(Analyzer(), parts)
    assert found
    assert all(line.startswith("ADVISORY ") for line in found)


def test_an_unknown_output_is_filled_from_the_inputs() -> None:
    """Where a provider makes a secret of what it will answer, what the program asked for is judged."""
    parts = fleet()
    nodes = parts["eks-a/l4-nodes"]
    nodes["inputs"] = {**nodes["props"]}
    nodes["props"] = {**nodes["props"], "taints": UNKNOWN, "scalingConfig": {"maxSize": UNKNOWN}}
    analyzer = Analyzer()
    shown(analyzer, parts)
    assert said(analyzer, parts) == []


def test_unknown_parts_that_no_rule_needs_do_not_matter() -> None:
    """A variable of a container may depend on anything."""
    parts = fleet()
    spec = props(parts, "ml/qwen/eks-a/0-workload")["spec"]["template"]["spec"]
    spec["containers"][0]["env"] = [{"name": "ADDRESS", "value": UNKNOWN}]
    spec["serviceAccountName"] = UNKNOWN
    assert said(Analyzer(), parts) == []


def test_a_secret_does_not_hide_a_violation() -> None:
    """What is marked as secret is judged by its value."""
    parts = fleet()
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": []}
    props(parts, "eks-a/l4-nodes")["taints"] = secret
    assert "MANDATORY gpu-pool-tainted" in "\n".join(said(Analyzer(), parts))


def test_the_order_of_resources_changes_nothing() -> None:
    """The engine gives them in an order of its own, another one each time."""
    parts = fleet()
    for name in ("eks-a/l4", "eks-a/l4-nodes"):
        props(parts, name)["taints"] = []
    forwards = Analyzer().AnalyzeStack(stack(parts), None)
    assert forwards.diagnostics
    assert forwards == Analyzer().AnalyzeStack(stack(parts, backwards=True), None)


def test_a_finding_says_what_is_wrong_and_what_to_do() -> None:
    """Subject and message, then the remediation; the URN is the component's."""
    parts = fleet()
    props(parts, "eks-a/l4").update(nodes=9)
    (found,) = Analyzer().AnalyzeStack(stack(parts), None).diagnostics
    assert found.message == (
        "eks-a/l4: it says that it has 9 nodes; its node group has 2 at most."
        "\nFix the component; if it is Berth's own, this is a bug to report."
    )
    assert (found.policyPackName, found.urn, found.severity) == (
        "berth",
        "eks-a/l4",
        analyzer_pb2.POLICY_SEVERITY_CRITICAL,
    )


def test_a_rule_that_breaks_down_has_not_passed() -> None:
    """The gate stays shut, and the other rules still speak."""

    def burst(stack: Stack, config: Mapping[str, Any]) -> Any:
        raise ZeroDivisionError("no way")

    rule = Rule("sample-rule", "A sample.", "low", "Nothing.", burst)
    found = said(Analyzer(rules=(rule, *RULES)), fleet())
    (only,) = found
    assert only == (
        "MANDATORY sample-rule the stack: the rule could not judge it: ZeroDivisionError: no way."
        "\nThis is a bug to report."
    )


@pytest.mark.parametrize(
    ("level", "want"),
    [
        (analyzer_pb2.ADVISORY, ["ADVISORY gpu-pool-tainted"]),
        (analyzer_pb2.REMEDIATE, ["MANDATORY gpu-pool-tainted"]),
        (analyzer_pb2.DISABLED, []),
    ],
)
def test_levels_come_from_the_configuration(level: Any, want: list[str]) -> None:
    """A level that promises a repair means mandatory: nothing is repaired here."""
    parts = fleet()
    del parts["eks-a/l4"]["props"]["taints"][0]
    analyzer = Analyzer()
    analyzer.Configure(
        analyzer_pb2.ConfigureAnalyzerRequest(
            policyConfig={
                "gpu-pool-tainted": analyzer_pb2.PolicyConfig(enforcementLevel=level),
                "component-truthful": analyzer_pb2.PolicyConfig(enforcementLevel=analyzer_pb2.DISABLED),
            }
        ),
        None,
    )
    assert [" ".join(line.split()[:2]) for line in said(analyzer, parts)] == want


def test_parameters_come_from_the_configuration() -> None:
    """The replicas that exist."""
    parts = fleet()
    props(parts, "eks-a")["taints"] = [{"key": "maintenance", "value": "", "effect": "NoExecute"}]
    props(parts, "ml/qwen/eks-a/0")["stays"] = "maintenance:NoExecute"
    analyzer = Analyzer()
    assert said(analyzer, parts) == []
    config = analyzer_pb2.PolicyConfig(
        enforcementLevel=analyzer_pb2.MANDATORY, properties=struct({"existing": ["ml/other/eks-a/0"]})
    )
    analyzer.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig={CLUSTER_RULE: config}), None)
    assert [line.split()[1] for line in said(analyzer, parts)] == [CLUSTER_RULE]


def test_the_engine_is_told_every_rule() -> None:
    """All are stack rules, mandatory, with severity and what to do; parameters have a schema."""
    info = Analyzer().GetAnalyzerInfo(None, None)
    assert info.name == NAME
    assert [policy.name for policy in info.policies] == [rule.name for rule in RULES]
    assert {policy.policy_type for policy in info.policies} == {analyzer_pb2.POLICY_TYPE_STACK}
    assert {policy.enforcementLevel for policy in info.policies} == {analyzer_pb2.MANDATORY}
    assert all(policy.severity and policy.description and policy.remediation_steps for policy in info.policies)
    schemas = {policy.name for policy in info.policies if policy.configSchema.properties}
    assert schemas == {"cluster-taint-tolerated", "replica-in-cache-footprint"}
