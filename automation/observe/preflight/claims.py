"""Whether the API server serves claims for devices, and whether pods keep theirs.

A server whose feature gate for dynamic resource allocation is off may serve the API all the same: it then stores pods
without their claims, and they run without devices. So it is asked what it would store, and stores nothing.

Limit: the gates of the scheduler and the kubelets cannot be asked for from outside.
"""

from typing import Any, Final

from automation.engine.toolchain.finding import Check, Status
from automation.observe.api import ClusterApi, NoAnswer
from automation.observe.preflight.wanted import Wanted

_NAME: Final = "device claims"
_WANT: Final = "resource.k8s.io/v1"
_PATH: Final = f"/apis/{_WANT}"
_RESOURCES: Final = frozenset({"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"})
_GATE: Final = "on by default from Kubernetes 1.34"

_LOOK: Final = "look for the gate DynamicResourceAllocation in --feature-gates of the API server"

_DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
"""Where the question is asked: every cluster has the namespace, and whoever runs Berth makes Deployments anyway."""


def check_claims(api: ClusterApi, wanted: Wanted) -> Check:
    """Look at the API, then at what becomes of a pod's claims."""
    missing = Status.PROBLEM if wanted.pools else Status.WARNING
    served = _served(api)
    if not served >= _RESOURCES:
        lacks = f"{_WANT} lacks {', '.join(sorted(_RESOURCES - served))}"
        fix = (
            f"start the API server with --runtime-config={_WANT}=true and no feature gate against"
            f" DynamicResourceAllocation; it is {_GATE}"
        )
        return Check(_NAME, missing, lacks if served else f"{_WANT} is not served", _WANT, fix)
    try:
        kept = _keeps_claims(api)
    except NoAnswer as error:
        if error.final:
            raise
        found = f"{_WANT} is served; whether pods keep their claims cannot be asked: {error}"
        return Check(_NAME, Status.WARNING, found, _WANT, error.fix or _LOOK)
    if kept:
        return Check(_NAME, Status.OK, f"{_WANT} is served, and pods keep their claims", _WANT)
    found = f"{_WANT} is served, but pods lose their claims: they would run without devices"
    fix = f"take DynamicResourceAllocation=false out of --feature-gates of the API server; the gate is {_GATE}"
    return Check(_NAME, missing, found, "pods keep their claims", fix)


def _served(api: ClusterApi) -> set[str]:
    try:
        return {str(each.get("name")) for each in api.get(_PATH).get("resources") or ()}
    except NoAnswer as error:
        if not error.not_found:
            raise
        return set()


def _keeps_claims(api: ClusterApi) -> bool:
    template = api.would_make(_DEPLOYMENTS, _deployment())["spec"]["template"]
    return bool(template["spec"].get("resourceClaims"))


def _deployment() -> dict[str, Any]:
    labels = {"app": "berth-preflight"}
    container = {"name": "nothing", "image": "nothing", "resources": {"claims": [{"name": "devices"}]}}
    claim = {"name": "devices", "resourceClaimTemplateName": "berth-preflight"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "berth-preflight"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "resourceClaims": [claim]},
            },
        },
    }
