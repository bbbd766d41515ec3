"""An example for every field, cut out of example manifests. PURE: the caller reads them."""

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from components.api.compose import compose, resolve
from components.api.nodes import MappingNode, Node, SequenceNode, plain


class _Dumper(yaml.SafeDumper):
    """Writes lists as people do, indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
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

    ``path`` is that of a field (``spec.nodePools[].name``). Empty when no manifest has it.
    """
    parts = path.split(".")
    for manifest in manifests:
        for node in compose("", manifest.encode()).documents:
            if isinstance(node, MappingNode) and node.text("kind") == kind:
                for found in _cut(node, parts):
                    return as_yaml(found)
    return ""


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
