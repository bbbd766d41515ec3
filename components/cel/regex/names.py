"""Names of Unicode classes in patterns, as the releases of Go know them that Kubernetes is built with.

Kubernetes 1.34 is built with Go 1.24, and 1.35 and later ones with Go 1.25 or 1.26 (the ``go`` line of their go.mod).
Go 1.24 looks names up as they are written. From 1.25 on it knows more of them and looks up a canonical form
(``canonicalName`` in ``regexp/syntax/parse.go``); that of a script with an underscore is not in its table, so that
``Old_Italic`` is known to Go 1.24 alone. All three have Unicode 15.0. Checked with Go 1.24.6, 1.25.0 and 1.26.8.
"""

# ruff: noqa: SIM905 - names as text, many to a line

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

OLD: Final = "1.24"
RECENT: Final = "1.25"
RELEASES: Final = frozenset((OLD, RECENT))
CATEGORIES: Final = frozenset(
    "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs".split()
)
_SCRIPTS: Final = frozenset(
    """
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki
    Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
    Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra
    Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati
    Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi
    Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian
    Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui
    Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari
    Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic
    Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage
    Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan
    Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri
    Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan
    Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square
    """.split()
)
_ALIASES: Final = frozenset(  # of categories, and what is no category of one kind
    """
    Any Assigned ASCII Cn LC
    Cased_Letter Close_Punctuation Combining_Mark Connector_Punctuation Control Currency_Symbol Dash_Punctuation
    Decimal_Number Enclosing_Mark Final_Punctuation Format Initial_Punctuation Letter Letter_Number
    Line_Separator Lowercase_Letter Mark Math_Symbol Modifier_Letter Modifier_Symbol Nonspacing_Mark Number
    Open_Punctuation Other Other_Letter Other_Number Other_Punctuation Other_Symbol Paragraph_Separator
    Private_Use Punctuation Separator Space_Separator Spacing_Mark Surrogate Symbol Titlecase_Letter Unassigned
    Uppercase_Letter cntrl digit punct
    """.split()
)


def releases_that_know(name: str) -> frozenset[str]:
    """Give the releases of Go, out of ``RELEASES``, that know a class by this name."""
    old = name == "Any" or name in CATEGORIES or name in _SCRIPTS
    plain = _canonical(name)
    recent = plain in CATEGORIES or plain in _SCRIPTS or plain in _CANONICAL
    return frozenset(release for release, known in ((OLD, old), (RECENT, recent)) if known)


def release_of(minor: str) -> str:
    """Give the one that a Kubernetes minor is built with."""
    return OLD if minor == "1.34" else RECENT


def _canonical(name: str) -> str:
    """Leave out what joins words, and write only the first letter in upper case; other than ASCII stays."""
    joined = "".join(char for char in name if char not in "_- ")
    return "".join(
        (char.upper() if at == 0 else char.lower()) if char.isascii() else char for at, char in enumerate(joined)
    )


_CANONICAL: Final = frozenset(map(_canonical, _ALIASES))
