"""``berth convert``: manifests from one apiVersion to the other, every other byte as it was."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from automation.cli.options import Show, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from automation.cli.sinks import Sinks
    from automation.render.manifest_views import ConversionView
    from components.api.conversion import Conversion

Version = Literal["berth.dev/v1alpha1", "modelplane.ai/v1alpha1", "berth", "modelplane"]

_SHOW = Show()
_WHERE = Where()
_STDIN = Path("-")


def convert(
    *paths: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    to: Version,
    write: Annotated[bool, Parameter(negative="")] = False,
    check: Annotated[bool, Parameter(negative="")] = False,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Rewrite the apiVersion of manifests, and leave comments, order and every other byte as they are.

    To `modelplane.ai/v1alpha1` only what uses none of Berth's own fields can go; each of them is shown at its place,
    and nothing is written. An Environment has only Berth's version and stays. One file is printed to stdout; for more,
    say `--write` or `--check`.

    Parameters
    ----------
    paths
        Files and folders, or ``-`` for stdin; by default all manifests of the environment.
    to
        The apiVersion to have, or its first part.
    write
        Rewrite the files in place.
    check
        Write nothing; exit 7 when a file would change.
    """
    from components.api.base import BERTH_VERSION, MODELPLANE
    from components.errors import UnexpectedChanges, UsageError

    for path in paths:
        if str(path).startswith("-") and path != _STDIN:
            raise UsageError(f"unknown option {path}", help="berth convert --help")
    if write and check:
        raise UsageError("--write and --check cannot go together", help="give one of them")
    sinks = show.sinks()
    version = BERTH_VERSION if to.startswith("berth") else MODELPLANE
    done, names = _converted(paths, version, where)
    view = _view(done, names, version, write=write)
    if write:
        from stacks.manifest_files import rewrite

        rewrite({path: one.content for path, one in done.items() if one.documents and path != _STDIN})
    if sinks.machine:
        sinks.document(view.to_json())
    elif write or check:
        _say(sinks, view)
    elif len(done) == 1:
        sinks.verbatim(next(iter(done.values())).content.decode())
    else:
        raise UsageError(
            f"{len(done)} files cannot be printed as one",
            consequence="Nothing was written.",
            help="--write rewrites them, --check says which would change",
        )
    for place in view.kept:
        sinks.say(f"{place}: this kind does not have {version}; left as it is")
    if check and view.changed:
        raise UnexpectedChanges(
            f"not under {version}: {', '.join(view.changed)}",
            consequence="Nothing was written.",
            help=f"berth convert {' '.join(str(path) for path in paths)} --to {to} --write".replace("  ", " "),
        )
    return 0


def _converted(
    paths: "Sequence[Path]", version: str, where: Where
) -> "tuple[Mapping[Path, Conversion], Mapping[Path, str]]":
    """Convert every file in memory; raises ConfigError with all that stands against it."""
    from components.api.conversion import convert as converted
    from components.errors import ConfigError, Problem
    from stacks.given_paths import given
    from stacks.shown_path import shown_path

    done: dict[Path, Conversion] = {}
    names: dict[Path, str] = {}
    if _STDIN in paths:
        done[_STDIN] = converted("<stdin>.yaml", sys.stdin.buffer.read(), to=version, shown=lambda _: "<stdin>")
        names[_STDIN] = "<stdin>"
    files = [path for path in paths if path != _STDIN]
    whole = not paths
    if whole:
        files = [where.workspace().folder]
    for each in given(files, whole=whole):
        for name, content in each.contents():
            path = each.files[name]
            done[path] = converted(name, content, to=version, shown=each.shown)
            names[path] = shown_path(path)
    problems: list[Problem] = [problem for one in done.values() for problem in one.problems]
    if problems:
        raise ConfigError(problems, consequence="Nothing was written.")
    return done, names


def _view(
    done: "Mapping[Path, Conversion]", names: "Mapping[Path, str]", version: str, *, write: bool
) -> "ConversionView":
    from automation.render.manifest_views import ConversionView

    return ConversionView(
        to=version,
        changed=tuple(sorted(names[path] for path, one in done.items() if one.documents)),
        unchanged=tuple(sorted(names[path] for path, one in done.items() if not one.documents)),
        documents=sum(one.documents for one in done.values()),
        kept=tuple(place for one in done.values() for place in one.kept),
        written=write,
    )


def _say(sinks: "Sinks", view: "ConversionView") -> None:
    from automation.render.text import count, line

    sinks.data([line(name) for name in view.changed])
    changed = f"{count(view.documents, 'document')} in {count(len(view.changed), 'file')}"
    verb = "rewritten" if view.written else "to rewrite"
    sinks.say(f"{changed} {verb}, {count(len(view.unchanged), 'file')} unchanged")
