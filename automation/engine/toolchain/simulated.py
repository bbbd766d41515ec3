"""Prepares what a simulated run needs on disk: its folders, and a project of its own.

Pulumi keeps the configuration of a stack beside the project file and nowhere else that all its commands agree on. So
simulated runs get a copy of the project file in a folder of their own, with the program where it is; their
``Pulumi.<stack>.yaml`` files lie beside the copy. The copy has no backend, no plugin paths and no folder for stack
configuration of the real project, so nothing in it leads out of the simulation.
"""

from pathlib import Path
from typing import Any, Final

import yaml

from automation.engine.toolchain.disk import keep_out_of_git, write_whole, writing
from automation.engine.toolchain.layout import Layout
from components.errors import ConfigError, Problem

_DROPPED: Final = ("backend", "plugins", "stackConfigDir")
_NOTE: Final = "# Made by Berth from {file}; edit that one. Simulated runs work here.\n"


def prepare(layout: Layout) -> Path | None:
    """Make the folders and renew the copy of the project file; gives the copy, ``None`` when there is no project."""
    with writing(layout.berth):
        keep_out_of_git(layout.berth)
        for folder in (layout.simulated_home, layout.simulated_state, layout.simulated_project):
            folder.mkdir(parents=True, exist_ok=True)
        source = layout.project_file
        if source is None:
            return None
        copy = layout.simulated_project / "Pulumi.yaml"
        content = simulated_project(source).encode()
        if not copy.is_file() or copy.read_bytes() != content:
            write_whole(copy, content)
        return copy


def simulated_project(source: Path) -> str:
    """Write the text of the copy."""
    project = read_project(source)
    if not isinstance(project.get("config"), dict):
        # The old spelling of stackConfigDir is a folder under this key.
        project.pop("config", None)
    for key in _DROPPED:
        project.pop(key, None)
    project["main"] = str(source.parent / str(project.get("main") or "."))
    options = _options(project)
    if options is not None and options.get("virtualenv"):
        options["virtualenv"] = str(source.parent / str(options["virtualenv"]))
    return _NOTE.format(file=source) + yaml.safe_dump(project, sort_keys=False, allow_unicode=True)


def read_project(source: Path) -> dict[str, Any]:
    """Read a project file; raises ConfigError, with the place, when it is none."""
    try:
        project = yaml.safe_load(source.read_bytes())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise _unreadable(source, error.problem or "not YAML", line=line, column=column) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _unreadable(source, "not YAML in UTF-8") from error
    except OSError as error:
        raise _unreadable(source, f"cannot be read: {error.strerror or error}") from error
    if not isinstance(project, dict) or not isinstance(project.get("name"), str):
        raise _unreadable(source, "a project file is a mapping with name and runtime")
    return project


def _options(project: dict[str, Any]) -> dict[str, Any] | None:
    runtime = project.get("runtime")
    options = runtime.get("options") if isinstance(runtime, dict) else None
    return options if isinstance(options, dict) else None


def _unreadable(source: Path, message: str, *, line: int = 0, column: int = 0) -> ConfigError:
    return ConfigError([Problem(code="project-file", message=message, file=str(source), line=line, column=column)])
