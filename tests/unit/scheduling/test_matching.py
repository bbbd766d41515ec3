"""Matching requests against hardware: order, counts, DeviceClasses, synthetic kinds, errors."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from automation.scheduling.hardware import make_hardware
from automation.scheduling.matching import Match, Matcher, Mismatch, Requests, Said, cel_evaluate
from automation.scheduling.snapshot import Device
from automation.scheduling.verdict import Code
from components.cel.selector import Outcome
from tests.unit.scheduling.builder import evaluate, gpu, nic, synthetic


def ask(*requests: tuple[int, str]) -> Requests:
    """Make requests ``r0``, ``r1``, each with one selector."""
    return tuple((f"r{number}", count, (selector,)) for number, (count, selector) in enumerate(requests))


def match(requests: Requests, *devices: Device) -> Match | Mismatch:
    """Match with the toy selectors."""
    return Matcher(evaluate).match(requests, make_hardware(0, devices))


@dataclass(frozen=True)
class Hit:
    """Requests that can be met."""

    name: str
    requests: Requests
    devices: tuple[Device, ...]
    claims: list[tuple[str, str]]
    demand: tuple[int, ...] | None


HITS = [
    Hit("no requests match everything", (), (gpu(),), [], None),
    Hit("one request", ask((4, "any")), (gpu(),), [("r0", "gpu.nvidia.com")], (4,)),
    Hit(
        "memory that is unknown and not asked for", ask((1, "any")), (gpu(memory=0),), [("r0", "gpu.nvidia.com")], (1,)
    ),
    Hit(
        "requests share no device",
        ask((4, "any"), (4, "any")),
        (gpu(),),
        [("r0", "gpu.nvidia.com"), ("r1", "gpu.nvidia.com")],
        (8,),
    ),
    Hit("the first kind that fits is taken", ask((4, "40")), (nic(), gpu()), [("r0", "gpu.nvidia.com")], (0, 4)),
    Hit(
        "a kind that is too small is passed over",
        ask((4, "any")),
        (gpu("a", 2), gpu("b", 8)),
        [("r0", "gpu.nvidia.com")],
        (2, 4, 0, 0, 4),
    ),
    Hit(
        "the order of devices counts, not that of their DeviceClasses",
        ask((2, "any"), (1, "any")),
        (gpu("a", 2), nic("n", 8), gpu("b", 8)),
        [("r0", "gpu.nvidia.com"), ("r1", "efa.aws")],
        (2, 1, 2, 0, 0, 2),
    ),
    Hit(
        "an error in a DeviceClass that is too small does not matter to one that has room",
        ask((4, "40")),
        (gpu("a", 2), gpu("b", capacity=()), gpu("c", 4, device_class="other")),
        [("r0", "other")],
        (0, 0, 4, 0, 0, 0),
    ),
    Hit(
        "an unguarded selector is no error on another DeviceClass",
        ask((8, "80"), (32, "name=efa")),
        (nic(), gpu()),
        [("r0", "gpu.nvidia.com"), ("r1", "efa.aws")],
        (32, 8),
    ),
    Hit("a synthetic kind alone satisfies and claims nothing", ask((1, "name=ib")), (synthetic(), gpu()), [], None),
    Hit(
        "a synthetic kind listed first does not absorb a request",
        ask((1, "any")),
        (synthetic(), gpu()),
        [("r0", "gpu.nvidia.com")],
        (1,),
    ),
    Hit(
        "a synthetic kind beside a claim",
        ask((1, "name=ib"), (2, "80")),
        (synthetic(), gpu()),
        [("r1", "gpu.nvidia.com")],
        (2,),
    ),
]


@pytest.mark.parametrize("case", HITS, ids=lambda case: case.name)
def test_requests_are_met(case: Hit) -> None:
    """The claims name the DeviceClasses, the demand counts each kind."""
    found = match(case.requests, *case.devices)
    assert isinstance(found, Match)
    assert [(claim.request, claim.device_class) for claim in found.claims] == case.claims
    assert found.demand == case.demand
    assert found.deferred is (bool(case.requests) and case.demand is None)


@dataclass(frozen=True)
class Miss:
    """Requests that cannot be met, and the first thing that fails."""

    name: str
    requests: Requests
    devices: tuple[Device, ...]
    code: Code
    request: str
    device: str
    message: str


MISSES = [
    Miss("no kind matches", ask((1, "none")), (gpu(),), Code.NO_MATCH, "r0", "h100", "does not satisfy none"),
    Miss("memory too small", ask((1, "140")), (gpu(),), Code.NO_MATCH, "r0", "h100", "does not satisfy 140"),
    Miss(
        "memory of which nothing is known", ask((1, "16")), (gpu(memory=0),), Code.NO_MATCH, "r0", "h100", "satisfy 16"
    ),
    Miss("the second request", ask((1, "any"), (1, "none")), (gpu(),), Code.NO_MATCH, "r1", "h100", "request r1"),
    Miss("too few on a node", ask((9, "any")), (gpu(),), Code.POD_TOO_LARGE, "r0", "h100", "a node has 8 of h100"),
    Miss(
        "too few left",
        ask((5, "any"), (5, "any")),
        (gpu(),),
        Code.POD_TOO_LARGE,
        "r1",
        "h100",
        "3 of 8 h100 are left on a node",
    ),
    Miss("an error", ask((1, "boom")), (gpu(),), Code.SELECTOR_ERROR, "r0", "h100", "no such key: x"),
    Miss(
        "an error on a kind that shares a DeviceClass with a match",
        ask((1, "40")),
        (gpu("a"), gpu("b", capacity=())),
        Code.SELECTOR_ERROR,
        "r0",
        "b",
        "no such key: memory",
    ),
    Miss(
        "an error beside a match is reported before too few",
        ask((9, "40")),
        (gpu("a"), gpu("b", capacity=())),
        Code.SELECTOR_ERROR,
        "r0",
        "b",
        "no such key: memory",
    ),
    Miss(
        "a miss is reported before an error of another DeviceClass",
        ask((1, "140")),
        (nic(), gpu()),
        Code.NO_MATCH,
        "r0",
        "h100",
        "does not satisfy 140",
    ),
    Miss(
        "described devices that an earlier request has",
        ask((5, "name=ib"), (5, "name=ib")),
        (gpu(), synthetic("ib")),
        Code.NO_MATCH,
        "r1",
        "h100",
        "does not satisfy name=ib",
    ),
    Miss("nothing to claim", ask((1, "none")), (synthetic(),), Code.NO_MATCH, "r0", "", "nothing to claim"),
]


@pytest.mark.parametrize("case", MISSES, ids=lambda case: case.name)
def test_requests_are_not_met(case: Miss) -> None:
    """The first failure names code, request, device and why."""
    found = match(case.requests, *case.devices)
    assert isinstance(found, Mismatch)
    assert (found.code, found.request, found.device) == (case.code, case.request, case.device)
    assert case.message in found.message


def test_an_error_on_a_device_that_the_selector_names_is_not_hidden_by_a_miss() -> None:
    """By its driver, or by a domain of its attributes: then its error counts, and no miss elsewhere."""

    def answer(expression: str, device: Device, minor: str) -> Said:
        return Said(Outcome.NO_MATCH) if device.name == "efa" else Said(Outcome.ERROR, "no such key: x")

    expression = 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].x'
    own = gpu(driver="dra.example.com", attributes=(("gpu.nvidia.com/y", "int", 1),))
    for card, code in ((gpu(), Code.SELECTOR_ERROR), (own, Code.SELECTOR_ERROR), (gpu(driver="x.com"), Code.NO_MATCH)):
        found = Matcher(answer).match((("r", 1, (expression,)),), make_hardware(0, (nic(), card)))
        assert isinstance(found, Mismatch)
        assert (found.code, found.device) == (code, "h100" if code is Code.SELECTOR_ERROR else "efa")


def test_each_selector_is_asked_once_per_device_description_and_minor() -> None:
    """Equal descriptions share an answer, whatever their names and counts."""
    asked: list[str] = []

    def answer(expression: str, device: Device, minor: str) -> Said:
        asked.append(f"{device.name} {minor}")
        return evaluate(expression, device, minor)

    matcher = Matcher(answer)
    for number, (count, minor) in enumerate(((8, "1.34"), (4, "1.34"), (2, "1.35"))):
        matcher.match(ask((1, "40")), make_hardware(number, (gpu(f"gpu-{count}", count),), minor=minor))
    assert asked == ["gpu-8 1.34", "gpu-2 1.35"]


def test_selectors_and_devices_are_prepared_once() -> None:
    """Asking again gives the same answer from what is there."""
    ask_cel = cel_evaluate()
    device = gpu(capacity=(("memory", "80Gi"),))
    answers = [ask_cel("device.driver == 'gpu.nvidia.com'", device, "1.34") for _ in range(2)]
    assert answers == [Said(Outcome.MATCH)] * 2


def test_the_language_itself_answers() -> None:
    """The compiled selectors are behind the same interface; what does not compile is an error on every device."""
    device = gpu(capacity=(("memory", "80Gi"),), attributes=(("cores", "int", 4),))
    ask_cel = cel_evaluate()
    memory = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{}Gi')) >= 0"
    assert ask_cel(memory.format(80), device, "1.34") == Said(Outcome.MATCH)
    assert ask_cel(memory.format(81), device, "1.34") == Said(Outcome.NO_MATCH)
    assert ask_cel("device.attributes['gpu.nvidia.com'].cores == 4", device, "1.34") == Said(Outcome.MATCH)
    said = ask_cel("device.attributes['gpu.nvidia.com'].x == 4", device, "1.34")
    assert said.outcome is Outcome.ERROR
    assert "x" in said.text
    assert ask_cel("device.", device, "1.34").outcome is Outcome.ERROR


def test_what_a_minor_does_not_take_is_answered_by_the_first_that_does() -> None:
    """The answer says which that is, and why the other one refuses it."""
    ask_cel = cel_evaluate()
    ranged = "lists.range({}).exists(i, device.driver == 'gpu.nvidia.com')"
    refusal = "1:1: undeclared reference to 'lists'"
    assert ask_cel(ranged.format(3), gpu(), "1.34") == Said(Outcome.MATCH, "", "1.35", refusal)
    assert ask_cel(ranged.format(0), gpu(), "1.34") == Said(Outcome.NO_MATCH, "", "1.35", refusal)
    assert ask_cel(ranged.format(3), gpu(), "1.35") == Said(Outcome.MATCH)
    assert ask_cel("!device.allowMultipleAllocations", gpu(), "1.35").needs == "1.36"


class Newer(NamedTuple):
    """Requests on hardware of 1.34, and what of them is refused; ``needs`` only where an upgrade is all it takes."""

    name: str
    requests: Requests
    code: Code | None
    needs: str = ""


NEWER = [
    Newer("an upgrade is all that is missing", ask((1, "any@1.35")), Code.SELECTOR_TOO_NEW, "1.35"),
    Newer("it is what the minor has", ask((1, "any@1.34")), None),
    Newer("the newest that is needed counts", ask((1, "any@1.36"), (1, "any@1.35")), Code.SELECTOR_TOO_NEW, "1.36"),
    Newer("one of several", ask((1, "any"), (1, "any@1.35")), Code.SELECTOR_TOO_NEW, "1.35"),
    Newer("it would not match either", ask((1, "none@1.35")), Code.NO_MATCH),
    Newer("it would fail", ask((1, "boom@1.35")), Code.SELECTOR_ERROR),
    Newer("it would be too large", ask((9, "any@1.35")), Code.POD_TOO_LARGE),
    Newer("another request does not match", ask((1, "any@1.35"), (1, "none")), Code.NO_MATCH),
]


@pytest.mark.parametrize("case", NEWER, ids=lambda case: case.name)
def test_a_selector_that_is_too_new_is_the_reason_where_nothing_else_is(case: Newer) -> None:
    """For what runs already it is none: the cluster has taken it."""
    matcher, hardware = Matcher(evaluate), make_hardware(0, (gpu(),))
    found = matcher.match(case.requests, hardware)
    assert (found.code if isinstance(found, Mismatch) else None) is case.code
    assert (found.needs if isinstance(found, Mismatch) else "") == case.needs
    running = matcher.match(case.requests, hardware, any_minor=True)
    assert isinstance(running, Match) is (case.code in {None, Code.SELECTOR_TOO_NEW})
    newest = matcher.match(case.requests, make_hardware(1, (gpu(),), minor="1.36"))
    assert newest == running
