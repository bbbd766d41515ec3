"""Which minors of Kubernetes a keeper can start, and what to do about one that it cannot.

A cluster of the simulated cloud has the version that its manifest says, and selectors are judged by that. So the
control plane behind it is of the same minor, or there is none.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from automation.engine.toolchain.kubernetes import MINORS, Minor, minor_of
from automation.rehearsal.kubernetes.local import Kit
from components.checks.versions import minor_words
from components.errors import UsageError

Look = Callable[[Minor], Mapping[str, Path] | None]
"""Looks for the programs of a minor, and gives None unless all are there."""


class Kits:
    """What control planes can be made of: the programs of one minor, and those of others as soon as they are there."""

    def __init__(self, own: Kit, look: Look) -> None:
        self._own: Final = own
        self._look: Final = look

    def of(self, name: str, version: str) -> Kit:
        """Give what a cluster of that name and version is made of; raises UsageError, which says what to do."""
        wanted = minor_words(version) or self._own.minor
        kit = self._kit(wanted)
        if kit is None:
            raise UsageError(f"{name} is to have Kubernetes {wanted}, {lacking(wanted)}: {remedy(wanted, self.minors)}")
        return kit

    @property
    def minors(self) -> tuple[str, ...]:
        """The minors whose programs are there, oldest first."""
        return tuple(name for name in MINORS if self._kit(name) is not None)

    def _kit(self, minor: str) -> Kit | None:
        if minor == self._own.minor:
            return self._own
        programs = self._look(minor_of(minor)) if minor in MINORS else None
        return Kit(minor, programs) if programs else None


def lacking(minor: str) -> str:
    """Say in a clause why there can be no control plane of a minor."""
    if minor in MINORS:
        return "whose programs are not here"
    return f"which is not among the minors that run here ({', '.join(MINORS)})"


def remedy(minor: str, there: Collection[str]) -> str:
    """Say what makes a control plane possible, when the programs of ``there`` are at hand."""
    write = " or ".join(f'`kubernetesVersion: "{each}"`' for each in there)
    if minor not in MINORS:
        return f"write {write}"
    get = f"`berth doctor --kubernetes {minor} --install` gets them, and `berth backing` takes them while it runs"
    return f"{get}; or write {write}" if write else get
