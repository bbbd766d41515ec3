"""Tests of classes of characters in patterns: names, the case, and what Unicode's versions leave open.

The answers are those of Go 1.26.8 (``regexp.MatchString``), and those of names also of Go 1.24.6 and 1.25.0.
"""

from typing import Final

import pytest

from components.cel.device import DeviceView
from components.cel.environment import MINORS
from components.cel.problem import EvaluationError
from components.cel.regex.charset import orbit
from components.cel.regex.pattern import computed_pattern
from components.cel.selector import admit, compile_unlimited
from components.cel.table import device_view

BARE: Final[DeviceView] = device_view(None)
EVERY: Final = tuple(MINORS)
LAST: Final = 0x1E943  # the last character with another case
RECENT: Final = EVERY[1:]

# What matches, each with its reason.
MATCHES: Final = {
    (r"(?i)\p{Lu}", "a"): True,  # the other case counts
    (r"^(?i)\P{Lu}$", "a"): False,  # also when negated
    (r"(?i)^[\p{Lu}]$", "a"): True,
    (r"(?i)^[^\p{Lu}]$", "a"): False,
    (r"(?i)^\p{Lu}$", "ǅ"): True,  # three cases
    (r"(?i)^\pL$", "\u0345"): True,  # a mark whose other case is a letter
    (r"(?i)^\pM$", "a"): False,
    (r"\p{Lu}", "a"): False,
    (r"(?i)^\p{Ll}$", "ẞ"): True,
    (r"^\p{So}$", "\U0001f600"): True,
    (r"^[^\pL]$", "\U0001f600"): True,
    (r"(?i)^\w$", "\u212a"): True,  # the Kelvin sign is a k
    (r"(?i)^\W$", "\u212a"): False,  # the case is folded before the class is negated
    (r"(?i)^[\W]$", "k"): False,
    (r"(?i)^[[:^alpha:]]$", "s"): False,
    (r"(?i)^[[:alpha:]]$", "\u017f"): True,  # the long s is an s
    (r"(?i)^[^\x{100}-\x{2000}]$", "ÿ"): False,  # the other case of what is in a wide range
    (r"(?i)^[^\x{2000}-\x{3000}]$", "k"): False,
    (r"(?i)^[^\x{2000}-\x{3000}]$", "x"): True,
    ("(?i)^\u0131$", "I"): False,  # a dotless i has no other case
    (r"(?i)^ß$", "ẞ"): True,
    (r"(?i)^θ$", "ϑ"): True,
    (r"(?i)^ƛ$", "\ua7dc"): False,  # a pair since Unicode 16
    (r"^\p{Any}$", "a"): True,
    (r"\P{Any}", "a"): False,
}

# Which minors take a name in a constant pattern; nothing is listed where none does.
NAMES: Final = {
    r"\p{Lu}": EVERY,
    r"\p{^Lu}": EVERY,
    r"\pN": EVERY,
    r"\p{Any}": EVERY,
    r"\p{Greek}": EVERY,
    r"\P{Kawi}": EVERY,
    r"\p{Old_Italic}": ("1.34",),  # its canonical form has no underscore
    r"\p{SignWriting}": ("1.34",),
    r"\p{greek}": RECENT,
    r"\p{G-r e_ek}": RECENT,
    r"\p{lu}": RECENT,
    r"\pl": RECENT,
    r"\p{Letter}": RECENT,
    r"\p{uppercase letter}": RECENT,
    r"\p{LC}": RECENT,
    r"\p{Cn}": RECENT,
    r"\p{Assigned}": RECENT,
    r"\p{ascii}": RECENT,
    r"\p{any}": RECENT,
    r"\p{Foo}": (),
    r"\p{OldItalic}": (),
    r"\p{Todhri}": (),  # a script since Unicode 16
    r"\p{Éreek}": (),
    r"\p{}": (),
    r"\p{^^Lu}": (),
    r"\pX": (),
    r"\p": (),
    r"\p{Letter}\p{Old_Italic}": (),  # each known to some, both to none
}


@pytest.mark.parametrize(("pattern", "text"), MATCHES, ids=ascii)
def test_a_class_has_the_characters_that_it_has_in_go(pattern: str, text: str) -> None:
    """Both ways of searching say the same."""
    compiled = computed_pattern(pattern)
    assert compiled.matches(text) is MATCHES[pattern, text]
    assert (compiled.search(text) is not None) is MATCHES[pattern, text]


@pytest.mark.parametrize("pattern", NAMES, ids=ascii)
def test_a_name_is_known_to_the_minors_whose_go_knows_it(pattern: str) -> None:
    """As a constant of ``matches`` and of ``find``; API validation and the scheduler are built alike."""
    for form in (f"'a'.matches(r'{pattern}')", f"'a'.find(r'{pattern}') == ''"):
        for stored in (False, True):
            taken = [minor for minor in EVERY if admit(form, minor=minor, stored=stored).error is None]
            assert taken == list(NAMES[pattern])
    refused = [minor for minor in EVERY if minor not in NAMES[pattern]]
    for minor in refused:
        error = admit(f"'a'.matches(r'{pattern}')", minor=minor, stored=True).error
        assert error is not None
        assert (error.kind, "invalid character class range" in error.message) == ("bad-regex-literal", True)


@pytest.mark.parametrize("pattern", [r"\p{Greek}", r"\P{Greek}", r"\p{Letter}", r"a|\p{greek}"])
def test_scripts_and_names_of_some_minors_only_never_match(pattern: str) -> None:
    """They are unsupported, whether constant or computed."""
    constant = compile_unlimited(f"'a'.matches(r'{pattern}')", minor="1.36").evaluate(BARE)
    computed = compile_unlimited(f"'a'.matches(r'{pattern}' + device.driver)", minor="1.34").evaluate(BARE)
    assert (constant.kind, computed.kind) == ("unsupported", "unsupported")
    assert "is not supported" in constant.message


@pytest.mark.parametrize("char", ["\u0378", "\u0295", "\u1c89", "\U0002ebf0"], ids=ascii)
def test_the_category_of_a_younger_character_is_unsupported(char: str) -> None:
    """One that is younger than Unicode 15.0 is in no category in Go, and one that is none yet depends on the minor."""
    for pattern in (r"^\pL$", r"^\PC$"):
        with pytest.raises(EvaluationError) as caught:
            computed_pattern(pattern).matches(char)
        assert caught.value.kind == "unsupported"
        assert f"U+{ord(char):04X}" in caught.value.message


def test_the_cases_of_all_characters_are_those_of_unicode_15() -> None:
    """Go's ``unicode.SimpleFold`` has 2,878 characters with another case, in 1,424 orbits, whatever the interpreter."""
    orbits = {orbit(chr(code)) for code in range(LAST + 1)}
    several = [each for each in orbits if len(each) > 1]
    assert (len(several), sum(map(len, several))) == (1424, 2878)
    assert all(code in each for each in orbits for code in each)
