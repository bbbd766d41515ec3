"""How the programs of a local control plane are started: their flags, each with its reason. PURE.

All of them listen on the loopback interface, on a socket in the private folder or not at all, and keep what they write
in that folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from automation.rehearsal.kubernetes.ports import HOST

ISSUER: Final = "https://kubernetes.default.svc"
"""The issuer of a cluster that no cloud has given another."""

STORE: Final = "unix://etcd.sock"
"""Where etcd, which asks nobody who they are, serves: a socket that only those who may enter the private folder reach.
It is named from that folder, in which every program starts, because a socket's whole path may have 107 bytes at most.
"""
_PEERS: Final = "unix://etcd-peers.sock"

STAGES: Final = Path(__file__).with_name("stages.yaml")
"""What kwok makes of pods."""

CONTROLLERS: Final = (
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "job-controller",
    "resourceclaim-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "disruption-controller",
    "resourcequota-controller",
    "namespace-controller",
    "garbage-collector-controller",
)
"""Those that Berth's objects need. Without ``node-lifecycle-controller`` nodes need no heartbeat."""


@dataclass(frozen=True, slots=True)
class ClusterFiles:
    """The files of one cluster in the private folder."""

    folder: Path

    @property
    def tokens(self) -> Path:
        """The tokens that the API server knows."""
        return self.folder / "tokens.csv"

    @property
    def certificate(self) -> Path:
        """The server's certificate, with the authority that it made for itself."""
        return self.folder / "apiserver.crt"

    @property
    def key(self) -> Path:
        """The server's key, which also signs the tokens of service accounts."""
        return self.folder / "apiserver.key"

    @property
    def kubeconfig(self) -> Path:
        """How to reach the cluster as its administrator."""
        return self.folder / "kubeconfig"

    @property
    def webhooks(self) -> Path:
        """The certificate and key of webhooks, by the names that their controller expects."""
        return self.folder / "webhooks"


def etcd(program: Path, data: Path) -> list[str]:
    """Start a store of one member, for all clusters of a run."""
    return [
        str(program),
        f"--data-dir={data}",
        f"--listen-client-urls={STORE}",
        f"--advertise-client-urls={STORE}",
        f"--listen-peer-urls={_PEERS}",
        f"--initial-advertise-peer-urls={_PEERS}",
        f"--initial-cluster=default={_PEERS}",
        # What it holds does not outlive the run.
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def api_server(program: Path, files: ClusterFiles, *, port: int, prefix: str, issuer: str = ISSUER) -> list[str]:
    """Start an API server; ``prefix`` is where in the store this cluster keeps its objects.

    ``issuer`` is whom the tokens of its service accounts name as their maker.
    """
    return [
        str(program),
        f"--etcd-servers={STORE}",
        f"--etcd-prefix={prefix}",
        f"--bind-address={HOST}",
        f"--secure-port={port}",
        "--permit-port-sharing",
        f"--advertise-address={HOST}",
        # A loopback address cannot be an endpoint of the Service "kubernetes".
        "--endpoint-reconciler-type=none",
        # It makes its own certificate there.
        f"--cert-dir={files.folder}",
        f"--token-auth-file={files.tokens}",
        f"--service-account-issuer={issuer}",
        f"--service-account-key-file={files.key}",
        f"--service-account-signing-key-file={files.key}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
        "--allow-privileged",
        # ServiceAccount: no controller makes the accounts that pods would wait for. TaintNodesByCondition: it taints
        # new nodes as not ready, and no node lifecycle controller takes the taint off.
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        "--profiling=false",
    ]


def controller_manager(program: Path, files: ClusterFiles) -> list[str]:
    """Start the controllers."""
    return [str(program), *_client_of(files), f"--controllers={','.join(CONTROLLERS)}"]


def scheduler(program: Path, files: ClusterFiles) -> list[str]:
    """Start the scheduler as it comes."""
    return [str(program), *_client_of(files)]


def kwok(program: Path, files: ClusterFiles) -> list[str]:
    """Start what keeps nodes and makes bound pods run and ready, by ``stages.yaml``."""
    return [
        str(program),
        f"--kubeconfig={files.kubeconfig}",
        f"--config={STAGES}",
        "--manage-all-nodes",
        # Without a port it serves nothing; its own default is every interface.
        "--node-port=0",
    ]


def gang_controller(program: Path, files: ClusterFiles, *, port: int) -> list[str]:
    """Start the controller of LeaderWorkerSets; ``port`` is where it serves its webhooks, and all that it serves."""
    return [
        str(program),
        f"--kubeconfig={files.kubeconfig}",
        f"--webhook-address={HOST}",
        f"--webhook-port={port}",
        f"--webhook-cert-dir={files.webhooks}",
    ]


def _client_of(files: ClusterFiles) -> tuple[str, ...]:
    return (
        f"--kubeconfig={files.kubeconfig}",
        f"--bind-address={HOST}",
        "--secure-port=0",
        "--leader-elect=false",
        "--profiling=false",
        # The defaults protect a server that many share; here they would only make everybody wait.
        "--kube-api-qps=1000",
        "--kube-api-burst=1000",
    )
