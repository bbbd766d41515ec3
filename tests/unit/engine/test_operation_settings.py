"""What changes nothing may leave the state unwritten until its end; what changes a cloud writes every step."""

from collections.abc import Callable
from pathlib import Path

import pytest

from automation.engine.arguments import nothing
from automation.engine.pulumi import PulumiRunner
from components.errors import BerthError
from components.naming import StackName

STACK = StackName("dev")
GONE = "urn:pulumi:dev::berth::kubernetes:core/v1:Service::gone"
ENGINE = """#!/bin/sh
echo "${PULUMI_SKIP_CHECKPOINTS:-every step}" > "$SEEN"
exit 1
"""


@pytest.mark.parametrize(
    ("operation", "written"),
    [
        pytest.param(lambda run: run.preview(STACK, nothing), "true", id="preview"),
        pytest.param(lambda run: run.preview(STACK, nothing, refresh=True), "true", id="preview-refresh"),
        pytest.param(lambda run: run.preview_destroy(STACK), "true", id="preview-destroy"),
        pytest.param(lambda run: run.drift(STACK), "true", id="drift"),
        pytest.param(lambda run: run.preview(STACK, nothing, exclude=[GONE]), "every step", id="preview-exclude"),
        pytest.param(lambda run: run.up(STACK, nothing), "every step", id="up"),
        pytest.param(lambda run: run.up(STACK, nothing, refresh=True), "every step", id="up-refresh"),
        pytest.param(lambda run: run.destroy(STACK), "every step", id="destroy"),
        pytest.param(lambda run: run.refresh(STACK), "every step", id="refresh"),
    ],
)
def test_what_changes_something_writes_every_step(
    operation: Callable[[PulumiRunner], object], written: str, tmp_path: Path
) -> None:
    """A run that is killed has on disk what it did until then."""
    seen, cli = tmp_path / "seen", tmp_path / "pulumi"
    cli.write_text(ENGINE)
    cli.chmod(0o755)
    (tmp_path / "Pulumi.yaml").write_text("name: berth\nruntime: python\n")
    runner = PulumiRunner(cli, project=tmp_path, environment={"SEEN": str(seen), "PATH": "/usr/bin:/bin"})
    with pytest.raises(BerthError):
        operation(runner)
    assert seen.read_text().strip() == written
