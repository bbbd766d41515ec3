"""Scenario faults: a file of rules that tells simulated clouds when to be slow and when to fail.

The file (YAML or JSON, named by ``BERTH_SIMULATION_SCENARIO``) is read again whenever it changes, so a test can turn a
fault on and off between two runs. Rules that count (``nth``, ``times``) count in the cloud's own database, across all
provider processes and runs; a changed file starts counting anew. ``automation.rehearsal.scenario`` is the model of
such files and documents every field; this loader only refuses what it does not know.
"""

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple

from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.store import Store

VARIABLE: Final = "BERTH_SIMULATION_SCENARIO"
BACKINGS: Final = ("kubernetes",)
CALLS: Final = ("configure", "check", "create", "read", "update", "delete")
INIT_FAILURES: Final = ("created-but-failed", "image-pull")
FAILURES: Final = ("quota", "capacity", "timeout", "throttled", "unreachable", "permission", *INIT_FAILURES)
FIELDS: Final = frozenset(
    {
        "package", "type", "name", "urn", "cluster", "image", "call", "nth", "times", "preview",
        "fail", "when", "message", "reasons", "delay",
    }
)  # fmt: skip
_USUAL_CALLS: Final = ("create", "update")
_LOOK: Final = 0.1  # seconds between two looks at whether a rule that delays was taken back


@dataclass(frozen=True, slots=True)
class Call:
    """What a fault rule is matched against. ``names`` are all physical names, ``clusters`` all names of the cluster."""

    package: str
    type: str
    call: str
    urn: str = ""
    names: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    region: str = ""
    preview: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def logical(self) -> str:
        """The logical name: what follows the type in the URN."""
        return self.urn.partition("::")[2].partition("::")[2].partition("::")[2]

    @property
    def name(self) -> str:
        """The name to use in a message."""
        return self.names[0] if self.names else self.logical


class Faults:
    """The current scenario, kept fresh."""

    def __init__(self, store: Store, path: Path | None) -> None:
        self._store = store
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._digest = ""
        self._rules: list[Mapping[str, Any]] = []
        self._lock = threading.Lock()
        self._cancelled = threading.Event()

    @classmethod
    def from_environment(cls, store: Store) -> "Faults":
        """Take the scenario that the environment names, if it names one."""
        named = os.environ.get(VARIABLE, "")
        return cls(store, Path(named) if named else None)

    def cancel(self) -> None:
        """End all waiting: the engine wants to stop."""
        self._cancelled.set()

    def before(self, call: Call) -> None:
        """Wait and fail as the scenario says, before anything happened. ``call.words`` are the cloud's own texts."""
        self._strike(call, when="before")

    def after(self, call: Call) -> None:
        """Wait and fail as the scenario says, after the cloud did it and before the engine hears of it."""
        self._strike(call, when="after")

    def _strike(self, call: Call, *, when: str) -> None:
        for rule in self._matching(call, when=when, skip=INIT_FAILURES):
            if self._wait(rule) and when == "before":
                raise Refused(f"{call.call} {call.type} ({call.name}): the operation was cancelled")
            if kind := rule.get("fail"):
                raise Refused(str(rule.get("message") or _fill(call, kind)))

    def unready(self, call: Call, *, counted: bool = True) -> tuple[str, ...]:
        """Say why a resource that exists does not become ready; nothing when it does."""
        for rule in self._matching(call, when="", only=INIT_FAILURES, counted=counted):
            self._wait(rule)
            return tuple(rule.get("reasons") or _unready_reasons(rule, call))
        return ()

    def unreachable(self, clusters: tuple[str, ...]) -> str:
        """Say why a cluster cannot be reached, when the scenario cuts it off as a whole."""
        for rule in self._current():
            if _cuts_off(rule) and _glob(rule["cluster"], clusters):
                return str(rule.get("message") or "dial tcp: i/o timeout")
        return ""

    def _wait(self, rule: Mapping[str, Any]) -> bool:
        """Wait as long as the rule says and stands in the scenario; true when the engine cancelled meanwhile."""
        end = time.monotonic() + float(rule.get("delay") or 0)
        while (left := end - time.monotonic()) > 0 and self._stands(rule):
            if self._cancelled.wait(min(left, _LOOK)):
                return True
        return False

    def _stands(self, rule: Mapping[str, Any]) -> bool:
        with contextlib.suppress(Refused):  # a file that is just being written still says what it said
            return rule in self._current()
        return True

    def _matching(
        self, call: Call, *, when: str, only: tuple[str, ...] = (), skip: tuple[str, ...] = (), counted: bool = True
    ) -> Iterator[Mapping[str, Any]]:
        for index, rule in enumerate(self._current()):
            kind = rule.get("fail", "")
            if (only and kind not in only) or kind in skip or not _matches(rule, call):
                continue
            if _cuts_off(rule) or (when and rule.get("when", "before") != when):
                continue  # a cluster as a whole is asked for by ``unreachable``
            if not counted or self._due(index, rule):
                yield rule

    def _due(self, index: int, rule: Mapping[str, Any]) -> bool:
        first, times = int(rule.get("nth", 1)), rule.get("times")
        if "nth" not in rule and times is None:
            return True
        key = f"fault/{self._digest}/{index}"
        with self._store.transaction() as transaction:
            count = int(transaction.recall(key) or 0) + 1
            transaction.remember(key, str(count))
        last = first + int(1 if times is None else times) - 1
        return first <= count <= last

    def _current(self) -> list[Mapping[str, Any]]:
        if self._path is None:
            return []
        with self._lock:
            try:
                status = self._path.stat()
            except FileNotFoundError:
                self._seen, self._rules = None, []
                return []
            if (status.st_mtime_ns, status.st_size) != self._seen:
                text = self._path.read_text(encoding="utf-8")
                self._rules = parse(text, source=str(self._path)).rules
                self._digest = hashlib.sha256(text.encode()).hexdigest()[:16]
                self._seen = (status.st_mtime_ns, status.st_size)
            return self._rules


class Parsed(NamedTuple):
    """What a scenario says: its rules, and what stands behind simulated clusters (empty: nothing)."""

    rules: list[Mapping[str, Any]]
    backing: str = ""


def parse(text: str, *, source: str) -> Parsed:
    """Read a scenario; what is not understood is refused, because a rule that never matches hides a test."""
    try:
        document = json.loads(text)
    except ValueError:
        import yaml  # noqa: PLC0415 - slow to import, and only scenarios written by hand need it

        try:
            document = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Refused(f"the scenario {source} is neither JSON nor YAML: {error}") from error
    if not isinstance(document, dict):
        document = {"rules": document}
    if unknown := sorted(set(document) - {"backing", "rules"}, key=str):
        raise Refused(f"the scenario {source}: unknown field {unknown[0]!r}; known are backing, rules")
    backing = document.get("backing", "")
    if backing and backing not in BACKINGS:
        raise Refused(f"the scenario {source}: unknown backing {backing!r}; known is {', '.join(BACKINGS)}")
    rules = document.get("rules", [] if backing else None)
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise Refused(f"the scenario {source} holds no list of rules")
    for number, rule in enumerate(rules, 1):
        if problem := _problem(rule):
            raise Refused(f"the scenario {source}, rule {number}: {problem}")
    return Parsed(rules, backing)


def _problem(rule: Mapping[str, Any]) -> str:
    if unknown := sorted(set(rule) - FIELDS):
        return f"unknown field {unknown[0]!r}; known are {', '.join(sorted(FIELDS))}"
    if rule.get("fail") and rule["fail"] not in FAILURES:
        return f"unknown failure {rule['fail']!r}; known are {', '.join(FAILURES)}"
    if any(call not in CALLS for call in _calls(rule)):
        return f"unknown call in {rule.get('call')!r}; known are {', '.join(CALLS)}"
    if rule.get("when", "before") not in {"before", "after"}:
        return f"when is 'before' or 'after', not {rule['when']!r}"
    return "" if rule.get("fail") or rule.get("delay") else "neither fail nor delay: the rule does nothing"


def _cuts_off(rule: Mapping[str, Any]) -> bool:
    return rule.get("fail") == "unreachable" and bool(rule.get("cluster")) and not rule.get("call")


def _calls(rule: Mapping[str, Any]) -> Iterable[str]:
    calls = rule.get("call") or _USUAL_CALLS
    return [calls] if isinstance(calls, str) else list(calls)


def _matches(rule: Mapping[str, Any], call: Call) -> bool:
    if (call.preview and not rule.get("preview")) or call.call not in _calls(rule):
        return False
    tests = (
        ("package", (call.package,)),
        ("type", (call.type,)),
        ("name", (call.logical, *call.names)),
        ("urn", (call.urn,)),
        ("cluster", call.clusters),
        ("image", call.images),
    )
    return all(_glob(rule[key], values) for key, values in tests if rule.get(key))


def _glob(pattern: str, values: Iterable[str]) -> bool:
    return any(fnmatchcase(value, pattern) for value in values)


def _fill(call: Call, kind: str) -> str:
    text = call.words.get(kind) or "{call} {type} ({name}): {kind}"
    return text.format(kind=kind, type=call.type, name=call.name, call=call.call, region=call.region or "everywhere")


def _unready_reasons(rule: Mapping[str, Any], call: Call) -> Iterator[str]:
    if rule["fail"] == "image-pull" or rule.get("image"):
        for image in call.images:
            if fnmatchcase(image, rule.get("image", "*")):
                yield f'containers with unready status: [ImagePullBackOff] Back-off pulling image "{image}"'
    else:
        yield f"{call.type.rpartition(':')[2]} {call.name} did not become ready"
