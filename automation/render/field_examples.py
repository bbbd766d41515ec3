"""An example for every field, cut out of example manifests. PURE: the caller reads them."""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from components.api.base import Model
from components.api.compose import compose, resolve
from components.api.kinds import ALL_KINDS
from components.api.nodes import MappingNode, Node, SequenceNode, plain
from components.api.shape import shape


class _Dumper(yaml.SafeDumper):
    """Writes lists as people do, indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 (PyYAML's)
        """Indent a list too."""
        super().increase_indent(flow=flow, indentless=False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Quote what YAML 1.2 would not read as text, and write lines as lines."""
    try:
        quoted = not isinstance(resolve(text), str)
    except ValueError:
        quoted = True
    style = "|" if "\n" in text else '"' if quoted else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def example_of(kind: str, path: str, manifests: Sequence[str]) -> str:
    """Return YAML that shows a field where it stands in a document; the first manifest that has it gives it.

    ``path`` is that of a field (``spec.nodePools[].name``). An object that several fields hold, such as a probe, need
    not be shown in each of them: what another one has is shown at this place. Empty when no manifest has either.
    """
    documents = [node for manifest in manifests for node in compose("", manifest.encode()).documents]
    nodes = [node for node in documents if isinstance(node, MappingNode) and node.text("kind") == kind]
    for place in (path, *_twins(kind, path)):
        for node in nodes:
            for found in _cut(node, place.split(".")):
                return as_yaml(found if place == path else _moved(found, place, path))
    return ""


def _twins(kind: str, path: str) -> Iterator[str]:
    """Yield the other paths of a kind at which the same field of the same object stands."""
    places = list(_places(ALL_KINDS[kind], ""))
    own = [(model, name) for place, model, name in places if place == path]
    yield from (place for place, model, name in places if (model, name) in own and place != path)


def _places(model: type[Model], path: str) -> Iterator[tuple[str, type[Model], str]]:
    """Yield the path of every field, with the model that has it and its name there."""
    for name, field in shape(model).items():
        here = f"{path}.{name}" if path else name
        yield here, model, name
        if field.model is not None:
            yield from _places(field.model, here + {"list": "[]", "map": ".*"}.get(field.container, ""))


def _moved(found: Any, place: str, path: str) -> Any:
    """Take a value out of what leads to it at one path, and put it in what leads to it at another."""
    for part in place.split("."):
        found = next(iter(found.values()))
        found = found[0] if part.endswith("[]") else found
    for part in reversed(path.split(".")):
        key = part.removesuffix("[]") if part != "*" else "name"
        found = {key: [found] if part.endswith("[]") else found}
    return found


def as_yaml(value: Any) -> str:
    """Write plain data as a person would."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=100)
    return text.rstrip("\n")


def _cut(node: Node, parts: Sequence[str]) -> Iterator[Any]:
    """Yield what stands at a path, in the mappings and lists that lead to it; the first is the one to show."""
    if not parts:
        yield plain(node)
        return
    name, rest = parts[0], parts[1:]
    if not isinstance(node, MappingNode):
        return
    for key in node.entries if name == "*" else [name.removesuffix("[]")]:
        value = node.get(key)
        if name.endswith("[]") and isinstance(value, SequenceNode):
            for item in value.items:
                yield from ({key: [inner]} for inner in _cut(item, rest))
        elif value is not None:
            yield from ({key: inner} for inner in _cut(value, rest))
