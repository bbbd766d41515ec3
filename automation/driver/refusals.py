"""What planning refuses of manifests, found without a state: as if nothing existed yet.

A plan goes by what exists: replicas that run stay with a selector that has come to match nothing, and a cluster in use
keeps its manifest. What follows from the manifests alone is the same here and there, in place, code and severity.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from automation.driver.wrong_selectors import selector_problems
from automation.scheduling.build import build_snapshot
from automation.scheduling.changes import NO_CHANGES
from automation.scheduling.existing import Existing
from automation.scheduling.result import Schedule
from automation.scheduling.schedule import schedule
from components.api.codes import Code
from components.api.fleet import Fleet
from components.errors import Problem
from stacks.refusals import refusals

_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Nothing exists, so nothing has an age."""


def plan_problems(fleet: Fleet, known: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems of loading a fleet with those of planning it, sorted.

    A warning that only foretold what planning refuses gives way to it.
    """
    refused = (*refusals(fleet), *selector_problems(fleet, _schedule(fleet)))
    told = {(problem.file, problem.line, problem.path, problem.code) for problem in refused}
    told |= {(file, line, path, Code.DEPLOYMENT_UNPLACEABLE) for file, line, path, _ in told}
    kept = (each for each in known if (each.file, each.line, each.path, each.code) not in told)
    return tuple(sorted([*kept, *refused], key=lambda problem: problem.order))


def _schedule(fleet: Fleet) -> Schedule:
    snapshot = build_snapshot(fleet, Existing(), changes=NO_CHANGES, observation=None, now=_ANY_TIME)
    return schedule(snapshot)
