"""``berth explain``: what a kind, a field, a code or a verdict means, or why replicas are where they are."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Seen, Show, Where
from automation.render.output_version import API_VERSION

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks

_SHOW = Show()
_WHERE = Where()


def explain(
    subject: str,
    /,
    *,
    recursive: Annotated[bool, Parameter(negative="")] = False,
    observation: Seen = None,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Say what a kind, a field, a code or a verdict means, or why a deployment's replicas are where they are.

    `NAMESPACE/NAME` is a deployment. `KIND` or `KIND.field.path` is a kind or a field, by name, plural, last word
    (`deployments`) or short name: `md.spec.replicas`. The code of an error is what stands in brackets: `field-unknown`.
    A verdict on a cluster (`no-room`) and the reason of a replica (`nowhere-to-go`) are what plans print. Any other
    name is a deployment that only one namespace has. Asks the engine for no preview: the platform is taken as it was
    applied.

    Parameters
    ----------
    subject
        ``NAMESPACE/NAME``, ``KIND``, ``KIND.field.path``, a code, a verdict, or a reason.
    recursive
        Of a kind or a field, also the fields inside its fields.
    observation
        File that `berth observe -o json` wrote, as `berth plan` takes it.
    """
    sinks = show.sinks()
    if "/" in subject:
        return _deployment(subject, where, sinks, observation)
    from automation.cli.code_pages import code_pages
    from automation.render.kind_names import kind_named
    from automation.render.word_help import meanings_of

    head, _, path = subject.partition(".")
    kind = kind_named(head)
    pages = code_pages()
    if kind:
        return _field(kind, path, sinks, recursive=recursive)
    if subject in pages:
        return _code(subject, pages[subject], sinks)
    if meanings_of(subject):
        return _word(subject, sinks)
    if "." in subject or subject != subject.lower() or not _environment_is_there(where):
        raise _unknown(subject, head)
    return _deployment(subject, where, sinks, observation)


def _field(kind: str, path: str, sinks: "Sinks", *, recursive: bool) -> int:
    from automation.cli.examples_of import examples_of
    from automation.render.field_help import NoSuchFieldError, find_field, help_lines, help_view
    from components.errors import UsageError

    try:
        row = find_field(kind, path)
    except NoSuchFieldError as error:
        known = f"it has: {', '.join(error.known)}" if error.known else "it has no fields of its own"
        raise UsageError(str(error), help=error.hint or known) from error
    view = help_view(kind, row, manifests=examples_of(kind), recursive=recursive)
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(help_lines(view, width=sinks.width))
    return 0


def _code(code: str, text: str, sinks: "Sinks") -> int:
    from automation.render.text import Span, line

    if sinks.machine:
        sinks.document({"apiVersion": API_VERSION, "kind": "CodeHelp", "code": code, "text": text})
    else:
        sinks.data([line(Span(code, "strong")), line(""), *(line(each) for each in text.splitlines())])
    return 0


def _word(word: str, sinks: "Sinks") -> int:
    from automation.render.word_help import word_lines, word_text

    if sinks.machine:
        sinks.document({"apiVersion": API_VERSION, "kind": "CodeHelp", "code": word, "text": word_text(word)})
    else:
        sinks.data(word_lines(word, width=sinks.width))
    return 0


def _near_word(subject: str) -> str:
    """Return the code, the verdict or the reason that was probably meant, as it is typed in a shell."""
    import shlex

    from automation.cli.code_pages import code_pages
    from automation.render.word_help import scheduling_words
    from components.api.near import near

    found = near(subject, [*code_pages(), *scheduling_words()])
    return shlex.quote(found) if found else ""


def _environment_is_there(where: Where) -> bool:
    from components.errors import UsageError

    try:
        where.workspace()
    except UsageError:
        return False
    return True


def _unknown(subject: str, head: str) -> Exception:
    from automation.render.kind_names import near_kind
    from components.errors import UsageError

    kind, code = near_kind(head), _near_word(subject)
    path = subject.removeprefix(head)
    meant = [f"berth explain {each}" for each in (f"{kind}{path}" if kind else "", code) if each]
    return UsageError(
        f"{subject!r} is no kind, no field, no code and no verdict",
        help=" or ".join(meant) or "berth get lists the kinds",
    )


def _deployment(subject: str, where: Where, sinks: "Sinks", observation: Seen) -> int:
    from automation.cli.running import session_for
    from automation.driver.planner import make_plan
    from automation.driver.reading import read_manifests_of, read_situation
    from automation.driver.view import explanation_view
    from automation.render.status import explanation_lines

    # Whether there is such a deployment is in the manifests: a slip of the pen needs no login to be told.
    fleet, _ = read_manifests_of(where.workspace())
    chosen = _chosen(subject, [f"{namespace}/{name}" for namespace, name in fleet.deployments])
    with session_for(where, sinks, manifests=False, observation=observation) as session:
        situation = read_situation(session, create=False, missing_ok=True)
        namespace, _, name = chosen.partition("/")
        view = explanation_view(make_plan(session, situation, previews=False), namespace, name)
    assert view is not None
    view = view.model_copy(update={"simulated": where.simulated, "backed": where.backed})
    if sinks.machine:
        sinks.document(view.to_json())
    else:
        sinks.data(explanation_lines(view, width=sinks.width))
    return 0


def _chosen(subject: str, known: list[str]) -> str:
    """Find the deployment that a person means."""
    import difflib

    from automation.render.kind_names import near_kind
    from components.errors import UsageError

    wanted = [each for each in known if subject in {each, each.partition("/")[2]}]
    if len(wanted) == 1:
        return wanted[0]
    if wanted:
        raise UsageError(f"several namespaces have deployment {subject!r}", help=f"one of: {', '.join(wanted)}")
    others = [] if "/" in subject else [near_kind(subject), _near_word(subject)]
    close = [*difflib.get_close_matches(subject, known, n=3, cutoff=0.4), *(each for each in others if each)]
    what = "deployment" if "/" in subject else "deployment, kind, code or verdict"
    raise UsageError(f"there is no {what} {subject!r}", help=f"one of: {', '.join(close or known) or 'none'}")
