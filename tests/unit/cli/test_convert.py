"""``berth convert``: where it writes, what it prints, how it ends."""

import io
import json
import sys
from pathlib import Path

import pytest

from automation.cli.main import run
from components.api.base import BERTH_VERSION, MODELPLANE

EAST = "stacks/environments/dev/platform/east.yaml"


pytestmark = pytest.mark.usefixtures("project")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the verb; gives the exit code and both streams."""
    code = run(["convert", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def contents(folder: Path) -> dict[str, bytes]:
    """Read every manifest."""
    return {path.name: path.read_bytes() for path in folder.rglob("*.yaml")}


def test_one_file_is_printed(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """And not written."""
    before = (project / EAST).read_text()
    code, out, err = ran(capsys, EAST, "--to", "berth")
    assert (code, out, err) == (0, before.replace(MODELPLANE, BERTH_VERSION), "")
    assert (project / EAST).read_text() == before


def test_stdin_is_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """Named by a dash."""
    text = (project / EAST).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert ran(capsys, "-", "--to", BERTH_VERSION)[:2] == (0, text.decode().replace(MODELPLANE, BERTH_VERSION))


def test_an_environment_is_rewritten_and_put_back(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """Names of changed files on stdout; a second time there is nothing to do."""
    before = contents(project)
    code, out, err = ran(capsys, "--to", "berth", "--write")
    assert (code, len(out.splitlines())) == (0, len(before) - 2)
    assert "1 file unchanged" in err
    assert MODELPLANE.encode() not in b"".join(contents(project).values())
    assert run(["validate"]) == 0
    capsys.readouterr()
    assert ran(capsys, "--to", "berth", "--check")[:2] == (0, "")
    code, _, err = ran(capsys, "--to", "modelplane", "--write")
    assert code == 0
    assert "environment.yaml:1: this kind does not have modelplane.ai/v1alpha1; left as it is" in err
    assert contents(project) == before


def test_a_check_ends_with_seven_and_writes_nothing(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """And names the files, and the command that rewrites them."""
    before = contents(project)
    code, out, err = ran(capsys, EAST, "--to", "berth", "--check")
    assert (code, out) == (7, f"{EAST}\n")
    assert f"berth convert {EAST} --to berth --write" in err
    assert contents(project) == before


def test_a_program_gets_a_report(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """Also without writing, for any number of files."""
    code, out, _ = ran(capsys, "--to", "berth", "--json")
    document = json.loads(out)
    assert (code, document["kind"], document["to"], document["written"]) == (0, "Conversion", BERTH_VERSION, False)
    assert EAST in document["changed"]
    assert document["unchanged"] == ["stacks/environments/dev/environment.yaml"]
    assert document["documents"] >= len(document["changed"])


def test_one_file_that_cannot_go_keeps_all_as_they_are(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """The place of the field is shown, exit code 2."""
    assert ran(capsys, "--to", "berth", "--write")[0] == 0
    text = (project / EAST).read_text().replace("spec:", "spec:\n  removing: true", 1)
    (project / EAST).write_text(text)
    before = contents(project)
    code, out, err = ran(capsys, "--to", "modelplane", "--write")
    line = text.splitlines().index("  removing: true") + 1
    assert (code, out) == (2, "")
    assert f"{EAST}:{line}:3: error[berth-field]" in err
    assert "Nothing was written." in err
    assert contents(project) == before


def test_a_rewritten_file_keeps_its_mode_and_its_link(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    """A link leads where it led."""
    file = project / EAST
    real = project / "real.yaml"
    file.rename(real)
    real.chmod(0o640)
    file.symlink_to(real)
    assert ran(capsys, EAST, "--to", "berth", "--write")[0] == 0
    assert file.is_symlink()
    assert BERTH_VERSION in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in real.parent.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "berth"), "files cannot be printed as one"),
        (("--to", "berth", "--write", "--check"), "cannot go together"),
        (("--to", "kubernetes", EAST), "--to"),
        ((EAST,), "--to"),
        (("--to", "berth", "nowhere.yaml"), "no file or folder nowhere.yaml"),
        (("--to", "berth", "--wrte"), "unknown option --wrte"),
    ],
)
def test_a_wrong_use_says_so(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    """Exit code 2, nothing on stdout."""
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
