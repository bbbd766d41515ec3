"""An immutable, hashable mapping: what a YAML mapping with free keys becomes inside a model.

Models are shared between passes and used as keys of caches, so nothing in them may change. A ``dict`` underneath keeps
reading, JSON and pydantic's serialiser at their usual speed; every way to write raises.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import AfterValidator

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that refuses every change after it was made."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("this mapping is part of a frozen model and cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


FrozenMap = Annotated[Mapping[K, V], AfterValidator(FrozenDict)]
"""A mapping field of a model: read as any mapping, kept as a ``FrozenDict``."""
