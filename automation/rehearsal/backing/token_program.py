"""Stands in for the ``aws`` program in backed runs: gives the token of a local cluster, and nothing else.

A kubeconfig of an EKS cluster runs ``aws eks get-token``. In a backed run that name, first on PATH, is this program; so
the kubeconfig is the one of a real run, and no login of the user's is looked at.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from automation.rehearsal.backing.door import Door, KeeperRefused, NotKept

_VALID: Final = timedelta(minutes=15)
"""As long as a token of EKS."""


def main(arguments: Sequence[str], record: Path) -> int:
    """Print the credential, or say on the standard error why there is none."""
    if list(arguments[:2]) != ["eks", "get-token"] or "--cluster-name" not in arguments[:-1]:
        sys.stderr.write(f"this `aws` is Berth's stand-in for backed runs; it only knows eks get-token: {arguments}\n")
        return 252  # what the program itself answers when it does not understand
    name = arguments[arguments.index("--cluster-name") + 1]
    try:
        token = Door(record).ask("token", cluster=name)["token"]
    except (NotKept, KeeperRefused) as error:
        sys.stderr.write(f"{error}\n")
        return 254
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "spec": {},
        "status": {
            "token": token,
            "expirationTimestamp": (datetime.now(UTC) + _VALID).strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    }
    sys.stdout.write(f"{json.dumps(credential)}\n")
    return 0
