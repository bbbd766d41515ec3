"""The worst-case cost of an expression, which the API server compares with its limit.

Unknown sizes are the largest uint64 and sums stop there. Sizes below
``device`` come from the bounds of the API: 63-byte domains, 32-byte ids, 64-byte values, 32 entries.
"""

# ruff: noqa: SLF001 - a table of the class above it

from __future__ import annotations

from components.cel import prices
from components.cel.sizes import (
    LIST_COST,
    MAP_COST,
    MAX,
    NOWHERE,
    STRUCT_COST,
    UNKNOWN,
    Node,
    Path,
    Size,
    add,
    declared_size,
    multiply,
    union,
)
from components.cel.syntax import Call, Expr, Fold, Ident, ListExpr, Literal, MapExpr, Select, StructExpr
from components.cel.types import Kind, Type
from components.cel.values import UInt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    from components.cel.checker import Checked

_STEP_KINDS: Final = frozenset({Kind.MAP, Kind.STRUCT, Kind.PARAM})
_SCALARS: Final = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})
_SIZED: Final = frozenset({str, bytes})
_LITERALS: Final = frozenset({Literal, ListExpr, MapExpr})
_LOGIC: Final = frozenset({"_&&_", "_||_"})
_ONE: Final = frozenset({bool, float, int, UInt, type(None)})


class EntrySize:
    """What is known of the entries of a list or map."""

    __slots__ = ("key", "kind", "value")

    def __init__(self, kind: str, key: Size, value: Size) -> None:
        self.kind = kind
        self.key = key
        self.value = value


class _Local:
    __slots__ = ("entry", "path", "size")

    def __init__(self, path: Path, size: Size | None, entry: EntrySize | None) -> None:
        self.path = path
        self.size = size
        self.entry = entry


def estimate(checked: Checked) -> int:
    """Give the worst-case cost of a checked expression."""
    return _Coster(checked).cost(checked.root)


class _Coster:
    __slots__ = ("_entries", "_locals", "_paths", "_sizes", "checked", "types")

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.types = checked.types
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, EntrySize] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expr) -> int:
        """Price one node; handlers call each other through the table, so that a level costs one frame."""
        return _PRICED[type(node)](self, node)

    def _constant(self, _node: Literal) -> int:
        return 0

    def _ident(self, node: Ident) -> int:
        self._paths[node.id] = self._ident_path(node)
        return 1

    def _ident_path(self, node: Ident) -> Path:
        local = self._peek(node.name)
        return Path.of(node.name.removeprefix(".")) if local is None else local.path

    def _peek(self, name: str) -> _Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _select(self, node: Select) -> int:
        if node.id in self.checked.type_values:
            self._paths[node.id] = NOWHERE
            return 1
        total = _PRICED[type(node.operand)](self, node.operand)
        if node.test:
            return total
        if self.types[node.operand.id].kind in _STEP_KINDS:
            total = add(total, 1)
        self._paths[node.id] = self._path(node.operand).then(node.field)
        return total

    def _path(self, node: Expr) -> Path:
        if type(node) is Ident:
            local = self._peek(node.name)
            if local is not None:
                return local.path
        return self._paths.get(node.id, NOWHERE)

    def _struct(self, node: StructExpr) -> int:
        total = STRUCT_COST
        for entry in node.entries:
            total = add(total, _PRICED[type(entry.value)](self, entry.value))
        return total

    def _list(self, node: ListExpr) -> int:
        total = LIST_COST
        item: Size = (MAX, 0) if node.elements else (0, 0)
        for element in node.elements:
            total = add(total, _PRICED[type(element)](self, element))
            item = union(item, self.size_of(element))
        self._entries[node.id] = EntrySize(Kind.LIST, (1, 1), item)
        return total

    def _map(self, node: MapExpr) -> int:
        total = MAP_COST
        keys: Size = (MAX, 0) if node.entries else (0, 0)
        values = keys
        for entry in node.entries:
            assert isinstance(entry.key, Expr)
            total = add(
                add(total, _PRICED[type(entry.key)](self, entry.key)), _PRICED[type(entry.value)](self, entry.value)
            )
            keys, values = union(keys, self.size_of(entry.key)), union(values, self.size_of(entry.value))
        self._entries[node.id] = EntrySize(Kind.MAP, keys, values)
        return total

    def _push(self, name: str, path: Path, size: Size | None, entry: EntrySize | None) -> None:
        self._locals.setdefault(name, []).append(_Local(path, size, entry))

    def _push_bound(self, name: str, node: Expr) -> None:
        self._push(name, self._path(node), self.computed_size(node), self._entry(node))

    def _bind(self, node: Fold) -> int:
        total = add(_PRICED[type(node.range)](self, node.range), _PRICED[type(node.init)](self, node.init))
        self._push_bound(node.accu, node.init)
        total = add(total, _PRICED[type(node.result)](self, node.result))
        self._locals[node.accu].pop()
        self._copy_sizes(node, node.result)
        return total

    def _is_listed(self, ranged: Expr) -> bool:
        entry = self._entry(ranged)
        return (entry.kind if entry else self.types[ranged.id].kind) is Kind.LIST

    def _push_part(self, name: str, ranged: Expr, *, key: bool) -> None:
        """Bind a variable of a fold; as upstream, the second of a range whose name the first may have taken."""
        entry = self._entry(ranged)
        size = None if entry is None else entry.key if key else entry.value
        listed = self._is_listed(ranged)
        step = ("@indices" if listed else "@keys") if key else ("@items" if listed else "@values")
        self._push(name, self._path(ranged).then(step), size, None)

    def _fold(self, node: Fold) -> int:
        if is_bind(node):
            return self._bind(node)
        total = add(_PRICED[type(node.range)](self, node.range), _PRICED[type(node.init)](self, node.init))
        self._push_bound(node.accu, node.init)
        if node.var2:
            self._push_part(node.var, node.range, key=True)
            self._push_part(node.var2, node.range, key=False)
        else:
            self._push_part(node.var, node.range, key=not self._is_listed(node.range))
        each = _PRICED[type(node.condition)](self, node.condition)
        each = add(_PRICED[type(node.step)](self, node.step), each)
        self._locals[node.var].pop()
        if node.var2:
            self._locals[node.var2].pop()
        total = add(total, _PRICED[type(node.result)](self, node.result))
        self._locals[node.accu].pop()
        count = self.size_of(node.range)
        total = add(total, multiply(count[1], each))
        if type(node.init) is Literal:
            self._sizes[node.id] = self.size_of(node.init)  # a bool or a number
        elif type(node.init) is ListExpr or type(node.init) is MapExpr:
            self._sizes[node.id] = count
            step = self._entry(node.step)
            if step is not None:
                self._entries[node.id] = step
        return total

    def _call(self, node: Call) -> int:  # noqa: C901 - a level costs one frame
        if node.function in _LOGIC:
            return self._logic(node)
        name = self.checked.global_names.get(node.id, node.function)
        target = None if node.id in self.checked.global_names else node.target
        if name == "dyn":
            total = add(_PRICED[type(node.args[0])](self, node.args[0]), 1)
            self._copy_sizes(node, node.args[0])
            return total
        overloads = self.checked.overloads[node.id]
        if overloads == ("index_map",):
            return self._index(node)
        costs: list[int] = []
        args: list[Node] = []
        for arg in node.args:
            costs.append(_PRICED[type(arg)](self, arg))
            args.append(self.node_of(arg))
        total = 0
        receiver = None
        if target is not None:
            total = _PRICED[type(target)](self, target)
            receiver = self.node_of(target)
        largest = 0
        result: Size | None = None
        for overload in overloads:
            price, size = prices.call_price(self, node, name, overload, receiver, args, costs)
            largest = max(largest, price)
            if size is not None:
                result = size if result is None else union(result, size)
            if overload in {"index_list", "index_map"}:
                entry = self._entry(node.args[0])
                result = entry.value if entry else None
                step = "@items" if overload == "index_list" else "@values"
                self._paths[node.id] = self._path(node.args[0]).then(step)
            if result is None:
                result = self.computed_size(node)
        if result is not None:
            self._sizes[node.id] = result
        return add(total, largest)

    def _logic(self, node: Call) -> int:
        """Price ``&&`` and ``||``, which cost nothing themselves."""
        total = 0
        for arg in node.args:
            total += _PRICED[type(arg)](self, arg)
        self._sizes[node.id] = (1, 1)
        return min(total, MAX)

    def _index(self, node: Call) -> int:
        """Price ``map[key]``, of which no size is asked but the one of the result."""
        mapped, key = node.args
        total = _PRICED[type(mapped)](self, mapped) + _PRICED[type(key)](self, key) + 1
        self._paths[node.id] = self._path(mapped).then("@values")
        entry = self._entry(mapped)
        size = entry.value if entry else self.computed_size(node)
        if size is not None:
            self._sizes[node.id] = size
        return min(total, MAX)

    def node_of(self, node: Expr) -> Node:
        path = self._path(node)
        return Node(path, self.types[node.id], node, self._size_at(node, path))

    def size_of(self, node: Expr | Node) -> Size:
        """Give the size of an expression, or the widest bounds."""
        size = node.size if isinstance(node, Node) else self.computed_size(node)
        return UNKNOWN if size is None else size

    def _copy_sizes(self, node: Expr, source: Expr) -> None:
        size, entry = self.computed_size(source), self._entry(source)
        if size is not None:
            self._sizes[node.id] = size
        if entry is not None:
            self._entries[node.id] = entry

    def computed_size(self, node: Expr) -> Size | None:
        return self._size_at(node, self._path(node))

    def _size_at(self, node: Expr, path: Path) -> Size | None:
        known = self._sizes.get(node.id) or (_own_size(node) if type(node) in _LITERALS else None)
        if known is not None:
            return known
        declared = None if path is NOWHERE else declared_size(path)
        if declared is not None:
            self._sizes[node.id] = declared
            return declared
        if _is_scalar(self.types[node.id]):
            return (1, 1)
        if type(node) is Ident:
            local = self._peek(node.name)
            if local is not None:
                return local.size
        return None

    def _entry(self, node: Expr) -> EntrySize | None:
        known = self._entries.get(node.id)
        if known is None and type(node) is Ident:
            local = self._peek(node.name)
            return local.entry if local else None
        return known

    def join_entries(self, node: Expr, left: Expr, right: Expr) -> None:
        """Keep what holds for the entries of both operands."""
        mine, theirs = self._entry(left), self._entry(right)
        if mine is not None and theirs is not None:
            key, value = union(mine.key, theirs.key), union(mine.value, theirs.value)
            self._entries[node.id] = EntrySize(mine.kind, key, value)


_PRICED: Final[dict[type[Expr], Callable[[Any, Any], int]]] = {
    Literal: _Coster._constant, Ident: _Coster._ident, Select: _Coster._select, Call: _Coster._call,
    ListExpr: _Coster._list, MapExpr: _Coster._map, StructExpr: _Coster._struct, Fold: _Coster._fold,
}  # fmt: skip


def is_bind(node: Fold) -> bool:
    """Tell whether a fold only binds a variable."""
    empty = type(node.range) is ListExpr and not node.range.elements
    return empty and type(node.condition) is Literal and node.condition.value is False and node.accu != "__result__"


def _own_size(node: Expr) -> Size | None:
    """Give the size of a literal."""
    if type(node) is Literal:
        value = node.value
        if type(value) in _SIZED:
            return (len(value), len(value))
        return (1, 1) if type(value) in _ONE else None
    assert isinstance(node, ListExpr | MapExpr)
    count = len(node.elements if isinstance(node, ListExpr) else node.entries)
    return (count, count)


def _is_scalar(found: Type) -> bool:
    if found.kind is Kind.OPAQUE and found.name == "optional_type":
        return _is_scalar(found.params[0])
    return found.kind in _SCALARS
