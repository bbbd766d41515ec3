"""Where things lie."""

from pathlib import Path

import pytest

from automation.engine.toolchain.layout import Layout


@pytest.mark.parametrize("name", ["Pulumi.yaml", "Pulumi.yml"])
def test_the_root_is_the_nearest_folder_with_a_project(tmp_path: Path, name: str) -> None:
    """From a folder deep in a repo the project above it is found, not one further up."""
    (tmp_path / "Pulumi.yaml").touch()
    repo = tmp_path / "repo"
    (repo / "a" / "b").mkdir(parents=True)
    (repo / name).touch()
    assert Layout.find(repo / "a" / "b") == Layout(repo)


def test_without_a_project_the_root_is_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``berth init`` starts in a folder without a project."""
    monkeypatch.chdir(tmp_path)
    assert Layout.find() == Layout(tmp_path.resolve())


def test_a_relative_root_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine runs in other folders than Berth, so no path may depend on the current one."""
    monkeypatch.chdir(tmp_path)
    assert Layout(Path("repo")).pulumi == tmp_path / "repo" / ".berth" / "bin" / "pulumi"


def test_real_and_simulated_runs_share_nothing_but_the_programs(tmp_path: Path) -> None:
    """No path of a real run lies in the folder of the simulated ones."""
    layout = Layout(tmp_path)
    simulated = {
        layout.simulated_home,
        layout.simulated_state,
        layout.simulated_clouds,
        layout.simulated_project,
        layout.simulated_nowhere,
        layout.home_of(simulated=True),
    }
    real = {layout.home, layout.bin, layout.build, layout.downloads, layout.home_of(simulated=False)}
    assert all(layout.simulated in path.parents for path in simulated)
    assert not any(path == layout.simulated or layout.simulated in path.parents for path in real)
    assert len(simulated) == 5


def test_the_project_file_is_known_under_both_names(tmp_path: Path) -> None:
    """``None`` says that there is no project."""
    assert Layout(tmp_path).project_file is None
    (tmp_path / "Pulumi.yml").touch()
    assert Layout(tmp_path).project_file == tmp_path / "Pulumi.yml"
