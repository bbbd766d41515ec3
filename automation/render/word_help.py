"""What ``berth explain`` answers for a word of the scheduler: a verdict, a reason, a word of a summary. PURE."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from automation.render.text import Line, Span, line
from automation.scheduling.meaning import Meaning
from automation.scheduling.reason_meanings import REASON_MEANINGS
from automation.scheduling.verdict_meanings import VERDICT_MEANINGS

_SORTS: Final = (
    ("a verdict on a cluster", VERDICT_MEANINGS),
    ("a reason for a replica to stay, move or go", REASON_MEANINGS),
)
EXPLAINED: Final = "berth explain VERDICT says what a verdict means and what usually helps"
"""Stands once below the verdicts of an answer."""


def scheduling_words() -> tuple[str, ...]:
    """Return every word that can be asked for: verdicts, reasons, and what summaries call a verdict."""
    nouns = (each.noun for each in VERDICT_MEANINGS.values() if each.noun)
    return tuple(dict.fromkeys((*VERDICT_MEANINGS, *REASON_MEANINGS, *nouns)))


def meanings_of(word: str) -> tuple[tuple[str, str, Meaning], ...]:
    """Return what a word means: the word itself, its sort, and its entry; one may be of both sorts, or of none."""
    return tuple(
        (each, sort, meaning)
        for sort, table in _SORTS
        for each, meaning in table.items()
        if word in {each, meaning.noun}
    )


def word_text(word: str) -> str:
    """Return what a word means as plain text, for a program."""
    return "\n\n".join(
        "\n".join((f"{each}: {sort}.", meaning.means, meaning.helps, *meaning.commands))
        for each, sort, meaning in meanings_of(word)
    )


def word_lines(word: str, *, width: int) -> list[Line]:
    """Return what a word means, what usually helps, and the commands that show more."""
    lines: list[Line] = []
    for each, sort, meaning in meanings_of(word):
        called = f", in summaries `{meaning.noun}`" if meaning.noun else ""
        lines += [] if not lines else [Line()]
        lines += [line(Span(each, "strong"), f": {sort}{called}"), Line()]
        lines += [*_folded(meaning.means, width), Line(), *_folded(meaning.helps, width), Line()]
        lines += [line("  ", command) for command in meaning.commands]
    return lines


def _folded(text: str, width: int) -> Iterator[Line]:
    yield from (line(each) for each in wrap(text, max(width, 20), break_on_hyphens=False, break_long_words=False))
