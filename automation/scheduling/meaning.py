"""Meaning: what one word of the scheduler says to a person, what usually helps, and which commands show more. PURE.

``berth explain WORD`` and the reference page print it; the tables are beside it, one for each sort of words.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """The entry of one word.

    ``helps`` is what a person may do about it, and says so where nothing has to be done. ``commands`` are whole command
    lines, with names in capitals where the reader's own ones go. ``noun`` is the word of a summary line, where it is
    not the word itself.
    """

    means: str
    helps: str
    commands: tuple[str, ...]
    noun: str = ""
