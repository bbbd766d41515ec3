"""The list of what backed runs play: that it is shown, and that the reference page has it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.cli.backing import backing
from automation.cli.running import session_for
from automation.cli.sinks import Sinks
from automation.cli.up import up
from automation.rehearsal.backing.played import PLAYED, played_in_full, played_in_short

if TYPE_CHECKING:
    from automation.cli.options import Where

ROOT = Path(__file__).resolve().parents[4]


def test_the_reference_page_has_the_list() -> None:
    """Word for word, in the table of backed runs and nowhere else."""
    page = (ROOT / "docs" / "reference" / "local-kubernetes.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("| on real clusters | in a backed run |\n| --- | --- |\n")
    table, _, _ = rest.partition("\n\n")
    assert table.splitlines() == [f"| {each.what} | {each.by} |" for each in PLAYED]


@pytest.mark.parametrize("named", ["Jobs", "volumes", "controller of gangs", "hydrate", "203.0.113."])
def test_the_list_names(named: str) -> None:
    """What was left out of it, or denied, before there was one list."""
    assert named in "\n".join(played_in_full())


BACKED = pytest.mark.parametrize("backed", [True, False], ids=["backed", "simulated"])


@dataclass
class Opened:
    """A session of nothing."""

    observation: Any = None


@BACKED
def test_every_backed_verb_names_what_is_played(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, backed: bool
) -> None:
    """On stderr, where it is in nobody's way."""
    workspace = SimpleNamespace(backed=backed, simulated=True)
    monkeypatch.setattr("automation.driver.session.open_session", lambda *_, **__: Opened())
    where = cast("Where", SimpleNamespace(workspace=lambda: workspace))
    with session_for(where, Sinks(), manifests=False):
        said = capsys.readouterr()
    assert said.out == ""
    assert [each.what for each in PLAYED if each.what in said.err] == ([each.what for each in PLAYED] if backed else [])


@BACKED
def test_an_applied_plan_ends_with_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, backed: bool
) -> None:
    """Below the result, which is the last that one sees of it."""
    session = SimpleNamespace(workspace=SimpleNamespace(backed=backed))
    prepared = SimpleNamespace(
        plan=SimpleNamespace(situation=None, empty=True), require_passed=lambda: None, unsettled=(), notes=()
    )
    for name, value in {
        "cli.running.session_for": lambda *_, **__: nullcontext(session),
        "driver.programs.import_ahead": lambda: None,
        "driver.run.prepare": lambda *_, **__: prepared,
        "driver.run.run_plan": lambda *_, **__: SimpleNamespace(ok=True),
        "cli.plan.show_plan": lambda *_: None,
        "driver.view.up_view": lambda *_: SimpleNamespace(ok=True),
        "render.status.up_lines": lambda *_, **__: (),
    }.items():
        monkeypatch.setattr(f"automation.{name}", value)
    assert up(yes=True) == 0
    assert capsys.readouterr().err == (f"{played_in_short()}\n" if backed else "")


def test_the_keeper_says_it_in_full_when_it_is_ready(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts it sees once what is in whose place."""

    def keep(ready: Callable[[], object], **_: object) -> None:
        ready()

    monkeypatch.setattr("automation.engine.toolchain.ensure.ensure", lambda *_, **__: None)
    there = SimpleNamespace(path=Path("program"))
    monkeypatch.setattr("automation.engine.toolchain.install.ensure_tool", lambda *_, **__: there)
    keeper = nullcontext(SimpleNamespace(keep=keep, minors=("1.34", "1.36")))
    monkeypatch.setattr("automation.rehearsal.backing.keeper.Keeper", lambda *_, **__: keeper)
    assert backing() == 0
    ready, *said = capsys.readouterr().err.splitlines()
    assert ready.startswith("BACKED: ready")
    assert ready.endswith("(Kubernetes 1.34, 1.36)")
    assert said[: len(PLAYED) + 1] == list(played_in_full())
