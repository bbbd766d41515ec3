"""``berth validate``: every problem of every file, at once."""

from automation.cli.options import Show, Where

_SHOW = Show()
_WHERE = Where()


def validate(*, where: Where = _WHERE, show: Show = _SHOW) -> int:
    """Check all manifests of an environment and show every problem; starts no engine and needs no network."""
    from automation.driver.workspace import Workspace
    from automation.render.problems import problem_json, problems_lines, summary
    from automation.render.text import Span, count, line
    from components.errors import ConfigError, Severity
    from stacks.environment import read_environment

    sinks = show.sinks()
    workspace = Workspace.open(where.env, environments=where.environments, simulated=where.simulated)
    loaded, _ = read_environment(workspace.folder)
    failed = any(problem.severity is Severity.ERROR for problem in loaded.problems)
    if sinks.machine:
        sinks.document(
            {
                "apiVersion": "berth.dev/output/v1",
                "kind": "Validation",
                "environment": where.env,
                "valid": not failed,
                "problems": [problem_json(problem) for problem in sorted(loaded.problems, key=lambda p: p.order)],
            }
        )
        return ConfigError.exit_code if failed else 0
    sinks.data(problems_lines(loaded.problems))
    if failed:
        sinks.complain([line(Span(summary(loaded.problems), "bad"))])
        return ConfigError.exit_code
    fleet = loaded.raise_if_errors()
    sizes = ", ".join(
        (
            count(len(fleet.clusters), "cluster"),
            count(len(fleet.classes), "class", "classes"),
            count(len(fleet.deployments), "deployment"),
            count(len(fleet.services), "service"),
            count(len(fleet.caches), "cache"),
        )
    )
    said = summary(loaded.problems)
    sinks.data([line(Span("valid", "ok"), f": {where.env} ({sizes}){'; ' + said if said else ''}")])
    return 0
