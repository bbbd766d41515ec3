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
from components.api.placeable import device_view
from components.api.selectors import inner
from components.cel.environment import minor_of
from components.cel.messages import without_guard
from components.cel.problem import Position, SelectorError
from components.cel.selector import compile_selector
from components.errors import ConfigError, Problem

_GUARD = (
    "ask first whether the device has it, as in `'x' in device.attributes['gpu.example.com'] && ...`;"
    " `berth selector test` tries it on every class"
)


def refuse_wrong_selectors(fleet: Fleet, schedule: Schedule) -> None:
    """Raise ConfigError with the place of every selector that the schedule found wrong."""
    problems = selector_problems(fleet, schedule)
    if problems:
        raise ConfigError(problems, consequence="Nothing was changed; what runs stays as it is.")


def selector_problems(fleet: Fleet, schedule: Schedule) -> tuple[Problem, ...]:
    """Return a problem for every place of every selector that the schedule found wrong."""
    return tuple(problem for each in schedule.wrong_selectors for problem in _problems(fleet, each))


def _problems(fleet: Fleet, wrong: WrongSelector) -> Iterator[Problem]:
    document = (ModelDeployment.__name__, wrong.namespace, wrong.deployment)
    position = _position(fleet, wrong)
    meant = fleet.device_names.meant(wrong.expression, position)
    for use in fleet.selector_uses:
        if use.document == document and use.expression == wrong.expression:
            place = use.at(inner(position) if position else None)
            yield Problem(
                Code.SELECTOR_FAILS,
                f"the selector matches nothing and fails on the devices it is about: on {wrong.device} of pool"
                f" {wrong.cluster}/{wrong.pool}: {without_guard(wrong.message) if meant else wrong.message}",
                place.file,
                place.line,
                place.column,
                path=written(use.path),
                text=place.text,
                help=meant or _GUARD,
            )


def _position(fleet: Fleet, wrong: WrongSelector) -> Position | None:
    """Return where in the selector it fails; None where that is not known."""
    cluster = fleet.clusters.get(wrong.cluster)
    pools = cluster.spec.node_pools if cluster else ()
    classes = [fleet.classes[pool.class_name] for pool in pools if pool.name == wrong.pool]
    devices = [device for each in classes for device in each.spec.devices if device.name == wrong.device]
    if cluster is None or not devices:
        return None
    try:
        selector = compile_selector(wrong.expression, minor=minor_of(cluster.kubernetes_version))
    except SelectorError:  # what was seen of the cluster is newer than what its manifest says
        return None
    return selector.evaluate(device_view(devices[0])).position
