"""Derive the input rules of resource types from an SDK's own classes, as JSON.

The SDK packages ship no schema, but their classes hold it: argument classes know required, optional and nested
properties with their wire names and types; resource classes know the outputs. Importing them is slow (seconds, and
hundreds of megabytes for a whole cloud), so this module is never imported by a serving provider: it runs once, as a
program of its own (``python -m automation.rehearsal.derive``), and leaves one small file per type that serving
processes read.

A type is written as ``"str" | "int" | "float" | "bool" | "any" | "asset"`` or an object with one of the keys ``list``,
``map``, ``object`` (a name in ``objects``), ``union``, ``literal`` (the values allowed). Limits: an enum that the SDK
also lets be a plain string accepts any string; there are no value ranges and no rules between properties.
"""

import argparse
import enum
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from automation.rehearsal.provider.rules import file_name

_REGISTER: Final = re.compile(r'resource_modules="""(.*?)"""', re.DOTALL)


def module_name(package: str) -> str:
    """Name the Python package of a Pulumi package (``azure-native`` is ``pulumi_azure_native``)."""
    return "pulumi_" + package.replace("-", "_")


def write_rules(package: str, tokens: Iterable[str], folder: Path) -> None:
    """Derive and store the rules of the given types; a type that the SDK does not have is stored as ``null``."""
    folder.mkdir(parents=True, exist_ok=True)
    classes = _classes(package)
    for token in sorted(set(tokens)):
        path = folder / file_name(token)
        if not path.exists():
            scratch = path.with_suffix(f".{os.getpid()}")
            scratch.write_text(json.dumps(_rules(package, token, classes), sort_keys=True, separators=(",", ":")))
            scratch.replace(path)


def _classes(package: str) -> dict[str, tuple[str, str]]:
    """Read which class stands for which type token from the package's registration block, without importing it."""
    spec = importlib.util.find_spec(module_name(package))
    if spec is None or spec.origin is None:
        raise SystemExit(f"the Python package {module_name(package)} is not installed")
    block = _REGISTER.search(Path(spec.origin).read_text(encoding="utf-8"))
    modules = json.loads(block.group(1)) if block else []
    return {token: (module["fqn"], name) for module in modules for token, name in module["classes"].items()}


def _rules(package: str, token: str, classes: Mapping[str, tuple[str, str]]) -> dict[str, Any] | None:
    if token == f"pulumi:providers:{package}":
        where = (module_name(package), "Provider")
    elif token in classes:
        where = classes[token]
    else:
        return None
    resource = getattr(importlib.import_module(where[0]), where[1], None)
    if resource is None:
        return None
    namespace = vars(sys.modules[resource.__module__])
    arguments = namespace.get(f"{where[1]}InitArgs") or namespace.get(f"{where[1]}Args")
    if arguments is None:
        return None
    writer = _Writer()
    inputs = writer.fields(arguments)
    outputs = writer.outputs(resource)
    writer.settle()
    return {"inputs": inputs, "outputs": outputs, "objects": writer.objects}


class _Writer:
    """Writes type expressions and collects the nested object types they name."""

    def __init__(self) -> None:
        from pulumi import Output, _types  # noqa: PLC0415 - slow, and only this program needs it

        self.objects: dict[str, Any] = {}
        self._types: Any = _types
        self._output = Output
        self._pending: list[type] = []

    def settle(self) -> None:
        """Write the objects named so far, and those they name, until none is left."""
        while self._pending:
            cls = self._pending.pop()
            self.objects[self._name(cls)] = self.fields(cls) if self._types.is_input_type(cls) else self.outputs(cls)

    def fields(self, cls: Any) -> dict[str, Any]:
        """Write the properties of an argument class: wire name to type and whether it is required."""
        parameters = inspect.signature(cls.__init__).parameters
        required = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
        hints = self._types._raw_return_hints(cls)  # noqa: SLF001 - the SDK has no public way to its own types
        return {
            wire: [self.expression(hints.get(wire, Any)), name in required]
            for name, wire in self._types.input_type_py_to_pulumi_names(cls).items()
        }

    def outputs(self, cls: Any) -> dict[str, Any]:
        """Write the output properties of a resource or output class: wire name to type and whether it is always set."""
        hints = self._types._raw_return_hints(cls)  # noqa: SLF001 - as above
        return {
            wire: [self.expression(hint), not self._optional(hint)] for wire, hint in hints.items() if wire != "urn"
        }

    def _optional(self, hint: Any) -> bool:
        if typing.get_origin(hint) is self._output:
            hint = typing.get_args(hint)[0]
        return bool(self._types._is_optional_type(hint))  # noqa: SLF001 - as above

    def _name(self, cls: type) -> str:
        return f"{cls.__module__.rpartition('.')[0]}.{cls.__name__}".removeprefix("pulumi_")

    def _object(self, cls: type) -> dict[str, Any]:
        name = self._name(cls)
        if name not in self.objects:
            self.objects[name] = None
            self._pending.append(cls)
        return {"object": name}

    def expression(self, hint: Any) -> Any:  # noqa: PLR0911 - one return per kind of type
        """Write one type."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is self._output:
            return self.expression(arguments[0])
        if origin is typing.Literal:
            return {"literal": list(arguments)}
        if self._types._is_union_type(hint):  # noqa: SLF001 - as above
            return self._union(arguments)
        if origin in (list, Sequence):
            return {"list": self.expression(arguments[0])}
        if origin in (dict, Mapping):
            return {"map": self.expression(arguments[1])}
        if not inspect.isclass(hint):
            return "any"
        simple = {str: "str", bool: "bool", int: "int", float: "float", dict: {"map": "any"}, list: {"list": "any"}}
        if hint in simple:
            return simple[hint]
        if issubclass(hint, enum.Enum):
            return {"literal": [member.value for member in hint]}
        if self._types.is_input_type(hint) or self._types.is_output_type(hint):
            return self._object(hint)
        return "asset" if hint.__name__ in {"Asset", "Archive"} else "any"

    def _union(self, arguments: tuple[Any, ...]) -> Any:
        members = [
            argument
            for argument in arguments
            if argument is not type(None) and not self._types._is_plumbing_arg(argument)  # noqa: SLF001 - as above
        ]
        if any(self._types.is_input_type(member) for member in members if inspect.isclass(member)):
            members = [member for member in members if typing.get_origin(member) not in (dict, Mapping)]
        written: list[Any] = []
        for member in members:
            expression = self.expression(member)
            if expression not in written:
                written.append(expression)
        if not written or "any" in written:
            return "any"
        return written[0] if len(written) == 1 else {"union": written}


def main() -> None:
    """Derive the rules of the types named on the command line."""
    parser = argparse.ArgumentParser(description="Derive input rules of resource types from an SDK's classes.")
    parser.add_argument("package")
    parser.add_argument("folder", type=Path)
    parser.add_argument("tokens", nargs="+")
    arguments = parser.parse_args()
    write_rules(arguments.package, arguments.tokens, arguments.folder)


if __name__ == "__main__":
    main()
