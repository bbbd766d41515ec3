"""What a model looks like from outside: its wire names, which fields are Berth's own, which hold further models.

Read once per model from pydantic's field table and kept. The loader walks documents with it, near matches and
``explain`` read it.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from components.api.base import Model, Own, OwnValues, Portable
from components.api.nodes import PathPart

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class FieldShape:
    """One field: ``model`` is what it holds (itself, or in its items or values), if that is a model.

    ``free`` says that it holds whatever people write, which nobody may tidy.
    """

    name: str
    attribute: str
    container: Literal["", "list", "map"]
    model: type[Model] | None
    own: Own | None
    portable: Portable | None
    values: OwnValues | None
    free: bool
    info: FieldInfo


@cache
def shape(model: type[Model]) -> Mapping[str, FieldShape]:
    """Return the fields of a model by their wire name."""
    return {field.name: field for field in _fields(model)}


def names(model: type[Model]) -> list[str]:
    """Return the wire names of the fields a person may write."""
    return [name for name, field in shape(model).items() if field.own is None or field.own.supported]


def model_at(root: type[Model], path: tuple[PathPart, ...]) -> type[Model] | None:
    """Return the model that holds the fields at ``path``, if the path leads to one."""
    model: type[Model] | None = root
    container = ""
    for part in path:
        if container:
            container = ""
            continue
        if model is None or not isinstance(part, str) or part not in shape(model):
            return None
        field = shape(model)[part]
        model, container = field.model, field.container
    return None if container else model


def homes(root: type[Model], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths, without list positions, at which a field of that name belongs."""
    yield from _homes(root, name, ())


def _homes(model: type[Model], name: str, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for field in shape(model).values():
        if field.own is not None and not field.own.supported:
            continue
        if field.name == name:
            yield (*path, name)
        if field.model is not None:
            yield from _homes(field.model, name, (*path, field.name))


def checks(info: FieldInfo) -> Iterator[Callable[[Any], Any]]:
    """Yield the checks of a text field, in their order; each raises where the text is wrong."""
    for mark in (*info.metadata, *_marks(info.annotation)):
        if isinstance(mark, AfterValidator):
            yield cast("Callable[[Any], Any]", mark.func)


def _marks(annotation: Any) -> Iterator[Any]:
    """Yield the marks inside an annotation."""
    for each in get_args(annotation):
        if get_origin(annotation) is Annotated and each is not get_args(annotation)[0]:
            yield each
        else:
            yield from _marks(each)


def _fields(model: type[Model]) -> Iterator[FieldShape]:
    for attribute, info in model.model_fields.items():
        container, inner = _inner(info.annotation)
        yield FieldShape(
            name=info.alias or attribute,
            attribute=attribute,
            container=container,
            model=inner,
            own=_mark(info, Own),
            portable=_mark(info, Portable),
            values=_mark(info, OwnValues),
            free=info.annotation is Any or Any in _leaves(info.annotation),
            info=info,
        )


def _mark(info: FieldInfo, mark: type[M]) -> M | None:
    return next((each for each in info.metadata if isinstance(each, mark)), None)


def _leaves(annotation: Any) -> Iterator[Any]:
    """Yield the types that an annotation is made of, those inside it too."""
    yield annotation
    for each in get_args(annotation):
        yield from _leaves(each)


def _inner(annotation: Any) -> tuple[Literal["", "list", "map"], type[Model] | None]:
    """Find the model inside an annotation, and whether it stands in a list or a map."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _inner(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return next((_inner(arg) for arg in get_args(annotation) if arg is not type(None)), ("", None))
    if origin is tuple:
        return "list", _inner(get_args(annotation)[0])[1]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "map", _inner(get_args(annotation)[1])[1]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):  # parts of a lock are in snapshots too
        return "", cast("type[Model]", annotation)
    return "", None
