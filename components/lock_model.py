"""The base of everything in a lock, and what a lock and a pool's facts both know: a pool as it is now.

Here and not in ``lock``, which has the lock's own models and its files.
"""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from components.errors import LockError
from components.model_words import in_words, place_of


def ordered(value: Any) -> Any:
    """Sort the keys of free-form JSON, so that equal values are equal bytes wherever they were read from."""
    if isinstance(value, dict):
        return {key: ordered(value[key]) for key in sorted(value)}
    return [ordered(item) for item in value] if isinstance(value, list | tuple) else value


Labels = Annotated[dict[str, str], AfterValidator(ordered)]


class LockModel(BaseModel):
    """Base of everything in a lock: frozen, camelCase in the file, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return the value as it stands in files and in component inputs: camelCase, without absent fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read a value that :meth:`to_json` wrote; raises LockError when it is not one."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            said = f"{place_of(first, otherwise='it')} {in_words(first)}"
            raise LockError(f"a {cls.__name__} of the lock cannot be read: {said}") from error


class HeldPool(LockModel):
    """A pool as it is now, in place of what its manifest says: an edit of it waits until replicas have left."""

    pool: str
    class_name: str
    accelerator: str = ""
    nodes: int
    min_nodes: int
    max_nodes: int
    devices: tuple[Annotated[dict[str, Any], AfterValidator(ordered)], ...] = ()
