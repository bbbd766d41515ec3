"""One broken rule: which, by whom, what is wrong in words, and what to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """``rule`` is the stable name of the policy, ``subject`` the logical name of what breaks it."""

    rule: str
    subject: str
    message: str
    remediation: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.rule}: {self.subject}: {self.message}"
