"""URLs are parsed, printed and compared as Go does; tests/kubernetes asks a real scheduler the same."""

import pytest

from components.cel.device import DeviceView
from components.cel.selector import Answer, Outcome, compile_unlimited
from tests.support.url_expressions import ARE_NONE, DO_NOT_HOLD, HOLD, LOOSE

VIEW = DeviceView.from_slice_device("plain.example.com", {})


def answer(expression: str) -> Answer:
    """Evaluate by closures, and hold the counted evaluation to the same."""
    selector = compile_unlimited(expression)
    found = selector.evaluate(VIEW)
    assert selector.counted(VIEW)[0].outcome is found.outcome
    return found


@pytest.mark.parametrize("expression", HOLD)
def test_what_holds_of_urls(expression: str) -> None:
    """As the scheduler says."""
    assert answer(expression).outcome is Outcome.MATCH


@pytest.mark.parametrize("expression", DO_NOT_HOLD)
def test_what_does_not_hold_of_urls(expression: str) -> None:
    """As the scheduler says."""
    assert answer(expression).outcome is Outcome.NO_MATCH


@pytest.mark.parametrize("expression", ARE_NONE)
def test_what_is_no_url(expression: str) -> None:
    """As the scheduler says."""
    assert answer(expression).kind == "parse-url"


@pytest.mark.parametrize(
    "expression",
    [
        *LOOSE,
        'isURL("ftp://a:b:80/")',
        'isURL("http://a[b/")',
        'isURL("http://[abc]/")',
        'isURL("http://[1.2.3.4]/")',
        'isURL("http://[::1%25]/")',
        'isURL("http://[[::1]/")',
        'url("//a:b:80/x").getHost() == "a:b:80"',
    ],
)
def test_a_host_on_which_releases_of_go_differ_is_unsupported(expression: str) -> None:
    """One patch of Kubernetes takes it and another does not; so it is an error, and never a match."""
    assert answer(expression).kind == "unsupported"
