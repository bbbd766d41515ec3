"""The reference page of the policies: a section for each rule, and examples that are what is really printed."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from automation.render.plan import policy_lines
from automation.render.text import plain
from automation.render.views import PolicySummaryView, PolicyView
from policies.finding import judge
from policies.pack import NAME, RULES
from policies.rule import Rule
from tests.support.policy_stack import Parts, fleet, pod, props, request, stack_of

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "policies.md"
QWEN = "ml/qwen/eks-a/0"
EXAMPLES: dict[str, Callable[[Parts], object]] = {
    "gpu-pool-tainted": lambda parts: props(parts, "eks-a/l4-nodes").update(taints=[]),
    "gpu-taint-tolerated": lambda parts: pod(parts).update(tolerations=[]),
    "cluster-taint-tolerated": lambda parts: props(parts, "eks-a").update(
        taints=[{"key": "maintenance", "value": "", "effect": "NoExecute"}]
    ),
    "device-one-owner": lambda parts: pod(parts)["containers"][0].update(resources={"limits": {"nvidia.com/gpu": 1}}),
    "devices-within-pool": lambda parts: props(parts, f"{QWEN}-workload")["spec"].update(replicas=5),
    "replica-in-cache-footprint": lambda parts: props(parts, QWEN).update(cacheFootprint=["eks-b"]),
    "cache-fits-volume": lambda parts: props(parts, "ml/weights/eks-a/0").update(shape={"sizeGiB": 20}),
    "component-truthful": lambda parts: request(parts)["exactly"].update(count=1),
}


def sections() -> dict[str, str]:
    """Return the page's sections by heading."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def printed(rule: Rule) -> str:
    """Return what a plan prints when the rule is broken."""
    parts = fleet()
    EXAMPLES[rule.name](parts)
    found = tuple(
        PolicyView(rule=each.rule.name, level="mandatory", subject=each.subject, message=each.message)
        for each in judge(stack_of(parts), [rule], {})
    )
    lines = policy_lines(PolicySummaryView(packs=(NAME,), violations=found))
    return plain(lines[1:]).rstrip()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_a_section_that_is_true(rule: Rule) -> None:
    """What it says, how bad it is, what is printed, what to do, and every parameter."""
    section = sections()[rule.name]
    assert rule.description in " ".join(section.split())
    assert f"Severity: {rule.severity}." in section
    assert f"```text\n{printed(rule)}\n```" in section
    for part in ("**Why.**", "**What to do.**", "**Parameters.**"):
        assert part in section
    for parameter in rule.config or {}:
        assert f"`{parameter}`" in section


def test_no_section_is_left_behind() -> None:
    """A rule that goes takes its section along; the order is the pack's."""
    names = [heading for heading in sections() if re.fullmatch(r"[a-z-]+", heading)]
    assert names == [rule.name for rule in RULES]
