"""Secrets for rehearsals: a simulated run needs values, and must not need real ones.

What the configuration does not hold is made up, says that it is simulated, and leads nowhere. A real run never comes
here: for it a missing secret is an error.
"""

from typing import Final

import pulumi

SIMULATED_SECRET: Final = "simulated-secret"  # noqa: S105 (it says that it is none)

_KUBECONFIG: Final = """\
apiVersion: v1
kind: Config
current-context: simulated
clusters:
  - name: simulated
    cluster:
      server: {server}
contexts:
  - name: simulated
    context: {{cluster: simulated, user: simulated}}
users:
  - name: simulated
    user: {{token: simulated-secret}}
"""


def simulated_secret() -> pulumi.Output[str]:
    """Return a made-up value, wrapped as the secret it stands for."""
    return pulumi.Output.secret(SIMULATED_SECRET)


def simulated_kubeconfig(cluster: str) -> pulumi.Output[str]:
    """Return a kubeconfig whose server can never be reached over a network."""
    return pulumi.Output.secret(_KUBECONFIG.format(server=simulated_server(cluster)))


def simulated_server(cluster: str) -> str:
    """Return the address in a made-up kubeconfig."""
    return f"https://{cluster}.simulated.invalid"
