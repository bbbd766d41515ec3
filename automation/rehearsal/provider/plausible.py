"""Plausible values for outputs that no table describes, from their names and types in the SDK's classes."""

from collections.abc import Mapping
from typing import Any

from automation.rehearsal.provider.templates import Context


def names(rules: Mapping[str, Any], known: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the outputs that are always set and not known yet."""
    return tuple(key for key, (_, always) in rules["outputs"].items() if always and key not in known)


def outputs(rules: Mapping[str, Any], known: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Make up a value for each of them."""
    return {key: _value(key, rules["outputs"][key][0], context) for key in names(rules, known)}


def _value(key: str, kind: Any, context: Context) -> Any:  # noqa: PLR0911 - one return per kind of type
    if isinstance(kind, dict):
        if "list" in kind:
            return []
        if "literal" in kind:
            return kind["literal"][0]
        if "union" in kind:
            return _value(key, kind["union"][0], context)
        return {}
    if kind == "bool":
        return False
    if kind in {"int", "float"}:
        return 0
    return _text(key, context)


def _text(key: str, context: Context) -> Any:
    word = key.lower()
    if word == "region":
        return context.values.get("region") or ""
    if word in {"ownerid", "accountid"}:
        return context.values.get("account") or ""
    if word.endswith("arn"):
        kind = str(context.values.get("type", "")).split(":")
        service = kind[1].partition("/")[0] if len(kind) > 1 else "sim"
        return context.render("arn:aws:" + service + ":{region}:{account}:{id}")
    if word in {"status", "state"}:
        return "ACTIVE"
    return context.render("sim-{hex:12:" + key + "}")
