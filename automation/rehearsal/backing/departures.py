"""Takes nodes away as a cloud does when a node group shrinks or goes: what ran on them begins elsewhere.

EKS drains the nodes of its groups first. Here nobody else would end the pods of a node that is gone: no kubelet does,
and Kubernetes' own collector, which waits for a minute, does not run.
"""

from collections.abc import Collection

from automation.rehearsal.kubernetes.api import Api, ApiError

_NODES = "/api/v1/nodes"
_PODS = "/api/v1/pods"


def take_away(api: Api, names: Collection[str]) -> None:
    """Delete nodes, and the pods that are bound to them; what is gone already is fine.

    The nodes go first, so that nothing is bound to them again. Raises ApiError when the server does not do it.
    """
    if not names:
        return
    for name in names:
        _delete(api, f"{_NODES}/{name}")
    for pod in api.items(_PODS):
        metadata = pod["metadata"]
        if pod["spec"].get("nodeName") in names:
            _delete(api, f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}?gracePeriodSeconds=0")


def _delete(api: Api, path: str) -> None:
    try:
        api.delete(path)
    except ApiError as error:
        if not error.not_found:
            raise
