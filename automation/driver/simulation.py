"""What a simulated run needs before the engine starts: its own folders, and simulated providers as its plugins."""

import sys
from pathlib import Path

from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.simulated import prepare
from automation.rehearsal.install import install


def prepare_simulation(layout: Layout) -> None:
    """Make the simulated home, backend and project, and place the simulated providers; cheap when all is there."""
    prepare(layout)
    install(layout.simulated_home, interpreter=Path(sys.executable), database=layout.simulated_clouds)
