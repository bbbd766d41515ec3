"""Run a case table: expressions with the right answers per minor, quantities, and devices.

The table is given as parsed objects; nothing is printed here. A case says what the scheduler does (``eval``), what API
validation does (``admit``), the worst-case estimate (``est``) and the counted cost (``act``); a value that is a map
differs by minor. ``est`` and ``act`` belong to the stored environment.
"""

# ruff: noqa: PLR0917 - inner functions of a hot path

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from components.cel.device import DeviceView
from components.cel.environment import MINORS, Gates
from components.cel.problem import SelectorError
from components.cel.quantity import Quantity, QuantityError
from components.cel.selector import Answer, Outcome, admit, compile_unlimited

QUESTIONS: Final = ("eval", "admit", "est", "act", "quantity")
_ANSWERS: Final = {Outcome.MATCH: "true", Outcome.NO_MATCH: "false"}
_MISSING: Final = object()


class TableError(ValueError):
    """The table is no case table."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One answer that is not the table's."""

    minor: str
    case: str
    question: str
    expression: str
    want: str
    got: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """How often one question was asked, and answered as the table does."""

    asked: int = 0
    agreed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a table for the minors that were run."""

    minors: tuple[str, ...]
    scores: Mapping[str, Score]
    disagreements: tuple[Disagreement, ...]
    false_matches: int

    @property
    def agrees(self) -> bool:
        """Whether every answer is the table's."""
        return not self.disagreements


@dataclass(slots=True)
class _Run:
    devices: Mapping[str, DeviceView]
    scores: dict[str, Score] = field(default_factory=dict)
    disagreements: list[Disagreement] = field(default_factory=list)
    false_matches: int = 0

    def ask(self, minor: str, case: Mapping[str, Any], question: str, want: str, got: str, detail: str = "") -> None:
        score = self.scores.get(question, Score())
        self.scores[question] = Score(score.asked + 1, score.agreed + (want == got))
        if want != got:
            name, expression = str(case.get("id", case.get("in", ""))), str(case.get("expr", ""))
            self.disagreements.append(Disagreement(minor, name, question, expression, want, got, detail))
            self.false_matches += question == "eval" and got == "true"


def run_table(table: Mapping[str, Any], *, minors: Sequence[str] = MINORS) -> Report:
    """Run all cases of a table for some minors; quantities are the same in all and are run once."""
    if not isinstance(table, Mapping) or not isinstance(table.get("cases", []), list):
        raise TableError("a case table is a map with a list of cases")
    if "cases" not in table and "quantities" not in table:
        raise TableError("it has neither cases nor quantities")
    devices = {name: device_view(entry) for name, entry in (table.get("devices") or {}).items()}
    run = _Run(devices)
    for minor in minors:
        for case in table.get("cases") or ():
            if not isinstance(case, Mapping) or "expr" not in case:
                raise TableError("a case has an expression")
            _run_case(run, minor, case)
    for case in table.get("quantities") or ():
        _run_quantity(run, case)
    return Report(tuple(minors), run.scores, tuple(run.disagreements), run.false_matches)


def device_view(entry: Mapping[str, Any] | None) -> DeviceView:
    """View a device of a table; it may be outside the API's bounds, as upstream's own code takes it."""
    entry = entry or {}
    described: dict[str, Any] = {
        "driver": entry.get("driver") or "",
        "attributes": entry.get("attributes") or {},
        "capacity": entry.get("capacity") or {},
        "allow_multiple_allocations": bool(entry.get("allowMultipleAllocations")),
    }
    view = DeviceView.from_class_device(**described)
    return DeviceView.from_class_device(**described, bounded=False) if view.problem else view


def _gates(case: Mapping[str, Any]) -> Gates:
    gates = case.get("gates") or {}
    return Gates(consumable_capacity=gates.get("cc"), list_type_attributes=gates.get("lt"))


def _for_minor(value: Any, minor: str) -> Any:
    """Pick the answer of a minor; a minor that a map leaves out, or an answer of null, is not asked about."""
    found = value.get(minor) if isinstance(value, Mapping) else value
    return _MISSING if found is None else found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _run_case(run: _Run, minor: str, case: Mapping[str, Any]) -> None:
    gates = _gates(case)
    if gates.list_type_attributes and minor < "1.36":
        return  # the gate does not exist yet
    device = case.get("device")
    if device is not None and device not in run.devices:
        raise TableError(f"case {case.get('id')}: unknown device {device!r}")
    view = run.devices[device] if device is not None else device_view(None)
    wanted = {name: _for_minor(case.get(name, _MISSING), minor) for name in ("eval", "admit", "est", "act")}
    if wanted["admit"] is not _MISSING:
        _ask_admit(run, minor, case, gates, _text(wanted["admit"]))
    if all(wanted[name] is _MISSING for name in ("eval", "est", "act")):
        return
    try:
        selector = compile_unlimited(case["expr"], minor=minor, gates=gates)
    except SelectorError as error:
        asked = next(name for name in ("eval", "est", "act") if wanted[name] is not _MISSING)
        run.ask(minor, case, asked, _text(wanted[asked]), f"compile:{error.kind}", error.message)
        return
    counted = selector.counted(view) if wanted["act"] is not _MISSING else None
    if wanted["eval"] is not _MISSING:
        answer = counted[0] if counted and selector.always_counted else selector.evaluate(view)
        run.ask(minor, case, "eval", _text(wanted["eval"]), _answer(answer), answer.message)
    if wanted["est"] is not _MISSING:
        run.ask(minor, case, "est", str(wanted["est"]), str(selector.estimate))
    if counted:
        run.ask(minor, case, "act", str(wanted["act"]), str(counted[1]))


def _answer(answer: Answer) -> str:
    return _ANSWERS.get(answer.outcome, f"runtime:{answer.kind}")


def _ask_admit(run: _Run, minor: str, case: Mapping[str, Any], gates: Gates, want: str) -> None:
    error = admit(case["expr"], minor=minor, gates=gates).error
    if error is None:
        run.ask(minor, case, "admit", want, "ok")
    else:
        run.ask(minor, case, "admit", want, "cost" if error.kind == "cost" else f"compile:{error.kind}", error.message)


def _run_quantity(run: _Run, case: Mapping[str, Any]) -> None:
    try:
        quantity = Quantity.parse(str(case["in"]))
    except QuantityError as error:
        got = {"ok": False}
        wanted = {"ok": bool(case.get("ok"))}
        run.ask("", case, "quantity", str(wanted), str(got), error.message)
        return
    answers: dict[str, Any] = {
        "ok": True,
        "canonical": str(quantity),
        "is_integer": quantity.is_integer,
        "as_integer": quantity.as_integer() if quantity.is_integer else None,
        "sign": quantity.sign,
    }
    wanted = {name: case[name] for name in answers if name in case}
    run.ask("", case, "quantity", str(wanted), str({name: answers[name] for name in wanted}))
