"""Keeps a control plane and says which processes that takes, until it is told to end: a keeper for tests to end.

Usage: ``python -m tests.support.keeper_run PROJECT PROGRAM=PATH...``
"""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from automation.engine.toolchain.layout import Layout
from automation.rehearsal.backing.eks import CLUSTER, cluster_key_of
from automation.rehearsal.backing.keeper import Keeper
from automation.rehearsal.kubernetes.api import Api
from automation.rehearsal.store import Row, Store
from tests.support.kubernetes_minor import MINOR
from tests.support.processes import children


def start_cluster(keeper: Keeper, layout: Layout, *, version: str = "") -> dict[str, Any]:
    """Put a cluster into the simulated cloud and start what is behind it; gives what the keeper says of it."""
    row = Row("aws", CLUSTER, "aws/1/us-east-1", "sim-a", None, "a", "urn", "", {}, {})
    with Store(layout.simulated_clouds).transaction() as transaction:
        transaction.insert(row)
    wanted = {"key": cluster_key_of(row), "name": "a", "issuer": "https://oidc.test", "version": version}
    keeper.answer({"do": "cluster", **wanted})
    (described,) = keeper.answer({"do": "list"})["clusters"]
    return dict(described)


def api_of(described: dict[str, Any]) -> Api:
    """Reach a cluster of which a keeper says so much, as its administrator."""
    folder = Path(described["kubeconfig"]).parent
    token = (folder / "tokens.csv").read_text(encoding="utf-8").partition(",")[0]
    return Api(described["server"], authority=folder / "apiserver.crt", token=token)


def main(root: Path, programs: dict[str, Path]) -> None:
    """Start a cluster, say so, and keep it."""
    layout = Layout(root, backed=True)
    with Keeper(programs, layout, say=lambda _: None, minor=MINOR.name) as keeper:
        described = start_cluster(keeper, layout)
        warden = keeper.answer({"do": "list"})["warden"]
        said = json.dumps(
            {"pids": children(warden), "warden": warden, "port": urlsplit(described["server"]).port},
        )
        keeper.keep(lambda: print(said, flush=True))  # noqa: T201 - the answer


if __name__ == "__main__":
    main(Path(sys.argv[1]), {name: Path(path) for name, _, path in (each.partition("=") for each in sys.argv[2:])})
