"""The small language of the cloud tables: text with placeholders, so that a new cloud is data.

``"{in.vpcId}"`` alone gives the value, inside other text its text form. A dotted path follows objects and lists.
``{hex:17}`` and ``{digits:12}`` give stable pseudo-random text per resource; a second argument (``{hex:8:key}``) makes
another one. ``{address:203.0.113}`` completes an IPv4 address. ``{"$first": [...]}`` takes the first that is not null,
``{"$find": {"type", "property", "equals", "take"}}`` reads a value of another live resource, ``{"$next": "path"}``
counts one up from the old outputs, ``{"$each": "{in.list}", "as": {...}}`` maps a list (the item is ``{item}``). Null
members vanish.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from automation.rehearsal.wire import lookup

_PLACEHOLDER: Final = re.compile(r"\{([a-z]+)(?:[.:]([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Context:
    """What a template can see: named values (``id``, ``name``, ``region``, ``in``, ``out`` ...), a seed, the cloud."""

    values: Mapping[str, Any]
    seed: str
    find: Callable[[str], Iterable[Mapping[str, Any]]] = field(default=lambda _: ())

    def render(self, template: Any) -> Any:  # noqa: PLR0911 - one return per form of the language
        """Fill in a template."""
        match template:
            case str():
                return self._text(template)
            case {"$first": list(options)}:
                return next((value for option in options if (value := self.render(option)) is not None), None)
            case {"$next": name}:
                return int(lookup(self.values.get("old"), name) or 0) + 1
            case {"$each": items, "as": shape}:
                return [self._with(item=item).render(shape) for item in self.render(items) or ()]
            case {"$find": query}:
                return self._find(query)
            case dict():
                filled = {key: self.render(value) for key, value in template.items()}
                return {key: value for key, value in filled.items() if value is not None}
            case list():
                return [value for item in template if (value := self.render(item)) is not None]
            case _:
                return template

    def _with(self, **extra: Any) -> "Context":
        return Context({**self.values, **extra}, self.seed, self.find)

    def _find(self, query: Mapping[str, Any]) -> Any:
        wanted = self.render(query["equals"])
        if wanted is None:
            return None
        for outputs in self.find(query["type"]):
            if lookup(outputs, query["property"]) == wanted:
                return lookup(outputs, query["take"])
        return None

    def _text(self, template: str) -> Any:
        whole = _PLACEHOLDER.fullmatch(template)
        if whole:
            return self._value(whole[1], whole[2] or "")
        missing = False

        def fill(match: re.Match[str]) -> str:
            nonlocal missing
            value = self._value(match[1], match[2] or "")
            missing = missing or value is None
            return str(value)

        text = _PLACEHOLDER.sub(fill, template)
        return None if missing else text

    def _value(self, name: str, argument: str) -> Any:
        if name in {"hex", "digits", "address"}:
            first, _, salt = argument.partition(":")
            digest = hashlib.sha256(f"{self.seed}/{salt}".encode()).hexdigest()
            if name == "hex":
                return digest[: int(first)]
            if name == "digits":
                return str(int(digest, 16))[-int(first) :]
            missing = 4 - len(first.split("."))
            return ".".join([first, *(str(1 + int(digest[2 * i : 2 * i + 2], 16) % 254) for i in range(missing))])
        value = self.values.get(name)
        return lookup(value, argument) if argument else value
