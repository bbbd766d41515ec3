"""What providers say in paragraphs becomes one sentence, under the name of the component it belongs to."""

import pytest

from automation.engine.events import Op
from automation.engine.failures import failure_under, failures_by_component, words
from automation.engine.runner import ResourceFailure
from tests.unit.engine.samples import ROOT, checkpoint, entry, stack_entry, step, urn

REPLICA, DEPLOYMENT, ROLE = "berth:index:Replica", "kubernetes:apps/v1:Deployment", "aws:iam/role:Role"

KUBERNETES = (
    'resource "ml/qwen-1f2e3-main-0a1b2" was successfully created, but the Kubernetes API server reported that it'
    " failed to fully initialize or become live: 'qwen-1f2e3-main-0a1b2' timed out waiting to be Ready"
)


@pytest.mark.parametrize(
    ("messages", "want"),
    [
        pytest.param(["no room"], "no room", id="plain"),
        pytest.param(["1 error occurred:\n\t* BackOff: no image x\n"], "BackOff: no image x", id="counted"),
        pytest.param(["2 errors occurred:\n\t* a\n\t* b\n"], "a; b", id="two"),
        pytest.param(["a", "a", "a."], "a", id="repeated"),
        pytest.param(
            [f"1 error occurred:\n\t* {KUBERNETES}\n"],
            "'qwen-1f2e3-main-0a1b2' timed out waiting to be Ready",
            id="kubernetes",
        ),
        pytest.param(
            ['[Pod ml/x]: containers with unready status: [main] -- [ImagePullBackOff] Back-off pulling image "m:2"'],
            '[Pod ml/x]: ImagePullBackOff: Back-off pulling image "m:2"',
            id="pod",
        ),
        pytest.param(["deleting urn:pulumi:dev::town::aws:iam/role:Role::a: denied"], "deleting a: denied", id="urn"),
        pytest.param(["x" * 400], "x" * 297 + "...", id="long"),
        pytest.param([], "", id="nothing"),
    ],
)  # fmt: skip
def test_noise_goes_and_reasons_stay(messages: list[str], want: str) -> None:
    """Counts, bullets, the object's own name and repetitions go."""
    assert words(messages) == want


def test_failures_stand_under_their_component() -> None:
    """Parts of one replica come together, named by their role; what belongs to nobody has its own name."""
    replica = entry(REPLICA, "ml/a/east/0", inputs={"cluster": "east"})
    state = checkpoint(stack_entry(), replica)
    failing = [
        ResourceFailure(
            urn(DEPLOYMENT, "ml/a/east/0-workload-main"), DEPLOYMENT, Op.CREATE, ("late",), parent=replica["urn"]
        ),
        ResourceFailure(
            urn(DEPLOYMENT, "ml/a/east/0-route"), DEPLOYMENT, Op.CREATE, ("denied",), parent=replica["urn"]
        ),
        ResourceFailure(urn(ROLE, "lonely"), ROLE, Op.CREATE, ("no room",), parent=ROOT),
    ]
    assert failures_by_component(failing, state) == {
        "lonely": "no room",
        "ml/a/east/0": "workload-main: late; route: denied",
    }


def test_a_component_that_is_not_in_the_state_is_found_among_the_steps() -> None:
    """In a preview the component itself may be new."""
    replica = step(Op.CREATE, REPLICA, "ml/b/east/0")
    failing = [ResourceFailure(urn(DEPLOYMENT, "x"), DEPLOYMENT, Op.CREATE, ("bad",), parent=replica.urn)]
    assert failures_by_component(failing, checkpoint(stack_entry()), steps=[replica]) == {"ml/b/east/0": "x: bad"}


def test_the_state_remembers_what_did_not_initialise() -> None:
    """The errors under a component are told from the state alone, also in a later run."""
    replica = entry(REPLICA, "ml/a/east/0")
    late = entry(
        DEPLOYMENT, "ml/a/east/0-workload-main", parent=replica["urn"], initErrors=["[ErrImagePull] no such image"]
    )
    state = checkpoint(stack_entry(), replica, late)
    assert failure_under(state, replica["urn"]) == "workload-main: ErrImagePull: no such image"
    assert failure_under(checkpoint(stack_entry(), replica), replica["urn"]) == ""
