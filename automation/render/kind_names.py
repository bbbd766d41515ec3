"""The names that people call kinds by: the kind, its plural, its short name, in any case. PURE."""

from components.api.kinds import ALL_KINDS
from components.api.near import near


def kind_named(text: str) -> str:
    """Return the kind that ``text`` names, or an empty string."""
    return _names().get(text.lower(), "")


def near_kind(text: str) -> str:
    """Return the kind that ``text`` probably means, or an empty string."""
    found = near(text.lower(), [name for name in _names() if len(name) > 3])  # noqa: PLR2004 (short names are all alike)
    return _names().get(found, "")


def plural(kind: str) -> str:
    """Return the plural of a kind, as kubectl writes it."""
    lower = kind.lower()
    return f"{lower}es" if lower.endswith("s") else f"{lower}s"


def _names() -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, model in ALL_KINDS.items():
        found |= dict.fromkeys((kind.lower(), plural(kind), model.SHORT_NAME), kind)
    return found
