"""``berth selector test|check|verify``: what a selector does on devices, whether Kubernetes takes it, case tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from automation.cli.options import Show, Where
from automation.render.output_version import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from automation.render.text import Line, Style
    from components.cel.device import DeviceView
    from components.cel.explain import Explanation, Part
    from components.cel.selector import Admission, Answer
    from components.cel.table import Report

Minor = Literal["1.34", "1.35", "1.36", "1.37"]

_SHOW = Show()
_WHERE = Where()
_NO = 1
_MAX_BYTES = 32 * 1024 * 1024
_STYLES: "dict[str, Style]" = {"match": "ok", "no-match": "warn", "error": "bad"}


def build_app() -> App:
    """Make the command tree of the verb."""
    made = App(name="selector", help="Test, check and verify device selectors.", result_action="return_value")
    made.command(on_devices, name="test")
    made.command(check)
    made.command(verify)
    return made


def on_devices(
    expression: str,
    *,
    class_name: Annotated[str, Parameter(name="--class")] = "",
    slice_file: Annotated[Path | None, Parameter(name="--slice")] = None,
    device: str = "",
    minor: Minor | None = None,
    where: Where = _WHERE,
    show: Show = _SHOW,
) -> int:
    """Evaluate a selector on the devices of an InferenceClass or of a ResourceSlice file, and say why.

    Exits 0 when a device matches and none makes the selector fail, 1 otherwise.

    Parameters
    ----------
    expression
        The CEL expression.
    class_name
        An InferenceClass of the environment.
    slice_file
        A file with ResourceSlices instead, YAML or JSON.
    device
        Explain this device only.
    minor
        Kubernetes minor whose scheduler is asked; without it the oldest of the clusters with nodes of the class, and
        1.34 for a file.

    """
    from automation.render.text import Span, heading, line
    from components.cel.explain import explain, tally
    from components.cel.selector import compile_unlimited

    views, oldest = _views(class_name, slice_file, where)
    chosen = {name: view for name, view in views.items() if not device or name == device}
    if not chosen:
        raise _usage(f"there is no device {device!r}", f"it has: {', '.join(views) or 'none'}")
    asked = minor or oldest
    selector = _compiled(lambda: compile_unlimited(expression, minor=asked))
    counted = tally(selector, chosen.values())
    explained = {name: explain(selector, view) for name, view in chosen.items()}
    sinks = show.sinks()
    code = 0 if counted.match and not counted.error else _NO
    if sinks.machine:
        devices = {name: _explanation_json(one) for name, one in explained.items()}
        total = {"match": counted.match, "noMatch": counted.no_match, "error": counted.error}
        sinks.document({**_document("SelectorTest"), "minor": asked, "total": total, "devices": devices})
        return code
    for name, one in explained.items():
        sinks.data([heading(name), *_explanation_lines(one), line("")])
    style: Style = "ok" if code == 0 else "bad"
    total_text = f"{counted.match} match, {counted.no_match} do not, {counted.error} fail"
    sinks.data([line(Span(total_text, style))])
    return code


def check(
    expression: str,
    *,
    minor: Annotated[tuple[Minor, ...], Parameter(negative="")] = (),
    stored: Annotated[bool, Parameter(negative="")] = False,
    show: Show = _SHOW,
) -> int:
    """Say whether the API server of each Kubernetes minor would take a selector.

    Exits 0 when all that were asked take it, 1 otherwise.

    Parameters
    ----------
    expression
        The CEL expression.
    minor
        Kubernetes minors to ask; all that are known when none is given.
    stored
        Judge as for an expression that the API server holds already.

    """
    from components.cel.environment import MINORS
    from components.cel.selector import admit

    found: dict[str, Admission] = {one: admit(expression, minor=one, stored=stored) for one in minor or MINORS}
    sinks = show.sinks()
    code = _NO if any(one.error for one in found.values()) else 0
    if sinks.machine:
        sinks.document({**_document("SelectorCheck"), "minors": {name: _admission(one) for name, one in found.items()}})
        return code
    sinks.data(_admission_lines(found))
    return code


def verify(table: Path, *, minor: Annotated[tuple[Minor, ...], Parameter(negative="")] = (), show: Show = _SHOW) -> int:
    """Run a case table, and print the agreement per question and every disagreement; exits 1 on any.

    Parameters
    ----------
    table
        A YAML file of cases with the right answers.
    minor
        Kubernetes minors to run; all that are known when none is given.

    """
    from components.cel.environment import MINORS
    from components.cel.table import TableError, run_table

    documents = _yaml(table)
    try:
        report = run_table(documents[0] if documents else {}, minors=minor or MINORS)
    except TableError as error:
        raise _usage(f"{table} is no case table: {error}", "see the selector page of the docs") from error
    sinks = show.sinks()
    if sinks.machine:
        sinks.document({**_document("SelectorVerification"), **_report(report)})
    else:
        sinks.data(_report_lines(report, sinks.width))
    return 0 if report.agrees else _NO


def _document(kind: str) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind}


def _usage(summary: str, text: str) -> Exception:
    from components.errors import UsageError

    return UsageError(summary, help=text)


def _compiled(work: Any) -> Any:
    """Compile, or report what is wrong with a caret under the place."""
    from components.cel.problem import SelectorError
    from components.errors import UsageError

    try:
        return work()
    except SelectorError as error:
        summary = f"the selector does not compile: {error.message}\n{error.caret()}"
        raise UsageError(summary, help="berth selector check EXPRESSION") from error


def _views(class_name: str, slice_file: Path | None, where: Where) -> "tuple[Mapping[str, DeviceView], str]":
    """Return the devices to ask, and the minor to ask when none is given."""
    from components.cel.environment import DEFAULT_MINOR

    if bool(class_name) == (slice_file is not None):
        raise _usage("give either a class or a file with ResourceSlices", "--class NAME, or --slice FILE")
    return (_slice_views(slice_file), DEFAULT_MINOR) if slice_file is not None else _class_views(class_name, where)


def _class_views(name: str, where: Where) -> "tuple[Mapping[str, DeviceView], str]":
    from components.api.placeable import device_view
    from components.cel.environment import DEFAULT_MINOR, MINORS, minor_of
    from stacks.environment import read_environment

    workspace = where.workspace()
    loaded, _ = read_environment(workspace.folder)
    fleet = loaded.raise_if_errors()
    if name not in fleet.classes:
        known = ", ".join(fleet.classes) or "none"
        raise _usage(f"there is no InferenceClass {name!r} in {where.env}", f"it has: {known}")
    minors = (
        minor_of(cluster.kubernetes_version)
        for cluster in fleet.clusters.values()
        if any(pool.class_name == name for pool in cluster.spec.node_pools)
    )
    views = {device.name: device_view(device) for device in fleet.classes[name].spec.devices}
    return views, min(minors, key=MINORS.index, default=DEFAULT_MINOR)


def _slice_views(file: Path) -> "Mapping[str, DeviceView]":
    from components.cel.device import DeviceView

    found: dict[str, DeviceView] = {}
    pending = [entry for entry in _yaml(file) if isinstance(entry, dict)]
    while pending:
        entry = pending.pop(0)
        if isinstance(entry.get("items"), list):
            pending += [item for item in entry["items"] if isinstance(item, dict)]
            continue
        spec = entry.get("spec")
        if entry.get("kind", "ResourceSlice") != "ResourceSlice" or not isinstance(spec, dict):
            continue
        driver = str(spec.get("driver", ""))
        for device in spec.get("devices") or ():
            if isinstance(device, dict):
                name = str(device.get("name", len(found)))
                key = name if name not in found else f"{driver}/{name}#{len(found)}"
                found[key] = DeviceView.from_slice_device(driver, device)
    if not found:
        raise _usage(f"{file} has no ResourceSlice with devices", "kubectl get resourceslices -o yaml")
    return found


def _yaml(file: Path) -> list[Any]:
    import yaml

    try:
        if file.stat().st_size > _MAX_BYTES:
            raise _usage(f"{file} is larger than {_MAX_BYTES} bytes", "give a smaller file")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return list(yaml.load_all(file.read_bytes(), Loader=loader))
    except OSError as error:
        raise _usage(f"cannot read {file}: {error.strerror}", "give an existing file") from error
    except (yaml.YAMLError, RecursionError) as error:
        first = (str(error) or "nested too deeply").splitlines()[0]
        raise _usage(f"{file} is no YAML: {first}", "check the file") from error


def _answer(answer: "Answer") -> dict[str, Any]:
    found: dict[str, Any] = {"outcome": str(answer.outcome)}
    if answer.message:
        found |= {"kind": answer.kind, "message": answer.message}
    if answer.position is not None:
        found |= {"line": answer.position.line, "column": answer.position.column + 1}
    return found


def _explanation_json(one: "Explanation") -> dict[str, Any]:
    return {**_answer(one.answer), "cost": one.cost, "parts": [_part_json(part) for part in one.parts]}


def _part_json(part: "Part") -> dict[str, Any]:
    found = {"expression": part.text, "value": part.value, "decided": part.decided}
    return found | ({"rounds": list(part.rounds), "times": part.times} if part.rounds else {})


def _explanation_lines(one: "Explanation") -> "Sequence[Line]":
    from automation.render.text import Span, line

    answer = one.answer
    said = f"{answer.outcome} (cost {one.cost})" + (f": {answer.message}" if answer.message else "")
    lines = [line("  ", Span(said, _STYLES[str(answer.outcome)]))]
    for part in one.parts:
        if part.obvious and not part.decided:
            continue
        mark = Span("decided", "strong") if part.decided else Span("       ")
        more = ", ..." if part.times > len(part.rounds) else ""
        lines.append(
            line("  ", mark, f"  {part.text}  =  {', '.join(part.rounds) + more if part.rounds else part.value}")
        )
    return lines


def _admission(one: "Admission") -> dict[str, Any]:
    found: dict[str, Any] = {"accepted": one.error is None, "cost": one.estimate}
    if one.error is not None:
        position = one.error.position
        found |= {
            "kind": one.error.kind,
            "message": one.error.message,
            "line": position.line,
            "column": position.column + 1,
        }
    return found


def _admission_lines(found: "Mapping[str, Admission]") -> "Sequence[Line]":
    from automation.render.text import Span, line

    lines: list[Line] = []
    for name, one in found.items():
        if one.error is None:
            lines.append(line(f"{name}  ", Span("accepted", "ok"), f"  worst-case cost {one.estimate}"))
            continue
        lines.append(line(f"{name}  ", Span("refused", "bad"), f"  {one.error}"))
        lines += [line("      ", text) for text in one.error.caret().splitlines()]
    return lines


def _report(report: "Report") -> dict[str, Any]:
    scores = {name: {"asked": score.asked, "agreed": score.agreed} for name, score in report.scores.items()}
    wrong = [
        {
            "minor": one.minor,
            "case": one.case,
            "question": one.question,
            "expression": one.expression,
            "want": one.want,
            "got": one.got,
            "detail": one.detail,
        }
        for one in report.disagreements
    ]
    return {
        "minors": list(report.minors),
        "agrees": report.agrees,
        "falseMatches": report.false_matches,
        "questions": scores,
        "disagreements": wrong,
    }


def _report_lines(report: "Report", width: int) -> "Sequence[Line]":
    from automation.render.text import Column, Span, line, table

    lines: list[Line] = []
    for one in report.disagreements:
        lines.append(line(Span(f"{one.minor or '-'} {one.case} {one.question}", "bad"), f": {one.expression[:200]}"))
        lines.append(line(f"    want {one.want}, got {one.got}" + (f" ({one.detail})" if one.detail else "")))
    rows = [
        (name, str(score.asked), str(score.agreed), f"{100 * score.agreed / score.asked:.2f} %")
        for name, score in sorted(report.scores.items())
    ]
    columns = [Column("QUESTION"), Column("ASKED"), Column("AGREED"), Column("SHARE")]
    lines += table(columns, rows, width=width)
    style: Style = "ok" if report.agrees else "bad"
    said = (
        f"{', '.join(report.minors)}: {len(report.disagreements)} disagreements, {report.false_matches} false matches"
    )
    return [*lines, line(Span(said, style))]


app = build_app()
"""What ``berth`` mounts."""
