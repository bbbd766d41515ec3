"""How resources of a table's cloud hold on to each other: what must exist, what must fit, what blocks a deletion.

All rules are data of the type's row: ``needs`` (something that an input names must exist), ``constraints`` (values must
fit each other or other resources) and ``blocked_by`` (a live resource that uses this one keeps it from being deleted).
"""

import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.provider.templates import Context
from automation.rehearsal.store import Row, Transaction
from automation.rehearsal.wire import Unknown, lookup


@dataclass(frozen=True, slots=True)
class Place:
    """Where a resource is about to be: only what is in the same place can be used from there."""

    transaction: Transaction
    package: str
    scope_of: Callable[[str], str]
    """The scope of a type there; account-wide types have a wider one."""


def require(place: Place, facts: Mapping[str, Any], context: Context) -> None:
    """Refuse a creation that points at something that does not exist, or that does not fit."""
    for need in facts.get("needs", ()):
        wanted = context.render(need["value"])
        for value in wanted if isinstance(wanted, list) else [wanted]:
            if value is not None and not _exists(place, need, value):
                raise Refused(_say(context, need["error"], value=value))
    for rule in facts.get("constraints", ()):
        problem = _RULES[rule["rule"]](rule, context)
        if problem is not None:
            raise Refused(_say(context, rule["error"], value=problem))


def conflicts(facts: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (path, reason) for inputs that exclude each other: that is known before anything is created."""
    for rule in facts.get("constraints", ()):
        if rule["rule"] == "exclusive":
            given = [path for path in rule["paths"] if lookup(dict(inputs), path) is not None]
            if len(given) > 1:
                yield given[-1], f"conflicts with {given[0]}"


def unblocked(transaction: Transaction, row: Row, facts: Mapping[str, Any]) -> None:
    """Refuse a deletion while another live resource of the same scope uses this one."""
    values = {"id": row.id, "name": row.name, "out": row.outputs, "in": row.inputs, "type": row.type}
    context = Context(values, seed=row.id)
    for block in facts.get("blocked_by", ()):
        wanted = context.render(block.get("equals", "{id}"))
        for other in transaction.select(package=row.package, type_=block["type"], scope=row.scope):
            if wanted is not None and wanted in _values_at(other.outputs, block["property"]):
                raise Refused(_say(context, block["error"], other=other.id, othername=other.name))


def without_order(bag: dict[str, Any], sets: tuple[str, ...]) -> dict[str, Any]:
    """Sort the lists at the given paths: to the cloud they are sets, and their order is no difference."""
    for path in sets:
        head, _, rest = path.partition(".")
        value = bag.get(head)
        if rest and isinstance(value, dict):
            bag = {**bag, head: without_order(value, (rest,))}
        elif not rest and isinstance(value, list):
            bag = {**bag, head: sorted(value, key=lambda item: json.dumps(item, sort_keys=True, default=str))}
    return bag


def _exists(place: Place, need: Mapping[str, Any], value: Any) -> bool:
    """Look for a resource by id, by another output, or as something that a resource of another type brought along."""
    ways = [("", need["type"]), (need.get("by", ""), need["type"])]
    ways += [(path, type_) for type_, path in need.get("also", {}).items()]
    matching = place.transaction.matching
    return any(matching(place.package, type_, path, value, scope=place.scope_of(type_)) for path, type_ in ways)


def _say(context: Context, text: str, **extra: Any) -> str:
    return str(replace(context, values={**context.values, **extra}).render(text))


def _values_at(outputs: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path; a list at the end gives its items."""
    value = lookup(outputs, path)
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


# -- constraints: each gives the offending value, or None when all is well ---------------------------------------------


def _ordered(rule: Mapping[str, Any], context: Context) -> Any:
    numbers = [context.render("{in." + path + "}") for path in rule["paths"]]
    known = [number for number in numbers if isinstance(number, int)]
    return None if known == sorted(known) else " > ".join(str(number) for number in known)


def _exclusive(rule: Mapping[str, Any], context: Context) -> Any:
    given = [path for path in rule["paths"] if context.render("{in." + path + "}") is not None]
    return given[-1] if len(given) > 1 else None


def _found(rule: Mapping[str, Any], context: Context) -> list[Any]:
    """Read one property of every resource that a list of ids names."""
    ids = context.render(rule["value"]) or []
    query = {"type": rule["type"], "property": "id", "take": rule["take"]}
    return [context.render({"$find": {**query, "equals": str(item)}}) for item in ids if not isinstance(item, Unknown)]


def _spread(rule: Mapping[str, Any], context: Context) -> Any:
    found = _found(rule, context)
    return None if len(set(found)) >= rule["least"] else ", ".join(sorted({str(item) for item in found})) or "none"


def _same(rule: Mapping[str, Any], context: Context) -> Any:
    found = {str(item) for item in _found(rule, context)}
    return None if len(found) <= 1 else ", ".join(sorted(found))


def _pattern(rule: Mapping[str, Any], context: Context) -> Any:
    value = context.render(rule["value"])
    return None if value is None or re.fullmatch(str(context.render(rule["pattern"])), str(value)) else value


def _network(rule: Mapping[str, Any], context: Context) -> Any:
    value = context.render(rule["value"])
    try:
        return None if value is None or ipaddress.ip_network(str(value)) else value
    except ValueError:
        return value


def _inside(rule: Mapping[str, Any], context: Context) -> Any:
    inner, outer = context.render(rule["value"]), context.render(rule["of"])
    if inner is None or outer is None:
        return None
    return None if _net(inner).subnet_of(_net(outer)) else inner


def _apart(rule: Mapping[str, Any], context: Context) -> Any:
    value, wanted = context.render(rule["value"]), context.render(rule["equals"])
    if value is None:
        return None
    for outputs in context.find(rule["type"]):
        other = lookup(dict(outputs), rule["take"])
        if lookup(dict(outputs), rule["property"]) == wanted and other and _net(other).overlaps(_net(value)):
            return value
    return None


def _net(text: Any) -> ipaddress.IPv4Network:
    return ipaddress.IPv4Network(str(text))


_RULES: Final[Mapping[str, Callable[[Mapping[str, Any], Context], Any]]] = {
    "ordered": _ordered,
    "exclusive": _exclusive,
    "spread": _spread,
    "same": _same,
    "pattern": _pattern,
    "network": _network,
    "inside": _inside,
    "apart": _apart,
}
