"""How the clusters of an environment are reached: the kubeconfig of each, from where the program has it.

That of an existing cluster lies in the secrets of the stack that holds it, also before the cluster is built. That of a
cluster that Berth made lies in the state, with the provider that puts objects there. Both are secrets: they are
decrypted for the run, go to nobody but the reader of API servers, and no message quotes them.
"""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Final

from automation.driver.reading import Situation
from automation.driver.session import Session
from automation.engine.checkpoint import Checkpoint
from automation.engine.family import KUBERNETES_PROVIDER, Family
from automation.observe.access import Access, read_access
from automation.observe.api import NoAnswer
from components.api.secrets import set_command
from components.clusters.kubeconfig import KubeconfigError, server_address
from components.errors import DriverError
from components.naming import SECRETS_KEY, SYSTEM_NAMESPACE, StackName

_PLAINTEXT: Final = "plaintext"


def accesses(
    session: Session, situation: Situation, names: Collection[str], *, context: str = ""
) -> dict[str, Access | NoAnswer]:
    """Return how each cluster is reached, or why nobody can say; ``context`` is that of its kubeconfig."""
    # The engine is asked at most once for each stack.
    secrets = cache(partial(_secrets, session))
    states = cache(partial(session.runner.export, show_secrets=True))
    found: dict[str, Access | NoAnswer] = {}
    for name in sorted(names):
        stack = next((each.stack for each in situation.shards if each.holds(name)), None)
        if stack is None or stack not in situation.checkpoints:
            found[name] = NoAnswer("is not built yet, and no stack holds its kubeconfig")
            continue
        source = situation.fleet.clusters[name].spec.cluster.existing
        if source is None:
            text, where, fix = _in_state(states(stack), name), f"the kubeconfig of {name} in the state", ""
        else:
            secret, key = f"{SYSTEM_NAMESPACE}/{source.secret_ref.name}", source.secret_ref.key
            text, where = secrets(stack).get(secret, {}).get(key), f"secret {secret}, key {key}"
            fix = set_command(secret, key, stack=stack)
        if text is None:
            found[name] = NoAnswer("has no kubeconfig among the secrets" if source else "is not built yet", fix=fix)
        else:
            found[name] = _read(text, where, context, fix, known=situation.servers.known.get(name))
    return {name: _backed(session, each) for name, each in found.items()} if session.workspace.backed else found


def _backed(session: Session, way: Access | NoAnswer) -> Access | NoAnswer:
    """Keep a backed run on this machine: no other server is asked, and no program of a real cloud logs in."""
    if isinstance(way, NoAnswer):
        return way
    if not way.is_loopback or way.proxy:
        return NoAnswer("is simulated, without a control plane on this machine")
    if way.plugin is None:
        return way
    path = os.pathsep.join((str(session.workspace.layout.backed_programs), os.environ.get("PATH", os.defpath)))
    return replace(way, plugin=replace(way.plugin, environment={**way.plugin.environment, "PATH": path}))


def _read(text: str, where: str, context: str, fix: str, *, known: str | None) -> Access | NoAnswer:
    """Read a kubeconfig; one that leads to another server than the state has would show another cluster."""
    try:
        access = read_access(text, where=where, context=context)
    except KubeconfigError as error:
        return NoAnswer(error.summary, fix=fix)
    server = server_address(access.server)
    if known is not None and server != known:
        return NoAnswer(f"is at {known}, and its kubeconfig leads to {server}: another cluster", fix=fix)
    return access


def _secrets(session: Session, stack: StackName) -> Mapping[str, Mapping[str, str]]:
    text = session.runner.get_secret(stack, SECRETS_KEY)
    if text is None:
        return {}
    try:
        value = json.loads(text)
        return {str(name): {str(key): str(each) for key, each in data.items()} for name, data in value.items()}
    except (ValueError, AttributeError):
        # The cause would quote the value.
        raise DriverError(
            f"the configuration value {SECRETS_KEY} of stack {stack} is not an object of secrets by NAMESPACE/NAME",
            help=f"pulumi config set --stack {stack} --secret --path '{SECRETS_KEY}...'",
        ) from None


def _in_state(checkpoint: Checkpoint, name: str) -> str | None:
    """Return the kubeconfig of the provider that puts objects on a cluster; None when there is none yet."""
    family = Family(checkpoint)
    for resource in checkpoint:
        if resource.type == KUBERNETES_PROVIDER and family.cluster(resource.urn) == name:
            value = resource.inputs.get("kubeconfig")
            if isinstance(value, Mapping):
                value = json.loads(value.get(_PLAINTEXT) or "null")
            return value if isinstance(value, str) and value else None
    return None
