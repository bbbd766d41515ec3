"""The names that people call kinds by: the kind, its plural, its short name, in any case. PURE."""

import re
from collections.abc import Collection

from components.api.kinds import ALL_KINDS, KINDS
from components.api.near import near


def kind_named(text: str) -> str:
    """Return the kind that ``text`` names, or an empty string."""
    return _names().get(text.lower(), "")


def near_kind(text: str, others: Collection[str] = ()) -> str:
    """Return the kind, or the one of ``others``, that ``text`` probably means, or an empty string.

    The last word of a kind that people write stands for it: ``clusters`` are InferenceClusters, of whatever cloud.
    """
    named = {name: kind for name, kind in _names().items() if len(name) > 3}  # noqa: PLR2004 (short names are all alike)
    names = _last_words() | named | {each.lower(): each for each in others}
    return names.get(near(text.lower(), list(names)), "")


def plural(kind: str) -> str:
    """Return the plural of a kind, as kubectl writes it."""
    lower = kind.lower()
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"


def _last_words() -> dict[str, str]:
    last = {kind: re.findall("[A-Z][a-z]+", kind)[-1] for kind in KINDS}
    return {name: kind for kind, word in last.items() for name in (word.lower(), plural(word))}


def _names() -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, model in ALL_KINDS.items():
        found |= dict.fromkeys((kind.lower(), plural(kind), model.SHORT_NAME), kind)
    return found
