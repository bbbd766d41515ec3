"""``berth up``: the plan, applied step by step, gate by gate."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from automation.cli.options import Seen, Show, When, Where

if TYPE_CHECKING:
    from automation.cli.sinks import Sinks

_SHOW = Show()
_WHERE = Where()


def up(
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative="", env_var="BERTH_YES")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    allow_shortfall: Annotated[bool, Parameter(negative="", env_var="BERTH_ALLOW_SHORTFALL")] = False,
    observation: Seen = None,
    refresh: When = "auto",
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Plan, then apply: build, shift traffic, retire; each step previewed and gated.

    Parameters
    ----------
    yes
        Apply without asking; needed where nobody can answer.
    dry_run
        Show the plan and apply nothing.
    allow_shortfall
        Exit 0 although a deployment has fewer replicas than it asks for; otherwise that is exit code 1.
    observation
        File that `berth observe -o json` wrote; give what the plan was given, or the two differ.
    refresh
        Look at the real resources first: wherever a cluster answers, nowhere, or everywhere.
    """
    from automation.cli.asking import can_ask
    from automation.cli.plan import show_plan
    from automation.cli.running import say_what_is_played, session_for
    from automation.driver.programs import import_ahead
    from automation.driver.reading import unmake
    from automation.driver.refresh import Refresh
    from automation.driver.run import prepare, run_plan
    from automation.driver.view import step_view, up_view
    from automation.render.status import up_lines
    from automation.render.text import Span, line
    from components.errors import BerthError, ResourceFailed

    sinks = show.sinks()
    talk = show.sinks() if not sinks.machine else sinks.on_stderr()
    with session_for(where, sinks, observation=observation, previews=True) as session, ExitStack() as unless_applied:
        import_ahead()
        # What an earlier run left is settled before the plan: not in a dry run, nor where nobody agreed to changes.
        prepared = prepare(session, refresh=Refresh(refresh), settle=not dry_run and (yes or can_ask(sinks)))
        unless_applied.callback(unmake, session, prepared.plan.situation)
        show_plan(session, talk, prepared.plan)
        prepared.require_passed()
        if dry_run:
            return 0
        if not yes and (prepared.unsettled or not prepared.plan.empty):
            _confirm(where, sinks)
        unless_applied.pop_all()
        report = run_plan(
            session,
            prepared.plan,
            announce=lambda step: talk.talk(
                [line(Span(f"{step.kind.value}", "strong"), f": {', '.join(step_view(step).actions)}")]
            ),
        )
        view = up_view(session, prepared.plan, report, prepared.notes)
        if sinks.machine:
            sinks.document(view.to_json())
        else:
            sinks.data(up_lines(view, width=sinks.width))
        if session.workspace.backed:
            say_what_is_played(sinks)
    if not report.ok:
        return ResourceFailed.exit_code
    return 0 if view.ok or allow_shortfall else BerthError.exit_code


def _confirm(where: Where, sinks: "Sinks") -> None:
    from automation.cli.asking import asked, can_ask
    from components.errors import Cancelled, UsageError

    if not can_ask(sinks):
        raise UsageError(
            "nobody can be asked whether to apply this plan",
            consequence="Nothing was changed.",
            help=f"berth up -e {where.env} --yes",
        )
    if asked(f"Apply this plan to {where.env}? Only 'yes' is accepted: ") != "yes":
        raise Cancelled("not applied", consequence="Nothing of this plan was done.")
