"""Runs the controller of LeaderWorkerSets on a local cluster: the project's own code, with its own webhooks.

On a real cluster a chart brings it, in a container, with webhooks behind a Service. Here it is a process beside the
others of the control plane, and the API server reaches its webhooks at a loopback port, which answers with the API
server's own certificate. What it makes of a LeaderWorkerSet is made by nothing of ours.
"""

import base64
import functools
from contextlib import ExitStack, closing, suppress
from typing import Final

from automation.engine.toolchain.disk import write_whole
from automation.rehearsal.kubernetes.api import Api, ApiError
from automation.rehearsal.kubernetes.definitions import Object, gang_webhooks
from automation.rehearsal.kubernetes.flags import gang_controller
from automation.rehearsal.kubernetes.local import LocalCluster, LocalKubernetes

CONTROLLER: Final = "lws-controller-manager"

_CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1"


def start_gangs(local: LocalKubernetes, cluster: LocalCluster) -> None:
    """Run the controller on a cluster that has the definitions of its chart; does nothing where it runs.

    When this is over, its webhooks answer and are asked. Raises ToolchainError when Go cannot give their configuration,
    DriverError and TimedOut when it does not start, and ApiError; nothing of it is left then.
    """
    if CONTROLLER in cluster.pids:
        return
    configurations = gang_webhooks()
    port = local.port(cluster, CONTROLLER)
    files, server = cluster.files, f"https://{port.address}"
    files.webhooks.mkdir(exist_ok=True)
    for name, file in (("tls.crt", files.certificate), ("tls.key", files.key)):
        write_whole(files.webhooks / name, file.read_bytes(), mode=0o600)
    paths = [_path(webhook) for each in configurations for webhook in each["webhooks"]]
    with closing(Api(server, authority=files.certificate, token=cluster.token)) as webhooks:
        local.add(
            cluster,
            CONTROLLER,
            functools.partial(gang_controller, port=port.number),
            done=lambda: all(_serves(webhooks, path) for path in paths),
        )
    with ExitStack() as undo:
        undo.callback(stop_gangs, local, cluster)
        authority = base64.b64encode(files.certificate.read_bytes()).decode()
        for each in configurations:
            for webhook in each["webhooks"]:
                webhook["clientConfig"] = {"url": f"{server}{_path(webhook)}", "caBundle": authority}
            cluster.api.create(f"{_CONFIGURATIONS}/{_plural(each)}", each)
        undo.pop_all()


def stop_gangs(local: LocalKubernetes, cluster: LocalCluster) -> None:
    """End the controller and forget its webhooks, which would refuse everything without it."""
    for each in gang_webhooks():
        with suppress(ApiError):
            cluster.api.delete(f"{_CONFIGURATIONS}/{_plural(each)}/{each['metadata']['name']}")
    if CONTROLLER in cluster.pids:
        local.end(cluster, CONTROLLER)


def _path(webhook: Object) -> str:
    return str(webhook["clientConfig"]["service"]["path"])


def _plural(configuration: Object) -> str:
    return f"{configuration['kind'].lower()}s"


def _serves(webhooks: Api, path: str) -> bool:
    """Whether a webhook answers; what it says to a question without content does not matter."""
    try:
        webhooks.get(path)
    except ApiError:
        return False
    return True
