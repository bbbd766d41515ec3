"""Split an expression in tokens with their code-point offsets; comments and blanks are dropped.

A token is (kind, text, offset). The kind of an operator or bracket is its own text; the others are ``ident``, ``esc``
(a back-quoted name), ``int``, ``uint``, ``float``, ``string``, ``bytes`` and ``end``. Literals are not decoded here.
"""

from __future__ import annotations

from functools import cache

from components.cel.problem import SelectorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Final, TypeAlias

Token: TypeAlias = tuple[str, str, int]

_ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_RAW: Final = r"[rR](?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')"
_TEXT: Final = (
    rf"\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
)
_TOKEN: Final = (
    rf"(?P<blank>[\t \r\n\f]+|//[^\n]*)"
    rf"|(?P<bytes>[bB](?:{_RAW}|{_TEXT}))"
    rf"|(?P<string>{_RAW}|{_TEXT})"
    r"|(?P<ident>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<op>==|!=|<=|>=|&&|\|\||[\[\]{}().,\-!?:+*/%<>])"
    r"|(?P<esc>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<none>[\s\S])"
)
_QUOTES: Final = ("'", '"')
_WORDS: Final = frozenset({"in", "true", "false", "null"})


@cache
def _pattern() -> re.Pattern[str]:
    import re  # noqa: PLC0415 - neither reading nor compiling the pattern belongs to an import

    return re.compile(_TOKEN)


def tokens_of(expression: str) -> list[Token]:
    """Split the expression; the last token is ``end``."""
    tokens: list[Token] = []
    for found in _pattern().finditer(expression):
        kind = found.lastgroup or ""
        if kind == "blank":
            continue
        text = found.group()
        pos = found.start()
        if kind == "none":
            message = f"no token starts at {expression[pos : pos + 20]!r}"
            if text in _QUOTES:
                message = "this text does not end, or has an escape that is none"
            raise SelectorError("syntax", message, expression=expression, offset=pos)
        tokens.append((text if kind == "op" or text in _WORDS else kind, text, pos))
    tokens.append(("end", "", len(expression)))
    return tokens
