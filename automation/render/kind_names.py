"""The names that people call kinds by, as kubectl takes them: the kind, its plural, its short name, in any case. PURE.

Also by the last word of a kind (``clusters``, ``deployment``), which is all that most people remember: where several
kinds end so, the one that people write is meant, and a word that still fits several names none of them.
"""

import re
from collections.abc import Collection, Iterable

from components.api.infrastructure import INFRASTRUCTURE
from components.api.kinds import ALL_KINDS, API_VERSIONS, KINDS
from components.api.near import near


def kind_named(text: str) -> str:
    """Return the kind that ``text`` names, or an empty string.

    A kind may be followed by its group, as ``kubectl get -o name`` writes it: ``modeldeployment.modelplane.ai``.
    """
    name, _, group = text.lower().partition(".")
    return "" if group and group not in _GROUPS else _names().get(name, "")


def near_kind(text: str, others: Collection[str] = ()) -> str:
    """Return the kind, or the one of ``others``, that ``text`` probably means, or an empty string."""
    named = {name: kind for name, kind in _names().items() if len(name) > 3}  # noqa: PLR2004 (short names are all alike)
    names = named | {each.lower(): each for each in others}
    return names.get(near(text.lower(), list(names)), "")


def plural(kind: str) -> str:
    """Return the plural of a kind, as kubectl writes it."""
    lower = kind.lower()
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"


_GROUPS = frozenset(each.partition("/")[0] for each in (*API_VERSIONS, INFRASTRUCTURE))


def _names() -> dict[str, str]:
    found = _last_words(ALL_KINDS) | _last_words(KINDS)
    for kind, model in ALL_KINDS.items():
        found |= dict.fromkeys((kind.lower(), plural(kind), model.SHORT_NAME), kind)
    return found


def _last_words(kinds: Iterable[str]) -> dict[str, str]:
    """Return the kinds by the last word of each, where only one of them ends so."""
    ends: dict[str, list[str]] = {}
    for kind in kinds:
        ends.setdefault(re.findall("[A-Z][a-z]+", kind)[-1], []).append(kind)
    alone = {word: of[0] for word, of in ends.items() if len(of) == 1}
    return {name: kind for word, kind in alone.items() for name in (word.lower(), plural(word))}
