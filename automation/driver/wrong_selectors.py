"""Refuses a plan in which a selector is wrong: it fails on the very devices that it is about, and matches nowhere.

Such a selector is a mistake in a manifest like one that does not compile, only seen later: no room helps, and on a real
cluster it would stop the pod's scheduling for ever. What runs stays, and the run ends before anything is changed. A
selector that fails on some pools and matches others is no such case: those pools are refused, with the message.
"""

from collections.abc import Iterator

from automation.scheduling.result import Schedule, WrongSelector
from components.api.codes import Code
from components.api.fleet import Fleet
from components.api.model_deployment import ModelDeployment
from components.api.nodes import written
from components.errors import ConfigError, Problem


def refuse_wrong_selectors(fleet: Fleet, schedule: Schedule) -> None:
    """Raise ConfigError with the place of every selector that the schedule found wrong."""
    problems = [problem for each in schedule.wrong_selectors for problem in _problems(fleet, each)]
    if problems:
        raise ConfigError(problems, consequence="Nothing was changed; what runs stays as it is.")


def _problems(fleet: Fleet, wrong: WrongSelector) -> Iterator[Problem]:
    document = (ModelDeployment.__name__, wrong.namespace, wrong.deployment)
    for use in fleet.selector_uses:
        if use.document == document and use.expression == wrong.expression:
            yield Problem(
                Code.SELECTOR_FAILS,
                f"the selector matches nothing and fails on the devices it is about: on {wrong.device} of pool"
                f" {wrong.cluster}/{wrong.pool}: {wrong.message}",
                use.place.file,
                use.place.line,
                use.place.column,
                path=written(use.path),
                text=use.place.text,
                help="ask first whether the device has it, as in `'x' in device.attributes['gpu.example.com'] && ...`;"
                " `berth selector test` tries it on every class",
            )
