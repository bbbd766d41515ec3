"""Whether drivers publish what the classes of the pools say, so that what Berth promises the scheduler can keep."""

from collections.abc import Collection, Iterator, Sequence

from automation.engine.toolchain.finding import Check, Status
from automation.observe.kinds import Difference, Kind
from automation.observe.pool import SeenPool
from automation.observe.preflight.nodes import names
from automation.observe.preflight.wanted import Wanted, WantedPool
from automation.render.text import count, listed


def check_devices(
    wanted: Wanted, pools: Sequence[SeenPool], device_classes: Collection[str], *, built: bool
) -> Iterator[Check]:
    """Look at DeviceClasses and at what the nodes of every pool publish.

    What a driver publishes that ``berth up`` has not installed yet cannot be there, so it is no problem before.
    """
    drivers = {kind.device_class: kind.driver for pool in pools for kind in pool.kinds}
    for name, driver in sorted(drivers.items()):
        yield _device_class(wanted, name, driver, there=name in device_classes, built=built)
    for pool, seen in zip(wanted.pools, pools, strict=True):
        for kind in seen.kinds if seen.nodes else ():
            yield _published(wanted, pool, seen, kind, built=built)


def _device_class(wanted: Wanted, name: str, driver: str, *, there: bool, built: bool) -> Check:
    check = f"device class {name}"
    if there:
        return Check(check, Status.OK, "there")
    component = wanted.drivers.get(driver)
    if component and not built:
        return Check(check, Status.OK, f"not yet; {component} brings it")
    fix = f"berth up -e {wanted.environment} installs {component}" if component else _driver(driver)
    return Check(check, Status.PROBLEM, "not there: claims of it wait for ever", name, fix)


def _published(wanted: Wanted, pool: WantedPool, seen: SeenPool, kind: Kind, *, built: bool) -> Check:
    check, want = f"{kind.name} of pool {seen.name}", f"{kind.count} on each node"
    short = [each for each in seen.nodes if each.counts[kind.name] < kind.count]
    component = wanted.drivers.get(kind.driver)
    if len(short) == len(seen.nodes) and not any(each.counts[kind.name] for each in short):
        found = f"{kind.driver} publishes none on {count(len(short), 'node')}"
        if component and not built:
            later = f"berth up -e {wanted.environment} installs {component}; run the preflight again then"
            return Check(check, Status.WARNING, found, want, later)
        return Check(check, Status.PROBLEM, found, want, _driver(kind.driver))
    if short:
        least = min(short, key=lambda each: each.counts[kind.name])
        found = f"{least.counts[kind.name]} on {least.node.name}, fewer than {kind.count} on {listed(names(short))}"
        fix = (
            f"kubectl get resourceslices --field-selector spec.nodeName={least.node.name} -o yaml shows which;"
            f" or set count: {least.counts[kind.name]} for {kind.name} of InferenceClass {pool.facts.class_name}"
        )
        return Check(check, Status.PROBLEM, found, want, fix)
    differing = [
        (each.node.name, difference)
        for each in seen.nodes
        for name, difference in each.differences
        if name == kind.name
    ]
    if differing:
        return _differs(pool, kind, check, differing)
    more = max(each.counts[kind.name] for each in seen.nodes)
    beyond = f"; {more - kind.count} more are never used" if more > kind.count else ""
    return Check(
        check, Status.OK, f"{kind.count} on each of {count(len(seen.nodes), 'node')}, as described{beyond}", want
    )


def _differs(pool: WantedPool, kind: Kind, check: str, differing: Sequence[tuple[str, Difference]]) -> Check:
    """Say where devices are not as described: a selector then matches here and not there, and a pod waits for ever."""
    node, first = differing[0]
    others = len({each for _, each in differing}) - 1
    more = f" and {count(others, 'other difference')}" if others else ""
    where = f"InferenceClass {pool.facts.class_name}, device {kind.name}"
    fix = (
        f"{where}: write {first.name} as {first.found}"
        if first.found
        else f"{where}: take {first.name} out, the driver does not publish it"
    )
    return Check(check, Status.PROBLEM, f"on {node}, {first}{more}", "as the class says", fix)


def _driver(driver: str) -> str:
    return (
        f"install the DRA driver {driver} on these nodes, and see that its pods tolerate their taints:"
        " kubectl get pods -A -o wide shows them"
    )
