"""Manifests that were loaded, as a table with the columns that kubectl users know, as names, and as documents. PURE.

A column that only a running fleet can fill stands in ``STATE_COLUMNS``; it is shown when the state was read, and never
guessed from a manifest.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from automation.render.output_version import API_VERSION
from automation.render.text import Column, Line, Span, heading, line, table
from components.api.base import Document
from components.api.kinds import ALL_KINDS, KINDS, api_versions

_INNER: Final = "INNER GATEWAY"
"""Where front doors lead requests for a cluster's replicas. It knows no services, so it is no address for clients."""

_REQUESTS: Final = "SEND REQUESTS TO"

STATE_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "InferenceCluster": ("READY", _INNER),
    "InferenceGateway": ("PUBLIC ADDRESS",),
    "ModelCache": ("READY",),
    "ModelDeployment": ("READY",),
    "ModelService": (_REQUESTS,),
}
"""By kind, the columns whose values are in the state."""

Cells = Mapping[tuple[str, str], tuple[str, ...]]
"""What the state says of a kind's documents, by namespace and name: a text for each of its columns."""


def written(document: Document) -> dict[str, Any]:
    """Return a document as it was written, without the defaults that it left out."""
    return document.model_dump(mode="json", by_alias=True, exclude_unset=True)


def as_list(documents: Iterable[Document]) -> dict[str, Any]:
    """Return documents as one, which is read like any other manifest."""
    return {"apiVersion": "v1", "kind": "List", "items": [written(document) for document in documents]}


def names(documents: Iterable[Document]) -> list[str]:
    """Return ``kind/namespace/name`` of documents; without a namespace where the kind has none."""
    return ["/".join(part for part in (each.kind.lower(), each.namespace, each.name) if part) for each in documents]


def listing_lines(documents: Sequence[Document], *, state: Mapping[str, Cells] | None, width: int) -> list[Line]:
    """Return a table for every kind that there is; ``state`` has the cells of each, or is None when it was not read."""
    kinds = list(dict.fromkeys(document.kind for document in documents))
    lines: list[Line] = []
    for kind in kinds:
        if len(kinds) > 1:
            lines += [*([Line()] if lines else []), heading(kind)]
        cells = state.get(kind, {}) if state is not None else None
        lines += _table(kind, [each for each in documents if each.kind == kind], cells, width)
    return lines


def left_out(kinds: Iterable[str]) -> str:
    """Say which columns need the state; empty when none does."""
    found = sorted({column for kind in kinds for column in STATE_COLUMNS.get(kind, ())})
    return f"{', '.join(found)}: with --status, from the state" if found else ""


def requests_go(kinds: Iterable[str]) -> str:
    """Say to which address clients send requests, where a table shows others; empty when there is nothing to say."""
    found = {column for kind in kinds for column in STATE_COLUMNS.get(kind, ())}
    if _INNER not in found and "PUBLIC ADDRESS" not in found:
        return ""
    said = f"{_INNER}: only front doors lead there. " if _INNER in found else ""
    where = f"see {_REQUESTS}" if _REQUESTS in found else f"berth get services --status shows where ({_REQUESTS})"
    return f"{said}Clients send requests to a service: {where}"


def kinds_lines(*, width: int) -> list[Line]:
    """Return every kind with its short name, as a table."""
    columns = [
        Column("KIND"),
        Column("SHORT"),
        Column("NAMESPACED"),
        Column("WRITTEN BY"),
        Column("APIVERSIONS", drop=1),
    ]
    rows = [
        (
            kind,
            model.SHORT_NAME,
            "true" if model.NAMESPACED else "false",
            "people" if kind in KINDS else Span("machines", "dim"),
            ", ".join(api_versions(kind)),
        )
        for kind, model in ALL_KINDS.items()
    ]
    return table(columns, rows, width=width)


def kinds_json() -> dict[str, Any]:
    """Return the same for programs."""
    kinds = [
        {
            "name": kind,
            "shortName": model.SHORT_NAME,
            "namespaced": model.NAMESPACED,
            "writtenBy": "people" if kind in KINDS else "machines",
            "apiVersions": list(api_versions(kind)),
        }
        for kind, model in ALL_KINDS.items()
    ]
    return {"apiVersion": API_VERSION, "kind": "KindList", "kinds": kinds}


def _table(kind: str, documents: Sequence[Document], cells: Cells | None, width: int) -> list[Line]:
    model = ALL_KINDS[kind]
    added = STATE_COLUMNS.get(kind, ()) if cells is not None else ()
    heads = [*(["NAMESPACE"] if model.NAMESPACED else []), "NAME", *(head for head, _ in model.COLUMNS), *added]
    rows = []
    for document in documents:
        data = document.model_dump(mode="json", by_alias=True)
        own = [_at(data, path) for _, path in model.COLUMNS]
        live = (cells or {}).get((document.namespace, document.name), ("",) * len(added))
        rows.append([*([document.namespace] if model.NAMESPACED else []), document.name, *own, *live])
    return table([Column(head) for head in heads], rows, width=width)


def _at(data: Any, path: str) -> str:
    for part in path.split("."):
        data = data.get(part) if isinstance(data, dict) else None
    return "" if data is None else str(data)


def no_documents(kind: str, *, namespace: str, environment: str) -> Line:
    """Say that there is nothing of a kind."""
    where = f"namespace {namespace} of {environment}" if namespace else environment
    return line(f"No {kind} in {where}.")
