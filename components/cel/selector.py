"""Compile a selector and evaluate it on a device: the two questions *admit* and *evaluate* of design section 6.

``compile_selector`` refuses what the API server of the minor would refuse, and the result answers what kube-scheduler
of that minor answers. Compiled selectors are immutable, cached and safe under threads.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from components.cel.checker import Checked, check
from components.cel.closures import Planner
from components.cel.constants import Constants, constants_of
from components.cel.environment import (
    COST_LIMIT,
    DEFAULT_GATES,
    DEFAULT_MINOR,
    MAX_BYTES,
    MINORS,
    Environment,
    Gates,
    environment,
)
from components.cel.estimate import estimate
from components.cel.messages import words
from components.cel.meter import metered
from components.cel.parser import parse
from components.cel.problem import EvaluationAborted, EvaluationError, Position, SelectorError
from components.cel.record import Record, put
from components.cel.syntax import Call, Expr, Fold, Literal, MapExpr, children
from components.cel.validators import validate
from components.cel.values import Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, TypeVar

    from components.cel.branches import Closure
    from components.cel.counted import CountedProgram
    from components.cel.device import DeviceView

    _T = TypeVar("_T")


FAST_ESTIMATE: Final = 100_000
CACHE_SIZE: Final = 4_096
_FORM_OBSERVERS: Final = frozenset({"isInteger", "asInteger", "asApproximateFloat", "add", "sub"})
_CRASHING: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys", "flatten"})
_ABORTING: Final = frozenset({"@in", "{}", "cel.@mapInsert"})
_LOGIC: Final = frozenset({"_&&_", "_||_"})
_BINARY: Final = 2
_METERED: Final = frozenset({"matches", "find", "findAll", "fold"})
_FORM_CHANGERS: Final = frozenset({"compareTo", "isLessThan", "isGreaterThan", "add", "sub"})


class Outcome(StrEnum):
    """The three answers; an error is never a match and never a silent non-match."""

    MATCH = "match"
    NO_MATCH = "no-match"
    ERROR = "error"


class Answer(Record):
    """What a selector says of a device; ``kind``, ``message`` and ``position`` are set for an error."""

    __slots__ = ("kind", "message", "outcome", "position")

    outcome: Outcome
    message: str
    kind: str
    position: Position | None

    def __init__(self, outcome: Outcome, message: str = "", kind: str = "", position: Position | None = None) -> None:
        put(self, "outcome", outcome)
        put(self, "message", message)
        put(self, "kind", kind)
        put(self, "position", position)


_MATCH: Final = Answer(Outcome.MATCH)
_NO_MATCH: Final = Answer(Outcome.NO_MATCH)


class Admission(Record):
    """What API validation says of an expression: accepted, or the reason; the estimate when types are right."""

    __slots__ = ("error", "estimate")

    error: SelectorError | None
    estimate: int | None

    def __init__(self, error: SelectorError | None, estimate: int | None = None) -> None:
        put(self, "error", error)
        put(self, "estimate", estimate)


class Selector(Record):
    """A compiled selector; equal selectors are the same object as long as the cache holds them."""

    __slots__ = ("_closure", "_environment", "_slots", "estimate", "expression", "gates", "minor")

    expression: str
    minor: str
    gates: Gates
    estimate: int
    _environment: Environment
    _closure: Closure | None
    _slots: int

    def __init__(
        self,
        expression: str,
        *,
        minor: str,
        gates: Gates,
        estimate: int,
        environment: Environment,
        closure: Closure | None,
        slots: int,
    ) -> None:
        put(self, "expression", expression)
        put(self, "minor", minor)
        put(self, "gates", gates)
        put(self, "estimate", estimate)
        put(self, "_environment", environment)
        put(self, "_closure", closure)
        put(self, "_slots", slots)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def evaluate(self, view: DeviceView) -> Answer:
        """Answer for one device, as kube-scheduler would."""
        closure = self._closure
        if closure is None or view.problem or view.has_lists or not view.bounded:
            return self.counted(view)[0]
        try:
            value = closure([view] if self._slots == 1 else [view, *[None] * (self._slots - 1)])
        except (EvaluationError, EvaluationAborted) as error:
            return self._failed(error)
        except RecursionError:
            return self.counted(view)[0]
        if value is True:
            return _MATCH
        return _NO_MATCH if value is False else self._no_bool(value)

    @property
    def always_counted(self) -> bool:
        """Whether ``evaluate`` is ``counted`` for every device: the cost may be large, or its order can be observed."""
        return self._closure is None

    def counted(self, view: DeviceView) -> tuple[Answer, int]:
        """Answer and count the cost as kube-scheduler does; slower than ``evaluate``."""
        refused = self._refusal(view)
        if refused is not None:
            return refused, 0
        value, cost = _deep(lambda: self.program().run(view, COST_LIMIT))
        if isinstance(value, EvaluationError | EvaluationAborted):
            return self._failed(value), cost
        if value is True:
            return _MATCH, cost
        return (_NO_MATCH if value is False else self._no_bool(value)), cost

    def program(self) -> CountedProgram:
        """Plan the counted evaluation, anew each time."""
        from components.cel.counted import CountedProgram  # noqa: PLC0415 - only selectors that need it pay for it

        return CountedProgram(self._checked())

    def _refusal(self, view: DeviceView) -> Answer | None:
        """Give the error that a device answers to every selector."""
        if view.problem:
            return Answer(Outcome.ERROR, f"the device is malformed: {view.problem}", "device-attribute")
        if view.has_lists and not self._environment.list_attributes:
            message = f"the device has a list attribute, which Kubernetes {self.minor} cannot read"
            return Answer(Outcome.ERROR, message, "device-attribute")
        return None

    def tree(self) -> Checked:
        """Give the checked syntax tree, made anew."""
        return _deep(self._checked)

    def _checked(self) -> Checked:
        env = self._environment
        root = parse(self.expression, env.macros, backquotes=env.backquotes)
        return check(root, env, self.expression)

    def _no_bool(self, value: Value) -> Answer:
        if isinstance(value, Opt) and type(value.value) is bool:
            return _MATCH if value.value else _NO_MATCH
        return Answer(Outcome.ERROR, words("non-bool-result", value), "non-bool-result", Position(0, 1, 0))

    def _failed(self, error: EvaluationError | EvaluationAborted) -> Answer:
        position = Position.at(self.expression, error.offset) if error.offset >= 0 else None
        return Answer(Outcome.ERROR, words(error.kind, error.key, error.message), error.kind, position)


def compile_selector(
    expression: str, *, minor: str = DEFAULT_MINOR, stored: bool = False, gates: Gates = DEFAULT_GATES
) -> Selector:
    """Compile for a Kubernetes minor, or raise ``SelectorError`` when its API server would refuse the expression.

    ``stored`` judges as for an expression that is in the API already: every library is known and gates are ignored.
    """
    return _compile(expression, minor, stored, gates)


@lru_cache(maxsize=CACHE_SIZE)
def _compile(expression: str, minor: str, stored: bool, gates: Gates) -> Selector:  # noqa: FBT001 - an argument of the language
    return _deep(lambda: _compiled(expression, minor, gates, stored=stored, limited=True))


def compile_unlimited(expression: str, *, minor: str = DEFAULT_MINOR, gates: Gates = DEFAULT_GATES) -> Selector:
    """Compile as the scheduler does, without the bounds that only the API server checks."""
    return _deep(lambda: _compiled(expression, minor, gates, stored=True, limited=False))


def admit(
    expression: str, *, minor: str = DEFAULT_MINOR, stored: bool = False, gates: Gates = DEFAULT_GATES
) -> Admission:
    """Judge an expression as API validation does, and give the estimate of its cost."""
    try:
        return _deep(lambda: _admit(expression, environment(minor, stored=stored, gates=gates))[0])
    except SelectorError as error:  # it is too deep: every other refusal is a value already
        return Admission(error)


def first_minor_that_takes(expression: str, *, after: str) -> str:
    """Return the oldest minor newer than ``after`` whose API server takes a new expression; empty where none does."""
    newer = MINORS[MINORS.index(after) + 1 :]
    return next((minor for minor in newer if admit(expression, minor=minor).error is None), "")


def _admit(expression: str, env: Environment) -> tuple[Admission, Checked | None, Constants | None]:
    try:
        checked, constants = _judge(expression, env, limited=True)
    except SelectorError as error:
        return Admission(error), None, None
    cost = estimate(checked)
    if cost > COST_LIMIT:
        message = f"too complex: the worst-case cost is {cost}, the limit is {COST_LIMIT}"
        return Admission(SelectorError("cost", message, expression=expression), cost), checked, constants
    return Admission(None, cost), checked, constants


def _judge(expression: str, env: Environment, *, limited: bool) -> tuple[Checked, Constants]:
    """Parse, check and validate; raises the first problem."""
    encoded = expression.encode("utf-8", "surrogatepass")
    if limited and len(encoded) > MAX_BYTES:
        message = f"an expression must not be longer than {MAX_BYTES} bytes, this one has {len(encoded)}"
        kept = len(encoded[:MAX_BYTES].decode("utf-8", "ignore"))
        raise SelectorError("too-long", message, expression=expression, offset=kept)
    root = parse(expression, env.macros, backquotes=env.backquotes)
    checked = check(root, env, expression)
    validate(checked, expression)
    wrapped = checked.result.nullable and not env.wrapped_results
    if wrapped or checked.result not in env.result_types:
        message = f"must evaluate to bool or the unknown type, not {checked.result}"
        raise SelectorError("result-type", message, expression=expression)
    return checked, constants_of(checked, expression)


def _compiled(expression: str, minor: str, gates: Gates, *, stored: bool, limited: bool) -> Selector:
    scheduler = environment(minor, stored=True, gates=gates)
    checked: Checked | None = None
    constants: Constants | None = None
    cost: int | None = None
    if limited:
        env = scheduler if stored else environment(minor, stored=False, gates=gates)
        admission, found, folded = _admit(expression, env)
        if admission.error is not None:
            raise admission.error
        if env.attribute == scheduler.attribute:  # what the narrower environment takes means the same in the wider
            checked, constants, cost = found, folded, admission.estimate
    if checked is None or constants is None or cost is None:
        checked, constants = _judge(expression, scheduler, limited=False)
        cost = estimate(checked)
    closure: Closure | None = None
    slots = 1
    if cost <= FAST_ESTIMATE and not _needs_care(checked):
        planner = Planner(checked, constants)
        closure = planner.plan(checked.root)
        if checked.called & _METERED:
            closure = _metered(closure)
        slots = planner.slots
    return Selector(
        expression,
        minor=minor,
        gates=gates,
        estimate=cost,
        environment=scheduler,
        closure=closure,
        slots=slots,
    )


def _metered(closure: Closure) -> Closure:
    """Bound what an evaluation spends beside its cost."""
    return lambda env: metered(lambda: closure(env))


def _needs_care(checked: Checked) -> bool:
    """Tell whether only the counted way is right.

    It is where an evaluation could see that a comparison changed the form of a quantity, for list functions on whose
    misuse upstream's counter panics, and where a panic could stand behind an error.
    """
    names = checked.called
    if names & _CRASHING:
        return True
    if names & _FORM_OBSERVERS and names & _FORM_CHANGERS:
        return True
    return not names.isdisjoint(_ABORTING) and _aborts_behind_an_error(checked.root)


def _aborts_behind_an_error(root: Expr) -> bool:
    """Tell whether what can end the whole evaluation stands where the closures stop earlier, at an error.

    That is the second operand of a call, and what a fold collects, in all rounds but the first.
    """
    nodes = [root]
    for node in nodes:
        nodes += children(node)
    aborting: set[int] = set()
    for node in reversed(nodes):  # children stand behind their parents
        inner = [child.id in aborting for child in children(node)]
        if type(node) is Call and node.function not in _LOGIC and len(inner) == _BINARY and inner[1]:
            return True
        if type(node) is Fold and type(node.step) is Call and node.step.function not in _LOGIC and any(inner):
            return True
        computed = type(node) is MapExpr and any(type(entry.key) is not Literal for entry in node.entries)
        if computed or any(inner) or (type(node) is Call and node.function in _ABORTING):
            aborting.add(node.id)
    return False


def _deep(work: Callable[[], _T]) -> _T:
    """Run deep work; where the caller left too few frames, on a thread that has all of them."""
    try:
        return work()
    except RecursionError:
        pass
    from threading import Thread  # noqa: PLC0415 - only the deepest expressions need one

    outcome: list[_T] = []
    problem: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except RecursionError:
            problem.append(SelectorError("too-deep", "the expression nests too deeply to be evaluated here"))
        except Exception as error:  # noqa: BLE001 - handed to the caller's thread
            problem.append(error)

    thread = Thread(target=run, name="selector")
    thread.start()
    thread.join()
    if problem:
        raise problem[0]
    return outcome[0]
