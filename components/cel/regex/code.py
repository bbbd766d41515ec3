"""The postfix code of a pattern: sets and assertions, and what joins and repeats them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

Op: TypeAlias = tuple[str, object, bool]
Code: TypeAlias = list[Op]
MAX_CODE: Final = 20_000


class RegexError(ValueError):
    """Go's parser refuses the pattern."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @classmethod
    def of(cls, message: str, source: str) -> RegexError:
        """Make one in Go's words, with the beginning of the pattern."""
        return cls(f"error parsing regexp: {message}: `{source[:60]}`")


def repeated(code: Code, least: int, most: int, *, greedy: bool) -> Code:
    """Write a repetition out; ``most`` is -1 without end."""
    if (least, most) == (0, -1):
        return [*code, ("star", None, greedy)]
    found: Code = code * (least if most >= 0 else least - 1)
    count = least
    if most < 0:
        found += [*code, ("plus", None, greedy)]
    elif most > least:
        extra = most - least
        found += code * extra
        found += [("quest", None, greedy), *([("cat", 2, False), ("quest", None, greedy)] * (extra - 1))]
        count += 1
    if count != 1:
        found.append(("cat", count, False))
    return found
