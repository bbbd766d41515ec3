"""The price list of calls for the worst-case estimate: what each overload costs, and how large its result may be."""


# ruff: noqa: PLR0917 - inner functions of a hot path

from __future__ import annotations

import math
from functools import cache

from components.cel.sizes import (
    LIST_COST,
    MAX,
    NOWHERE,
    STRING_FACTOR,
    STRUCT_COST,
    UNKNOWN,
    Node,
    Path,
    Size,
    add,
    declared_size,
    multiply,
    scaled,
    union,
)
from components.cel.syntax import Call, Literal
from components.cel.types import CIDR, FORMAT, IP, QUANTITY, SEMVER, URL, Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, Protocol, TypeAlias

    from components.cel.syntax import Expr

    class Coster(Protocol):
        """What the price list asks of the estimate."""

        def size_of(self, node: Expr | Node) -> Size:
            """Give the size of an expression, or the widest bounds."""

        def join_entries(self, node: Expr, left: Expr, right: Expr) -> None:
            """Keep what holds for the entries of both operands."""


Price: TypeAlias = "tuple[int, Size | None]"
_Pricer: TypeAlias = "Callable[[str, Node | None, list[Node]], Price | None]"

_REGEX_FACTOR: Final = 0.25
_FORMAT_REGEX: Final = 128
_FORMAT_SIZE: Final = 64
_CHECK_COST: Final = 350_000
_ADDRESS: Final = 16


def call_price(
    coster: Coster,
    node: Call,
    function: str,
    overload: str,
    target: Node | None,
    args: list[Node],
    costs: list[int],
) -> Price:
    """Price one overload of a call: (cost with arguments, size of the result)."""
    total = min(sum(costs), MAX)
    pricer = _pricer(function, overload)
    found = None if pricer is None else pricer(overload, target, args)
    if found is not None:
        return add(found[0], total), found[1]
    if overload in _STANDARD:
        return _standard(coster, node, overload, target, args, costs, total)
    return add(1, total), None


@cache
def _pricer(function: str, overload: str) -> _Pricer | None:
    """Choose what prices an overload; the list and set libraries name overloads, the others functions."""
    if overload.startswith("list_sets_"):
        return _sets
    if overload.startswith("list_flatten"):
        return _flattened
    if overload.endswith(("_sort", "_sortByAssociatedKeys")):
        return _sorted
    return _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)


def _standard(
    coster: Coster,
    node: Call,
    overload: str,
    target: Node | None,
    args: list[Node],
    costs: list[int],
    total: int,
) -> Price:
    """Price the operators and the standard library."""
    sizes = [coster.size_of(arg) for arg in args]
    if overload == "conditional":
        coster.join_entries(node, node.args[1], node.args[2])
        return add(costs[0], max(costs[1], costs[2])), union(sizes[1], sizes[2])
    if overload in _SUMS:
        size = (add(sizes[0][0], sizes[1][0]), add(sizes[0][1], sizes[1][1]))
        coster.join_entries(node, node.args[0], node.args[1])
        price = 1 if overload == "add_list" else scaled(size[1], STRING_FACTOR)
        return add(price, total), size
    if overload in _COMPARED_BY_SIZE:
        return add(scaled(min(sizes[0][1], sizes[1][1]), STRING_FACTOR), total), None
    if overload in _TRAVERSED:
        size = sizes[0]
        return add(scaled(size[1], STRING_FACTOR), total), _TRAVERSED[overload](size)
    if overload == "in_list":
        return add(scaled(sizes[1][1], 1), total), None
    assert target is not None
    owner = coster.size_of(target)
    text = scaled(owner[1], STRING_FACTOR)
    if overload == "contains_string":
        text = multiply(text, scaled(sizes[0][1], STRING_FACTOR))
    elif overload == "matches_string":
        text = multiply(scaled(add(owner[1], 1), STRING_FACTOR), scaled(sizes[0][1], _REGEX_FACTOR))
    return add(text, total), None


_SUMS: Final = frozenset({"add_string", "add_bytes", "add_list"})
_COMPARED_BY_SIZE: Final = frozenset(
    {"equals", "not_equals"}
    | {f"{op}_{kind}" for op in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")}
)
_TRAVERSED: Final[dict[str, Callable[[Size], Size | None]]] = {
    "string_to_bytes": lambda size: (size[0], (size[1] * 4) & MAX),
    "bytes_to_string": lambda size: (size[0] // 4, size[1]),
    "strings_quote": lambda size: ((size[0] + 2) & MAX, (size[1] * 2 + 2) & MAX),
    "starts_with_string": lambda _: None,
    "ends_with_string": lambda _: None,
}
_OWNED: Final = frozenset({"string_format", "matches_string", "contains_string"})
_STANDARD: Final = frozenset({"conditional", "in_list"}) | _SUMS | _COMPARED_BY_SIZE | _TRAVERSED.keys() | _OWNED
"""Overloads of the standard library that do not cost 1."""


def _size(node: Node) -> Size:
    return node.size if node.size is not None else declared_size(node.path) or UNKNOWN


def _constant(node: Node, default: int) -> int:
    if isinstance(node.expr, Literal) and type(node.expr.value) is int:
        return max(0, node.expr.value)
    return default


def _allocated(factor: float, size: Size) -> Price:
    return add(scaled(size[1], factor), 1 + LIST_COST), size


def _sets(overload: str, _target: Node | None, args: list[Node]) -> Price | None:
    factor = 2.0 if "equivalent" in overload else 1.0
    return add(scaled(multiply(_size(args[0])[1], _size(args[1])[1]), factor), 1), None


def _range(_overload: str, _target: Node | None, args: list[Node]) -> Price | None:
    length = _constant(args[0], MAX)
    return _allocated(1, (length, length))


def _slice(_overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    length = (_constant(args[1], _size(target)[1]) - _constant(args[0], 0)) & MAX
    return _allocated(1, (length, length))


def _reversed(_overload: str, target: Node | None, _args: list[Node]) -> Price | None:
    assert target is not None
    return _allocated(1, _size(target))


def _flattened(_overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    return _allocated(float(_constant(args[0], MAX) if args else 1), _size(target))


def _distinct(_overload: str, target: Node | None, _args: list[Node]) -> Price | None:
    assert target is not None
    fewest, most = _size(target)
    return _allocated(2.0, (multiply(fewest, fewest), multiply(most, most)))


def _sorted(overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    fewest, most = _size(args[0] if args else target)
    factor = 2.0 + STRING_FACTOR if overload.startswith(("list_string", "list_bytes")) else 2.0
    return _allocated(factor, (multiply(fewest, fewest), multiply(most, most)))


def _fixed(cost: int) -> _Pricer:
    return lambda _overload, _target, _args: (cost, None)


def _traversal(factor: float, *, sized: bool) -> _Pricer:
    """Price a traversal of the first argument."""

    def price(_overload: str, _target: Node | None, args: list[Node]) -> Price | None:
        size = _size(args[0])
        return scaled(size[1], factor), size if sized else None

    return price


def _owner_traversal(_overload: str, target: Node | None, _args: list[Node]) -> Price | None:
    assert target is not None
    size = _size(target)
    return scaled(size[1], STRING_FACTOR), size


def _selector(_overload: str, _target: Node | None, args: list[Node]) -> Price | None:
    length = _size(args[0])[1]
    requirements = scaled(scaled(length, 0.5), LIST_COST + STRUCT_COST)
    return add(add(LIST_COST, scaled(length, STRING_FACTOR)), requirements), None


def _element(target: Node) -> Node | None:
    if not target.type.params:
        return None
    steps = target.path.steps()
    return Node(Path.of(*steps, "@items") if steps else NOWHERE, target.type.params[0], None, None)


def _list_traversal(_overload: str, target: Node | None, _args: list[Node]) -> Price | None:
    assert target is not None
    element = _element(target)
    if element is None:
        return scaled(_size(target)[1], STRING_FACTOR), None
    each = 1
    if element.type.kind is Kind.STRING or element.type.kind is Kind.BYTES:
        each = add(1, scaled(_size(element)[1], STRING_FACTOR))
    return multiply(_size(target)[1], each), None


def _replace(_overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    size, old, new = _size(target), _size(args[0]), _size(args[1])
    most, kept_most = 0, 0
    if old[0] == 0:
        most, kept_most = min(size[1] + 1, MAX), size[1]
    elif new[1] <= old[0]:
        kept_most = size[1]
    else:
        most = math.ceil(float(size[1]) / float(old[0]))
    fewest, kept_fewest = 0, 0
    if old[1] == 0:
        fewest, kept_fewest = min(size[0] + 1, MAX), size[0]
    elif old[1] <= new[0]:
        kept_fewest = size[0]
    else:
        fewest = math.ceil(float(size[0]) / float(old[1]))
    result = (add(multiply(fewest, new[0]), kept_fewest), add(multiply(min(most, MAX), new[1]), kept_most))
    return scaled(size[1], 2 * STRING_FACTOR), result


def _split(_overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    size = _size(target)
    most = size[1]
    if len(args) > 1 and isinstance(args[1].expr, Literal) and type(args[1].expr.value) is int:
        most = args[1].expr.value & MAX
    return scaled(size[1], 2 * STRING_FACTOR), (0, most)


def _join(_overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    count = _size(target)
    size: Size = (0, 0)
    element = _element(target)
    if element is not None:
        each = _size(element)
        size = (multiply(count[0], each[0]), multiply(count[1], each[1]))
    if args:
        separator = _size(args[0])
        between = (max(count[0] - 1, 0), max(count[1] - 1, 0))
        size = (
            add(size[0], multiply(separator[0], between[0])),
            add(size[1], multiply(separator[1], between[1])),
        )
    return scaled(size[1], STRING_FACTOR), size


def _find(_overload: str, target: Node | None, args: list[Node]) -> Price | None:
    assert target is not None
    size = _size(target)
    text = scaled(add(size[1], 1), STRING_FACTOR)
    return multiply(text, scaled(_size(args[0])[1], _REGEX_FACTOR)), (0, size[1])


def _ip(overload: str, _target: Node | None, args: list[Node]) -> Price | None:
    if overload == "cidr_ip":
        return 1, None
    return (scaled(_size(args[0])[1], STRING_FACTOR), None) if args else None


def _contains_address(*, block: bool) -> _Pricer:
    def price(overload: str, _target: Node | None, args: list[Node]) -> Price | None:
        cost = scaled(2 * _ADDRESS, STRING_FACTOR)
        if block:
            cost += scaled(_ADDRESS, STRING_FACTOR) + 1
        if overload.endswith("_string"):
            cost = add(cost, scaled(scaled(_size(args[0])[1], 1), STRING_FACTOR))
        return cost, None

    return price


def _validate(_overload: str, _target: Node | None, args: list[Node]) -> Price | None:
    return scaled(scaled(_size(args[0])[1], STRING_FACTOR), _FORMAT_REGEX * _REGEX_FACTOR), None


def _equals(_overload: str, _target: Node | None, args: list[Node]) -> Price | None:
    left, right = args
    if left.type.kind not in _OBJECTS or left.type != right.type:
        return None
    if left.type in _PRICED_ONE:
        return 1, None
    if left.type == FORMAT:
        return scaled(_FORMAT_SIZE, STRING_FACTOR), None
    if left.type == URL:
        size = right.size if right.size is not None else (1, 1)
        return scaled(size[1], STRING_FACTOR), None
    return None


def _includes(_overload: str, target: Node | None, _args: list[Node]) -> Price | None:
    return None if target is None else (48, None)


_OBJECTS: Final = frozenset({Kind.OPAQUE, Kind.STRUCT})
_PRICED_ONE: Final = frozenset({QUANTITY, SEMVER, IP, CIDR})
_NOMINAL: Final = (
    "serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength"
    " family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign"
    " asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme"
    " getHostname getHost getPort getEscapedPath getQuery"
)
_BY_OVERLOAD: Final[dict[str, _Pricer]] = {
    "lists_range": _range, "list_slice": _slice, "list_reverse": _reversed, "list_distinct": _distinct,
}  # fmt: skip
_BY_FUNCTION: Final[dict[str, _Pricer]] = {
    **dict.fromkeys(_NOMINAL.split(), _fixed(1)),
    "check": _fixed(_CHECK_COST),
    "fieldSelector": _selector,
    "labelSelector": _selector,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_traversal),
    "url": _traversal(STRING_FACTOR, sized=True),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _owner_traversal),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
        _traversal(STRING_FACTOR, sized=False),
    ),
    "ip": _ip,
    "ip.isCanonical": _traversal(2 * STRING_FACTOR, sized=False),
    "containsIP": _contains_address(block=False),
    "containsCIDR": _contains_address(block=True),
    "validate": _validate,
    "_==_": _equals,
    "includes": _includes,
}
