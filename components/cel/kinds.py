"""The run-time type of a value, and whether a value fits a declared argument type.

At run time a list or map argument is judged by its first entry only, as upstream does.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.semver import Semver
from components.cel.types import Kind, Type
from components.cel.values import (
    NOTHING,
    Accumulator,
    Cell,
    CelMap,
    Cidr,
    ConcatList,
    DomainMap,
    Duration,
    IpAddress,
    MapAccumulator,
    NamedFormat,
    Opt,
    StringMap,
    Timestamp,
    TypeValue,
    UInt,
    Url,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_NAMES: Final[dict[type, str]] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type",
    list: "list", ConcatList: "list", Accumulator: "list", CelMap: "map", MapAccumulator: "map", DomainMap: "map",
    StringMap: "map", Cell: "kubernetes.Quantity", Semver: "kubernetes.Semver", Opt: "optional_type",
    type(NOTHING): "optional_type", TypeValue: "type", Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration", IpAddress: "net.IP", Cidr: "net.CIDR", Url: "kubernetes.URL",
    NamedFormat: "kubernetes.NamedFormat",
}  # fmt: skip


def type_name(value: Value) -> str:
    """Name the type of a value."""
    return _NAMES[type(value)]


def fits(value: Value, declared: Type) -> bool:
    """Tell whether a value may be passed where the type is declared."""
    kind = declared.kind
    if kind is Kind.PARAM or kind is Kind.DYN:
        return True
    if _NAMES[type(value)] != declared.name:
        return False
    if kind is Kind.LIST:
        assert isinstance(value, list)
        return not value or fits(value[0], declared.params[0])
    if kind is Kind.MAP:
        assert isinstance(value, CelMap)
        if not value:
            return True
        key, entry = next(iter(value.values()))
        return fits(key, declared.params[0]) and fits(entry, declared.params[1])
    return True


def size_of(value: Value) -> int:
    """Give the size that costs are counted by: characters, bytes or entries, and 1 for everything else."""
    if isinstance(value, Opt):
        return size_of(value.value)
    return own_size(value)


def own_size(value: Value) -> int:
    """Give the size of a value itself; addresses count their bytes, a block the bytes of its prefix."""
    if isinstance(value, str | bytes | list | CelMap):
        return len(value)
    if isinstance(value, IpAddress):
        return 4 if value.family == 4 else 16
    if isinstance(value, Cidr):
        return (value.prefix + 7) // 8
    return 1
