"""What the command line imports before it does anything: nothing that costs, so that help and errors come at once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from automation.cli.main import VERBS

CLI: Final = Path(__file__).parents[3] / "automation" / "cli"
MODULES: Final = sorted(path.stem for path in CLI.glob("*.py") if not path.stem.startswith("__"))
COSTLY: Final = (
    *("pulumi", "pulumi_aws", "pulumi_kubernetes", "pulumi_policy", "grpc", "google.protobuf"),
    *("httpx", "kubernetes", "boto3", "pydantic", "yaml", "ruamel", "celpy"),
    *("automation.driver", "automation.engine.pulumi", "automation.rehearsal", "components.api", "policies", "stacks"),
)
"""The engine's SDK, clouds, protocols, parsers, and our own parts that stand on them."""

_SAY: Final = "\nimport json, sys\nsys.stderr.write(json.dumps(sorted(sys.modules)))"


def loaded(source: str) -> set[str]:
    """Run a program in an interpreter of its own and return the costly modules that are there at its end."""
    done = subprocess.run([sys.executable, "-c", source + _SAY], check=True, capture_output=True, text=True)
    modules = set(json.loads(done.stderr))
    assert "automation.cli.main" in modules, "nothing was started"
    return modules & set(COSTLY)


def test_help_imports_nothing_that_costs() -> None:
    """Not a cloud's SDK, not the engine's, not a single verb."""
    assert loaded("from automation.cli.main import run\nrun(['--help'])") == set()


def test_a_misspelt_verb_imports_nothing_that_costs() -> None:
    """Whoever mistypes waits for nothing."""
    assert loaded("import os, sys\nfrom automation.cli.main import run\nsys.stderr = open(os.devnull, 'w')\n"
                  "run(['plam'])\nsys.stderr = sys.__stderr__") == set()  # fmt: skip


def test_no_module_of_the_command_line_imports_what_costs_or_the_terminal_library() -> None:
    """All of them together; what a verb needs it imports when it runs."""
    names = "\n".join(f"import automation.cli.{name}" for name in ["main", *MODULES])
    assert loaded(names) == set()
    done = subprocess.run(
        [sys.executable, "-c", f"{names}\nimport sys\nprint('rich.console' in sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_a_module_of_its_name(verb: str) -> None:
    """It is found when it is called, and not before."""
    assert verb in MODULES
