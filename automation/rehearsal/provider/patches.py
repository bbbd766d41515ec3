"""Patch resources (``NamespacePatch`` and its kind): fields applied to an object, whoever made it.

As server-side apply does it: an object that is missing is created, one that is there gets the fields on top, and
deleting the patch gives the fields up and leaves the object. Objects are kept under their own kind, so whatever asks
for a namespace finds one that a patch made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from automation.rehearsal.provider import objects
from automation.rehearsal.provider.base import Difference, Live, Target
from automation.rehearsal.provider.check import Failure
from automation.rehearsal.provider.kinds import kind_of
from automation.rehearsal.provider.kubernetes import KubernetesCloud
from automation.rehearsal.wire import merge

_SUFFIX: Final = "Patch"


class PatchingCloud(KubernetesCloud):
    """One configured cluster, patches included."""

    def check(
        self, target: Target, olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], Sequence[Failure]]:
        """Check a patch by the rules of its own type, in which nothing but the name is required."""
        if not _is_patch(target):
            return super().check(target, olds, news, seed)
        kind = kind_of(_object(target).type, self._world.table)
        default = str(self._cluster.config.get("namespace") or "")
        rules = self._world.rules.of(target.type)
        return objects.check_object(target, kind, rules, (olds, news), namespace=default, seed=seed)

    def diff(
        self, target: Target, olds: Mapping[str, Any], news: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> Difference:
        """Compare as for the object itself."""
        return super().diff(_object(target), olds, news, outputs)

    def create(self, target: Target, inputs: dict[str, Any], *, preview: bool) -> Live:
        """Create the object, or lay the fields upon the one that is there."""
        where = _object(target)
        there = None if preview or where is target else self._there(where, inputs)
        if there is None:
            return super().create(where, inputs, preview=preview)
        known, old = there
        return Live(id=known.id, outputs=super().update(known, old, merge(old, inputs), preview=False))

    def read(self, target: Target, inputs: dict[str, Any], outputs: dict[str, Any]) -> Live | None:
        """Read the object."""
        return super().read(_object(target), inputs, outputs)

    def update(self, target: Target, olds: dict[str, Any], inputs: dict[str, Any], *, preview: bool) -> dict[str, Any]:
        """Change the object."""
        return super().update(_object(target), olds, inputs, preview=preview)

    def delete(self, target: Target, outputs: dict[str, Any]) -> None:
        """Delete an object; a patch only gives up its fields."""
        if not _is_patch(target):
            super().delete(target, outputs)

    def _there(self, target: Target, inputs: Mapping[str, Any]) -> tuple[Target, dict[str, Any]] | None:
        with self._world.store.reading() as transaction:
            thing = self._thing(transaction, target, dict(inputs))
            row = transaction.find("kubernetes", target.type, self._cluster.server, thing.id)
        if row is None:
            return None
        return replace(target, id=row.id), self._world.store.unseal(row.inputs)


def _is_patch(target: Target) -> bool:
    return target.type.endswith(_SUFFIX)


def _object(target: Target) -> Target:
    """Return the same call about the object that a patch is laid upon."""
    return replace(target, type=target.type.removesuffix(_SUFFIX)) if _is_patch(target) else target
