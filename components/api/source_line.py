"""One line of a source: its indentation, its comment, and how it is written out for somebody."""

from typing import Final

LONGEST: Final = 100
"""Characters of a line that is written out."""


def holds(source: str) -> bool:
    """Whether a line has more than a comment."""
    text = source.strip()
    return bool(text) and not text.startswith("#")


def indentation(source: str) -> int:
    """Return how many spaces a line begins with."""
    return len(source) - len(source.lstrip(" "))


def shorn(source: str) -> str:
    """Return a line without its comment; a `#` in quotes is none."""
    if "#" in source:
        quote = ""
        for index, sign in enumerate(source):
            if quote:
                quote = "" if sign == quote else quote
            elif sign in "\"'" and (index == 0 or source[index - 1] in " [{,"):
                quote = sign
            elif sign == "#" and (index == 0 or source[index - 1] in " \t"):
                return source[:index].rstrip()
    return source.rstrip()


def quoted(text: str) -> str:
    """Return a text in quotes that need no escape, as far as there are some."""
    return f'"{text}"' if '"' not in text and "\\" not in text else "'" + text.replace("'", "''") + "'"


def shown_line(text: str) -> str:
    """Return the end of an advice: the line itself, unless it is longer than one reads."""
    return f": `{text}`" if len(text) <= LONGEST else ""


def cut(text: str) -> str:
    """Return a text, shortened where it is longer than one reads."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def indent_by(level: int) -> str:
    """Say how far to indent a line."""
    return f"indent it by {spaces(level)}" if level else "do not indent it"


def spaces(count: int) -> str:
    """Count spaces."""
    return f"{count} space{'' if count == 1 else 's'}"
