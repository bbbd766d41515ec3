"""Matching: whether the requests of a pod can be met by one node of some hardware, and by which devices.

The answer depends on the requests, the devices and the Kubernetes minor alone, so it is computed once for each distinct
three, and a selector once per distinct device description and minor. Requests are taken in order, each from the first
kind that satisfies all its selectors and has enough left, in the order of the nodes' devices, so that no two requests
share a device. A request names no DeviceClass: it claims from that of the kind it takes, and the allocator may then
take any kind of that class which matches. A synthetic kind (matched, never claimed) is taken only when no claimable one
is.

A selector that cannot be evaluated is neither a match nor a silent miss: on a kind that shares its DeviceClass with the
one that is taken it refuses the hardware, because the real allocator may reach that device and then gives up on the
pod. A selector that the minor of a cluster does not know yet is answered as by the first minor that does, and what it
would match is then refused: so the refusal says that an upgrade is all that is missing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from automation.scheduling.hardware import Hardware, Taking
from automation.scheduling.patterns import Demand
from automation.scheduling.resources import Resources, words
from automation.scheduling.snapshot import Device
from automation.scheduling.verdict import Code
from components.cel.device import DeviceView
from components.cel.environment import MINORS
from components.cel.problem import SelectorError
from components.cel.selector import Outcome, Selector, compile_selector, first_minor_that_takes
from components.lock import Claim, MemberShape

Request = tuple[str, int, tuple[str, ...]]
"""Name, number of devices, selectors."""
Requests = tuple[Request, ...]


class Said(NamedTuple):
    """What a selector says of a device; ``text`` is what went wrong.

    With ``needs`` it is the answer of that minor, because the one that was asked does not take the selector, for
    ``refusal``.
    """

    outcome: Outcome
    text: str = ""
    needs: str = ""
    refusal: str = ""


Evaluate = Callable[[str, Device, str], Said]
"""Answers one selector for one device, as Kubernetes of a minor does."""


@dataclass(frozen=True, slots=True)
class Match:
    """The requests can be met: what is claimed, and what a pod takes of a node (None when that is nothing)."""

    claims: tuple[Claim, ...]
    demand: Demand | None
    deferred: bool = False
    """It has requests, and synthetic kinds alone satisfy them."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The requests cannot be met: the first thing that failed."""

    code: Code
    message: str
    request: str
    expression: str = ""
    device: str = ""
    wanted: int | None = None
    free: int | None = None
    meant: bool = False
    """It is an error on a device that the selector is about."""
    final: bool = False
    """A matching kind shares its DeviceClass with one on which the selector fails; nothing else may be tried."""
    needs: str = ""
    """The Kubernetes minor from which on it would be met."""


def requests_of(member: MemberShape) -> Requests:
    """Return a member's requests as a plain value."""
    return tuple((request.name, request.count, request.selectors) for request in member.requests)


class Matcher:
    """Answers for all hardware of one snapshot."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._answers: dict[tuple[str, str, object], Said] = {}
        self._matches: dict[tuple[Requests, Resources, int], tuple[Match | Mismatch, Mismatch | None]] = {}

    def match(
        self, requests: Requests, hardware: Hardware, resources: Resources = (), *, any_minor: bool = False
    ) -> Match | Mismatch:
        """Return how one node of ``hardware`` meets ``requests`` and, as far as it is stated, ``resources``.

        With ``any_minor`` as if the cluster were new enough for every selector: so it is for what runs there.
        """
        key = (requests, resources, hardware.number)
        known = self._matches.get(key)
        if known is None:
            answer = self._match(requests, hardware)
            if resources and isinstance(answer, Match):
                answer = _beside(answer, hardware, resources)
            too_new = self._too_new(requests, hardware) if isinstance(answer, Match) else None
            known = self._matches[key] = answer, too_new
        answer, too_new = known
        return answer if any_minor or too_new is None else too_new

    def _too_new(self, requests: Requests, hardware: Hardware) -> Mismatch | None:
        """Return the selector that needs the newest Kubernetes, of those that the clusters' own does not take."""
        found: Mismatch | None = None
        for name, count, selectors in requests:
            for expression in selectors:
                # Whether it is taken is the same for all devices.
                said = self._answer(expression, hardware.devices[0], hardware.minor)
                if said.needs and (found is None or MINORS.index(said.needs) > MINORS.index(found.needs)):
                    message = f"request {name}: {expression} needs Kubernetes {said.needs} ({said.refusal})"
                    found = Mismatch(Code.SELECTOR_TOO_NEW, message, name, expression, wanted=count, needs=said.needs)
        return found

    def _match(self, requests: Requests, hardware: Hardware) -> Match | Mismatch:
        left = [device.count for device in hardware.devices]
        claims: list[Claim] = []
        takings: list[Taking] = []
        for request in requests:
            found = self._claimable(request, hardware, left)
            if isinstance(found, Mismatch):
                synthetic = None if found.final else self._synthetic(request, hardware, left)
                if synthetic is None:
                    return found
                left[synthetic] -= request[1]
                continue
            device_class, position, kinds = found
            left[position] -= request[1]
            claims.append(Claim(request=request[0], device_class=device_class))
            takings.append((request[1], kinds))
        demand = hardware.demand(takings) if takings else None
        return Match(claims=tuple(claims), demand=demand, deferred=bool(requests) and not takings)

    def _claimable(
        self, request: Request, hardware: Hardware, left: list[int]
    ) -> tuple[str, int, frozenset[int]] | Mismatch:
        """Return the DeviceClass, the device's position and all kinds that may be taken, or the first failure."""
        problems = [self._problem(request, hardware.devices[position], hardware.minor) for position in hardware.kinds]
        failures: list[Mismatch] = []
        alike: dict[str, frozenset[int]] = {}
        """By DeviceClass, the kinds that match."""
        failing: dict[str, Mismatch] = {}
        """The first error of every DeviceClass that also has a kind that matches."""
        for device_class, kinds in hardware.classes:
            alike[device_class] = frozenset(kind for kind in kinds if problems[kind] is None)
            found = [problem for kind in kinds if (problem := problems[kind])]
            errors = [problem for problem in found if problem.code is Code.SELECTOR_ERROR]
            if alike[device_class] and errors:
                failing[device_class] = replace(errors[0], final=True)
            failures += errors or found
        short: Mismatch | None = None
        for kind, position in enumerate(hardware.kinds):
            device = hardware.devices[position]
            if problems[kind] is not None:
                continue
            if left[position] >= request[1]:
                return failing.get(device.device_class) or (device.device_class, position, alike[device.device_class])
            short = short or failing.get(device.device_class) or _short(request, device, left[position])
        return short or _reported(failures) or Mismatch(Code.NO_MATCH, "the nodes have nothing to claim", request[0])

    def _synthetic(self, request: Request, hardware: Hardware, left: list[int]) -> int | None:
        for position, device in enumerate(hardware.devices):
            if device.claimable or left[position] < request[1]:
                continue
            if self._problem(request, device, hardware.minor) is None:
                return position
        return None

    def _problem(self, request: Request, device: Device, minor: str) -> Mismatch | None:
        """Return the first selector of ``request`` that ``device`` does not satisfy; None when it satisfies all."""
        name, count, selectors = request
        for expression in selectors:
            outcome, text, *_ = self._answer(expression, device, minor)
            if outcome is Outcome.NO_MATCH:
                message = f"request {name}: {device.name} does not satisfy {expression}"
                return Mismatch(Code.NO_MATCH, message, name, expression, device.name, count)
            if outcome is Outcome.ERROR:
                message = f"request {name}: {expression} cannot be evaluated on {device.name}: {text}"
                return Mismatch(
                    Code.SELECTOR_ERROR, message, name, expression, device.name, count, meant=_meant(expression, device)
                )
        return None

    def _answer(self, expression: str, device: Device, minor: str) -> Said:
        key = (expression, minor, (device.driver, device.attributes, device.capacity))
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._evaluate(expression, device, minor)
        return answer


def _reported(failures: Sequence[Mismatch]) -> Mismatch | None:
    """Choose the failure to report: an error on a device that the selector is about, else a clean miss, else any."""
    return min(failures, key=lambda failure: (not failure.meant, failure.code is Code.SELECTOR_ERROR), default=None)


def _beside(match: Match, hardware: Hardware, resources: Resources) -> Match | Mismatch:
    short = next(hardware.lacking(resources), None)
    if short is None:
        return replace(match, demand=hardware.beside(match.demand, resources))
    (wanted,), (has,) = words([short[:2]]), words([(short[0], short[2])])
    return Mismatch(Code.POD_TOO_LARGE, f"a pod requests {wanted}, a node has {has}", "")


def _meant(expression: str, device: Device) -> bool:
    """Say whether an expression speaks of a device: it names its driver or a domain of its own.

    An error on any other device only says that it is not of the DeviceClass that the request is about.
    """
    keys = [key for key, _, _ in device.attributes] + [key for key, _ in device.capacity]
    domains = {key.partition("/")[0] for key in keys if "/" in key}
    return any(domain in expression for domain in {device.driver, *domains})


def _short(request: Request, device: Device, left: int) -> Mismatch:
    name, count, _ = request
    devices = f"{count} device" if count == 1 else f"{count} devices"
    if left == device.count:
        message = f"request {name} wants {devices}, a node has {left} of {device.name}"
    else:
        message = (
            f"request {name} wants {devices}, {left} of {device.count} {device.name} are left on a node"
            " after the requests before it"
        )
    return Mismatch(Code.POD_TOO_LARGE, message, name, "", device.name, count, left)


def cel_evaluate() -> Evaluate:
    """Return the compiled selectors of ``components.cel``, each compiled once a minor and each device viewed once.

    An expression that no minor from the cluster's on takes is an error on every device: it is refused at load, so it
    can only come from a shape that is already running, and that one stays.
    """
    selectors: dict[tuple[str, str], _Compiled] = {}
    views: dict[tuple[object, ...], DeviceView] = {}

    def evaluate(expression: str, device: Device, minor: str) -> Said:
        compiled = selectors.get((expression, minor))
        if compiled is None:
            compiled = selectors[expression, minor] = _compiled(expression, minor)
        if compiled.selector is None:
            return Said(Outcome.ERROR, compiled.refusal)
        key = (device.driver, device.attributes, device.capacity)
        if key not in views:
            attributes = {name: {kind: value} for name, kind, value in device.attributes}
            views[key] = DeviceView.from_class_device(
                driver=device.driver, attributes=attributes, capacity=dict(device.capacity)
            )
        answer = compiled.selector.evaluate(views[key])
        return Said(answer.outcome, answer.message, compiled.needs, compiled.refusal)

    return evaluate


class _Compiled(NamedTuple):
    """A selector for a minor, or for the one that it needs; ``refusal`` is why the minor itself does not take it."""

    selector: Selector | None
    needs: str = ""
    refusal: str = ""


def _compiled(expression: str, minor: str) -> _Compiled:
    try:
        return _Compiled(compile_selector(expression, minor=minor))
    except SelectorError as error:
        needs = first_minor_that_takes(expression, after=minor)
        return _Compiled(compile_selector(expression, minor=needs) if needs else None, needs, str(error))
