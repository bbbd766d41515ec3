"""The kinds of run: on real clouds, on simulated ones, or on simulated ones with real control planes. PURE.

Each has a state of its own. Of the lock there is one, in Git beside the manifests, so it says for which kind it was
planned, by marks that a real one does not have.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

_CONFLICT: Final = re.compile(rb"^<{7} .*?^>{7} [^\n]*$", re.MULTILINE | re.DOTALL)


class RunKind(StrEnum):
    """Which clouds a run works on; the value is the word for it in messages."""

    REAL = "real"
    SIMULATED = "simulated"
    BACKED = "backed"
    """Simulated clouds whose clusters are control planes on this machine."""

    @classmethod
    def of(cls, *, simulated: bool, backed: bool) -> "RunKind":
        """Return the kind with these marks; what is backed is simulated too."""
        return cls.BACKED if backed else cls.SIMULATED if simulated else cls.REAL

    @property
    def option(self) -> str:
        """The option that chooses this kind; empty for a real run."""
        return "" if self is RunKind.REAL else f"--{self.value}"


def kind_of_lock(files: Mapping[str, bytes], *, platform: str) -> RunKind | None:
    """Return the kind of run that the files of a lock were planned for; None when they hold nothing.

    The marks stand in the file ``platform``. They are found by their text, so that a lock that a merge tore has a kind
    too: it is real unless both sides of the merge have the mark.
    """
    if not any(content.strip() for content in files.values()):
        return None
    agreed = _CONFLICT.sub(b"", files.get(platform, b""))
    marks = {mark: bool(re.search(rb"^%b: true\s*$" % mark.encode(), agreed, re.MULTILINE)) for mark in _MARKS}
    return RunKind.of(**marks)


_MARKS: Final = ("simulated", "backed")
