"""Starts a local cluster with gangs and says what there is to be seen, until it is killed: a driver for tests to kill.

Usage: ``python -m tests.support.kubernetes_run RUNS PROGRAM=PATH...``
"""

import json
import sys
import time
from pathlib import Path

from automation.rehearsal.backing import charts
from automation.rehearsal.kubernetes.gangs import start_gangs
from automation.rehearsal.kubernetes.local import LocalKubernetes


def main(runs: Path, programs: dict[str, Path]) -> None:
    """Start a cluster, say so, and wait."""
    with LocalKubernetes(programs, parent=runs) as local:
        cluster = local.start("a")
        release = {"name": "lws", "namespace": "lws-system", "chart": charts.GANG_CHART, "createNamespace": True}
        charts.install(cluster.api, release, run=lambda _: start_gangs(local, cluster))
        said = {
            "folder": str(local.folder),
            "ports": list(local.ports()),
            "pids": {"warden": local.warden, **local.pids()},
            "server": cluster.server,
        }
        print(json.dumps(said), flush=True)  # noqa: T201 - the answer
        time.sleep(3600)


if __name__ == "__main__":
    main(Path(sys.argv[1]), {name: Path(path) for name, _, path in (each.partition("=") for each in sys.argv[2:])})
