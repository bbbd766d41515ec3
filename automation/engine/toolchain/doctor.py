"""Looks at everything a run needs and says what was found, what is wanted and how to fix it.

Nothing is installed or asked over a network here; the only processes started are ``go version``, ``aws --version`` and,
for a tool that was never seen, the tool itself to say its version. How a diagnosis is shown does not belong here, nor
which environment it is for: the caller knows its clouds.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from automation.engine.toolchain import checks, kubernetes_checks
from automation.engine.toolchain.clouds import NOTHING, Needs, clouds
from automation.engine.toolchain.finding import Check, Status
from automation.engine.toolchain.kubernetes import Minor, rehearsal_tools
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.versions import PULUMI

Row = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, in the order in which a person reads them."""

    checks: tuple[Check, ...]
    simulated: bool

    COLUMNS: ClassVar[Row] = ("CHECK", "STATUS", "FOUND", "WANT", "FIX")

    @property
    def status(self) -> Status:
        """The worst of all findings."""
        order = list(Status)
        return max((check.status for check in self.checks), key=order.index, default=Status.OK)

    def to_rows(self) -> tuple[Row, ...]:
        """Give one row of text per finding, without a heading; ``-`` stands for nothing."""
        return tuple(
            (check.name, check.status.value, check.found or "-", check.want or "-", check.fix or "-")
            for check in self.checks
        )


def diagnose(
    layout: Layout,
    *,
    simulated: bool,
    environ: Mapping[str, str] | None = None,
    environment: tuple[Check, ...] = (),
    needs: Needs = NOTHING,
    kubernetes: Minor | None = None,
) -> Diagnosis:
    """Make every check for a real or a simulated run.

    ``environment`` holds what was found of the environment's manifests, and ``needs`` what its clusters need of clouds;
    a simulated run needs nothing. ``kubernetes`` is the minor of the local control plane that was asked for, if any.
    """
    variables = os.environ if environ is None else environ
    engine = tuple(checks.engine(layout, variables, simulated=simulated))
    local = tuple(kubernetes_checks.kubernetes(kubernetes, layout, variables)) if kubernetes else ()
    tools = (PULUMI, *(rehearsal_tools(kubernetes) if kubernetes else ()))
    problems = {check.name for check in (*engine, *local) if check.status is Status.PROBLEM}
    found = (
        checks.berth(),
        checks.mode(layout, simulated=simulated),
        checks.python(),
        *engine,
        *local,
        checks.go(variables, missing=[tool for tool in tools if tool.called in problems]),
        *checks.sdks(),
        *checks.plugins(layout, simulated=simulated),
        *checks.backend(layout, variables, simulated=simulated),
        *environment,
        *(() if simulated else clouds(needs, variables)),
        checks.policies(simulated=simulated),
        checks.selectors(),
    )
    return Diagnosis(checks=found, simulated=simulated)
