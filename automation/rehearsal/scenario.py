"""The model of a scenario: which simulated calls are slow or fail, and what stands behind simulated clusters.

Point the environment variable ``BERTH_SIMULATION_SCENARIO`` at the file. Its rules may change between and during runs:
providers read them again. A rule matches a call when all its patterns match (shell globs, case matters); the first
failing rule decides. What it says of a backing is read once, before a run starts: it decides with which state,
providers and locks.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.provider.faults import VARIABLE, parse
from components.errors import UsageError

SCENARIO_VARIABLE: Final = VARIABLE


class Failure(StrEnum):
    """How a call fails; the text a user sees is the cloud's own for this failure."""

    QUOTA = "quota"
    CAPACITY = "capacity"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    UNREACHABLE = "unreachable"
    """With ``cluster`` and without ``call`` the whole cluster is cut off, for every call and all runs."""
    PERMISSION = "permission"
    CREATED_BUT_FAILED = "created-but-failed"
    """The resource exists afterwards, with initialisation errors."""
    IMAGE_PULL = "image-pull"
    """As before, for workloads whose ``image`` matches; it heals by itself when the rule is gone."""


class Backing(StrEnum):
    """What stands behind the clusters of simulated clouds."""

    KUBERNETES = "kubernetes"
    """Control planes on this machine: the run is a backed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One rule. Empty patterns match everything; ``call`` names one or several calls (default: create and update)."""

    fail: Failure | None = None
    package: str = ""
    """``aws``, ``kubernetes`` ..."""
    type: str = ""
    """The type token, for example ``aws:eks/nodeGroup:*``."""
    name: str = ""
    """The logical or the physical name."""
    urn: str = ""
    cluster: str = ""
    """Any name of the cluster: its identifier, its name in the cloud, its server address."""
    image: str = ""
    """An image of the workload."""
    call: str | tuple[str, ...] = ()
    """``configure``, ``check``, ``create``, ``read``, ``update``, ``delete``."""
    nth: int | None = None
    """Only from the nth matching call on (counted over all processes and runs until the file changes)."""
    times: int | None = None
    """Only that many matching calls, from ``nth`` or from the first."""
    preview: bool = False
    """Also in previews, where clouds are not asked to create or change anything."""
    when: str = "before"
    """``before`` the cloud does it, or ``after``: done, but the engine hears of a failure, or of nothing for long."""
    delay: float = 0
    """Seconds to wait first; alone it only slows the call down. Taking the rule back ends the wait."""
    message: str = ""
    """Another text than the cloud's own."""
    reasons: tuple[str, ...] = ()
    """The initialisation errors of a resource that was created but failed."""

    def document(self) -> dict[str, Any]:
        """Write the rule as a mapping without what is not set."""
        fields = {key: value for key, value in asdict(self).items() if value not in (None, "", (), 0, False)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A list of rules, and a backing if there is one."""

    rules: tuple[Fault, ...] = ()
    backing: Backing | None = None

    @classmethod
    def of(cls, *rules: Fault, backing: Backing | None = None) -> Self:
        """Make a scenario of rules."""
        return cls(rules, backing)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a scenario written by hand; raises ``UsageError`` naming what is wrong with it."""
        try:
            found = parse(path.read_text(encoding="utf-8"), source=str(path))
            backing = Backing(found.backing) if found.backing else None
            return cls(tuple(_fault(rule) for rule in found.rules), backing)
        except OSError as error:
            raise UsageError(f"The scenario {path} cannot be read: {error.strerror}") from error
        except (Refused, UnicodeDecodeError, TypeError, ValueError) as error:
            raise UsageError(f"The scenario cannot be used: {error}") from error

    def write(self, path: Path) -> Path:
        """Write the scenario in one go, so that a running provider never sees half of it; gives the path back."""
        document = {
            "rules": [rule.document() for rule in self.rules],
            **({"backing": self.backing} if self.backing else {}),
        }
        text = json.dumps(document, indent=2, sort_keys=True) + "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f"{path.name}.{os.getpid()}")
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
        return path


def _fault(rule: Mapping[str, Any]) -> Fault:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in rule.items()}
    if fields.get("fail"):
        fields["fail"] = Failure(fields["fail"])
    return Fault(**fields)


def environment(path: Path | None) -> Iterable[tuple[str, str]]:
    """Give the environment variables that make providers use a scenario."""
    return () if path is None else ((VARIABLE, str(path.absolute())),)


def is_backed() -> bool:
    """Whether the scenario that this process's environment names has a backing; one that is not there says nothing.

    Raises ``UsageError`` for one that cannot be read.
    """
    path = Path(os.environ.get(VARIABLE, ""))
    return path.is_file() and Scenario.read(path).backing is Backing.KUBERNETES
