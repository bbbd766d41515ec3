"""The rules that program and policy pack both apply: ownership, taints, footprint.

Pure: facts in, violations out. ``check_lock`` judges a lock against the manifests; the policy pack makes the same facts
from what components registered and judges those, so neither has to trust the other.
"""

from components.checks.check_lock import check_facts, check_lock
from components.checks.violation import Violation

__all__ = ["Violation", "check_facts", "check_lock"]
