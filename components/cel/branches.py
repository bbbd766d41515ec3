"""Closures of logic, conditions, comparisons and calls: each a function of other closures."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.equality import equal, equal_at
from components.cel.problem import EvaluationAborted, EvaluationError
from components.cel.qualify import through_native
from components.cel.values import NOTHING, UNHASHABLE, Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    _Stopped = TypeVar("_Stopped", bound="EvaluationError | EvaluationAborted")

Env: TypeAlias = "list[Any]"
Closure: TypeAlias = "Callable[[Env], Value]"


def placed(error: _Stopped, pos: int) -> _Stopped:
    """Give an error its place, unless it has one."""
    if error.offset < 0:
        error.offset = pos
    return error


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


def failing(error: EvaluationError) -> Closure:
    """Plan an error."""

    def fail(_env: Env) -> Value:
        raise EvaluationError(error.kind, error.message, offset=error.offset)

    return fail


def logic(terms: list[Closure], pos: int, *, absorbing: bool) -> Closure:
    """Plan ``&&`` (absorbed by false) or ``||`` (absorbed by true) of any number of terms."""
    if len(terms) == 2:
        return logic_of_two(terms[0], terms[1], pos, absorbing=absorbing)
    if len(terms) == 3:
        return logic_of_three(terms, pos, absorbing=absorbing)
    passing = not absorbing

    def logic(env: Env) -> Value:
        rest = iter(terms)
        try:
            for term in rest:
                value = term(env)
                if value is not passing:
                    if value is absorbing:
                        return absorbing
                    raise EvaluationError("no-such-overload", "no such overload", offset=pos)  # noqa: TRY301 - caught right here with the others
        except EvaluationError as error:
            failed = error
        else:
            return passing
        return rest_of_logic(rest, env, failed, absorbing=absorbing)

    return logic


def rest_of_logic(rest: Any, env: Env, failed: EvaluationError, *, absorbing: bool) -> Value:
    """Look for the absorbing value in what is left after an error."""
    for term in rest:
        try:
            if term(env) is absorbing:
                return absorbing
        except EvaluationError:
            continue
    raise failed


def logic_of_two(left: Closure, right: Closure, pos: int, *, absorbing: bool) -> Closure:
    """Plan logic of two terms."""
    passing = not absorbing

    def logic(env: Env) -> Value:
        try:
            value = left(env)
        except EvaluationError as error:
            return rest_of_logic((right,), env, error, absorbing=absorbing)
        if value is passing:
            value = right(env)
            if value is passing or value is absorbing:
                return value
        elif value is absorbing:
            return value
        else:
            failed = EvaluationError("no-such-overload", "no such overload", offset=pos)
            return rest_of_logic((right,), env, failed, absorbing=absorbing)
        raise EvaluationError("no-such-overload", "no such overload", offset=pos)

    return logic


def logic_of_three(terms: list[Closure], pos: int, *, absorbing: bool) -> Closure:
    """Plan logic of three terms."""
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
            return rest_of_logic(rest, env, error, absorbing=absorbing)
        failed = EvaluationError("no-such-overload", "no such overload", offset=pos)
        return rest_of_logic(rest, env, failed, absorbing=absorbing)

    return logic


def conditional(condition: Closure, then: Closure, otherwise: Closure, *, pos: int) -> Closure:
    """Plan ``c ? a : b``."""

    def conditional(env: Env) -> Value:
        value = condition(env)
        if value is True:
            return as_variable(then(env))
        if value is False:
            return as_variable(otherwise(env))
        raise EvaluationError("no-such-overload", "no such overload", offset=pos)

    return conditional


def as_variable(value: Value) -> Value:
    """Move an optional through native types, as every attribute does."""
    return Opt(through_native(value.value)) if type(value) is Opt else value


def equals(left: Closure, right: Closure, pos: int) -> Closure:
    """Plan ``==``."""

    def test(env: Env) -> Value:
        try:
            return equal(left(env), right(env))
        except EvaluationError as error:
            raise placed(error, pos) from None

    return test


def equals_text(left: Closure, text: Value, pos: int) -> Closure:
    """Plan ``==`` with a constant string."""

    def test(env: Env) -> Value:
        value = left(env)
        return value == text if type(value) is str else equal_at(value, text, pos)

    return test


def unequal(left: Closure, right: Closure) -> Closure:
    """Plan ``!=``: what refuses to compare is unequal."""

    def test(env: Env) -> Value:
        mine, theirs = left(env), right(env)
        try:
            return not equal(mine, theirs)
        except EvaluationError:  # upstream: what refuses to compare is unequal
            return True

    return test


def membership(element: Closure, members: frozenset[tuple[type, Value]], pos: int) -> Closure:
    """Plan ``in`` with a constant set."""

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


def or_else(optional: Closure, otherwise: Closure, *, unwrap: bool, pos: int) -> Closure:
    """Plan ``or`` and ``orValue`` of optionals."""

    def choose(env: Env) -> Value:
        value = optional(env)
        if value is NOTHING:
            return otherwise(env)
        if unwrap and type(value) is Opt:
            if isinstance(value.value, EvaluationError):
                raise placed(value.value, pos)
            return value.value
        return value

    return choose


def searching(name: str, pattern: Any) -> Callable[..., Value]:
    """Give what a call with a constant pattern runs."""
    from components.cel.library.searches import with_constant  # noqa: PLC0415 - only searches pay for the engine

    return with_constant(name, pattern)


def computed_once(run: Callable[..., Value], values: list[Value], pos: int) -> Closure:
    """Compute a call of constants now, and keep its value or its error."""
    try:
        return constant(run(*values))
    except EvaluationError as error:
        return failing(placed(error, pos))
    except EvaluationAborted as error:
        return aborting(error, pos)


def aborting(error: EvaluationAborted, pos: int) -> Closure:
    """Plan an abort."""

    def abort(_env: Env) -> Value:
        raise EvaluationAborted(error.kind, error.message, offset=pos)

    return abort


def invoke(run: Callable[..., Value], args: list[Closure], pos: int) -> Closure:
    """Plan a call."""
    if len(args) == 1:
        only = args[0]

        def unary(env: Env) -> Value:
            try:
                return run(only(env))
            except (EvaluationError, EvaluationAborted) as error:
                raise placed(error, pos) from None

        return unary
    if len(args) == 2:
        left, right = args

        def binary(env: Env) -> Value:
            try:
                return run(left(env), right(env))
            except (EvaluationError, EvaluationAborted) as error:
                raise placed(error, pos) from None

        return binary

    def many(env: Env) -> Value:
        try:
            return run(*[arg(env) for arg in args])
        except (EvaluationError, EvaluationAborted) as error:
            raise placed(error, pos) from None

    return many
