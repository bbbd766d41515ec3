"""``berth init`` writes where every other verb then looks."""

from pathlib import Path

import pytest

from automation.cli.main import run


@pytest.mark.parametrize("where", ["envs", None], ids=["a folder of one's own", "the usual folder"])
def test_what_init_writes_from_a_subfolder_is_found_by_the_other_verbs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str | None
) -> None:
    """A relative folder lies under the project for both, wherever the command is given."""
    (tmp_path / "Pulumi.yaml").write_text("name: berth\n")
    below = tmp_path / "some/folder"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.delenv("BERTH_ENVIRONMENTS", raising=False)
    options = ["--environments", where] if where else []
    assert run(["init", "lab", *options]) == 0
    assert run(["validate", "-e", "lab", *options]) == 0
    assert "valid: lab" in capsys.readouterr().out
    assert (tmp_path / (where or "stacks/environments") / "lab/platform").is_dir()
    assert not list(below.iterdir())
