"""Names of policies: users' configurations, exceptions and dashboards hold them.

A failure means that a change breaks users: a level or a parameter of theirs applies to nothing any more. A rule keeps
its name for ever; one that means something else is a new rule.
"""

from typing import Final

from policies.pack import NAME, RULES

BREAKS: Final = (
    "This breaks users: their policy configuration names the rule. Keep the name, the severity, the parameters."
)


def test_names_severities_and_parameters_are_pinned() -> None:
    """A rule may be added; the others stay."""
    assert NAME == "berth", BREAKS
    assert {rule.name: (rule.severity, sorted(rule.config or ())) for rule in RULES} == {
        "gpu-pool-tainted": ("high", []),
        "gpu-taint-tolerated": ("high", []),
        "cluster-taint-tolerated": ("high", ["existing"]),
        "device-one-owner": ("critical", []),
        "devices-within-pool": ("critical", []),
        "replica-in-cache-footprint": ("high", ["existing"]),
        "cache-fits-volume": ("medium", []),
        "component-truthful": ("critical", []),
    }, BREAKS
