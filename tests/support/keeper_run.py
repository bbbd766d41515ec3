"""Keeps a control plane and says which processes that takes, until it is told to end: a keeper for tests to end.

Usage: ``python -m tests.support.keeper_run PROJECT PROGRAM=PATH...``
"""

import json
import sys
from pathlib import Path

from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.eks import CLUSTER, cluster_key_of
from automation.rehearsal.backing.keeper import Keeper
from automation.rehearsal.store import Row, Store


def main(root: Path, programs: dict[str, Path]) -> None:
    """Start a cluster, say so, and keep it."""
    layout = Layout(root, backed=True)
    with Keeper(programs, layout, say=lambda _: None) as keeper:
        row = Row("aws", CLUSTER, "aws/1/us-east-1", "sim-a", None, "a", "urn", "", {}, {})
        with Store(layout.simulated_clouds).transaction() as transaction:
            transaction.insert(row)
        keeper.answer({"do": "cluster", "key": cluster_key_of(row), "name": "a", "issuer": "https://oidc.test"})
        found = keeper.answer({"do": "list"})
        pids = [pid for each in found["clusters"] for pid in each["pids"].values()]
        said = json.dumps({"pids": pids, "warden": found["warden"]})
        keeper.keep(lambda: print(said, flush=True))  # noqa: T201 - the answer


if __name__ == "__main__":
    main(Path(sys.argv[1]), {name: Path(path) for name, _, path in (each.partition("=") for each in sys.argv[2:])})
