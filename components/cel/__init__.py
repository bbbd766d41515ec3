"""Device selectors with the meaning Kubernetes gives them.

The interface, each name in the module that its line says::

    selector.py    compile_selector(expression, *, minor=DEFAULT_MINOR, stored=False, gates=...) -> Selector
                   Selector.evaluate(view) -> Answer;  Answer(outcome, message, kind, position)
                   Outcome.MATCH | NO_MATCH | ERROR;  admit(expression, ...) -> Admission
    problem.py     SelectorError(kind, message, position, caret());  Position(offset, line, column)
    device.py      DeviceView.from_class_device(driver=, attributes=, capacity=)
                   DeviceView.from_slice_device(driver, device)
    allocate.py    evaluate_all(selectors, view) -> Answer
    environment.py MINORS, DEFAULT_MINOR, Gates
    quantity.py    Quantity;  semver.py  Semver

The names are also attributes of this package; their modules are imported when one is first read. The package is pure:
no clock, no network, no files. ``docs/concepts/selectors.md`` explains selectors to users.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from components.cel.allocate import evaluate_all
    from components.cel.device import DeviceView
    from components.cel.environment import DEFAULT_MINOR, MINORS, Gates
    from components.cel.problem import Position, SelectorError
    from components.cel.quantity import Quantity, QuantityError
    from components.cel.selector import Admission, Answer, Outcome, Selector, admit, compile_selector
    from components.cel.semver import Semver, SemverError

_HOMES = {
    "Admission": "selector",
    "Answer": "selector",
    "DEFAULT_MINOR": "environment",
    "DeviceView": "device",
    "Gates": "environment",
    "MINORS": "environment",
    "Outcome": "selector",
    "Position": "problem",
    "Quantity": "quantity",
    "QuantityError": "quantity",
    "Selector": "selector",
    "SelectorError": "problem",
    "Semver": "semver",
    "SemverError": "semver",
    "admit": "selector",
    "compile_selector": "selector",
    "evaluate_all": "allocate",
}

__all__ = [
    "DEFAULT_MINOR",
    "MINORS",
    "Admission",
    "Answer",
    "DeviceView",
    "Gates",
    "Outcome",
    "Position",
    "Quantity",
    "QuantityError",
    "Selector",
    "SelectorError",
    "Semver",
    "SemverError",
    "admit",
    "compile_selector",
    "evaluate_all",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
