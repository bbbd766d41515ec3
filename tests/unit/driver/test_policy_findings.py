"""What policies say, as it is shown: whom and what, for our own pack and for a user's."""

from typing import Any

import pytest

from automation.driver.view import policy_view
from automation.engine.events import Analysis, Level, PolicyFinding, PolicySummary
from automation.engine.runner import PolicyReport, Preview
from components.naming import StackName
from policies.analyzer import Analyzer
from policies.finding import judge
from policies.pack import NAME, RULES
from policies.wire import UNKNOWN
from tests.support.policy_stack import fleet, props, stack_of

URN = "urn:pulumi:dev::berth::berth:index:Pool::eks-a/l4"


def finding(message: str, *, pack: str = NAME, urn: str = URN, rule: str = "gpu-pool-tainted") -> PolicyFinding:
    """Make a finding as the runner reads it."""
    return PolicyFinding(
        1, 1, pack=pack, version="1", rule=rule, level=Level.MANDATORY, severity="high", message=message, urn=urn
    )


def preview(**report: Any) -> Preview:
    """Make a preview that says this about policies."""
    return Preview(StackName("dev"), ok=False, steps=(), policies=PolicyReport(**report))


@pytest.mark.parametrize(
    ("found", "subject", "message"),
    [
        pytest.param(
            finding("eks-a/l4: it has no taint: none. Add it."),
            "eks-a/l4",
            "it has no taint: none. Add it.",
            id="our own",
        ),
        pytest.param(
            finding("Buckets are private.\nit is: open", pack="other"),
            "eks-a/l4",
            "Buckets are private.\nit is: open",
            id="a user's, about a resource",
        ),
        pytest.param(
            finding("Too much.", pack="other", urn=""), "the stack", "Too much.", id="a user's, about the stack"
        ),
    ],
)
def test_a_violation_is_split_into_whom_and_what(found: PolicyFinding, subject: str, message: str) -> None:
    """The subject is never guessed from another pack's text."""
    (shown,) = policy_view([preview(findings=(found,))]).violations
    assert (shown.rule, shown.level, shown.subject, shown.message) == (
        "gpu-pool-tainted",
        "mandatory",
        subject,
        message,
    )


def test_a_deferred_rule_says_what_it_waits_for() -> None:
    """By the words that the pack really sends."""
    parts = fleet()
    props(parts, "eks-a/l4-nodes")["taints"] = UNKNOWN
    judged = next(each for each in judge(stack_of(parts), RULES, {}) if each.deferred)
    text = Analyzer()._diagnostic(judged).message
    summary = PolicySummary(2, 2, analysis=Analysis.STACK, pack=NAME, passed=("gpu-pool-tainted", "other"), failed=())
    view = policy_view([preview(deferred=(finding(text),), summaries=(summary,))])
    (shown,) = view.deferred
    assert (shown.subject, shown.message) == ("eks-a/l4-nodes", "taints is not known before it is applied")
    assert view.passed == ("other",)
