"""Whether the API server is one that Berth's objects can be put on: version, APIs, owner, definitions, permissions."""

from collections.abc import Iterator
from typing import Final

from automation.engine.toolchain.finding import Check, Status
from automation.observe.api import ClusterApi, NoAnswer
from automation.observe.preflight.claims import check_claims
from automation.observe.preflight.wanted import Wanted
from automation.observe.reading import is_ready
from components.checks.versions import minor_words, minors_between, numbers_of, older
from components.labels import Label
from components.naming import SYSTEM_NAMESPACE

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_MADE: Final = (
    ("", "configmaps"),
    ("", "namespaces"),
    ("", "persistentvolumeclaims"),
    ("", "resourcequotas"),
    ("", "secrets"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("batch", "jobs"),
    ("gateway.networking.k8s.io", "gateways"),
    ("gateway.networking.k8s.io", "httproutes"),
    ("inference.networking.k8s.io", "inferencepools"),
    ("leaderworkerset.x-k8s.io", "leaderworkersets"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "roles"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceclaimtemplates"),
)
"""What Berth and the charts of a release make, as far as a permission for it may be missing by itself."""

_RBAC: Final = "rbac.authorization.k8s.io"


def check_server(api: ClusterApi, wanted: Wanted) -> Iterator[Check]:
    """Look at the server itself. Raises NoAnswer when it does not answer at all."""
    version = str(api.get("/version").get("gitVersion") or "")
    yield (
        Check("api server", Status.OK, "answers")
        if is_ready(api)
        else Check(
            "api server", Status.PROBLEM, "answers that it is not ready", "ready", "kubectl get --raw '/readyz?verbose'"
        )
    )
    yield _version(version, wanted)
    yield check_claims(api, wanted)


def check_definitions(api: ClusterApi, wanted: Wanted, *, built: bool) -> Iterator[Check]:
    """Look at the API groups that the release brings: all there once it is built, none before."""
    there: dict[str, int] = {}
    for each in api.items(_DEFINITIONS):
        group = str(each["spec"]["group"])
        there[group] = there.get(group, 0) + 1
    for group, component in sorted(wanted.groups.items()):
        name = f"definitions of {group}"
        if built and group not in there:
            yield Check(name, Status.PROBLEM, "gone", f"installed by {component}", f"berth up -e {wanted.environment}")
        elif built:
            yield Check(name, Status.OK, f"{there[group]} installed")
        elif group in there:
            fix = f"take out whoever installed them (kubectl get crds | grep {group}): two owners undo each other's"
            yield Check(name, Status.WARNING, f"{there[group]} there already", f"brought by {component}", fix)
        else:
            yield Check(name, Status.OK, f"none yet; {component} brings them")


def check_permissions(api: ClusterApi) -> Iterator[Check]:
    """Ask whether whoever asks may make what Berth makes."""
    if api.may("*", group="*", resource="*"):
        yield Check("permissions", Status.OK, "everything is allowed")
        return
    missing = [
        f"{verb} {resource}.{group}" if group else f"{verb} {resource}"
        for group, resource in _MADE
        for verb in ("create", "delete")
        if not api.may(verb, group=group, resource=resource)
    ]
    if not api.may("escalate", group=_RBAC, resource="clusterroles"):
        missing.append(f"escalate clusterroles.{_RBAC} (charts give their controllers rights)")
    if not missing:
        yield Check("permissions", Status.OK, "everything that is asked for is allowed")
        return
    few = 6
    shown = ", ".join(missing[:few]) + (f" and {len(missing) - few} more" if len(missing) > few else "")
    yield Check("permissions", Status.PROBLEM, f"not allowed: {shown}", "cluster-admin", _binding(api))


def owner_of(api: ClusterApi) -> str | None:
    """Return the environment whose system namespace is there, empty for one that Berth did not make; None without."""
    try:
        found = api.get(f"/api/v1/namespaces/{SYSTEM_NAMESPACE}")
    except NoAnswer as error:
        if not error.not_found:
            raise
        return None
    return str(((found.get("metadata") or {}).get("labels") or {}).get(Label.ENVIRONMENT.value) or "")


def check_owner(owner: str | None, wanted: Wanted) -> Check:
    """Look whether the cluster is in another fleet already."""
    want = f"environment {wanted.environment}"
    if owner is None or owner == wanted.environment:
        return Check("owner", Status.OK, "nobody yet" if owner is None else want, want)
    who = f"environment {owner}" if owner else f"somebody who made namespace {SYSTEM_NAMESPACE} without Berth"
    fix = f"take the cluster out of there first; kubectl get namespace {SYSTEM_NAMESPACE} -o yaml shows who made it"
    return Check("owner", Status.PROBLEM, who, want, fix)


def _version(version: str, wanted: Wanted) -> Check:
    allowed = f"{wanted.kubernetes.minimum} to {wanted.kubernetes.maximum}"
    plain = version.removeprefix("v")
    if wanted.kubernetes.too_old(plain):
        fix = f"upgrade the control plane to {wanted.kubernetes.minimum} or newer, its nodes after it"
        return Check("version", Status.PROBLEM, version, allowed, fix)
    if wanted.kubernetes.too_new(plain):
        fix = "nobody has run the release on it; choose another release, or try it in an environment of its own"
        return Check("version", Status.WARNING, version, allowed, fix)
    if wanted.provisioned:
        return _made_version(version, wanted, allowed)
    # The manifest is what selectors are judged by until the cluster was observed.
    if wanted.version and older(version, numbers_of(wanted.version)[:2]):
        fix = f'write kubernetesVersion: "{version}": selectors that only {wanted.version} takes would be refused here'
        return Check("version", Status.PROBLEM, version, f"{wanted.version}, as the manifest says", fix)
    return Check("version", Status.OK, version, allowed)


def _made_version(version: str, wanted: Wanted, allowed: str) -> Check:
    """Compare with the manifest of a cluster that Berth makes: it upgrades one, and no control plane goes back."""
    step = minors_between(version, wanted.version)
    if not step:
        return Check("version", Status.OK, version, allowed)
    want = f"{wanted.version}, as the manifest says"
    if step > 0:
        fix = f"berth up -e {wanted.environment} upgrades it, or says what is in the way"
        return Check("version", Status.WARNING, version, want, fix)
    minor = minor_words(version)
    fix = f'write kubernetesVersion: "{minor}": a control plane never goes back to {wanted.version}'
    return Check("version", Status.PROBLEM, version, want, fix)


def _binding(api: ClusterApi) -> str:
    """Return the command that gives whoever asks all rights."""
    account = "system:serviceaccount:"
    try:
        who = api.user()
    except NoAnswer as error:
        if error.final:
            raise
        who = "USER"
    named = who.removeprefix(account)
    subject = f"--serviceaccount={named}" if who.startswith(account) else f"--user={who}"
    return f"kubectl create clusterrolebinding berth --clusterrole=cluster-admin {subject}"
