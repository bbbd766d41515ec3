"""``berth get``: the manifests of an environment as they were loaded; with ``--status`` also what the state says."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from automation.cli.options import Talk, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from automation.cli.sinks import Sinks
    from automation.render.listing import Cells
    from components.api.base import Document
    from components.api.fleet import Fleet

_EVERYTHING = "all"
_WHERE = Where()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShowList(Talk):
    """How manifests are shown."""

    output: Annotated[
        Literal["table", "json", "yaml", "name"], Parameter(name=["--output", "-o"], env_var="BERTH_OUTPUT")
    ] = "table"
    """Form of the answer on stdout; ``yaml`` and ``json`` are manifests again."""

    @property
    def form(self) -> str:
        """The form that is asked for; ``--json`` wins."""
        return "json" if self.json else self.output


_SHOW = ShowList()


def get(
    kind: str = "",
    name: str = "",
    /,
    *,
    namespace: Annotated[str, Parameter(name=["--namespace", "-n"])] = "",
    status: Annotated[bool, Parameter(negative="")] = False,
    where: Where = _WHERE,
    show: ShowList = _SHOW,
) -> int:
    """List the manifests of a kind as they were loaded; without a kind, list the kinds.

    Starts no engine and asks no cluster. Columns that only a running fleet can fill are left out, unless `--status`
    asks for them. `-o yaml` and `-o json` print manifests as they were written, without comments.

    Parameters
    ----------
    kind
        A kind by its name, plural, last word (``deployments``) or short name (``md``); ``KIND/NAME``; or ``all``.
    name
        Only the one of this name: ``NAME`` or ``NAMESPACE/NAME``.
    namespace
        Only those of this namespace.
    status
        Read the state too, and show what it says: who is ready, and where.
    """
    sinks = show.sinks_for("json" if show.form == "json" else "table")
    if not kind:
        return _kinds(sinks, show.form)
    kind, slash, rest = kind.partition("/")
    chosen, name = _kind(kind), rest if slash else name
    scope, _, name = name.rpartition("/")
    fleet, cells = _loaded(where, sinks, status=status)
    documents = _found(fleet, chosen, name, namespace or scope)
    if show.form == "table" and status and where.backed:
        from automation.render.mark import mark_lines

        sinks.data(mark_lines(backed=True))
    _print(sinks, show.form, documents, cells, single=bool(name) and len(documents) == 1)
    if show.form == "table":
        _talk(sinks, chosen, documents, namespace or scope, where, status=status)
    return 0


def _kinds(sinks: "Sinks", form: str) -> int:
    import yaml

    from automation.render.listing import kinds_json, kinds_lines
    from automation.render.text import line
    from components.api.kinds import ALL_KINDS

    if form == "json":
        sinks.document(kinds_json())
    elif form == "yaml":
        sinks.verbatim(yaml.safe_dump(kinds_json(), sort_keys=False))
    else:
        sinks.data([line(kind) for kind in ALL_KINDS] if form == "name" else kinds_lines(width=sinks.width))
    return 0


def _kind(text: str) -> str:
    """Return the kind that is named; only people's kinds can be loaded."""
    from automation.render.kind_names import kind_named, near_kind
    from components.api.kinds import KINDS
    from components.errors import UsageError

    found = _EVERYTHING if text == _EVERYTHING else kind_named(text)
    if not found:
        near = near_kind(text)
        raise UsageError(
            f"there is no kind {text!r}", help=f"berth get {near}" if near else "berth get lists the kinds"
        )
    if found not in KINDS and found != _EVERYTHING:
        seen = "berth status shows what exists"
        raise UsageError(
            f"no manifest that is loaded has kind {found}: machines make it, and what Berth makes is in the state",
            help=f"{seen}; berth get ic lists the clusters" if found.endswith("Cluster") else seen,
        )
    return found


def _loaded(where: Where, sinks: "Sinks", *, status: bool) -> "tuple[Fleet, Mapping[str, Cells] | None]":
    if not status:
        from automation.driver.reading import read_manifests_of

        workspace = where.workspace()
        return read_manifests_of(workspace)[0], None
    from automation.cli.running import session_for
    from automation.driver.listing import state_cells
    from automation.driver.reading import read_situation

    with session_for(where, sinks) as session:
        situation = read_situation(session, create=False, missing_ok=True, lenient=True)
        return situation.fleet, state_cells(situation)


def _found(fleet: "Fleet", kind: str, name: str, namespace: str) -> "list[Document]":
    from components.api.near import did_you_mean
    from components.errors import UsageError

    documents = [each for each in fleet.documents() if kind in {each.kind, _EVERYTHING}]
    spaces = sorted({each.namespace for each in documents if each.namespace})
    if namespace and spaces and namespace not in spaces:
        known = f"it has: {', '.join(spaces)}"
        what = "manifest" if kind == _EVERYTHING else kind
        raise UsageError(f"no {what} is in a namespace {namespace!r}", help=did_you_mean(namespace, spaces) or known)
    inside = [each for each in documents if not namespace or not each.NAMESPACED or each.namespace == namespace]
    if not name:
        return inside
    named = [each for each in inside if each.name == name]
    if not named:
        known = sorted({each.name for each in inside})
        what = "manifest" if kind == _EVERYTHING else kind
        listed = f"it has: {', '.join(known)}" if known else "it has none"
        raise UsageError(f"there is no {what} {name!r}", help=did_you_mean(name, known) or listed)
    return named


def _print(
    sinks: "Sinks",
    form: str,
    documents: "Sequence[Document]",
    cells: "Mapping[str, Cells] | None",
    *,
    single: bool,
) -> None:
    from automation.render.field_examples import as_yaml
    from automation.render.listing import as_list, listing_lines, names, written
    from automation.render.text import line

    document = written(documents[0]) if single else as_list(documents)
    if form == "json":
        sinks.document(document)
    elif form == "yaml":
        sinks.verbatim(as_yaml(document) + "\n")
    elif form == "name":
        sinks.data([line(text) for text in names(documents)])
    else:
        sinks.data(listing_lines(documents, state=cells, width=sinks.width))


def _talk(
    sinks: "Sinks", kind: str, documents: "Sequence[Document]", namespace: str, where: Where, *, status: bool
) -> None:
    """Say what a table cannot: that it is empty, which columns are left out, and where requests are sent to."""
    from automation.cli.advice import completed
    from automation.render.listing import left_out, no_documents, requests_go

    if not documents:
        what = "manifest" if kind == _EVERYTHING else kind
        sinks.talk([no_documents(what, namespace=namespace, environment=where.env)])
    elif said := (requests_go if status else left_out)(each.kind for each in documents):
        sinks.say(completed(said, sys.argv[1:]))
