"""What the rules say of one stack: violations, and what could not be judged yet."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.resources import Stack
from policies.rule import Rule

Settings = Mapping[str, Mapping[str, Any]]
"""The configuration of each rule, by the rule's name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule says. ``urn`` is empty when the subject is no resource of the stack.

    A *deferred* finding is no violation and no pass: the rule needs a value that nobody knows before the update.
    """

    rule: Rule
    subject: str
    message: str
    urn: str = ""
    deferred: bool = False

    @property
    def text(self) -> str:
        """The finding in words: subject and what is wrong, and on a line of its own what to do."""
        return f"{self.subject}: {self.message}"


def judge(stack: Stack, rules: Iterable[Rule], settings: Settings) -> Iterator[Finding]:
    """Apply rules to a stack; the findings come rule by rule, each once, in an order that never changes.

    A rule that breaks down has not passed: that is a violation of it.
    """
    urns = {resource.name: resource.urn for resource in stack.resources if not resource.is_component}
    urns |= {resource.name: resource.urn for resource in stack.resources if resource.is_component}
    for rule in rules:
        own = stack.fresh()
        try:
            violations = sorted(set(rule.check(own, settings.get(rule.name) or {})))
        except Exception as error:  # noqa: BLE001 (whatever it is, the gate stays shut)
            reason = f"the rule could not judge it: {type(error).__name__}: {error}"
            yield Finding(rule, "the stack", _sentences(reason, "This is a bug to report."))
            continue
        for found in violations:
            text = _sentences(found.message, found.remediation)
            yield Finding(rule, found.subject, text, urns.get(found.subject, ""))
        for (name, urn), path in sorted(own.deferred.items()):
            yield Finding(rule, name, f"{path} is not known before it is applied", urn, deferred=True)


def _sentences(message: str, remediation: str) -> str:
    return f"{message}.\n{remediation[:1].upper()}{remediation[1:].rstrip('.')}."
