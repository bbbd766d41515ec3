"""Plausible values for outputs that no table describes, from their names and types in the SDK's classes.

Texts of well-known names come from the cloud's table (``plausible``, by the lower-case name, ``*arn`` by its ending);
everything else starts with ``sim-``.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from automation.rehearsal.provider.templates import Context


def names(rules: Mapping[str, Any], known: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the outputs that are always set and not known yet."""
    return tuple(key for key, (_, always) in rules["outputs"].items() if always and key not in known)


def outputs(
    rules: Mapping[str, Any], known: Mapping[str, Any], context: Context, texts: Mapping[str, str]
) -> dict[str, Any]:
    """Make up a value for each of them."""
    return {key: _value(key, rules["outputs"][key][0], context, texts) for key in names(rules, known)}


def _value(key: str, kind: Any, context: Context, texts: Mapping[str, str]) -> Any:  # noqa: PLR0911 - one per kind
    match kind:
        case "bool":
            return False
        case "int" | "float":
            return 0
        case {"list": _}:
            return []
        case {"literal": options}:
            return options[0]
        case {"union": members}:
            return _value(key, members[0], context, texts)
        case dict():
            return {}
    word = key.lower()
    template = next((text for pattern, text in texts.items() if fnmatchcase(word, pattern)), None)
    return context.render(template if template is not None else "sim-{hex:12:" + key + "}")
