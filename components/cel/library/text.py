"""Functions of strings: positions and lengths count code points, ``trim`` knows Unicode blanks, ``quote`` escapes."""

from __future__ import annotations

import operator

from components.cel.problem import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    from components.cel.values import Value

MAX_TEXT: Final = 4_000_000
_BLANKS: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_UPPER: Final = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip
_ESCAPED: Final = str.maketrans(ESCAPES)


def _index_error(index: int) -> EvaluationError:
    return EvaluationError("index", f"index out of range: {index}")


def bound_text(size: int) -> None:
    """Refuse a text that grew beyond what is computed here; the cost limit of upstream ends such growth as well."""
    if size > MAX_TEXT:
        raise EvaluationError("unsupported", f"a string of more than {MAX_TEXT} characters is not built")


def char_at(text: str, index: int) -> str:
    """Give one character, or nothing just past the end."""
    if not 0 <= index <= len(text):
        raise _index_error(index)
    return text[index : index + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    """Find the first occurrence from an offset."""
    if not part:
        return offset
    if offset < 0:
        raise _index_error(offset)
    return text.find(part, offset)


def last_index_of(text: str, part: str, offset: int | None = None) -> int:
    """Find the last occurrence that starts at or before an offset."""
    if not part:
        return len(text) if offset is None else offset
    if offset is None:
        return text.rfind(part)
    if offset < 0:
        raise _index_error(offset)
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """Replace the first ``count`` occurrences, all when negative."""
    occurrences = text.count(old)
    if count >= 0:
        occurrences = min(count, occurrences)
    bound_text(len(text) + occurrences * len(new))
    return text.replace(old, new, count if count >= 0 else -1)


def split(text: str, separator: str, count: int = -1) -> list[Value]:
    """Split in at most ``count`` parts, in all when negative; an empty separator gives characters."""
    if count == 0:
        return []
    if not separator:
        characters = list(text)
        if 0 < count < len(characters):
            return [*characters[: count - 1], "".join(characters[count - 1 :])]
        return [*characters]
    return [*(text.split(separator) if count < 0 else text.split(separator, count - 1))]


def substring(text: str, start: int, end: int | None = None) -> str:
    """Cut a part out; both ends must be inside the text."""
    if end is None:
        if not 0 <= start <= len(text):
            raise _index_error(start)
        return text[start:]
    if start > end:
        raise EvaluationError("index", f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _index_error(index)
    return text[start:end]


def join(parts: list[Value], separator: str = "") -> str:
    """Join strings."""
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) != len(parts):
        raise EvaluationError("invalid-argument", "join: invalid input: an element is not a string")
    bound_text(sum(map(len, texts)) + len(separator) * max(0, len(texts) - 1))
    return separator.join(texts)


def quote(text: str) -> str:
    """Quote a text as a literal."""
    return '"' + text.translate(_ESCAPED) + '"'


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "string_char_at_int": char_at,
    "string_index_of_string": index_of,
    "string_index_of_string_int": index_of,
    "string_last_index_of_string": last_index_of,
    "string_last_index_of_string_int": last_index_of,
    "string_lower_ascii": lambda text: text.translate(_LOWER),
    "string_upper_ascii": lambda text: text.translate(_UPPER),
    "string_replace_string_string": replace,
    "string_replace_string_string_int": replace,
    "string_split_string": split,
    "string_split_string_int": split,
    "string_substring_int": substring,
    "string_substring_int_int": substring,
    "string_trim": lambda text: text.strip(_BLANKS),
    "list_join": join,
    "list_join_string": join,
    "strings_quote": quote,
    "contains_string": operator.contains,
    "starts_with_string": str.startswith,
    "ends_with_string": str.endswith,
}
