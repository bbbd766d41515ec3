"""Turn a checked expression into a tree of closures: the fast way to evaluate.

A closure takes the environment of one evaluation, a list whose first item is the device view and whose others are the
variables of folds, and returns a value or raises ``EvaluationError``. This way is only taken where the counted one
(``components.cel.counted``) provably answers the same: the cost cannot reach the limit, and the expression cannot
observe that a comparison changes the form of a quantity. So calls of constants are computed once.
"""

# ruff: noqa: C901 - one branch per kind of node
# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.branches import (
    Closure,
    Env,
    computed_once,
    conditional,
    constant,
    equals,
    equals_text,
    failing,
    invoke,
    is_constant,
    logic,
    membership,
    or_else,
    placed,
    searching,
    unequal,
)
from components.cel.library.registry import implementation
from components.cel.loops import FoldPlans, Unset, bind_variable
from components.cel.problem import EvaluationError
from components.cel.qualify import ABSENT, check_key, get, get_optional, is_present, through_native
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
from components.cel.values import NOTHING, Cell, CelMap, Opt, Value
from components.cel.wrappers import WRAPPER_DEFAULTS, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from components.cel.checker import Checked
    from components.cel.constants import Constants
    from components.cel.library.registry import Implementation
    from components.cel.quantity import Quantity

_ADDRESS: Final = 3  # field, domain and name
_BINARY: Final = 2
_CHAINED: Final = frozenset({"_[_]", "_[?_]", "_?._"})


class Planner(FoldPlans):
    """Plans one expression; ``slots`` is the size of its environment afterwards."""

    def __init__(self, checked: Checked, constants: Constants) -> None:
        super().__init__()
        self._checked = checked
        self._constants = constants
        self._compared: dict[int, tuple[Closure, Quantity, int]] = {}

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
        device = type(root) is Ident and root.name.removeprefix(".") == "device" and self.slot_of("device") is None
        if device:
            fused = _fused([(step, key, optional, test) for step, _, key, optional, test in keys])
            if fused is not None:
                return fused
        if len(keys) == 1 and keys[0][1] is None and not keys[0][3] and not keys[0][4]:
            return _one_step(base, keys[0][0].pos, keys[0][2])
        steps_of_chain = tuple((step.pos, made, key, optional, test) for step, made, key, optional, test in keys)
        named = device and len(keys) >= _ADDRESS and all(type(key) is str for _, _, key, _, _ in keys[:_ADDRESS])
        return _chain(base, steps_of_chain, tuple(key for _, _, key, _, _ in keys[:_ADDRESS]) if named else ())

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
        if name in {"_&&_", "_||_"}:
            terms: list[Closure] = []
            for arg in node.args:
                terms.append(self.plan(arg))  # noqa: PERF401 - a comprehension costs a frame a level
            return logic(terms, node.pos, absorbing=name == "_||_")
        if name == "_?_:_":
            condition, then, otherwise = node.args
            return conditional(self.plan(condition), self.plan(then), self.plan(otherwise), pos=node.pos)
        if name in {"_==_", "_!=_"}:
            return self._equality(node, negated=name == "_!=_")
        if node.id in self._constants.sets:
            return membership(self.plan(node.args[0]), self._constants.sets[node.id], node.pos)
        args = list(node.args)
        if node.target is not None and node.id not in self._checked.global_names:
            args.insert(0, node.target)
        overloads = self._checked.overloads[node.id]
        if name in {"or", "orValue"} and len(args) == 2:
            return or_else(self.plan(args[0]), self.plan(args[1]), unwrap=name == "orValue", pos=node.pos)
        planned: list[Closure] = []
        for arg in args:
            planned.append(self.plan(arg))  # noqa: PERF401 - a comprehension costs a frame a level
        pattern = self._constants.patterns.get(node.id)
        if pattern is not None:
            return invoke(searching(name, pattern), planned, node.pos)
        run = implementation(self._checked.environment.functions[name], overloads, growing=False)
        if planned and all(is_constant(one) for one in planned):
            return computed_once(run, [one([]) for one in planned], node.pos)
        return self._shortened(node, name, planned, run)

    def _equality(self, node: Call, *, negated: bool) -> Closure:
        wanted = self._constants.values.get(node.args[1].id, Unset)
        address = None if negated else self._address(node.args[0])
        if address is not None and type(wanted) in {str, int, bool}:
            return attribute_equals(address, wanted, node.pos)
        left, right = self.plan(node.args[0]), self.plan(node.args[1])
        if negated:
            return unequal(left, right)
        if type(wanted) is str:
            return equals_text(left, wanted, node.pos)
        shortened = self._sign_test(node, "_==_", wanted) if wanted == 0 and type(wanted) is int else None
        return equals(left, right, node.pos) if shortened is None else shortened

    def _address(self, node: Expr) -> tuple[str, str, int] | None:
        """Give domain, name and place of ``device.attributes["domain"].name``."""
        key: Value = node.field if isinstance(node, Select) and not node.test else Unset
        if isinstance(node, Call) and node.function == "_[_]":
            key = self._constants.values.get(node.args[1].id, Unset)
        if type(key) is not str:
            return None
        inner = node.operand if isinstance(node, Select) else node.args[0] if isinstance(node, Call) else None
        if not isinstance(inner, Call) or inner.function != "_[_]":
            return None
        domain, table = self._constants.values.get(inner.args[1].id), inner.args[0]
        plain = isinstance(table, Select) and table.field == "attributes" and not table.test
        if type(domain) is not str or not plain:
            return None
        root = table.operand  # type: ignore[attr-defined]
        named = isinstance(root, Ident) and root.name == "device" and self.slot_of("device") is None
        return (domain, key, node.pos) if named else None

    def _sign_test(self, node: Call, function: str, wanted: int) -> Closure | None:
        """Plan ``q.compareTo(constant) <function> constant`` as one comparison, of what is planned already."""
        compared = self._compared.get(node.args[0].id)
        if compared is None:
            return None
        receiver, operand, pos = compared
        return quantity_test(receiver, operand, passing_signs(function, wanted), "compareTo", pos)

    def _shortened(self, node: Call, name: str, planned: list[Closure], run: Implementation) -> Closure:
        """Plan a call, by a shortcut where there is one."""
        if len(planned) == _BINARY and is_constant(planned[1]):
            operand = planned[1]([])
            if type(operand) is int and name in TESTS:
                found = self._sign_test(node, name, operand)
                return ordered(name, planned[0], operand, run, node.pos) if found is None else found
            overloads = self._checked.overloads[node.id]
            if type(operand) is Cell and len(overloads) == 1:
                if overloads[0] == "quantity_compare_to":
                    self._compared[node.id] = planned[0], operand.quantity, node.pos
                elif overloads[0] in QUANTITY_TESTS:
                    return quantity_test(planned[0], operand.quantity, QUANTITY_TESTS[overloads[0]], name, node.pos)
        return invoke(run, planned, node.pos)

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
                found.insert(name, value, pos=node.pos)
            return found

        return build

    def _struct(self, node: StructExpr) -> Closure:
        name = node.name.removeprefix(".")
        if name == DEVICE.name:
            raised = EvaluationError("unknown-type", f"unknown type '{name}'", offset=node.pos)
            return failing(raised)
        kind = name.removeprefix("google.protobuf.").removesuffix("Value")
        if not node.entries:
            return constant(WRAPPER_DEFAULTS[kind])
        value, optional = self.plan(node.entries[-1].value), node.entries[-1].optional
        return lambda env: wrapped(kind, value(env), optional=optional, pos=node.pos)


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
    if len(steps) != 3 or field not in {"attributes", "capacity"} or steps[1][2] or steps[1][3]:
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
        if value is NOTHING:
            return value
        try:
            if type(value) is not Opt:
                return get(value, key)
            found = get_optional(through_native(value.value), key)
            return NOTHING if found is ABSENT else Opt(found)
        except EvaluationError as error:
            raise placed(error, pos) from None

    return step


def _chain(
    base: Closure, keys: tuple[tuple[int, Closure | None, Value, bool, bool], ...], address: tuple[Value, ...]
) -> Closure:
    """Plan several steps; ``address`` has the first three keys where they name an attribute or a capacity."""
    third = keys[_ADDRESS - 1] if address else None

    def chain(env: Env) -> Value:
        value = base(env)
        if value is NOTHING:
            return False if keys[-1][4] else NOTHING
        optional = type(value) is Opt
        if optional:
            value = through_native(value.value)
        for step in keys:
            pos, computed, key, marked, test = step
            if computed is not None:
                key = computed(env)
            optional = optional or marked
            try:
                if computed is not None:
                    check_key(key)
                if test:
                    return is_present(value, key)
                value = get_optional(value, key) if optional else get(value, key)
            except EvaluationError as error:
                if step is third and error.kind == "no-such-key":
                    error.key = ("capacity" if address[0] == "capacity" else "attribute", *address[1:])
                raise placed(error, pos) from None
            if value is ABSENT:
                return False if keys[-1][4] else NOTHING
        return Opt(value) if optional else value

    return chain
