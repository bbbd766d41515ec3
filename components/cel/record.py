"""The base of immutable values: equality, hash, text and copying over ``__slots__``, no assignment once made.

It gives what a frozen dataclass with slots gives. Those generate and compile code when their module is imported, and
bring ``inspect`` along: a third of the time that importing this package took. A subclass names its ``__slots__`` and
sets them in its ``__init__`` with ``put``.

Not here: syntax nodes, of which a compile makes dozens and which compare by identity; they are plain classes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, NoReturn

put: Final = object.__setattr__
"""Sets an attribute of a record that is being made."""


class Record:
    """A value that is what its slots hold."""

    __slots__: tuple[str, ...] = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(self) is not type(other):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        parts = zip(self.__slots__, self._parts(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in parts)})"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._parts()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            put(self, name, value)

    def _parts(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])
