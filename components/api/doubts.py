"""Single values that say something else than they seem to: placeholders of other tools, spellings read differently.

kubectl reads YAML 1.1 with the extensions of Go's numbers, manifests here are YAML 1.2. Where the two understand a
value differently, a manifest would mean one thing here and another in the predecessor.
"""

import re
from dataclasses import dataclass
from typing import Final

from components.api.nodes import ScalarNode

_HELM: Final = "render the chart with `helm template`, and keep its output here instead"
_FILLED: Final = "fill it in first, with `envsubst` or by hand"

_PLACEHOLDERS: Final = (
    (re.compile(r"\{\{"), "a Helm template; manifests hold no `{{ ... }}`", _HELM),
    (re.compile(r"\{%|<%"), "a template; manifests hold no `{% ... %}` and no `<% ... %>`", "render it first"),
    (
        re.compile(r"\$\{[A-Za-z_][^${}]{0,200}\}|^\$[A-Z_][A-Z0-9_]*$"),
        "a placeholder that nothing has filled in",
        _FILLED,
    ),
    (
        re.compile(r"\$\([A-Za-z_][\w.-]*\)"),
        "a variable, and nothing here replaces it",
        "write the value; Kubernetes replaces `$(NAME)` in a container's command, args and env alone",
    ),
    (re.compile(r"^<[A-Za-z][\w .-]*>$"), "a placeholder", "write the value in its place, without the `<` and `>`"),
)
_LONGEST: Final = 2000  # characters in which a placeholder is looked for
_LONGEST_NUMBER: Final = 40  # digits; no field takes as many
_SIGNS: Final = frozenset("{$<")
_FREE: Final = frozenset({"args", "command", "value", "cel", "description", "message", "annotations"})
_DOUBTFUL: Final = frozenset("0123456789+-yYnNoO")
_BOOLEANS: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
}
_OCTAL: Final = re.compile(r"[-+]?0[0-7]+")
_OTHER_BASE: Final = re.compile(r"0[xo][0-9a-fA-F]+|[-+]?0[0-9]+")
_UNDERSCORED: Final = re.compile(r"[-+]?[0-9]+(?:_[0-9]*)+")
_BINARY: Final = re.compile(r"[-+]?0b[01_]+")


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is to be said of a value: ``message`` follows nothing, ``help`` has what to write."""

    message: str
    help: str


def template(text: str) -> Doubt | None:
    """Say for which tool a text is a template; None when it is none."""
    text = text[:_LONGEST]
    if _SIGNS.isdisjoint(text):
        return None
    for pattern, what, advice in _PLACEHOLDERS:
        if pattern.search(text):
            return Doubt(f"this is {what}", advice)
    return None


def may_be_program(name: str) -> bool:
    """Whether a field holds the text of a program or a sentence, where such signs are at home."""
    return name in _FREE


def spelling(node: ScalarNode) -> Doubt | None:
    """Say how a value without quotes is read, where readers differ or a person would not see it."""
    text, value = node.text, node.value
    if node.style or not text or len(text) > _LONGEST_NUMBER or text[0] not in _DOUBTFUL:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return _number(text, value)
    if not isinstance(value, str):
        return None
    other = _BOOLEANS.get(text, "")
    if not other and _UNDERSCORED.fullmatch(text):
        other = f"the number {text.replace('_', '')}"
    if not other and _BINARY.fullmatch(text):
        other = f"the number {int(text.replace('_', ''), 2)}"
    return Doubt(f"`{text}` is text here, and {other} to kubectl", f'put it in quotes: "{text}"') if other else None


def _number(text: str, value: int) -> Doubt | None:
    if _OCTAL.fullmatch(text) and int(text, 8) != value:
        other = int(text, 8)
        return Doubt(f"`{text}` is {value} here, and {other} to kubectl", f"write {value}, or {other} if that is meant")
    if _OTHER_BASE.fullmatch(text):
        return Doubt(f"`{text}` is the number {value}", f"write {value}")
    return None
