"""The journal: small facts that must outlive a run that changes nothing.

They say since when something has been so, which neither manifests nor state can. Storing them does not belong here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from automation.scheduling.snapshot import Refusal


def _empty() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Journal:
    """What earlier runs saw."""

    not_ready_since: Mapping[str, datetime] = field(default_factory=_empty)
    """By cluster, since when it has not been ready without a break."""
    refused: Mapping[tuple[str, str], Refusal] = field(default_factory=_empty)
    """By cluster and pool, the last refusal to bring more nodes."""


NO_JOURNAL = Journal()
