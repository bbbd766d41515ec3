"""What the real provider makes of an object's inputs when it checks them, so that what means the same looks the same.

As pulumi-kubernetes 4.25.0 does it (``normalizeInputs`` in ``pkg/provider/provider.go``): a kind that Kubernetes' own
Go types know is read into its type and written again, and what comes out goes into the state and into every diff.
Nothing is done while a value is unknown, nor to custom resources.

Limit: single values that the types leave out because they are zero (``hostNetwork: false``) stay; which of them do so
is not in the SDK's classes.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from automation.rehearsal.provider.kinds import Kind
from automation.rehearsal.wire import Secret, has_unknown, plain

_UNDERSCORED: Final = "x_kubernetes_"
"""How the SDK writes the beginning of a schema's extensions, whose names no Python name can be."""

_AMOUNTS: Final = frozenset({"requests", "limits", "hard", "capacity"})
"""Maps of quantities."""
_AMOUNT: Final = frozenset({"sizeLimit"})

_SECRET: Final = "/Secret"  # noqa: S105 (a kind)
_DEFINITION: Final = "apiextensions.k8s.io/CustomResourceDefinition"


def normal_inputs(kind: Kind, inputs: dict[str, Any], rules: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return ``inputs`` as the real provider would; ``rules`` are the SDK's, None for a kind that it does not know."""
    named: dict[str, Any] = _dashed(inputs)
    if not rules or has_unknown(named):
        return named
    if kind.key == _SECRET:
        return _secret(named)
    if kind.key == _DEFINITION:
        return _definition(named)
    return _fields(named, rules["inputs"], rules["objects"])


def _dashed(value: Any) -> Any:
    match value:
        case Secret():
            return Secret(_dashed(value.value))
        case dict():
            return {
                key.replace("_", "-") if key.startswith(_UNDERSCORED) else key: _dashed(item)
                for key, item in value.items()
            }
        case list():
            return [_dashed(item) for item in value]
        case _:
            return value


def _secret(inputs: dict[str, Any]) -> dict[str, Any]:
    """Write texts as the API server will keep them."""
    texts = plain(inputs.get("stringData"))
    if not texts:
        return inputs
    encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
    data = Secret({**(plain(inputs.get("data")) or {}), **encoded})
    return {**{key: value for key, value in inputs.items() if key != "stringData"}, "data": data}


def _definition(inputs: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the API server drops."""
    spec = inputs.get("spec")
    if isinstance(spec, dict) and spec.get("preserveUnknownFields") is False:
        inputs = {**inputs, "spec": {key: value for key, value in spec.items() if key != "preserveUnknownFields"}}
    return {key: value for key, value in inputs.items() if key != "status"}


def _fields(bag: Mapping[str, Any], fields: Mapping[str, Any], objects: Mapping[str, Any]) -> dict[str, Any]:
    """Write the properties of a type again; a list or map with nothing in it is left out, unless it is required."""
    found = {}
    for key, value in bag.items():
        rule, required = fields.get(key, ("any", True))
        made = _value(key, value, rule, objects)
        if required or plain(made) not in ([], {}) or any("object" in each for each in _members(rule)):
            found[key] = made
    return found


def _value(key: str, value: Any, rule: Any, objects: Mapping[str, Any]) -> Any:
    if isinstance(value, Secret):
        return Secret(_value(key, value.value, rule, objects))
    if isinstance(value, str) and key in _AMOUNT:
        return _amount(value)
    for member in _members(rule):
        match member:
            case {"object": name} if isinstance(value, dict):
                return _fields(value, objects[name], objects)
            case {"list": item} if isinstance(value, list):
                return [_value("", each, item, objects) for each in value]
            case {"map": item} if isinstance(value, dict):
                amounts = key in _AMOUNTS
                return {
                    name: _amount(each) if amounts and isinstance(each, str) else _value("", each, item, objects)
                    for name, each in value.items()
                }
    return value


def _members(rule: Any) -> Sequence[Any]:
    """Give the types that a value may have."""
    members: Sequence[Any] = rule["union"] if isinstance(rule, dict) and "union" in rule else (rule,)
    return members


def _amount(text: str) -> str:
    """Write a quantity in its canonical form; what is none is left to the API server to refuse."""
    from components.cel.quantity import Quantity, QuantityError  # noqa: PLC0415 (a provider starts without it)

    try:
        return str(Quantity.parse(text))
    except QuantityError:
        return text
