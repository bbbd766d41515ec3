"""What the doctor says of the kind of run."""

from pathlib import Path

from automation.engine.toolchain.checks import mode
from automation.engine.toolchain.layout import Layout


def test_the_mode_is_one_of_three(tmp_path: Path) -> None:
    """A backed run is simulated too, and is not called that alone."""
    assert mode(Layout(tmp_path), simulated=False).found == "real"
    assert mode(Layout(tmp_path), simulated=True).found.startswith("simulated: clouds in ")
    backed = mode(Layout(tmp_path, backed=True), simulated=True).found
    assert backed.startswith("backed: clouds simulated in ")
    assert "real Kubernetes on this machine" in backed
