"""What a kind or a field of it is, for whoever asks by its path: as a document, and as a person reads it. PURE."""

import re
from collections.abc import Iterator, Sequence

from automation.render.field_examples import example_of
from automation.render.fields import FieldRow, root
from automation.render.manifest_views import FieldHelpView, FieldView
from automation.render.text import Column, Line, Span, heading, line, table
from components.api.base import BERTH_VERSION
from components.api.kinds import ALL_KINDS
from components.api.near import did_you_mean

_INDEX = re.compile(r"\[[^\]]*\]")


class NoSuchFieldError(Exception):
    """There is no field at a path: ``where`` is how far it leads, ``name`` the part that is not there."""

    def __init__(self, where: str, name: str, known: Sequence[str]) -> None:
        super().__init__(f"{where} has no field {name!r}")
        self.hint = did_you_mean(name, known)
        self.known = tuple(known)


def find_field(kind: str, path: str) -> FieldRow:
    """Return the field at a path as people write it: with or without ``[]``, positions and keys of maps.

    An empty path is the kind itself. Raises NoSuchFieldError.
    """
    row = root(kind)
    where = kind
    map_key = False
    for part in _INDEX.sub("", path).split(".") if path else []:
        children = {child.name: child for child in row.children}
        if part in children:
            row = children[part]
            where = f"{kind}.{row.path}"
            map_key = row.inside.endswith(".*")
        elif map_key:
            map_key = False  # the key of a map; what follows is inside its value
        else:
            raise NoSuchFieldError(where, part, list(children))
    return row


def help_view(kind: str, row: FieldRow, *, manifests: Sequence[str], recursive: bool) -> FieldHelpView:
    """Return everything about a field; ``manifests`` are the kind's examples."""
    model = ALL_KINDS[kind]
    inner = tuple(_all(row)) if recursive else row.children
    return FieldHelpView(
        document=kind,
        short_name=model.SHORT_NAME,
        namespaced=model.NAMESPACED,
        machine_made=model.MACHINE_MADE,
        field=_view(kind, row, manifests),
        fields=tuple(_view(kind, each, manifests) for each in inner),
    )


def _all(row: FieldRow) -> Iterator[FieldRow]:
    for child in row.children:
        yield child
        yield from _all(child)


def _view(kind: str, row: FieldRow, manifests: Sequence[str]) -> FieldView:
    example = example_of(kind, row.path, manifests) if row.path else "".join(manifests[:1]).rstrip()
    return FieldView(
        path=row.path,
        type=row.type,
        required=row.required,
        default="" if row.required else row.default,
        bounds=row.bounds,
        portable_bounds=row.portable,
        choices=row.choices,
        own_choices=row.ours,
        later_choices=row.later,
        api_versions=row.versions,
        meaning=row.meaning,
        example=example,
    )


def help_lines(view: FieldHelpView, *, width: int) -> list[Line]:
    """Return the same for a person: what it is, its bounds, an example, and the fields inside."""
    field = view.field
    name = ".".join(part for part in (view.document, field.path) if part)
    lines = [line(Span(name, "strong"), f"  {field.type}"), Line()]
    if field.meaning:
        lines += [*(line(f"  {text}") for text in field.meaning.splitlines()), Line()]
    lines += [line(Span(f"  {title:<11} ", "dim"), text) for title, text in _facts(view) if text]
    if field.example:
        lines += [Line(), heading("Example"), *(line(f"  {text}") for text in field.example.splitlines())]
    if view.fields:
        lines += [Line(), heading("Fields"), *_fields(view, width)]
    return lines


def _facts(view: FieldHelpView) -> Iterator[tuple[str, str]]:
    field = view.field
    if not field.path:
        yield "short name", view.short_name
        yield "lives in", "a namespace" if view.namespaced else "the whole environment"
        yield "made by", "the predecessor's machinery; read and left alone" if view.machine_made else ""
    else:
        yield "required", "yes" if field.required else "no"
        yield "default", field.default
        chosen = ", ".join(field.choices)
        yield "one of", chosen if field.choices else ""
        yield "own", f"{', '.join(field.own_choices)} need {BERTH_VERSION}" if field.own_choices else ""
        yield "not yet", ", ".join(field.later_choices)
        yield "bounds", "" if field.bounds == chosen else field.bounds
        yield "portable", f"{field.portable_bounds} under the predecessor's apiVersion" if field.portable_bounds else ""
    yield "apiVersion", ", ".join(field.api_versions) or "none yet: writing it is refused (not-supported-yet)"


def _fields(view: FieldHelpView, width: int) -> list[Line]:
    columns = [Column("FIELD"), Column("TYPE"), Column("DEFAULT", drop=1), Column("MEANING", wraps=True)]
    above = view.field.path.count(".") + 1 if view.field.path else 0
    rows = []
    for field in view.fields:
        name = ("  " * (_depth(field.path) - above)) + field.path.rpartition(".")[2]
        default = "required" if field.required else field.default
        known = (
            field.type if field.api_versions or not view.field.api_versions else Span(f"{field.type} (not yet)", "dim")
        )
        needs = ", ".join(field.api_versions) if field.api_versions != view.field.api_versions else ""
        meaning = f"{field.meaning} Needs {needs}." if needs else field.meaning
        rows.append((name, known, default, meaning))
    return table(columns, rows, width=width, indent=2, blank="")


def _depth(path: str) -> int:
    return path.replace(".*", "").count(".")
