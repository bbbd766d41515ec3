"""The reference page of the command line, made from the very app that parses it."""

from collections.abc import Iterable, Iterator
from inspect import Parameter, cleandoc
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cyclopts import App, Argument

from automation.cli.main import VERBS, build_app
from automation.cli.options import Show, Where
from automation.docs.markdown import GENERATED, code, page, prose, table

PATH = "reference/cli.md"

_HEAD = ("Option", "Value", "Default", "Variable", "Meaning")
_SHARED = {Where: "Which environment", Show: "How the answer is shown"}

_INTRODUCTION = """\
Data goes to stdout, talk to stderr, so piping is always safe. `-o json` (or `--json`) prints one document and never
asks anything. A flag wins over its environment variable, which wins over the default; a variable for a switch is
`1` or `true`. [Exit codes](exit-codes.md) are the same for every command.

`berth plan` is also `berth preview`, and `berth up` is also `berth apply`."""


def commands_page() -> str:
    """Return the page: the options that most commands share, then every command with its own."""
    app = build_app()
    lines = ["# Commands", "", GENERATED, "", *_INTRODUCTION.splitlines(), ""]
    lines += table(("Command", "What it does"), [(f"[berth {v}](#berth-{v})", text) for v, text in VERBS.items()])
    lines.append("")
    for shared, title in _SHARED.items():
        arguments = [each for each in _arguments(app["plan"]) if _owner(each) is shared]
        lines += [f"## {title}", "", *table(_HEAD, (_row(each) for each in arguments)), ""]
    for verb in VERBS:
        lines += _command(app[verb], f"berth {verb}", VERBS[verb])
    return page(lines)


def _command(app: App, name: str, summary: str, *, level: str = "##") -> Iterator[str]:
    inner = [sub for sub in app if not sub.startswith("-")] if app.default_command is None else []
    yield from (f"{level} {name}", "")
    if inner:
        yield from (summary, "")
        for sub in inner:
            yield from _command(app[sub], f"{name} {sub}", "", level=f"{level}#")
        return
    arguments = list(_arguments(app))
    own = [each for each in arguments if _owner(each) is None]
    yield from ("```text", _usage(name, own), "```", "", *_text(app, summary), "")
    if own:
        yield from (*table(_HEAD, (_row(each) for each in own)), "")
    shared = [title for owner, title in _SHARED.items() if any(_owner(each) is owner for each in arguments)]
    if shared:
        links = " and ".join(f"[{title.lower()}](#{title.lower().replace(' ', '-')})" for title in shared)
        yield from (f"Also: {links}.", "")


def _arguments(app: App) -> Iterator[Argument]:
    """Yield the arguments a person can give; a group of options stands for its members."""
    for each in app.assemble_argument_collection(parse_docstring=True):
        if "*" not in each.names and each.parameter.show is not False:
            yield each


def _owner(argument: Argument) -> type | None:
    """Return the shared group that an option belongs to; one that takes other values than there is a verb's own."""
    keys = ".".join(argument.keys)
    owner = next((owner for owner in _SHARED if keys and keys in owner.__dataclass_fields__), None)
    return owner if owner and get_type_hints(owner)[keys] == argument.hint else None


def _positional(argument: Argument) -> bool:
    return argument.index is not None


def _usage(name: str, own: Iterable[Argument]) -> str:
    words = []
    for each in own:
        if _positional(each):
            word = each.names[0].lstrip("-").upper() + ("..." if get_origin(each.hint) is tuple else "")
            words.append(word if each.field_info.required else f"[{word}]")
    return " ".join([name, *words, "[OPTIONS]"])


def _text(app: App, summary: str) -> Iterator[str]:
    """Yield the command's own help, without the part that describes its options."""
    docstring = cleandoc((app.default_command.__doc__ or "") if app.default_command else "")
    text = docstring.partition("\nParameters\n---")[0].strip()
    yield from prose(text or summary).splitlines()


def _row(argument: Argument) -> tuple[str, ...]:
    positional = _positional(argument)
    names = [argument.names[0].lstrip("-").upper()] if positional else argument.names
    default = "required" if argument.field_info.required else _default(argument.field_info.default)
    return (
        ", ".join(code(name) for name in names),
        _value(argument.hint),
        default,
        ", ".join(code(name) for name in argument.parameter.env_var or ()),
        prose(" ".join((argument.parameter.help or "").split())),
    )


def _value(hint: Any) -> str:
    if hint is bool:
        return "switch"
    if get_origin(hint) in {Union, UnionType}:
        hint, *_ = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) is Literal:
        return ", ".join(code(str(choice)) for choice in get_args(hint))
    if get_origin(hint) is tuple:
        return f"{_value(get_args(hint)[0])}; may be repeated"
    return "path" if "Path" in str(hint) else "text"


def _default(value: Any) -> str:
    return "" if value in (None, False, "", (), Parameter.empty) else code(str(value))
