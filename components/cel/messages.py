"""Errors in words: what is missing on the device, and how to guard for it."""

from __future__ import annotations

from components.cel.kinds import type_name
from components.cel.problem import bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from components.cel.values import Value

_SHOWN = 60
_GUARD = "; guard with "


def words(kind: str, key: Value = None, message: str = "") -> str:
    """Write the message of an error; ``key`` is what was looked for, or the result that is no boolean."""
    if kind == "no-such-key" and isinstance(key, tuple):
        return _missing(*key)
    if kind == "non-bool-result":
        return f"the selector gives a value of type {type_name(key)}, and not true or false"
    if kind == "no-such-key":
        return bounded(f"{message}{_GUARD}has(...), or with .? and orValue(...)")
    return bounded(message)


def without_guard(text: str) -> str:
    """Leave out how to guard for what is missing: a guard around a misspelt name only hides it."""
    return text.partition(_GUARD)[0]


def _missing(field: str, domain: str, name: str) -> str:
    table = "capacity" if field == "capacity" else "attributes"
    shown = f'device.{table}["{domain[:_SHOWN]}"]'
    plain = name.isidentifier() and name not in {"in", "true", "false", "null"}
    guard = f"has({shown}.{name[:_SHOWN]})" if plain else f'"{name[:_SHOWN]}" in {shown}'
    return f"this device has no {field} {domain[:_SHOWN]}/{name[:_SHOWN]}{_GUARD}{guard}"
