"""What is refused of the login to a cluster that exists. PURE."""

from components.api.fleet import Fleet
from components.errors import ConfigError, Problem


def refuse_identity(fleet: Fleet, name: str) -> None:
    """Raise ConfigError when the manifest wants an identity beside the kubeconfig."""
    source = fleet.clusters[name].spec.cluster.existing
    if source is not None and source.identity_secret_ref is not None:
        raise ConfigError(
            [
                Problem(
                    "identity-secret-unsupported",
                    f"cluster {name} adds a cloud identity to its kubeconfig; Berth uses the kubeconfig alone",
                    path="spec.cluster.existing.identitySecretRef",
                    allowed="a user of the kubeconfig that has a token, a certificate or an exec command",
                    help="take identitySecretRef out",
                )
            ]
        )
