"""What a model's complaint means, in our words: for data that people do not write but may have edited or merged. PURE.

Manifests have a richer translation, with places and near matches, in ``components/api``.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_WANTED: Final = (
    ("string", "must be text"),
    ("int", "must be a whole number"),
    ("bool", "must be true or false"),
    ("float", "must be a number"),
    ("finite", "must be a number"),
    ("list", "must be a list"),
    ("tuple", "must be a list"),
    ("set", "must be a list"),
    ("iterable", "must be a list"),
    ("dict", "must be a mapping"),
    ("mapping", "must be a mapping"),
    ("model", "must be a mapping"),
)
_OURS: Final = "Value error, "


_SAID: Final = {"missing": "is missing", "extra_forbidden": "is not known"}
_ENDS: Final = (
    ("pattern_mismatch", "is not written as it must be"),
    ("too_short", "is too short"),
    ("too_long", "is too long"),
)
_CHOICE: Final = re.compile(r"'([^']*)'")


def in_words(error: Mapping[str, Any]) -> str:
    """Return what one error of a validation says of its place, to be read after the place's name."""
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind == "value_error":
        return str(error["msg"]).removeprefix(_OURS)
    if kind in ("literal_error", "enum"):
        expected = str(context.get("expected", ""))
        # Only texts are quoted; `True` is written otherwise in YAML.
        choices = _CHOICE.findall(expected)
        return f"must be one of {', '.join(choices)}" if choices else f"must be {expected.lower()}"
    bound = next((context[name] for name in ("ge", "gt", "le", "lt") if name in context), None)
    if bound is not None:
        return f"must be {'at least' if kind.startswith('greater') else 'at most'} {bound}"
    ends = (words for end, words in _ENDS if kind.endswith(end))
    starts = (words for start, words in _WANTED if kind.startswith(start))
    return _SAID.get(kind) or next(ends, "") or next(starts, "is not valid")


def place_of(error: Mapping[str, Any], *, otherwise: str) -> str:
    """Return the place of an error as a dotted path; ``otherwise`` when it is the whole value."""
    return ".".join(str(part) for part in error["loc"]) or otherwise
