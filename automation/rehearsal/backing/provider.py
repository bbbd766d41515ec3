"""Starts the real Kubernetes provider of a backed run, and the front before it while the provider is still starting.

The engine starts one such pair for every cluster, in each operation, and waits for one after the other. So this module
imports next to nothing before the provider runs.

The provider is a child of this process and ends with it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from automation.rehearsal.kubernetes.warden_process import die_with_parent


def serve(path: Path) -> None:
    """Serve until told to stop; the first line of the real provider's output is its port, as of every plugin."""
    parent = os.getppid()  # taken first: an engine may be killed as soon as it has read the port
    launcher = json.loads(path.read_text(encoding="utf-8"))
    real = subprocess.Popen(  # noqa: S603 - the provider of the toolchain, with the engine's own arguments
        [launcher["provider"], *sys.argv[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        preexec_fn=die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - no threads yet
    )
    try:
        from automation.rehearsal.backing.front import stand_before  # noqa: PLC0415 (imported while the provider starts)

        stand_before(real, launcher, parent=parent)
    finally:
        real.kill()
