"""Turn a checked expression into a tree of closures: the fast way to evaluate.

A closure takes the environment of one evaluation, a list whose first item is the device view and whose others are the
variables of folds, and returns a value or raises ``EvaluationError``. This way is only taken where the counted one
(``components.cel.counted``) provably answers the same: the cost cannot reach the limit, and the expression cannot
observe that a comparison changes the form of a quantity. So calls of constants are computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from components.cel.checker import Checked
from components.cel.constants import Constants
from components.cel.equality import equal, no_overload
from components.cel.library.registry import found_text, implementation
from components.cel.loops import FoldPlans, Unset, bind_variable
from components.cel.problem import EvaluationAborted, EvaluationError
from components.cel.qualify import check_key, get, get_optional, is_present, through_native
from components.cel.shortcuts import (
    QUANTITY_TESTS,
    TESTS,
    attribute_equals,
    ordered,
    passing_signs,
    quantity_test,
    unknown,
)
from components.cel.syntax import Call, Expr, Fold, Ident, ListExpr, MapExpr, Select, StructExpr
from components.cel.types import DEVICE
from components.cel.values import NOTHING, UNHASHABLE, CelMap, Cell, Opt, UInt, Value

Env: TypeAlias = list[Any]
Closure: TypeAlias = Callable[[Env], Value]

_CHAINED: Final = frozenset({"_[_]", "_[?_]", "_?._"})
_DEFAULTS: Final[dict[str, Value]] = {
    "Bool": False, "Bytes": b"", "Double": 0.0, "Float": 0.0, "Int32": 0, "Int64": 0, "String": "",
    "UInt32": UInt(0), "UInt64": UInt(0),
}  # fmt: skip


class Planner(FoldPlans):
    """Plans one expression; ``slots`` is the size of its environment afterwards."""

    def __init__(self, checked: Checked, constants: Constants) -> None:
        super().__init__()
        self._checked = checked
        self._constants = constants

    def plan(self, node: Expr) -> Closure:
        """Plan one node."""
        if node.id in self._constants.values:
            return constant(self._constants.values[node.id])
        if type(node) is Call and node.function not in _CHAINED:
            return self._call(node)
        if type(node) is Ident or type(node) is Select or type(node) is Call:
            return self._attribute(node)
        if type(node) is Fold:
            return self.plan_fold(node)
        if type(node) is ListExpr:
            return self._list(node)
        if type(node) is MapExpr:
            return self._map(node)
        assert isinstance(node, StructExpr)
        return self._struct(node)

    # Attributes

    def _attribute(self, node: Expr) -> Closure:
        """Plan a chain of selections and indices."""
        steps: list[tuple[Expr, Expr | str, bool, bool]] = []
        root = node
        while root.id not in self._constants.values:
            if type(root) is Select:
                steps.append((root, root.field, False, root.test))
                root = root.operand
            elif type(root) is Call and root.function in _CHAINED:
                key = root.args[1]
                steps.append((root, key, root.function != "_[_]", False))
                root = root.args[0]
            else:
                break
        steps.reverse()
        base = self._variable(root) if type(root) is Ident else self.plan(root)
        if not steps:
            return base
        keys: list[tuple[Expr, Closure | None, Value, bool, bool]] = []
        for step, raw, optional, test in steps:
            if isinstance(raw, str):
                keys.append((step, None, raw, optional, test))
            elif raw.id in self._constants.values:
                keys.append((step, None, self._constants.values[raw.id], optional, test))
            else:
                keys.append((step, self.plan(raw), Unset, optional, test))
        if type(root) is Ident and root.name.removeprefix(".") == "device" and self.slot_of("device") is None:
            fused = _fused([(step, key, optional, test) for step, _, key, optional, test in keys])
            if fused is not None:
                return fused
        if len(keys) == 1 and keys[0][1] is None and not keys[0][3] and not keys[0][4]:
            return _one_step(base, keys[0][0].pos, keys[0][2])
        return _chain(base, tuple((step.pos, *rest) for step, *rest in keys))

    def _variable(self, node: Ident) -> Closure:
        name = node.name.removeprefix(".")
        slot = self.slot_of(name)
        if slot is not None:
            return bind_variable(slot, self.lazy_init(slot))
        assert self._checked.types[node.id] == DEVICE
        return lambda env: env[0].value

    # Calls

    def _call(self, node: Call) -> Closure:
        name = self._checked.global_names.get(node.id, node.function)
        if name == "_&&_" or name == "_||_":
            terms: list[Closure] = []
            for arg in node.args:
                terms.append(self.plan(arg))  # noqa: PERF401 - a comprehension costs a frame a level
            return _logic(terms, node.pos, absorbing=name == "_||_")
        if name == "_?_:_":
            condition, then, otherwise = node.args
            return _conditional(self.plan(condition), self.plan(then), self.plan(otherwise), pos=node.pos)
        if name == "_==_" or name == "_!=_":
            return self._equality(node, negated=name == "_!=_")
        if node.id in self._constants.sets:
            return _membership(self.plan(node.args[0]), self._constants.sets[node.id], node.pos)
        if name == "@not_strictly_false":
            return _not_strictly_false(self.plan(node.args[0]))
        args = list(node.args)
        if node.target is not None and node.id not in self._checked.global_names:
            args.insert(0, node.target)
        overloads = self._checked.overloads[node.id]
        if name in {"or", "orValue"} and len(args) == 2:  # noqa: PLR2004 - receiver and alternative
            return _or_else(self.plan(args[0]), self.plan(args[1]), unwrap=name == "orValue")
        planned: list[Closure] = []
        for arg in args:
            planned.append(self.plan(arg))  # noqa: PERF401 - a comprehension costs a frame a level
        pattern = self._constants.patterns.get(node.id)
        if pattern is not None:
            return _patterned(name, pattern, planned, node.pos)
        run = implementation(self._checked.environment.functions[name], overloads, growing=False)
        if planned and all(is_constant(one) for one in planned):
            return _computed_once(run, [one([]) for one in planned], node.pos)
        return self._shortened(node, name, planned, _invoke(run, planned, node.pos))

    def _equality(self, node: Call, *, negated: bool) -> Closure:
        wanted = self._constants.values.get(node.args[1].id, Unset)
        address = None if negated else self._address(node.args[0])
        if address is not None and type(wanted) in {str, int, bool}:
            return attribute_equals(address, wanted)
        left, right = self.plan(node.args[0]), self.plan(node.args[1])
        if negated:
            return _unequal(left, right)
        if type(wanted) is str:
            return _equals_text(left, wanted)
        if wanted == 0 and type(wanted) is int:
            shortened = self._quantity_test(node, left, "_==_", _equal(left, right, node.pos))
            if shortened is not None:
                return shortened
        return _equal(left, right, node.pos)

    def _address(self, node: Expr) -> tuple[str, str, int] | None:
        """Give domain, name and place of ``device.attributes["domain"].name``."""
        key: Value = node.field if isinstance(node, Select) and not node.test else Unset
        if isinstance(node, Call) and node.function == "_[_]":
            key = self._constants.values.get(node.args[1].id, Unset)
        if type(key) is not str:
            return None
        inner = node.operand if isinstance(node, Select) else node.args[0]  # type: ignore[attr-defined]
        if not isinstance(inner, Call) or inner.function != "_[_]":
            return None
        domain, table = self._constants.values.get(inner.args[1].id), inner.args[0]
        plain = isinstance(table, Select) and table.field == "attributes" and not table.test
        if type(domain) is not str or not plain:
            return None
        root = table.operand  # type: ignore[attr-defined]
        named = isinstance(root, Ident) and root.name == "device" and self.slot_of("device") is None
        return (domain, key, node.pos) if named else None

    def _quantity_test(self, node: Call, left: Closure, function: str, general: Closure) -> Closure | None:
        """Plan ``q.compareTo(constant) <function> constant`` as one comparison."""
        wanted = self._constants.values.get(node.args[1].id, Unset)
        inner = node.args[0]
        if type(wanted) is not int or not isinstance(inner, Call) or inner.target is None:
            return None
        if self._checked.overloads.get(inner.id) != ("quantity_compare_to",):
            return None
        operand = self.plan(inner.args[0])
        if not is_constant(operand) or type(operand([])) is not Cell:
            return None
        return quantity_test(self.plan(inner.target), operand([]).quantity, passing_signs(function, wanted), general)  # type: ignore[attr-defined]

    def _shortened(self, node: Call, name: str, planned: list[Closure], general: Closure) -> Closure:
        """Replace a general call by a shortcut where there is one."""
        if name in TESTS and is_constant(planned[1]) and type(planned[1]([])) is int:
            found = self._quantity_test(node, planned[0], name, general)
            return found if found is not None else ordered(name, planned[0], planned[1]([]), general)  # type: ignore[arg-type]
        overloads = self._checked.overloads[node.id]
        if len(overloads) == 1 and overloads[0] in QUANTITY_TESTS and is_constant(planned[1]):
            operand = planned[1]([])
            if isinstance(operand, Cell):
                return quantity_test(planned[0], operand.quantity, QUANTITY_TESTS[overloads[0]], general)
        return general

    # Literals

    def _list(self, node: ListExpr) -> Closure:
        planned = tuple((self.plan(element), index in node.optional) for index, element in enumerate(node.elements))
        if not node.optional:
            plain = tuple(one for one, _ in planned)
            return lambda env: [one(env) for one in plain]

        def build(env: Env) -> Value:
            found: list[Value] = []
            for one, optional in planned:
                value = one(env)
                if not optional:
                    found.append(value)
                elif isinstance(value, Opt):
                    found.append(value.value)
                elif value is not NOTHING:
                    raise _not_optional(node.pos)
            return found

        return build

    def _map(self, node: MapExpr) -> Closure:
        planned = tuple(
            (self.plan(entry.key), self.plan(entry.value), entry.optional)
            for entry in node.entries
            if isinstance(entry.key, Expr)
        )

        def build(env: Env) -> Value:
            found = CelMap()
            for key, one, optional in planned:
                name, value = key(env), one(env)
                if optional:
                    if not isinstance(value, Opt):
                        if value is not NOTHING:
                            raise _not_optional(node.pos)
                        continue
                    value = value.value
                found.insert(name, value)
            return found

        return build

    def _struct(self, node: StructExpr) -> Closure:
        name = node.name.removeprefix(".")
        if name == DEVICE.name:
            raised = EvaluationError("unknown-type", f"unknown type '{name}'", offset=node.pos)
            return _failing(raised)
        kind = name.removeprefix("google.protobuf.").removesuffix("Value")
        if not node.entries:
            return constant(_DEFAULTS[kind])
        value = self.plan(node.entries[-1].value)
        return lambda env: wrapped(kind, value(env))


def wrapped(kind: str, value: Value) -> Value:
    """Make the value of a wrapper message."""
    limits = {"Int32": (-(2**31), 2**31), "UInt32": (0, 2**32)}
    if kind in limits and not limits[kind][0] <= value < limits[kind][1]:  # type: ignore[operator]
        raise EvaluationError("overflow", "integer overflow")
    return value


class _Constant:
    """A closure of a constant, which other closures can recognise."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __call__(self, _env: Env) -> Value:
        return self.value


def constant(value: Value) -> Closure:
    """Make a closure of a constant."""
    return _Constant(value)


def is_constant(closure: Closure) -> bool:
    """Tell whether a closure is one of a constant."""
    return type(closure) is _Constant


def _failing(error: EvaluationError) -> Closure:
    def fail(_env: Env) -> Value:
        raise EvaluationError(error.kind, error.message, offset=error.offset)

    return fail


def _not_optional(pos: int) -> EvaluationError:
    return EvaluationError("invalid-argument", "an optional entry must have an optional value", offset=pos)


def _fused(steps: list[tuple[Expr, Value, bool, bool]]) -> Closure | None:
    """Plan the everyday attributes of a device as one step."""
    field = steps[0][1]
    if steps[0][2] or steps[0][3]:
        return None
    if len(steps) == 1:
        if field == "driver":
            return lambda env: env[0].driver
        return (lambda env: env[0].allow_multiple) if field == "allowMultipleAllocations" else None
    if len(steps) != 3 or field not in {"attributes", "capacity"} or steps[1][2] or steps[1][3]:  # noqa: PLR2004
        return None
    domain, name, pos = steps[1][1], steps[2][1], steps[2][0].pos
    if type(domain) is not str or type(name) is not str:
        return None
    attributes = field == "attributes"
    if steps[2][3]:
        return _fused_test(domain, name, attributes=attributes)
    if steps[2][2]:
        return _fused_optional(domain, name, attributes=attributes)
    if attributes:

        def attribute(env: Env) -> Value:
            try:
                return env[0].attributes[domain][name]
            except KeyError:
                raise unknown("attribute", (domain, name, pos)) from None

        return attribute

    def capacity(env: Env) -> Value:
        try:
            return env[0].capacity[domain][name]
        except KeyError:
            raise unknown("capacity", (domain, name, pos)) from None

    return capacity


def _fused_test(domain: str, name: str, *, attributes: bool) -> Closure:
    if attributes:
        return lambda env: name in env[0].attributes.get(domain, ())
    return lambda env: name in env[0].capacity.get(domain, ())


def _fused_optional(domain: str, name: str, *, attributes: bool) -> Closure:
    def optional(env: Env) -> Value:
        entries = (env[0].attributes if attributes else env[0].capacity).get(domain)
        return NOTHING if entries is None or name not in entries else Opt(entries[name])

    return optional


def _one_step(base: Closure, pos: int, key: Value) -> Closure:
    def step(env: Env) -> Value:
        value = base(env)
        if type(value) is Opt:
            found = get_optional(through_native(value.value), key)
            return NOTHING if found is NOTHING else Opt(found)
        if value is NOTHING:
            return value
        try:
            return get(value, key)
        except EvaluationError as error:
            raise _placed(error, pos) from None

    return step


def _placed(error: EvaluationError, pos: int) -> EvaluationError:
    if error.offset < 0:
        error.offset = pos
    return error


def _chain(base: Closure, keys: tuple[tuple[int, Closure | None, Value, bool, bool], ...]) -> Closure:
    def chain(env: Env) -> Value:
        value = base(env)
        if value is NOTHING:
            return False if keys[-1][4] else NOTHING
        optional = type(value) is Opt
        if optional:
            value = through_native(value.value)  # type: ignore[attr-defined]
        for pos, computed, key, marked, test in keys:
            if computed is not None:
                key = computed(env)  # noqa: PLW2901 - the key of this step
                check_key(key)
            optional = optional or marked
            try:
                if test:
                    return is_present(value, key)
                value = get_optional(value, key) if optional else get(value, key)
            except EvaluationError as error:
                raise _placed(error, pos) from None
            if optional and value is NOTHING:
                return False if keys[-1][4] else NOTHING
        return Opt(value) if optional else value

    return chain


def _logic(terms: list[Closure], pos: int, *, absorbing: bool) -> Closure:
    """Plan ``&&`` (absorbed by false) or ``||`` (absorbed by true) of any number of terms."""
    if len(terms) == 2:  # noqa: PLR2004 - the everyday case, unrolled
        return _logic_of_two(terms[0], terms[1], pos, absorbing=absorbing)
    if len(terms) == 3:  # noqa: PLR2004 - the everyday case, unrolled
        return _logic_of_three(terms, pos, absorbing=absorbing)
    passing = not absorbing

    def logic(env: Env) -> Value:
        rest = iter(terms)
        try:
            for term in rest:
                value = term(env)
                if value is not passing:
                    if value is absorbing:
                        return absorbing
                    raise EvaluationError("no-such-overload", "no such overload", offset=pos)
        except EvaluationError as error:
            failed = error
        else:
            return passing
        return _rest_of_logic(rest, env, failed, absorbing=absorbing)

    return logic


def _rest_of_logic(rest: Any, env: Env, failed: EvaluationError, *, absorbing: bool) -> Value:
    for term in rest:
        try:
            if term(env) is absorbing:
                return absorbing
        except EvaluationError:
            continue
    raise failed


def _logic_of_two(left: Closure, right: Closure, pos: int, *, absorbing: bool) -> Closure:
    passing = not absorbing

    def logic(env: Env) -> Value:
        try:
            value = left(env)
        except EvaluationError as error:
            return _rest_of_logic((right,), env, error, absorbing=absorbing)
        if value is passing:
            value = right(env)
            if value is passing or value is absorbing:
                return value
        elif value is absorbing:
            return value
        else:
            failed = EvaluationError("no-such-overload", "no such overload", offset=pos)
            return _rest_of_logic((right,), env, failed, absorbing=absorbing)
        raise EvaluationError("no-such-overload", "no such overload", offset=pos)

    return logic


def _logic_of_three(terms: list[Closure], pos: int, *, absorbing: bool) -> Closure:
    first, second, third = terms
    passing = not absorbing

    def logic(env: Env) -> Value:
        rest: tuple[Closure, ...] = (second, third)
        try:
            value = first(env)
            if value is passing:
                rest = (third,)
                value = second(env)
                if value is passing:
                    rest = ()
                    value = third(env)
            if value is passing or value is absorbing:
                return value
        except EvaluationError as error:
            return _rest_of_logic(rest, env, error, absorbing=absorbing)
        failed = EvaluationError("no-such-overload", "no such overload", offset=pos)
        return _rest_of_logic(rest, env, failed, absorbing=absorbing)

    return logic


def _conditional(condition: Closure, then: Closure, otherwise: Closure, *, pos: int) -> Closure:
    def conditional(env: Env) -> Value:
        value = condition(env)
        if value is True:
            return _as_variable(then(env))
        if value is False:
            return _as_variable(otherwise(env))
        raise EvaluationError("no-such-overload", "no such overload", offset=pos)

    return conditional


def _as_variable(value: Value) -> Value:
    return Opt(through_native(value.value)) if type(value) is Opt else value


def _equal(left: Closure, right: Closure, pos: int) -> Closure:
    def test(env: Env) -> Value:
        try:
            return equal(left(env), right(env))
        except EvaluationError as error:
            raise _placed(error, pos) from None

    return test


def _equals_text(left: Closure, text: Value) -> Closure:
    def test(env: Env) -> Value:
        value = left(env)
        return value == text if type(value) is str else equal(value, text)

    return test


def _unequal(left: Closure, right: Closure) -> Closure:
    def test(env: Env) -> Value:
        mine, theirs = left(env), right(env)
        try:
            return not equal(mine, theirs)
        except EvaluationError:  # upstream: what refuses to compare is unequal
            return True

    return test


def _membership(element: Closure, members: frozenset[tuple[type, Value]], pos: int) -> Closure:
    def test(env: Env) -> Value:
        value = element(env)
        kind = type(value)
        if kind in UNHASHABLE:
            message = "a version cannot be looked up in a constant list; compare it with == or compareTo"
            raise EvaluationAborted("unhashable", message, offset=pos)
        try:
            return (kind, value) in members
        except TypeError:  # lists and maps, which are in no set of primitives
            return False

    return test


def _not_strictly_false(closure: Closure) -> Closure:
    def test(env: Env) -> Value:
        try:
            return closure(env) is not False
        except EvaluationError:
            return True

    return test


def _or_else(optional: Closure, otherwise: Closure, *, unwrap: bool) -> Closure:
    def choose(env: Env) -> Value:
        value = optional(env)
        if value is NOTHING:
            return otherwise(env)
        if unwrap and type(value) is Opt:
            if isinstance(value.value, EvaluationError):
                raise value.value
            return value.value
        return value

    return choose


def _patterned(name: str, pattern: Any, args: list[Closure], pos: int) -> Closure:
    """Plan a call with a constant pattern."""
    text, rest = args[0], args[2:]

    def run(env: Env) -> Value:
        value = text(env)
        limit = rest[0](env) if rest else -1
        try:
            if type(value) is not str or type(limit) is not int:
                no_overload(name)
            if name == "matches":
                return pattern.matches(value)
            return found_text(pattern, value) if name == "find" else pattern.find_all(value, limit)
        except EvaluationError as error:
            raise _placed(error, pos) from None

    return run


def _computed_once(run: Callable[..., Value], values: list[Value], pos: int) -> Closure:
    try:
        return constant(run(*values))
    except EvaluationError as error:
        return _failing(_placed(error, pos))
    except EvaluationAborted as error:
        return _aborting(error, pos)


def _aborting(error: EvaluationAborted, pos: int) -> Closure:
    def abort(_env: Env) -> Value:
        raise EvaluationAborted(error.kind, error.message, offset=pos)

    return abort


def _invoke(run: Callable[..., Value], args: list[Closure], pos: int) -> Closure:
    if len(args) == 1:
        only = args[0]

        def unary(env: Env) -> Value:
            try:
                return run(only(env))
            except EvaluationError as error:
                raise _placed(error, pos) from None

        return unary
    if len(args) == 2:  # noqa: PLR2004 - the everyday case, unrolled
        left, right = args

        def binary(env: Env) -> Value:
            try:
                return run(left(env), right(env))
            except EvaluationError as error:
                raise _placed(error, pos) from None

        return binary

    def many(env: Env) -> Value:
        try:
            return run(*[arg(env) for arg in args])
        except EvaluationError as error:
            raise _placed(error, pos) from None

    return many
