"""Which environment variables lead to a cloud, a cluster or a paid service: data, used to keep simulated runs away.

A list can never be complete; it is the second wall. The first is that a simulated run has a plugin cache of its own
that holds no real provider.
"""

from typing import Final

PREFIXES: Final = (
    "ACTIONS_ID_TOKEN_",
    "AMAZON_",
    "ARM_",
    "AWS_",
    "AZURE_",
    "CLOUDSDK_",
    "DOCKER_",
    "GCLOUD_",
    "GCP_",
    "GOOGLE_",
    "HELM_",
    "HF_",
    "HUGGINGFACE_",
    "HUGGING_FACE_",
    "IDENTITY_",
    "KUBERNETES_",
    "KUBE_",
    "MSI_",
    "NEBIUS_",
    "NGC_",
    "VAULT_",
    "VULTR_",
)
"""Variables whose names start so are dropped. ``ACTIONS_ID_TOKEN_`` can be exchanged for a login at any cloud."""

NAMES: Final = frozenset({"BOTO_CONFIG", "GCE_METADATA_HOST", "KUBECONFIG", "NVIDIA_API_KEY", "OCI_CLI_CONFIG_FILE"})
"""Further ones, by their whole names."""

FILES: Final = {
    "AWS_CONFIG_FILE": "aws-config",
    "AWS_SHARED_CREDENTIALS_FILE": "aws-credentials",
    "AZURE_CONFIG_DIR": "azure",
    "BOTO_CONFIG": "boto",
    "CLOUDSDK_CONFIG": "gcloud",
    "DOCKER_CONFIG": "docker",
    "GOOGLE_APPLICATION_CREDENTIALS": "google-credentials",
    "HELM_CONFIG_HOME": "helm",
    "HELM_REGISTRY_CONFIG": "helm-registry",
    "HF_TOKEN_PATH": "hugging-face-token",
    "KUBECONFIG": "kubeconfig",
    "NGC_CLI_HOME": "ngc",
}
"""Variables that say where a credential file lies, else looked for under ``HOME``; they are pointed at nothing."""

SWITCHES: Final = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "GCE_METADATA_HOST": "simulated.invalid",
}
"""Variables that keep a program from asking the machine it runs on for an identity."""


def leads_to_a_cloud(name: str) -> bool:
    """Whether a variable may carry, or lead to, a credential."""
    return name in NAMES or name.startswith(PREFIXES)
