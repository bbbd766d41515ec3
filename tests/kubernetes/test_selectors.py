"""Selectors on a real API server and a real scheduler: a selector means what Kubernetes means.

What ``admit`` refuses the API server refuses, and the reverse. On a device, our match binds, our no match does not, and
our error is an error of the same class there. Where a matching device shares its DeviceClass with one that is an error,
some order of the devices makes the scheduler fail, and Berth refuses the pool in every order.

Rows are a sample of the case tables and of the random expressions of the laws.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
import yaml

from automation.rehearsal.kubernetes.local import LocalCluster
from automation.scheduling.hardware import make_hardware
from automation.scheduling.matching import Matcher, Mismatch, cel_evaluate
from automation.scheduling.snapshot import Device
from automation.scheduling.verdict import Code
from components.cel.allocate import evaluate_all
from components.cel.device import DeviceView
from components.cel.problem import SelectorError
from components.cel.selector import Answer, Outcome, Selector, admit, compile_selector
from tests.support.kubernetes_minor import MINOR
from tests.support.pod_watch import PodWatch
from tests.support.random_cases import CASES, SEED, again, examples
from tests.support.selector_expressions import ATTRIBUTES, CAPACITY, DRIVER, SOUPS, expressions
from tests.support.selector_trials import SLICES, Asker, Object, Said, Trial, as_device, device_slice
from tests.support.url_expressions import ARE_NONE, DO_NOT_HOLD, HOLD, LOOSE

pytestmark = pytest.mark.kubernetes

TABLES: Final = Path(__file__).parents[1] / "unit" / "cel" / "cases"
ADMITTED: Final = 20 * CASES
TRIED: Final = 8 * CASES
DRAWN: Final = 4 * CASES

WORDS: Final[Mapping[str, str]] = {
    "bad-regex": "error parsing regexp",
    "conversion": "type conversion error|could not convert",
    "cost-limit": "cost limit exceeded",
    "division-by-zero": "division by zero",
    "duplicate-key": "insert failed: key .* already exists",
    "empty-list": "called on empty list",
    "format": "error during formatting|formatting clause|out of range|unexpected end of string",
    "index": "out of range|out of bounds|invalid substring range|unsupported index|negative indexes not supported",
    "internal": "internal error",
    "invalid-argument": "strconv|not optional|non-optional value|invalid|must be (non-negative|comparable)|same type",
    "invalid-index": "invalid qualifier type",
    "modulus-by-zero": "modulus by zero",
    "nan": "NaN values cannot be ordered",
    "no-such-key": "no such key",
    "no-such-overload": "no such overload",
    "non-bool-result": "could not be converted to bool",
    "not-an-integer": "cannot convert value to integer",
    "not-iterable": "expected iterable type|unsupported comprehension range",
    "optional-none": r"optional\.none\(\) dereference",
    "overflow": "overflow|field type conversion error",
    "parse-cidr": "network address parse error|is not allowed",
    "parse-ip": "IP Address .* parse error|is not allowed",
    "parse-quantity": "quantities must match|unable to parse quantity",
    "parse-semver": "major|minor|patch|pre-?release|build meta|strconv|version string",
    "parse-url": "URL parse error",
    "unknown-type": "unknown type",
    "unhashable": "hash of unhashable type",
    "unsupported-conversion": "unsupported conversion|type conversion error",
}
"""What Kubernetes says where an error has our class: a pattern for each."""
_NOTHING: Final = "(?!)"


@pytest.fixture(scope="module")
def asker(shared: LocalCluster, pods: PodWatch) -> Asker:
    """Ask on the shared cluster."""
    return Asker(shared, pods)


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, Mapping[str, Any]]]:
    """Give the rows of all tables in any order, each with its device; it is plain where the row has none."""
    found = []
    for path in sorted(TABLES.glob("*.yaml")):
        table = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (safe)
        devices = {None: {"driver": "plain.example.com"}, **table["devices"]}
        found += [(case["expr"], devices[case.get("device")]) for case in table["cases"]]
    Random(SEED).shuffle(found)  # noqa: S311 (repeatable)
    return found


def compiled(expression: str) -> Selector | None:
    """Compile an expression that the API server takes."""
    try:
        return compile_selector(expression, minor=MINOR.name)
    except SelectorError:
        return None


def view(entry: Mapping[str, Any]) -> DeviceView:
    """View a device of a table."""
    return DeviceView.from_slice_device(entry["driver"], as_device(entry))


def differs(ours: Answer, theirs: Said) -> bool:
    """Whether two answers are not the same, in outcome or in the class of an error."""
    if ours.outcome is not theirs.outcome:
        return True
    return ours.outcome is Outcome.ERROR and not re.search(WORDS.get(ours.kind, _NOTHING), theirs.words, re.IGNORECASE)


def report(found: Sequence[str]) -> None:
    """Fail with every row that is not as it should be."""
    assert not found, "\n".join([f"{len(found)} rows", *found, again(__file__)])


def test_what_is_admitted_is_what_the_api_server_takes(
    asker: Asker, rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Rows of the tables, random expressions, soups of words, and the bounds of length."""
    texts = [expression for expression, _ in rows[:ADMITTED]]
    texts += examples(expressions(common=False), DRAWN) + examples(SOUPS, DRAWN)
    texts += [" " * (10_240 - 4) + "true", " " * (10_240 - 3) + "true", ""]
    texts = list(dict.fromkeys(texts))
    found = []
    for text, theirs in zip(texts, asker.admits(texts), strict=True):
        ours = admit(text, minor=MINOR.name).error
        if bool(ours) is not bool(theirs):
            found.append(f"{text!r}: {ours.kind if ours else 'taken'} here, {theirs or 'taken'} there")
    report(found)


def test_what_a_selector_answers_is_what_the_scheduler_does(
    asker: Asker, rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """A pod binds, is left without a device, or stops at an error of the same class."""
    random = [(each, DRAWN_DEVICE) for each in examples(expressions(common=False), DRAWN)]
    by_device: dict[str, list[str]] = defaultdict(list)
    entries: dict[str, Mapping[str, Any]] = {}
    refused_here: dict[str, bool] = {}
    for expression, entry in [*random, *rows]:
        name = str(entry)
        if name not in entries:
            entries[name] = entry
            refused = asker.refuses(SLICES, device_slice("trial", entry["driver"], [as_device(entry)]))
            refused_here[name] = bool(view(entry).problem) or view(entry).has_lists
            assert bool(refused) is refused_here[name], refused
        if not refused_here[name] and compiled(expression):
            by_device[name].append(expression)
        if sum(map(len, by_device.values())) == TRIED:
            break
    found, outcomes = [], set()
    for name, texts in by_device.items():
        entry = entries[name]
        said = asker.ask(entry["driver"], [as_device(entry)], [Trial((text,)) for text in texts])
        for text, theirs in zip(texts, said, strict=True):
            ours = compile_selector(text, minor=MINOR.name).evaluate(view(entry))
            outcomes.add(ours.outcome)
            if differs(ours, theirs):
                found.append(f"{text!r} on {name}: {ours} here, {theirs} there")
    report(found)
    assert outcomes == set(Outcome)


def test_urls_are_those_of_go(asker: Asker) -> None:
    """Also the loose ones: a program that is built by a newer Go than Kubernetes has keeps to what ``godebug`` says."""
    strict = int(MINOR.name.partition(".")[2]) >= 36
    wanted = {
        **dict.fromkeys(HOLD, Outcome.MATCH),
        **dict.fromkeys(DO_NOT_HOLD, Outcome.NO_MATCH),
        **dict.fromkeys(ARE_NONE, Outcome.ERROR),
        **dict.fromkeys(LOOSE, Outcome.NO_MATCH if strict else Outcome.MATCH),
    }
    said = asker.ask("plain.example.com", [{}], [Trial((text,)) for text in wanted])
    assert {text: each.outcome for text, each in zip(wanted, said, strict=True)} == wanted


def test_several_selectors_are_joined_in_the_order_of_the_allocator(
    asker: Asker, rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Those of the DeviceClass come first; the first that does not hold decides, be it an error or not."""
    random = Random(SEED)  # noqa: S311 (repeatable)
    entry = next(entry for _, entry in rows if entry["driver"] == DRIVER)
    pool: dict[Outcome, list[str]] = defaultdict(list)
    for text, _ in rows[:ADMITTED]:
        if selector := compiled(text):
            pool[selector.evaluate(view(entry)).outcome].append(text)

    def some(number: int) -> tuple[str, ...]:
        return tuple(random.choice(pool[random.choice([*Outcome, Outcome.MATCH])]) for _ in range(number))

    trials = [Trial(some(random.randint(0, 3)), some(random.randint(0, 2))) for _ in range(2 * CASES)]
    found = []
    for trial, theirs in zip(trials, asker.ask(entry["driver"], [as_device(entry)], trials), strict=True):
        ours = evaluate_all([compile_selector(each, minor=MINOR.name) for each in trial.all], view(entry))
        if differs(ours, theirs):
            found.append(f"{trial}: {ours} here, {theirs} there")
    report(found)


def test_an_error_beside_a_match_stops_the_scheduler_in_some_order(
    asker: Asker, rows: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """With the failing device first the scheduler fails; Berth refuses the pool in both orders."""
    found = []
    pairs = 0
    for text, entry, poorer in halves(rows):
        good, bad = as_device(entry), as_device(poorer)
        ours = compile_selector(text, minor=MINOR.name).evaluate(view(poorer))
        (first,) = asker.ask(entry["driver"], [bad, good], [Trial((text,))])
        (last,) = asker.ask(entry["driver"], [good, bad], [Trial((text,))])
        if differs(ours, first) or last.outcome is Outcome.NO_MATCH:
            found.append(f"{text!r}: {ours} here, {first} and {last} there")
        orders = ((kind("good", entry), kind("bad", poorer)), (kind("bad", poorer), kind("good", entry)))
        # Placement compiles for the oldest minor, whatever its clusters have, and cannot ask what only newer ones take.
        for kinds in () if admit(text).error else orders:
            match = Matcher(cel_evaluate()).match((("one", 1, (text,)),), make_hardware(0, kinds, minor=MINOR.name))
            if not isinstance(match, Mismatch) or match.code is not Code.SELECTOR_ERROR or not match.final:
                found.append(f"{text!r} is not refused with {[each.name for each in kinds]}: {match}")
        pairs += 1
        if pairs == CASES // 3:
            break
    assert pairs == CASES // 3
    report(found)


def halves(
    rows: Sequence[tuple[str, Mapping[str, Any]]],
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield expressions with a device that matches, and the same with one attribute less, which is an error."""
    for text, entry in rows:
        selector = compiled(text)
        if selector is None or view(entry).problem or selector.evaluate(view(entry)).outcome is not Outcome.MATCH:
            continue
        for name in entry.get("attributes", ()):
            poorer = {**entry, "attributes": {key: each for key, each in entry["attributes"].items() if key != name}}
            if selector.evaluate(view(poorer)).outcome is Outcome.ERROR:
                yield text, entry, poorer
                break


def kind(name: str, entry: Mapping[str, Any]) -> Device:
    """Make a kind of the scheduler's from a device of a table."""
    attributes = [
        (key, form, value) for key, typed in entry.get("attributes", {}).items() for form, value in typed.items()
    ]
    capacity = tuple(sorted(entry.get("capacity", {}).items()))
    return Device(name, entry["driver"], 1, "shared", attributes=tuple(sorted(attributes)), capacity=capacity)


DRAWN_DEVICE: Final[Object] = {"driver": DRIVER, "attributes": ATTRIBUTES, "capacity": CAPACITY}
