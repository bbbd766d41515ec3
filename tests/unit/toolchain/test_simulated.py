"""The project of the simulated runs."""

import pytest
import yaml

from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.simulated import prepare, simulated_project
from components.errors import ConfigError

PROJECT = """\
name: fleet
description: Größe
runtime:
  name: python
  options:
    virtualenv: .venv
main: stacks
stackConfigDir: stacks/config
backend:
  url: s3://real-state
config:
  berth:simulated: {type: boolean, default: false}
plugins:
  providers:
    - name: aws
      path: bin
"""


def written(layout: Layout, text: str) -> dict[str, object]:
    """Write a project file and read the copy that is made of it."""
    (layout.root / "Pulumi.yaml").write_text(text)
    copy = prepare(layout)
    assert copy is not None
    return yaml.safe_load(copy.read_text())


def test_the_copy_runs_the_same_program_and_leads_nowhere_else(layout: Layout) -> None:
    """The program and the environment are where they are; backend, plugins and stack configuration are not taken."""
    assert written(layout, PROJECT) == {
        "name": "fleet",
        "description": "Größe",
        "runtime": {"name": "python", "options": {"virtualenv": str(layout.root / ".venv")}},
        "main": str(layout.root / "stacks"),
        "config": {"berth:simulated": {"type": "boolean", "default": False}},
    }


def test_a_program_beside_the_project_file_is_found(layout: Layout) -> None:
    """Without ``main`` the program is the project's own folder."""
    assert written(layout, "name: fleet\nruntime: python\n")["main"] == str(layout.root)


def test_the_old_spelling_of_the_configuration_folder_is_dropped(layout: Layout) -> None:
    """A text under ``config`` is a folder, not a set of keys."""
    assert "config" not in written(layout, "name: fleet\nruntime: python\nconfig: stacks/config\n")


def test_an_edit_of_the_project_reaches_the_copy(layout: Layout) -> None:
    """The copy is renewed at every run, and left alone when there is nothing to renew."""
    written(layout, PROJECT)
    assert written(layout, PROJECT.replace("fleet", "armada"))["name"] == "armada"
    before = (layout.simulated_project / "Pulumi.yaml").stat().st_mtime_ns
    prepare(layout)
    assert (layout.simulated_project / "Pulumi.yaml").stat().st_mtime_ns == before


def test_the_copy_says_where_it_comes_from(layout: Layout) -> None:
    """Nobody should edit it."""
    source = layout.root / "Pulumi.yaml"
    source.write_text(PROJECT)
    assert f"from {source}; edit that one" in simulated_project(source).splitlines()[0]


def test_stack_configuration_of_simulated_runs_is_kept(layout: Layout) -> None:
    """Renewing the copy does not touch what lies beside it."""
    written(layout, PROJECT)
    config = layout.simulated_project / "Pulumi.dev.yaml"
    config.write_text("config: {}\n")
    written(layout, PROJECT.replace("fleet", "armada"))
    assert config.read_text() == "config: {}\n"


def test_without_a_project_only_the_folders_are_made(layout: Layout) -> None:
    """Inline programs need no project file."""
    assert prepare(layout) is None
    assert layout.simulated_state.is_dir()
    assert layout.simulated_home.is_dir()
    assert not layout.simulated_nowhere.exists()


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        pytest.param(b"name: [\n", "expected the node content", 2, id="not-yaml"),
        pytest.param(b"- name\n", "a mapping with name and runtime", 0, id="a-list"),
        pytest.param(b"", "a mapping with name and runtime", 0, id="empty"),
        pytest.param(b"name: \xff\xfe\n", "not YAML in UTF-8", 0, id="not-utf-8"),
    ],
)
def test_a_project_file_that_is_none_is_a_located_problem(
    layout: Layout, content: bytes, message: str, line: int
) -> None:
    """The file and, where it is known, the line."""
    path = layout.root / "Pulumi.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        prepare(layout)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert (problem.file, problem.line) == (str(path), line)
