"""Every word that a plan prints of clusters and replicas is explained, with commands that there are."""

import shlex
from collections.abc import Mapping
from enum import StrEnum

import pytest

from automation.cli.code_pages import code_pages
from automation.cli.main import build_app
from automation.render.field_help import find_field
from automation.render.kind_names import kind_named
from automation.render.word_help import meanings_of, scheduling_words
from automation.scheduling.meaning import Meaning
from automation.scheduling.reason import Reason
from automation.scheduling.reason_meanings import REASON_MEANINGS
from automation.scheduling.verdict import Code
from automation.scheduling.verdict_meanings import VERDICT_MEANINGS

ENTRIES = [*VERDICT_MEANINGS.items(), *REASON_MEANINGS.items()]


@pytest.mark.parametrize(("words", "table"), [(Code, VERDICT_MEANINGS), (Reason, REASON_MEANINGS)])
def test_every_word_has_an_entry_and_every_entry_a_word(words: type[StrEnum], table: Mapping[str, Meaning]) -> None:
    """In the order of the enumeration, which the page shows."""
    assert list(table) == [word.value for word in words]


@pytest.mark.parametrize(("word", "entry"), ENTRIES, ids=[f"{word}-{n}" for n, (word, _) in enumerate(ENTRIES)])
def test_an_entry_says_what_it_means_what_helps_and_which_command(word: str, entry: Meaning) -> None:
    """The commands parse, and a field that one explains is there."""
    assert entry.means.endswith((".", ")"))
    assert entry.helps.endswith((".", ")"))
    assert entry.commands, word
    for command in entry.commands:
        berth, *words = shlex.split(command)
        assert berth == "berth"
        build_app().parse_args(words, exit_on_error=False, print_error=False)
        head, _, path = words[1].partition(".") if words[0] == "explain" else ("", "", "")
        if path:
            kind = kind_named(head)
            assert kind, command
            assert find_field(kind, path)


def test_words_are_told_from_each_other_and_from_codes_and_kinds() -> None:
    """`berth explain WORD` must not answer something else; a summary's word stands for one verdict."""
    nouns = [code.noun for code in Code]
    assert len(nouns) == len(set(nouns))
    for word in scheduling_words():
        assert word not in code_pages()
        assert not kind_named(word)
        assert len({sort for _, sort, _ in meanings_of(word)}) == len(meanings_of(word)) > 0
    assert all(meanings_of(code.noun)[0][0] == code.value for code in Code if code.noun in scheduling_words())
