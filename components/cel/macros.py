"""Expand the macros: ``has``, the comprehensions of one and two variables, ``optMap``, ``sortBy`` and ``cel.bind``.

The expansions are the ones of upstream node by node, since the cost of an expression is counted over them.
"""

# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel import syntax
from components.cel.syntax import Call, Expr, Fold, Ident, ListExpr, Literal, MapExpr, Select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Final, TypeAlias

    from components.cel.parser import Parser
    from components.cel.values import Value

ACCUMULATOR: Final = "@result"
UNUSED: Final = "#unused"
SORT_INPUT: Final = "@__sortBy_input__"
_OLD_ACCUMULATOR: Final = "__result__"

Args: TypeAlias = tuple[Expr, ...]
Macro: TypeAlias = "Callable[[Maker, Expr | None, Args], Expr | None]"
Macros: TypeAlias = "Mapping[tuple[str, int, bool], Macro]"


def expand(parser: Parser, macro: Macro, pos: int, target: Expr | None, args: Args) -> Expr | None:
    """Expand one call; nothing when the macro does not apply to it."""
    return macro(Maker(parser, pos), target, args)


class Maker:
    """Makes the nodes of one expansion, all at the place of the call."""

    __slots__ = ("_parser", "_pos")

    def __init__(self, parser: Parser, pos: int) -> None:
        self._parser = parser
        self._pos = pos

    def fail(self, node: Expr, message: str) -> Expr:
        """Refuse the expression because of an argument of the macro."""
        self._parser.fail("macro-argument", message, node.pos)

    def literal(self, value: Value) -> Expr:
        """Make a constant."""
        return Literal(self._parser.fresh(), self._pos, 0, value)

    def ident(self, name: str) -> Expr:
        """Make a name."""
        return Ident(self._parser.fresh(), self._pos, 0, name)

    def accu(self) -> Expr:
        """Make the name of the accumulator."""
        return self.ident(ACCUMULATOR)

    def call(self, function: str, *args: Expr) -> Expr:
        """Make a global call."""
        return Call(self._parser.fresh(), self._pos, 0, function, None, args)

    def member(self, function: str, target: Expr, *args: Expr) -> Expr:
        """Make a member call."""
        return Call(self._parser.fresh(), self._pos, 0, function, target, args)

    def items(self, *elements: Expr) -> Expr:
        """Make a list."""
        return ListExpr(self._parser.fresh(), self._pos, 0, elements, frozenset())

    def mapping(self) -> Expr:
        """Make an empty map."""
        return MapExpr(self._parser.fresh(), self._pos, 0, ())

    def test(self, select: Select) -> Expr:
        """Make a presence test."""
        return Select(self._parser.fresh(), self._pos, 0, select.operand, select.field, test=True)

    def fold(self, iter_range: Expr, names: tuple[str, str, str], *parts: Expr) -> Expr:
        """Make a fold of (variable, second variable, accumulator) over (init, condition, step, result)."""
        init, condition, step, result = parts
        var, var2, accu = names
        return Fold(self._parser.fresh(), self._pos, 0, iter_range, var, var2, accu, init, condition, step, result)

    def bind(self, name: str, init: Expr, result: Expr) -> Expr:
        """Make a fold over nothing, which is how a variable is bound."""
        return self.fold(self.items(), (UNUSED, "", name), init, self.literal(False), self.ident(name), result)  # noqa: FBT003 - a constant of the language

    def copy(self, node: Expr) -> Expr:
        """Copy a tree with new ids; deep trees are copied level by level."""
        return _copy(self._parser, node)


def _copy(parser: Parser, node: Expr) -> Expr:
    new = parser.fresh()
    if isinstance(node, Literal):
        return Literal(new, node.pos, node.height, node.value)
    if isinstance(node, Ident):
        return Ident(new, node.pos, node.height, node.name)
    if isinstance(node, Select):
        return Select(new, node.pos, node.height, _copy(parser, node.operand), node.field, node.test)
    if isinstance(node, Call):
        target = None if node.target is None else _copy(parser, node.target)
        args = tuple([_copy(parser, arg) for arg in node.args])
        return Call(new, node.pos, node.height, node.function, target, args)
    if isinstance(node, ListExpr):
        elements = tuple([_copy(parser, element) for element in node.elements])
        return ListExpr(new, node.pos, node.height, elements, node.optional)
    if isinstance(node, MapExpr):
        return MapExpr(new, node.pos, node.height, _copy_entries(parser, node.entries))
    if isinstance(node, syntax.StructExpr):
        return syntax.StructExpr(new, node.pos, node.height, node.name, _copy_entries(parser, node.entries))
    assert isinstance(node, Fold)
    parts = [_copy(parser, part) for part in (node.range, node.init, node.condition, node.step, node.result)]
    return Fold(new, node.pos, node.height, parts[0], node.var, node.var2, node.accu, *parts[1:])


def _copy_entries(parser: Parser, entries: tuple[syntax.Entry, ...]) -> tuple[syntax.Entry, ...]:
    copied = []
    for entry in entries:
        key = _copy(parser, entry.key) if isinstance(entry.key, Expr) else entry.key
        copied.append(syntax.Entry(entry.pos, key, _copy(parser, entry.value), entry.optional))
    return tuple(copied)


def _variable(make: Maker, node: Expr, *, complaint: str = "argument must be a simple name") -> str:
    if not isinstance(node, Ident):
        make.fail(node, complaint)
    assert isinstance(node, Ident)
    if node.name in {ACCUMULATOR, _OLD_ACCUMULATOR}:
        make.fail(node, "iteration variable overwrites accumulator variable")
    return node.name


def _names(make: Maker, args: Args, count: int) -> tuple[str, str, str]:
    for arg in args[:count]:
        if not isinstance(arg, Ident):
            make.fail(arg, "argument must be a simple name")
    first = _variable(make, args[0])
    second = ""
    if count == 2:
        second = _variable(make, args[1])
        if first == second:
            make.fail(args[1], f"duplicate variable name: {first}")
    return first, second, ACCUMULATOR


def _has(make: Maker, _target: Expr | None, args: Args) -> Expr | None:
    node = args[0]
    if isinstance(node, Select):
        return make.test(node)
    return make.fail(node, "invalid argument to has() macro")


def _quantifier(count: int, *, some: bool) -> Macro:
    """Make ``exists``, which looks for a true one, or ``all``, which looks for a false one."""

    def macro(make: Maker, target: Expr | None, args: Args) -> Expr | None:
        assert target is not None
        names = _names(make, args, count)
        return make.fold(
            target,
            names,
            make.literal(not some),
            make.call("@not_strictly_false", make.call("!_", make.accu()) if some else make.accu()),
            make.call("_||_" if some else "_&&_", make.accu(), args[count]),
            make.accu(),
        )

    return macro


def _exists_one(count: int) -> Macro:
    def macro(make: Maker, target: Expr | None, args: Args) -> Expr | None:
        assert target is not None
        names = _names(make, args, count)
        increment = make.call("_+_", make.accu(), make.literal(1))
        return make.fold(
            target,
            names,
            make.literal(0),
            make.literal(True),  # noqa: FBT003 - a constant of the language
            make.call("_?_:_", args[count], increment, make.accu()),
            make.call("_==_", make.accu(), make.literal(1)),
        )

    return macro


def _collect(count: int, *, filtered: bool, complaint: str) -> Macro:
    """Make ``map`` (one variable) or ``transformList`` (two)."""

    def macro(make: Maker, target: Expr | None, args: Args) -> Expr | None:
        assert target is not None
        if count == 1:
            names = (_variable(make, args[0], complaint=complaint), "", ACCUMULATOR)
        else:
            names = _names(make, args, count)
        step = make.call("_+_", make.accu(), make.items(args[-1]))
        if filtered:
            step = make.call("_?_:_", args[count], step, make.accu())
        return make.fold(target, names, make.items(), make.literal(True), step, make.accu())  # noqa: FBT003 - a constant of the language

    return macro


def _filter(make: Maker, target: Expr | None, args: Args) -> Expr | None:
    assert target is not None
    names = (_variable(make, args[0], complaint="argument is not an identifier"), "", ACCUMULATOR)
    step = make.call("_+_", make.accu(), make.items(args[0]))
    step = make.call("_?_:_", args[1], step, make.accu())
    return make.fold(target, names, make.items(), make.literal(True), step, make.accu())  # noqa: FBT003 - a constant of the language


def _transform_map(*, entry: bool, filtered: bool) -> Macro:
    def macro(make: Maker, target: Expr | None, args: Args) -> Expr | None:
        assert target is not None
        names = _names(make, args, 2)
        keys = () if entry else (make.ident(names[0]),)
        step = make.call("cel.@mapInsert", make.accu(), *keys, args[-1])
        if filtered:
            step = make.call("_?_:_", args[2], step, make.accu())
        return make.fold(target, names, make.mapping(), make.literal(True), step, make.accu())  # noqa: FBT003 - a constant of the language

    return macro


def _opt_map(*, flat: bool) -> Macro:
    def macro(make: Maker, target: Expr | None, args: Args) -> Expr | None:
        assert target is not None
        name = args[0]
        if not isinstance(name, Ident):
            return make.fail(name, "the variable name must be a simple identifier")
        bound = make.bind(name.name, make.member("value", make.copy(target)), args[1])
        some = bound if flat else make.call("optional.of", bound)
        return make.call("_?_:_", make.member("hasValue", target), some, make.call("optional.none"))

    return macro


def _bind(make: Maker, target: Expr | None, args: Args) -> Expr | None:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return None
    name = args[0]
    if not isinstance(name, Ident):
        return make.fail(name, "cel.bind() variable names must be simple identifiers")
    return make.bind(name.name, args[1], args[2])


def _sort_by(make: Maker, target: Expr | None, args: Args) -> Expr | None:
    if not isinstance(target, ListExpr | Select | Ident | Fold | Call):
        assert target is not None
        return make.fail(target, "sortBy can only be applied to a list, identifier, comprehension, call or select")
    mapped = _MAP(make, make.ident(SORT_INPUT), args)
    assert mapped is not None
    call = make.member("@sortByAssociatedKeys", make.ident(SORT_INPUT), mapped)
    return make.bind(SORT_INPUT, target, call)


_MAP: Final = _collect(1, filtered=False, complaint="argument is not an identifier")

STANDARD: Final[Macros] = {
    ("has", 1, False): _has,
    ("all", 2, True): _quantifier(1, some=False),
    ("exists", 2, True): _quantifier(1, some=True),
    ("exists_one", 2, True): _exists_one(1),
    ("map", 2, True): _MAP,
    ("map", 3, True): _collect(1, filtered=True, complaint="argument is not an identifier"),
    ("filter", 2, True): _filter,
    ("optMap", 2, True): _opt_map(flat=False),
    ("optFlatMap", 2, True): _opt_map(flat=True),
    ("all", 3, True): _quantifier(2, some=False),
    ("exists", 3, True): _quantifier(2, some=True),
    ("existsOne", 3, True): _exists_one(2),
    ("exists_one", 3, True): _exists_one(2),
    ("transformList", 3, True): _collect(2, filtered=False, complaint=""),
    ("transformList", 4, True): _collect(2, filtered=True, complaint=""),
    ("transformMap", 3, True): _transform_map(entry=False, filtered=False),
    ("transformMap", 4, True): _transform_map(entry=False, filtered=True),
    ("transformMapEntry", 3, True): _transform_map(entry=True, filtered=False),
    ("transformMapEntry", 4, True): _transform_map(entry=True, filtered=True),
    ("bind", 3, True): _bind,
}
WITH_SORT_BY: Final[Macros] = {**STANDARD, ("sortBy", 2, True): _sort_by}
