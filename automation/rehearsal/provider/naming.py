"""Names of resources: what the engine's providers make up when none is given, and what a service accepts.

A made-up name is the logical name, a dash and seven hexadecimal digits; it is kept from then on (``__defaults`` in the
inputs says so, as in the real providers). Nothing is tidied up: a logical name with characters that the service refuses
is refused here, too.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from automation.rehearsal.provider.check import Failure
from automation.rehearsal.wire import Unknown, plain

DEFAULTS: Final = "__defaults"
AUTONAMED: Final = "pulumi.com/autonamed"
_DIGITS: Final = 7


def by_convention(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    """Guess the naming of a type that no table knows: an optional ``name`` that is a string is made up."""
    found = rules["inputs"].get("name")
    return {"property": "name", "auto": True} if found and found[0] == "str" and not found[1] else {}


def assign(
    logical: str, rule: Mapping[str, Any], olds: Mapping[str, Any], news: dict[str, Any], seed: bytes
) -> tuple[dict[str, Any], Sequence[Failure]]:
    """Give inputs their name and check it; ``rule`` has ``property``, ``auto``, ``max``, ``pattern`` and ``wants``."""
    prop = rule.get("property")
    if not prop:
        return news, ()
    if news.get(prop) is None and rule.get("auto") and not (rule.get("prefix") and news.get(rule["prefix"])):
        kept = olds.get(prop) if prop in (olds.get(DEFAULTS) or ()) else None
        news = {**news, prop: kept or f"{logical}-{_suffix(logical, seed)}", DEFAULTS: [prop]}
    name = plain(news.get(prop))
    if not isinstance(name, str) or isinstance(news.get(prop), Unknown):
        return news, ()
    if "max" in rule and len(name) > rule["max"]:
        return news, [Failure(prop, f"the name {name!r} has {len(name)} characters, at most {rule['max']} are allowed")]
    if "pattern" in rule and not re.fullmatch(rule["pattern"], name):
        return news, [Failure(prop, f"the name {name!r} is not valid: {rule.get('wants', rule['pattern'])}")]
    return news, ()


def _suffix(logical: str, seed: bytes) -> str:
    return hashlib.sha256(seed + logical.encode()).hexdigest()[:_DIGITS]
