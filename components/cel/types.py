"""The types of the checker: primitives, lists, maps, optionals, type parameters and the objects of Kubernetes.

A type is an immutable tree compared by structure. ``dyn`` and ``any`` are different types that are assignable to and
from everything; ``error`` marks a sub-expression that already has a problem, so that one mistake gives one message.
"""

from __future__ import annotations

from components.cel.problem import SelectorError
from components.cel.record import Record, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


MAX_SIZE: Final = 1_000


class Kind:
    """The categories of types: words that are compared by identity."""

    ANY: Final = "any"
    BOOL: Final = "bool"
    BYTES: Final = "bytes"
    DOUBLE: Final = "double"
    DURATION: Final = "duration"
    DYN: Final = "dyn"
    ERROR: Final = "error"
    INT: Final = "int"
    LIST: Final = "list"
    MAP: Final = "map"
    NULL: Final = "null"
    OPAQUE: Final = "opaque"
    STRING: Final = "string"
    STRUCT: Final = "struct"
    TIMESTAMP: Final = "timestamp"
    TYPE: Final = "type"
    PARAM: Final = "param"
    UINT: Final = "uint"


class Type(Record):
    """One type.

    ``nullable`` marks the wrapper types of protobuf, which also take null; ``generic`` tells that a type parameter
    occurs in it, ``whole`` that its name says all of it. ``size`` counts its parts as a tree, however often they are
    the same ones.
    """

    __slots__ = ("generic", "kind", "name", "nullable", "params", "size", "whole")

    kind: str
    name: str
    params: tuple[Type, ...]
    nullable: bool
    generic: bool
    whole: bool
    size: int

    def __init__(self, kind: str, name: str, params: tuple[Type, ...] = (), *, nullable: bool = False) -> None:
        put(self, "kind", kind)
        put(self, "name", name)
        put(self, "params", params)
        put(self, "nullable", nullable)
        generic = kind is Kind.PARAM
        size = 1
        for one in params:
            generic = generic or one.generic
            size += one.size
        if size > MAX_SIZE:
            raise SelectorError("unsupported", f"a type with more than {MAX_SIZE} parts is not checked")
        put(self, "size", size)
        put(self, "generic", generic)
        put(self, "whole", not (params or generic or nullable))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Type):
            return NotImplemented
        return self.kind is other.kind and self.name == other.name and self.params == other.params

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.params))

    def __str__(self) -> str:
        """Write as the language's own messages do."""
        if self.kind is Kind.PARAM:
            return f"<{self.name}>"
        if self.params:
            return f"{self.name}({', '.join(str(param) for param in self.params)})"
        return f"wrapper({self.name})" if self.nullable else self.name


ANY: Final = Type(Kind.ANY, "any")
BOOL: Final = Type(Kind.BOOL, "bool")
BYTES: Final = Type(Kind.BYTES, "bytes")
DOUBLE: Final = Type(Kind.DOUBLE, "double")
DURATION: Final = Type(Kind.DURATION, "google.protobuf.Duration")
DYN: Final = Type(Kind.DYN, "dyn")
ERROR: Final = Type(Kind.ERROR, "*error*")
INT: Final = Type(Kind.INT, "int")
NULL: Final = Type(Kind.NULL, "null_type")
STRING: Final = Type(Kind.STRING, "string")
TIMESTAMP: Final = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
UINT: Final = Type(Kind.UINT, "uint")

QUANTITY: Final = Type(Kind.STRUCT, "kubernetes.Quantity")
SEMVER: Final = Type(Kind.STRUCT, "kubernetes.Semver")
DEVICE: Final = Type(Kind.STRUCT, "kubernetes.DRADevice")
URL: Final = Type(Kind.STRUCT, "kubernetes.URL")
FORMAT: Final = Type(Kind.STRUCT, "kubernetes.NamedFormat")
IP: Final = Type(Kind.OPAQUE, "net.IP")
CIDR: Final = Type(Kind.OPAQUE, "net.CIDR")

_OPTIONAL: Final = "optional_type"


def list_of(element: Type) -> Type:
    """Make a list type."""
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Make a map type."""
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """Make an optional type."""
    return Type(Kind.OPAQUE, _OPTIONAL, (value,))


def type_of(value: Type | None = None) -> Type:
    """Make the type of a type."""
    return Type(Kind.TYPE, "type", () if value is None else (value,))


def param(name: str) -> Type:
    """Make a type parameter."""
    return Type(Kind.PARAM, name)


def is_dyn(value: Type) -> bool:
    """Tell whether the type switches checking off."""
    return value.kind is Kind.DYN or value.kind is Kind.ANY


def is_optional(value: Type) -> bool:
    """Tell whether the type is an optional."""
    return value.kind is Kind.OPAQUE and value.name == _OPTIONAL


def unwrap(value: Type) -> tuple[Type, bool]:
    """Strip one optional and tell whether there was one."""
    return (value.params[0], True) if is_optional(value) else (value, False)


def equivalent(left: Type, right: Type) -> bool:
    """Compare structure and names, treating all type parameters as the same."""
    if left.kind is not right.kind or len(left.params) != len(right.params):
        return False
    if left.kind is not Kind.PARAM and left.name != right.name:
        return False
    for mine, theirs in zip(left.params, right.params, strict=True):  # noqa: SIM110 - all() costs a frame a level
        if not equivalent(mine, theirs):
            return False
    return True
