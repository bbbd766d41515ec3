"""Whether one JSON Schema takes everything that another took: finds what was narrowed, and says it in words.

For the schemas that Berth makes of its models: objects, lists, maps, scalars with bounds, alternatives, references, and
one condition (``if``/``then``) on the apiVersion. A pattern that changed counts as narrower, and so does a rule between
fields (an entry of ``allOf``) that was not there in the same words, because no program can say in general that it is
not; annotations (title, description, default, format) count for nothing.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Any

_LOW: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_HIGH: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def narrowings(old: Schema, new: Schema) -> list[str]:
    """Return, as ``path: what``, everything that ``old`` accepts and ``new`` refuses."""
    walk = _Walk(old.get("$defs", {}), new.get("$defs", {}))
    found = list(walk.compare(old, new, ""))
    condition = (old.get("if"), new.get("if"))
    if "then" in new:
        before = old.get("then", {}) if condition[0] == condition[1] else {}
        found += walk.conditional(before, new["then"], old, "under modelplane.ai")
    return found


class _Walk:
    """A walk through two schemas side by side."""

    def __init__(self, old: Mapping[str, Schema], new: Mapping[str, Schema]) -> None:
        self.old = old
        self.new = new

    def compare(self, before: Schema, after: Schema, path: str) -> Iterator[str]:
        """Yield what is narrower in ``after``."""
        before, after = _resolved(before, self.old), _resolved(after, self.new)
        if after is True or before is False:
            return
        if after is False:
            yield f"{path}: nothing is accepted any more"
            return
        before = {} if before is True else before
        if "anyOf" in before or "anyOf" in after:
            yield from self._alternatives(before, after, path)
            return
        yield from _types(before, after, path)
        yield from _choices(before, after, path)
        yield from _bounds(before, after, path)
        yield from _rules(before, after, path)
        yield from self._object(before, after, path)
        if "items" in after:
            yield from self.compare(before.get("items", True), after["items"], f"{path}[]")

    def conditional(self, before: Schema, after: Schema, whole: Schema, path: str) -> Iterator[str]:
        """Yield what a condition forbids now and did not; what the ``whole`` schema never had cannot be missed."""
        whole = _plain(_resolved(whole, self.old))
        if after is False:
            if before is not False:
                yield f"{path}: nothing is accepted any more"
            return
        before = before if isinstance(before, dict) else {}
        yield from _bounds(before, after, path)
        refused = set(after.get("not", {}).get("enum", ())) - set(before.get("not", {}).get("enum", ()))
        for value in sorted(refused & set(whole.get("enum", ()))):
            yield f"{path}: {value!r} is not accepted any more"
        for name, inner in after.get("properties", {}).items():
            if name in whole.get("properties", {}):
                earlier = before.get("properties", {}).get(name, {})
                yield from self.conditional(earlier, inner, whole["properties"][name], f"{path}.{name}")
        for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
            if isinstance(after.get(key), dict):
                yield from self.conditional(before.get(key, {}), after[key], whole.get(key, {}), path + mark)

    def _alternatives(self, before: Schema, after: Schema, path: str) -> Iterator[str]:
        after_options = after.get("anyOf", [after])
        for option in before.get("anyOf", [before]):
            answers = [list(self.compare(option, other, path)) for other in after_options]
            if all(answers):
                yield from min(answers, key=len)

    def _object(self, before: Schema, after: Schema, path: str) -> Iterator[str]:
        for name in after.get("required", ()):
            if name not in before.get("required", ()):
                yield f"{path}.{name}: it is required now"
        properties = after.get("properties", {})
        rest = after.get("additionalProperties", True)
        for name, inner in before.get("properties", {}).items():
            if name not in properties and rest is False:
                yield f"{path}.{name}: the field is gone"
            else:
                yield from self.compare(inner, properties.get(name, rest), f"{path}.{name}")
        earlier = before.get("additionalProperties", True)
        if rest is False and earlier is not False:
            yield f"{path}: fields of any other name are not accepted any more"
        elif isinstance(rest, dict) and earlier is not False:
            yield from self.compare(earlier, rest, f"{path}.*")


def _resolved(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    while isinstance(schema, dict) and "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/$defs/")]
    return schema


def _plain(schema: Schema) -> Schema:
    """Return the alternative that is not null."""
    return next((option for option in schema.get("anyOf", ()) if option.get("type") != "null"), schema)


def _types(before: Schema, after: Schema, path: str) -> Iterator[str]:
    if "type" not in after:
        return
    now = set(_listed(after["type"]))
    now |= {"integer"} if "number" in now else set()
    if "type" not in before:
        if "enum" not in before and "const" not in before:
            yield f"{path}: only {' or '.join(sorted(now))} is accepted now"
        return
    for each in sorted(set(_listed(before["type"])) - now):
        yield f"{path}: {each} is not accepted any more"


def _listed(types: Any) -> list[str]:
    return types if isinstance(types, list) else [types]


def _values(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _choices(before: Schema, after: Schema, path: str) -> Iterator[str]:
    earlier, now = _values(before), _values(after)
    if now is None:
        return
    if earlier is None:
        yield f"{path}: only {', '.join(map(repr, now))} is accepted now"
        return
    for value in earlier:
        if value not in now:
            yield f"{path}: {value!r} is not accepted any more"


def _bounds(before: Schema, after: Schema, path: str) -> Iterator[str]:
    for key in _LOW:
        if key in after and before.get(key, float("-inf")) < after[key]:
            yield f"{path}: {key} rises from {before.get(key, 'none')} to {after[key]}"
    for key in _HIGH:
        if key in after and before.get(key, float("inf")) > after[key]:
            yield f"{path}: {key} falls from {before.get(key, 'none')} to {after[key]}"
    if "pattern" in after and after["pattern"] != before.get("pattern"):
        yield f"{path}: the pattern is another, {after['pattern']}"
    if after.get("uniqueItems") and not before.get("uniqueItems"):
        yield f"{path}: items must differ now"


def _rules(before: Schema, after: Schema, path: str) -> Iterator[str]:
    for rule in after.get("allOf", ()):
        if rule not in before.get("allOf", ()):
            yield f"{path}: a rule is new, {json.dumps(rule, sort_keys=True)}"
    for key in ("not", "propertyNames"):
        if key in after and after[key] != before.get(key):
            yield f"{path}: {key} is new or another, {json.dumps(after[key], sort_keys=True)}"
