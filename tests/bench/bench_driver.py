"""The driver's own time per plan: wall time minus the engine's calls, on the sample environment, simulated.

Prints, for a first plan and for a plan of an applied environment without changes: the wall time, the share that the
engine took, what is left for the driver (target: at most 10 % and a second), and how many previews were made (target:
at most two, and one when the platform is unchanged). Needs the Pulumi CLI; takes some minutes.
"""

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from automation.driver.planner import make_plan  # noqa: E402 (after the path)
from automation.driver.reading import read_situation  # noqa: E402 (after the path is set)
from automation.driver.reporter import Silent  # noqa: E402 (after the path is set)
from automation.driver.run import run_plan  # noqa: E402 (after the path is set)
from automation.driver.session import Session, open_session  # noqa: E402 (after the path is set)
from automation.driver.workspace import Workspace  # noqa: E402 (after the path is set)
from automation.engine.interruption import Interruption  # noqa: E402 (after the path is set)
from automation.engine.toolchain.layout import Layout  # noqa: E402 (after the path is set)


class Timed:
    """A runner that counts its calls and the time they take."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self.calls: Counter[str] = Counter()
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._runner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                self.calls[name] += 1
                self.seconds += time.perf_counter() - began

        return timed


def session(folder: Path) -> Session:
    """Open a session on a copy of the sample environment."""
    shutil.copytree(ROOT / "stacks" / "environments" / "dev", folder / "stacks" / "environments" / "dev")
    shutil.copy(ROOT / "automation" / "cli" / "templates" / "project" / "Pulumi.yaml", folder)
    shutil.copy(ROOT / "automation" / "cli" / "templates" / "project" / "main.py.template", folder / "main.py")
    (folder / ".berth").mkdir()
    (folder / ".berth" / "bin").symlink_to(Layout(ROOT).bin)
    environment = folder / "stacks" / "environments" / "dev"
    workspace = Workspace(Layout(folder), "dev", environment, simulated=True)
    return open_session(workspace, Silent(), interruption=Interruption())


def measure(opened: Session, title: str) -> None:
    """Plan once and print where the time went."""
    timed = Timed(opened.runner)
    watched = Session(
        workspace=opened.workspace,
        runner=timed,  # ty: ignore[invalid-argument-type]
        reporter=opened.reporter,
        observer=opened.observer,
        berth=opened.berth,
        clock=opened.clock,
    )
    began = time.perf_counter()
    make_plan(watched, read_situation(watched))
    wall = time.perf_counter() - began
    own = wall - timed.seconds
    sys.stdout.write(
        f"{title}: wall {wall:.1f} s, engine {timed.seconds:.1f} s, driver {own:.2f} s"
        f" ({own / wall:.1%}; target 10 % + 1 s = {wall * 0.1 + 1:.2f} s), previews {timed.calls['preview']},"
        f" other calls {sum(timed.calls.values()) - timed.calls['preview']}\n"
    )
    sys.stdout.flush()


def main() -> None:
    """Measure a first plan, and a plan without changes."""
    with tempfile.TemporaryDirectory() as name:
        opened = session(Path(name))
        measure(opened, "first plan")
        plan = make_plan(opened, read_situation(opened))
        run_plan(opened, plan, announce=lambda _: None)
        measure(opened, "plan without changes")


if __name__ == "__main__":
    main()
