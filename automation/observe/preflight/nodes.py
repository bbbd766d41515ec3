"""Whether the nodes of a cluster are those that its pools say: labels, taints, condition, and who hands devices out."""

from collections.abc import Iterable, Iterator, Sequence

from automation.engine.toolchain.finding import Check, Status
from automation.observe.facts import PLUGIN_RESOURCE, Node, Published
from automation.observe.kinds import kind_of, view_of
from automation.observe.lowering import version_key
from automation.observe.pool import SeenNode, SeenPool, tolerated
from automation.observe.preflight.wanted import Wanted, WantedPool
from automation.render.text import count, listed
from components.checks.versions import KUBELET, numbers_of, older, words_of
from components.labels import GPU_TAINT_EFFECT, GPU_TAINT_KEY, GPU_TAINT_VALUE, Label

_TAINT = f"{GPU_TAINT_KEY}={GPU_TAINT_VALUE}:{GPU_TAINT_EFFECT}"


def check_nodes(
    wanted: Wanted, pools: Sequence[SeenPool], nodes: Sequence[Node], devices: Sequence[Published]
) -> Iterator[Check]:
    """Look at the nodes of every pool, and at those beside."""
    yield _kubelets(wanted, pools)
    yield _system(wanted, nodes)
    for pool, seen in zip(wanted.pools, pools, strict=True):
        yield _labels(wanted, pool, seen, _unlabelled(seen, nodes, devices))
        if seen.nodes:
            yield _condition(seen)
            yield _taints(wanted, pool, seen)
            yield _plugin(pool, seen)


def names(nodes: Iterable[SeenNode]) -> list[str]:
    """Return the names of nodes."""
    return [each.node.name for each in nodes]


def _labels(wanted: Wanted, pool: WantedPool, seen: SeenPool, candidates: Sequence[str]) -> Check:
    """Look for the nodes of a pool: those that bear its name in the label that serving pods select on."""
    name, label = f"nodes of pool {pool.facts.pool}", f"{Label.POOL.value}={pool.facts.pool}"
    found = f"{count(len(seen.nodes), 'node')} with {label}"
    want = f"{pool.nodes}"
    if len(seen.nodes) == pool.nodes or (wanted.provisioned and pool.nodes <= len(seen.nodes) <= pool.facts.max_nodes):
        return Check(name, Status.OK, found, want)
    if len(seen.nodes) > pool.nodes:
        fix = f"count them in the manifest, or take the label off: kubectl label node NAME {Label.POOL.value}-"
        return Check(name, Status.WARNING, f"{found}; what is more is never promised", want, fix)
    if wanted.provisioned:
        fix = f"berth drift -e {wanted.environment}; a quota or a shortage of the cloud keeps nodes away too"
    else:
        missing = pool.nodes - len(seen.nodes)
        chosen = " ".join(candidates[:missing]) or "NAME"
        fix = (
            f"kubectl label node {chosen} {label}"
            if candidates or not seen.nodes
            else f"set nodeCount: {len(seen.nodes)}"
        )
    return Check(name, Status.PROBLEM, found, want, fix)


def _unlabelled(seen: SeenPool, nodes: Iterable[Node], devices: Iterable[Published]) -> list[str]:
    """Return nodes of no pool that publish a device of this one's kinds: the label may just be missing."""
    of_none = {each.name for each in nodes if Label.POOL.value not in each.labels}
    own = (each for each in devices if each.node in of_none and kind_of(view_of(each), seen.kinds) is not None)
    return sorted({each.node for each in own})


def _condition(seen: SeenPool) -> Check:
    """Look whether the nodes take pods at all."""
    name = f"condition of pool {seen.name}"
    dead = names(each for each in seen.nodes if not each.node.ready)
    cordoned = names(each for each in seen.nodes if each.node.ready and each.node.cordoned)
    if dead:
        why = next(each.node.why_not for each in seen.nodes if not each.node.ready)
        return Check(
            name, Status.PROBLEM, f"not ready: {listed(dead)} ({why})", "ready", f"kubectl describe node {dead[0]}"
        )
    if cordoned:
        fix = f"kubectl uncordon {' '.join(cordoned)}"
        return Check(name, Status.WARNING, f"cordoned: {listed(cordoned)}", "schedulable", fix)
    return Check(name, Status.OK, f"{count(len(seen.nodes), 'node')} ready")


def _taints(wanted: Wanted, pool: WantedPool, seen: SeenPool) -> Check:
    """Look for the taint that keeps everybody else off the GPUs, and for taints that keep replicas off too."""
    name = f"taints of pool {pool.facts.pool}"
    barring = {
        (each.node.name, str(taint))
        for each in seen.nodes
        for taint in each.node.taints
        if not tolerated(taint) and not taint.key.startswith("node.kubernetes.io/")
    }
    bare = names(each for each in seen.nodes if not any(map(tolerated, each.node.taints)))
    if barring:
        node, taint = min(barring)
        found = f"{node} has {taint}, which serving pods do not tolerate"
        return Check(name, Status.PROBLEM, found, f"only {_TAINT}", f"kubectl taint node {node} {taint}-")
    if bare and pool.facts.claims_devices:
        fix = f"kubectl taint node {' '.join(bare)} {_TAINT}"
        if wanted.provisioned:
            fix = f"berth up -e {wanted.environment} restores it"
        return Check(name, Status.PROBLEM, f"none on {listed(bare)}: any pod may come there", _TAINT, fix)
    return Check(name, Status.OK, _TAINT if not bare else "none needed", _TAINT)


def _plugin(pool: WantedPool, seen: SeenPool) -> Check:
    """Look whether a device plugin hands out the same GPUs as the DRA driver."""
    name = f"owner of the GPUs of pool {seen.name}"
    both = names(each for each in seen.nodes if each.node.plugin_devices)
    if not both or not pool.facts.claims_devices:
        return Check(name, Status.OK, "no device plugin beside DRA")
    fix = "take the NVIDIA device plugin off these nodes (GPU Operator: devicePlugin.enabled=false)"
    found = f"a device plugin offers {PLUGIN_RESOURCE} on {listed(both)}: two owners give one GPU away twice"
    return Check(name, Status.PROBLEM, found, "DRA alone", fix)


def _kubelets(wanted: Wanted, pools: Sequence[SeenPool]) -> Check:
    """Look for nodes that are older than claims are."""
    nodes = [each.node for pool in pools for each in pool.nodes]
    versions = {each.kubelet: each.name for each in nodes if each.kubelet}
    silent = sorted(each.name for each in nodes if not each.kubelet)
    oldest = min(versions, key=version_key, default="")
    floor = max(numbers_of(wanted.kubernetes.minimum), KUBELET)
    want = f"{words_of(floor)} or newer"
    if older(oldest, floor):
        fix = f"upgrade the nodes, {versions[oldest]} first"
        return Check("kubelets", Status.PROBLEM, f"{oldest} on {versions[oldest]}", want, fix)
    if silent:
        fix = f"kubectl get node {silent[0]} -o jsonpath={{.status.nodeInfo.kubeletVersion}}"
        return Check("kubelets", Status.WARNING, f"not said by {listed(silent)}", want, fix)
    return Check("kubelets", Status.OK, f"{oldest} or newer" if oldest else "no pool has a node yet", want)


def _system(wanted: Wanted, nodes: Sequence[Node]) -> Check:
    """Look for a node for gateways and controllers, which do not tolerate the taint of GPU pools."""
    name, want = "nodes for controllers", "one that is ready and has no taint"
    free = [each.name for each in nodes if each.ready and not each.cordoned and not each.taints]
    if free:
        return Check(name, Status.OK, count(len(free), "node"), want)
    fix = (
        f"berth drift -e {wanted.environment}"
        if wanted.provisioned
        else "add nodes without GPUs and taints: gateways, controllers and monitors run there"
    )
    return Check(name, Status.PROBLEM, "none", want, fix)
