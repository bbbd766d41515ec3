"""The import rules hold, and they bite: a forbidden import in a copy of the code is found."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("automation", "components", "policies", "stacks")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the import checker on the packages in ``folder``."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder), "PATH": ""},
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages and the rules."""
    folder = tmp_path_factory.mktemp("imports")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_rules_hold(copy: Path) -> None:
    """The code as it is breaks no rule."""
    result = lint(copy)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "statement", "rule"),
    [
        ("components/lock.py", "import stacks", "One arrow"),
        ("stacks/shard.py", "import automation.driver", "One arrow"),
        ("automation/scheduling/snapshot.py", "import pulumi", "Pure packages"),
        ("automation/planning/steps.py", "import time", "Pure packages"),
        ("automation/render/text.py", "import rich", "Pure packages"),
        ("components/cel/selector.py", "import pathlib", "Pure packages"),
        ("components/clusters/eks/cluster.py", "import components.clusters.existing", "Providers do not know"),
        ("policies/__init__.py", "import components.models", "Policies see only"),
        ("automation/driver/__init__.py", "import rich.console", "terminal library"),
    ],
)
def test_a_forbidden_import_is_found(copy: Path, module: str, statement: str, rule: str) -> None:
    """Each rule, broken once, is reported by its name."""
    path = copy / module
    before = path.read_text()
    try:
        path.write_text(f"{before}\n\n{statement}\n")
        result = lint(copy)
    finally:
        path.write_text(before)
    assert result.returncode != 0, f"{statement} in {module} was not found"
    broken = [line for line in result.stdout.splitlines() if line.endswith("BROKEN")]
    assert any(rule in line for line in broken), result.stdout


DRIVES_THE_ENGINE = {"automation/engine/inline.py"}


def test_only_the_runner_drives_the_engine() -> None:
    """The Automation API is imported in one place, so that another engine can stand in for it everywhere else."""
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names.append(node.module or "")
                if any(name.startswith("pulumi.automation") for name in names):
                    found.add(path.relative_to(ROOT).as_posix())
    assert found <= DRIVES_THE_ENGINE
