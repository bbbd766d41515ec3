"""Scenario faults: a file of rules that tells simulated clouds when to be slow and when to fail.

The file (YAML or JSON, named by ``BERTH_SIMULATION_SCENARIO``) is read again whenever it changes, so a test can turn a
fault on and off between two runs. Rules that count (``nth``, ``times``) count in the cloud's own database, across all
provider processes and runs; a changed file starts counting anew. ``automation.rehearsal.scenario`` writes such files
and documents every field.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from automation.rehearsal.provider.errors import Refused
from automation.rehearsal.store import Store

VARIABLE: Final = "BERTH_SIMULATION_SCENARIO"
INIT_FAILURES: Final = ("created-but-failed", "image-pull")


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

    @property
    def logical(self) -> str:
        """The logical name: the last part of the URN."""
        return self.urn.rpartition("::")[2]


class Faults:
    """The current scenario, kept fresh."""

    def __init__(self, store: Store, path: Path | None) -> None:
        self._store = store
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._digest = ""
        self._rules: list[Mapping[str, Any]] = []
        self._templates: Mapping[str, str] = {}

    @classmethod
    def from_environment(cls, store: Store) -> "Faults":
        """Take the scenario that the environment names, if it names one."""
        named = os.environ.get(VARIABLE, "")
        return cls(store, Path(named) if named else None)

    def strike(self, call: Call, *, texts: Mapping[str, str]) -> None:
        """Wait and fail as the scenario says. ``texts`` are the package's own words for each kind of failure."""
        for rule in self._matching(call, skip=INIT_FAILURES):
            if rule.get("delay"):
                time.sleep(float(rule["delay"]))
            if kind := rule.get("fail"):
                raise Refused(rule.get("message") or _fill(texts.get(kind, "{kind}: {type} {name}"), call, kind))

    def unready(self, call: Call, *, counted: bool = True) -> tuple[str, ...]:
        """Say why a resource that exists does not become ready; nothing when it does."""
        for rule in self._matching(call, only=INIT_FAILURES, counted=counted):
            if rule.get("delay"):
                time.sleep(float(rule["delay"]))
            return tuple(rule.get("reasons") or _unready_reasons(rule, call))
        return ()

    def unreachable(self, clusters: tuple[str, ...]) -> str:
        """Say why a cluster cannot be reached, when the scenario cuts it off as a whole."""
        for rule in self._current():
            if _cuts_off(rule) and _glob(rule["cluster"], clusters):
                return str(rule.get("message") or "dial tcp: i/o timeout")
        return ""

    def _matching(
        self, call: Call, *, only: Iterable[str] = (), skip: Iterable[str] = (), counted: bool = True
    ) -> Iterator[Mapping[str, Any]]:
        for index, rule in enumerate(self._current()):
            kind = rule.get("fail", "")
            if (only and kind not in only) or kind in skip or not _matches(rule, call):
                continue
            if _cuts_off(rule):
                continue  # the cluster as a whole: the caller asks ``unreachable`` first
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
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._seen, self._rules = None, []
            return []
        if (status.st_mtime_ns, status.st_size) != self._seen:
            text = self._path.read_text(encoding="utf-8")
            self._rules = _parse(text, self._path)
            self._digest = hashlib.sha256(text.encode()).hexdigest()[:16]
            self._seen = (status.st_mtime_ns, status.st_size)
        return self._rules


def _cuts_off(rule: Mapping[str, Any]) -> bool:
    return rule.get("fail") == "unreachable" and bool(rule.get("cluster")) and not rule.get("call")


def _parse(text: str, path: Path) -> list[Mapping[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError:
        import yaml  # noqa: PLC0415 - slow to import, and only scenarios written by hand need it

        try:
            document = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Refused(f"the scenario {path} is neither JSON nor YAML: {error}") from error
    rules = document.get("rules") if isinstance(document, dict) else document
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise Refused(f"the scenario {path} holds no list of rules")
    return rules


def _matches(rule: Mapping[str, Any], call: Call) -> bool:
    if call.preview and not rule.get("preview"):
        return False
    calls = rule.get("call") or ("create", "update")
    if call.call not in ([calls] if isinstance(calls, str) else calls):
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


def _fill(text: str, call: Call, kind: str) -> str:
    name = call.names[0] if call.names else call.logical
    return text.format(kind=kind, type=call.type, name=name, call=call.call, region=call.region or "us-east-1")


def _unready_reasons(rule: Mapping[str, Any], call: Call) -> Iterator[str]:
    if rule["fail"] == "image-pull" or rule.get("image"):
        for image in call.images:
            if fnmatchcase(image, rule.get("image", "*")):
                yield f'containers with unready status: [ImagePullBackOff] Back-off pulling image "{image}"'
    else:
        yield f"{call.type.rpartition(':')[2]} {call.names[0] if call.names else call.logical} did not become ready"
