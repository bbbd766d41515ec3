"""A rule: a stable name, what it says, how bad a violation is, what to do, and the function that finds violations."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from components.checks.violation import Violation
from policies.resources import Stack

Check = Callable[[Stack, Mapping[str, Any]], Iterable[Violation]]
"""Finds violations in a stack, given the rule's configuration; each violation's subject is a logical name."""

Severity = Literal["low", "medium", "high", "critical"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One policy of the pack. ``name`` never changes; its page in the docs is ``reference/policies.md#<name>``."""

    name: str
    description: str
    severity: Severity
    remediation: str
    check: Check
    config: Mapping[str, Any] | None = None
    """JSON Schema of each configuration property; None when there are none."""
