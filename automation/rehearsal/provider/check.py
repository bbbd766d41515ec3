"""Check a property bag against the rules derived from the SDK: required, unknown and mistyped properties.

Unknown values fit every type, secrets are looked into, null is absent. A failure names the place and what was wanted,
never the value (it may be a secret).
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automation.rehearsal.wire import SIGNATURE, Secret, Unknown


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing wrong with a resource's inputs: the property's path and the reason, in words."""

    path: str
    reason: str


def check(bag: Mapping[str, Any], rules: Mapping[str, Any]) -> list[Failure]:
    """List everything wrong with a bag of inputs, in the order of the bag; an empty list means it fits."""
    return list(_fields(bag, rules["inputs"], rules["objects"], ""))


def _fields(
    bag: Mapping[str, Any], fields: Mapping[str, Any], objects: Mapping[str, Any], prefix: str
) -> Iterator[Failure]:
    for key, value in bag.items():
        if value is None or key.startswith("__"):
            continue
        path = f"{prefix}.{key}" if prefix else key
        if key in fields:
            yield from _value(value, fields[key][0], objects, path)
        else:
            near = difflib.get_close_matches(key, fields, n=1)
            yield Failure(path, "unknown property" + (f"; did you mean {near[0]}?" if near else ""))
    for key, (_, required) in fields.items():
        if required and bag.get(key) is None:
            yield Failure(f"{prefix}.{key}" if prefix else key, "missing required property")


def _value(value: Any, rule: Any, objects: Mapping[str, Any], path: str) -> Iterator[Failure]:
    value = value.value if isinstance(value, Secret) else value
    if value is None or isinstance(value, Unknown) or rule == "any":
        return
    if isinstance(rule, str):
        if not _is_simple(value, rule):
            yield Failure(path, f"expected {_words(rule)}, got {_kind(value)}")
    elif "union" in rule:
        tries = [list(_value(value, member, objects, path)) for member in rule["union"]]
        if all(tries):
            nearest = min(tries, key=lambda failures: (failures[0].path == path, len(failures)))
            wanted = " or ".join(_words(member) for member in rule["union"])
            shallow = nearest[0].path == path
            yield from [Failure(path, f"expected {wanted}, got {_kind(value)}")] if shallow else nearest
    elif "literal" in rule:
        if value not in rule["literal"]:
            yield Failure(path, f"expected {_words(rule)}")
    else:
        yield from _nested(value, rule, objects, path)


def _nested(value: Any, rule: Mapping[str, Any], objects: Mapping[str, Any], path: str) -> Iterator[Failure]:
    if "list" in rule and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _value(item, rule["list"], objects, f"{path}[{index}]")
    elif "map" in rule and isinstance(value, dict):
        for key, item in value.items():
            yield from _value(item, rule["map"], objects, f"{path}.{key}" if key.isidentifier() else f'{path}["{key}"]')
    elif "object" in rule and isinstance(value, dict) and SIGNATURE not in value:
        yield from _fields(value, objects[rule["object"]], objects, path)
    elif not (isinstance(value, dict) and SIGNATURE in value):
        yield Failure(path, f"expected {_words(rule)}, got {_kind(value)}")


def _is_simple(value: Any, rule: str) -> bool:
    match rule:
        case "str":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return isinstance(value, dict) and SIGNATURE in value


def _words(rule: Any) -> str:
    if isinstance(rule, str):
        names = {"str": "a string", "bool": "true or false", "int": "a whole number", "float": "a number"}
        return names.get(rule, "an asset or archive")
    if "literal" in rule:
        return "one of " + ", ".join(repr(option) for option in rule["literal"])
    if "union" in rule:
        return " or ".join(_words(member) for member in rule["union"])
    return {"list": "a list", "map": "a map", "object": "an object"}[next(iter(rule))]


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"
