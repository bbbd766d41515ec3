"""Results say whether to go on, and if not, why."""

import subprocess
import sys
from dataclasses import replace

import pytest

from automation.engine.events import Diagnostic, DiagnosticSeverity, Level, Op, PolicyFinding, ResourceStep
from automation.engine.runner import Applied, PolicyReport, Preview, ResourceFailure
from components.errors import PolicyViolation, ResourceFailed
from tests.unit.engine.samples import STACK, step, urn

ROLE = "aws:iam/role:Role"
HIDDEN = {"tags": [{"key": "[secret]"}]}


def finding(rule: str) -> PolicyFinding:
    """Return a mandatory finding."""
    return PolicyFinding(0, 0, "berth", "1", rule, Level.MANDATORY, "high", "no", urn(ROLE, "a"))


def test_a_good_result_lets_the_driver_go_on() -> None:
    """Nothing is raised."""
    Preview(stack=STACK, ok=True, steps=()).require_ok()


def test_policies_are_named_once_each_and_counted() -> None:
    """The summary has the rules, sorted; nothing was changed by a preview."""
    report = PolicyReport(findings=(finding("b"), finding("a"), finding("b")))
    with pytest.raises(PolicyViolation) as raised:
        Preview(stack=STACK, ok=False, steps=(), policies=report).require_ok()
    assert raised.value.summary == "3 policy violations: berth/a, berth/b"
    assert raised.value.consequence == "Nothing was changed."


def test_failures_say_what_had_been_done() -> None:
    """An update that failed in the middle says how much it had changed."""
    failure = ResourceFailure(urn(ROLE, "a"), ROLE, Op.CREATE, ("no room",))
    done = (step(Op.CREATE, ROLE, "b"), step(Op.SAME, ROLE, "c"))
    with pytest.raises(ResourceFailed) as raised:
        Applied(stack=STACK, ok=False, steps=done, failures=(failure,)).require_ok()
    assert raised.value.summary == "a: no room"
    assert raised.value.consequence == "1 resource was changed before that."
    with pytest.raises(ResourceFailed) as raised:
        Applied(stack=STACK, ok=False, steps=(), failures=(failure,)).require_ok()
    assert raised.value.consequence == "Nothing was changed."


def test_protection_is_a_reason() -> None:
    """What was refused is named."""
    with pytest.raises(ResourceFailed, match="a is protected"):
        Preview(stack=STACK, ok=False, steps=(), refused=(urn(ROLE, "a"),)).require_ok()


def test_without_a_resource_to_blame_the_engine_speaks() -> None:
    """General errors are shown when no resource has one; an engine without words is said to be silent."""
    message = Diagnostic(0, 0, DiagnosticSeverity.ERROR, "something broke")
    with pytest.raises(ResourceFailed, match="something broke"):
        Applied(stack=STACK, ok=False, steps=(), diagnostics=(message,)).require_ok()
    with pytest.raises(ResourceFailed, match="gave no reason"):
        Applied(stack=STACK, ok=False, steps=()).require_ok()


@pytest.mark.parametrize(
    ("planned", "drifted"),
    [
        pytest.param(step(Op.SAME, ROLE, "a"), False, id="nothing"),
        pytest.param(step(Op.REFRESH, ROLE, "a"), False, id="as-the-state-says"),
        pytest.param(replace(step(Op.REFRESH, ROLE, "a"), drifted=True), True, id="not-as-the-state-says"),
        pytest.param(step(Op.UPDATE, ROLE, "a"), False, id="edited"),
        pytest.param(replace(step(Op.UPDATE, ROLE, "a"), inputs=HIDDEN), True, id="hidden"),
        pytest.param(replace(step(Op.UPDATE, ROLE, "a"), old_inputs=HIDDEN), True, id="hidden-before"),
        pytest.param(replace(step(Op.CREATE_REPLACEMENT, ROLE, "a"), outputs=HIDDEN), True, id="hidden-replacement"),
        pytest.param(replace(step(Op.UNKNOWN, ROLE, "a"), outputs=HIDDEN), True, id="hidden-by-a-newer-engine"),
        pytest.param(replace(step(Op.CREATE, ROLE, "a"), inputs=HIDDEN), True, id="new-one"),
        pytest.param(replace(step(Op.DELETE, ROLE, "a"), inputs=HIDDEN), False, id="goes"),
        pytest.param(replace(step(Op.SAME, ROLE, "a"), inputs=HIDDEN), False, id="secret-stays"),
    ],
)
def test_a_preview_tells_whether_an_update_has_to_read_again(planned: ResourceStep, *, drifted: bool) -> None:
    """What was read differs from the state, or may: secrets cannot be compared."""
    read = step(Op.REFRESH, ROLE, "b")
    assert Preview(stack=STACK, ok=True, steps=(read, planned)).drifted is drifted


def test_a_preview_that_read_nothing_found_nothing() -> None:
    """Such as one of a stack whose clusters do not answer: an update may read no more than it did."""
    hidden = replace(step(Op.UPDATE, ROLE, "a"), inputs=HIDDEN)
    assert Preview(stack=STACK, ok=True, steps=(hidden,)).drifted is False


def test_reading_results_costs_no_engine() -> None:
    """Runner, events, states and what reads them import no SDK and no gRPC."""
    modules = ("runner", "events", "event_json", "outcome", "state", "changes", "failures", "repair", "replay", "lease")
    code = (
        f"import sys; [__import__(f'automation.engine.{{m}}') for m in {modules!r}];"
        "import automation.observe.owed, automation.observe.live;"
        "print(sorted(m for m in sys.modules if m.partition('.')[0] in {'pulumi', 'grpc', 'rich', 'cyclopts'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
