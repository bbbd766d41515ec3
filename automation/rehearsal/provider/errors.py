"""What a cloud says when it refuses: plain refusals, and resources that exist but never became ready.

These stay inside the provider process, which turns them into the protocol's errors; they are no errors of Berth's.
"""

from collections.abc import Sequence
from typing import Any


class Refused(Exception):
    """The cloud did not do what was asked; nothing changed. The text reaches the user as it is."""


class NotReady(Exception):
    """The resource was created or changed, but did not become ready; the engine keeps it with these reasons."""

    def __init__(
        self,
        summary: str,
        *,
        id_: str,
        outputs: dict[str, Any],
        reasons: Sequence[str],
        inputs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(summary)
        self.id = id_
        self.outputs = outputs
        self.reasons = tuple(reasons)
        self.inputs = inputs
