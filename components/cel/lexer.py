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
    from typing import Final, NoReturn, TypeAlias

Token: TypeAlias = tuple[str, str, int]

_ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_RAW: Final = r"[rR](?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')"
_TEXT: Final = (
    rf"\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
)
_BLANK: Final = "\t \r\n\f"
_NUMBER: Final = (
    r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
    r"|(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?"
)
_TOKEN: Final = (
    rf"[{_BLANK}]+|//[^\n]*|[bB]?(?:{_RAW}|{_TEXT})|[A-Za-z_][A-Za-z0-9_]*|{_NUMBER}"
    r"|==|!=|<=|>=|&&|\|\||[\[\]{}().,\-!?:+*/%<>]|`[A-Za-z0-9_.\-/ ]+`|[\s\S]"
)
_FIXED: Final = frozenset({
    "==", "!=", "<=", ">=", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%",
    "<", ">", "in", "true", "false", "null",
})  # fmt: skip
_QUOTES: Final = ("'", '"')
_DIGITS: Final = ".0123456789"


@cache
def _pattern() -> re.Pattern[str]:
    import re  # noqa: PLC0415 - neither reading nor compiling the pattern belongs to an import

    return re.compile(_TOKEN)


def tokens_of(expression: str) -> list[Token]:
    """Split the expression; the last token is ``end``."""
    tokens: list[Token] = []
    pos = 0
    for text in _pattern().findall(expression):  # no character is left out, so that lengths give the places
        if text in _FIXED:
            tokens.append((text, text, pos))
        elif text[0] not in _BLANK and text[:2] != "//":
            tokens.append((_kind(text) or _refuse(expression, text, pos), text, pos))
        pos += len(text)
    tokens.append(("end", "", pos))
    return tokens


def _kind(text: str) -> str:
    """Name the kind of a token that is no fixed one; nothing for a character that starts none."""
    first = text[0]
    if text[-1] in _QUOTES and len(text) > 1:
        return "bytes" if first in "bB" else "string"
    if first.isidentifier() and first.isascii():
        return "ident"
    if first in _DIGITS:
        if text[-1] in "uU":
            return "uint"
        return "int" if text.isdigit() or text.startswith("0x") else "float"
    return "esc" if first == "`" and len(text) > 1 else ""


def _refuse(expression: str, text: str, pos: int) -> NoReturn:
    message = f"no token starts at {expression[pos : pos + 20]!r}"
    if text in _QUOTES:
        message = "this text does not end, or has an escape that is none"
    raise SelectorError("syntax", message, expression=expression, offset=pos)
