"""A table of findings, of a machine or a cluster, as ``berth doctor`` and ``berth preflight`` print it. PURE."""

from collections.abc import Iterable, Mapping
from typing import Final

from automation.render.text import Column, Line, Span, Style, table

STYLES: Final[Mapping[str, Style]] = {"ok": "ok", "warning": "warn", "problem": "bad"}
"""By the status of a finding."""


def checks_table(rows: Iterable[tuple[str, str, str, str]], *, width: int) -> list[Line]:
    """Return the table; a row is the name of a check, its status, what was found, and what is wanted."""
    columns = [Column("CHECK"), Column("STATUS"), Column("FOUND", wraps=True), Column("WANT", drop=1)]
    cells = [(name, Span(status, STYLES[status]), found, want) for name, status, found, want in rows]
    return table(columns, cells, width=width)
