"""Decode the literals of the language: integers at their edges, doubles, strings and bytes with all escapes."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import math

from components.cel.values import UInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_HEX_LENGTH: Final = {"x": 2, "X": 2, "u": 4, "U": 8}
_MAX_RUNE: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)
_LONGEST: Final = 32  # no 64-bit number needs more digits once leading zeros are gone


class LiteralError(ValueError):
    """The text of a literal is out of range or has a bad escape; ``kind`` is the class of the error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def integer(text: str) -> int:
    """Decode an int64 with its sign."""
    value = -_number(text[1:]) if text[0] == "-" else _number(text)
    if not -(2**63) <= value < 2**63:
        raise LiteralError("bad-literal", "invalid int literal")
    return value


def unsigned(text: str) -> UInt:
    """Decode a uint64 with its suffix."""
    value = _number(text[:-1])
    if value >= 2**64:
        raise LiteralError("bad-literal", "invalid uint literal")
    return UInt(value)


def double(text: str) -> float:
    """Decode a double with its sign; one that is too large is refused."""
    value = float(text)
    if math.isinf(value):
        raise LiteralError("bad-literal", "invalid double literal")
    return value


def _number(text: str) -> int:
    base, digits = (16, text[2:]) if text.startswith("0x") else (10, text)
    digits = digits.lstrip("0") or "0"
    return 2**64 if len(digits) > _LONGEST else int(digits, base)


def string(text: str) -> str:
    """Decode a string token."""
    body, raw = _body(text)
    if raw or "\\" not in body:
        return body
    parts: list[str] = []
    pos = 0
    while True:
        slash = body.find("\\", pos)
        if slash < 0:
            parts.append(body[pos:])
            return "".join(parts)
        parts.append(body[pos:slash])
        code, pos = _escape(body, slash)
        if isinstance(code, int):
            if code > _MAX_RUNE or code in _SURROGATES:
                raise LiteralError("syntax", "invalid unicode code point")
            code = chr(code)
        parts.append(code)


def octets(text: str) -> bytes:
    """Decode a bytes token; hexadecimal and octal escapes are bytes, everything else is UTF-8."""
    body, raw = _body(text[1:])
    if raw or "\\" not in body:
        return body.encode("utf-8", "surrogatepass")
    out = bytearray()
    pos = 0
    while True:
        slash = body.find("\\", pos)
        if slash < 0:
            out += body[pos:].encode("utf-8", "surrogatepass")
            return bytes(out)
        out += body[pos:slash].encode("utf-8", "surrogatepass")
        if body[slash + 1] in "uU":
            raise LiteralError("syntax", "unable to unescape string")
        code, pos = _escape(body, slash)
        out += bytes((code & 0xFF,)) if isinstance(code, int) else code.encode()


def _body(text: str) -> tuple[str, bool]:
    """Strip quotes and the raw prefix; line ends are normalised."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    triple = text.startswith(('"""', "'''")) and len(text) >= 6
    return (text[3:-3] if triple else text[1:-1]), raw


def _escape(body: str, slash: int) -> tuple[int | str, int]:
    """Decode one escape; a number is a code point or a byte."""
    char = body[slash + 1]
    if char in _SIMPLE:
        return _SIMPLE[char], slash + 2
    if char in _HEX_LENGTH:
        end = slash + 2 + _HEX_LENGTH[char]
        return int(body[slash + 2 : end], 16), end
    return int(body[slash + 1 : slash + 4], 8), slash + 4


DECODERS: Final[dict[str, Callable[[str], object]]] = {
    "int": integer,
    "uint": unsigned,
    "float": double,
    "string": string,
    "bytes": octets,
    "true": lambda _: True,
    "false": lambda _: False,
    "null": lambda _: None,
}
"""How each kind of token is decoded; a minus sign that belongs to a number stands before it."""
