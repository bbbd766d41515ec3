"""Runs that are cut off, and clusters that do not answer: nothing is doubled, nothing is forgotten."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from automation.engine.checkpoint import PendingKind
from automation.engine.events import Op
from automation.engine.pulumi import PulumiRunner
from automation.engine.repair import NoFinder, forget_orphans, known_orphans, repair
from automation.observe.owed import skip_unreachable
from automation.observe.simulated import SimulatedFinder, SimulatedObserver
from components.errors import DriverError, StackLeased
from tests.support.lab import STACK, Lab, Town, until

if TYPE_CHECKING:
    from automation.engine.runner import Runner

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="ends the plugins of a killed engine, as Linux can"),
]

ROOT = Path(__file__).resolve().parents[2]
ROLE, ACCOUNT = "aws:iam/role:Role", "kubernetes:core/v1:ServiceAccount"

DRIVER = """\
import json, sys
from pathlib import Path
from automation.engine.pulumi import PulumiRunner
from tests.support.lab import STACK, Town
cli, project, environment = json.loads(sys.argv[1])
PulumiRunner(Path(cli), project=Path(project), environment=environment).up(STACK, Town())
"""


@pytest.fixture(autouse=True)
def _stack(runner: PulumiRunner) -> None:
    """Let the stack exist."""


@contextmanager
def running(lab: Lab, town: Town) -> Generator["Future[Any]"]:
    """Run an update beside the test; whatever it raises is taken by the test or dropped."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool.submit(lab.runner().up, STACK, town)


def kill_engine(lab: Lab) -> None:
    """Kill the engine that holds the stack, as a lack of memory would."""
    leases = lab.runner().leases(STACK)
    assert leases
    os.kill(leases[0].pid, signal.SIGKILL)


def types_of(urns: Iterable[str]) -> set[str]:
    """Return the types of resources."""
    return {urn.split("::")[2].rpartition("$")[2] for urn in urns}


def there(lab: Lab, type_: str) -> bool:
    """Return whether the cloud has a resource of a type."""
    return bool(lab.cloud.resources(type=type_))


def cut_off(lab: Lab, town: Town, *types: str, call: str, when: str) -> None:
    """Start an update, and kill the engine while ``types`` are in doubt: not yet done, or done and not heard of."""
    lab.faults(*({"type": type_, "call": call, "when": when, "delay": 60} for type_ in types))
    with running(lab, town) as update:
        until(lambda: lab.pending() >= set(types))
        if when == "after":
            until(lambda: all(there(lab, type_) for type_ in types))
        kill_engine(lab)
        with pytest.raises(DriverError, match="signal 9"):
            update.result()
    lab.faults()


def assert_sound(lab: Lab, runner: PulumiRunner, town: Town) -> None:
    """See that an update makes the stack what the town says, and that nothing is left over or there twice."""
    assert runner.up(STACK, town).ok
    assert runner.export(STACK).pending == ()
    assert lab.orphans(runner) == []
    assert runner.preview(STACK, town).changed == ()
    ids = [(item.type, item.scope, item.name) for item in lab.cloud.resources()]
    assert len(ids) == len(set(ids))


@pytest.mark.lives
def test_a_torn_file_beside_the_state_is_mended(lab: Lab) -> None:
    """An engine killed while it writes leaves an empty file of attributes; the next command removes it and goes on."""
    runner = lab.runner()
    runner.up(STACK, Town())
    attributes = lab.state / ".pulumi" / "stacks" / "town" / "dev.json.attrs"
    attributes.write_bytes(b"")
    assert runner.preview(STACK, Town()).changed == ()
    assert not attributes.exists()


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_engine_killed_while_it_creates_leaves_nothing_doubled(lab: Lab, when: str) -> None:
    """The lease says that its holder is dead; the repair adopts what was made, forgets what was not."""
    cut_off(lab, Town(), ROLE, ACCOUNT, call="create", when=when)
    runner = lab.runner()
    with pytest.raises(StackLeased, match="pid") as raised:
        runner.up(STACK, Town())
    assert "no longer runs" in raised.value.consequence
    runner.cancel(STACK)
    pending = [op.resource.urn for op in runner.export(STACK).pending if op.resource.type in {ROLE, ACCOUNT}]
    assert types_of(pending) == {ROLE, ACCOUNT}

    report = repair(runner, STACK, SimulatedFinder(lab.cloud))
    # There are two accounts; the kill may come when one of them is made and the other is not.
    assert set(pending) <= {*report.adopted, *report.absent}
    assert types_of(report.adopted if when == "after" else report.absent) >= {ROLE, ACCOUNT}
    assert report.orphans == ()
    checkpoint = runner.export(STACK)
    assert checkpoint.pending == ()
    assert all(resource.init_errors == () for resource in checkpoint), "what was adopted was read"
    assert repair(runner, STACK, SimulatedFinder(lab.cloud)).did_anything is False
    assert_sound(lab, runner, Town())


@pytest.mark.parametrize(
    ("call", "kind", "town"),
    [
        pytest.param("update", PendingKind.UPDATING, Town(image="server:2"), id="update"),
        pytest.param("delete", PendingKind.DELETING, Town(replicas={}), id="delete"),
    ],
)
def test_an_engine_killed_while_it_changes_is_read_again(lab: Lab, call: str, kind: PendingKind, town: Town) -> None:
    """An interrupted update or deletion is settled by looking at the resource."""
    runner = lab.runner()
    runner.up(STACK, Town())
    cut_off(lab, town, ACCOUNT, call=call, when="before")
    runner.cancel(STACK)
    assert {operation.kind for operation in runner.export(STACK).pending} == {kind}
    report = repair(runner, STACK, SimulatedFinder(lab.cloud))
    assert report.settled
    assert report.failures == ()
    assert_sound(lab, runner, town)


def test_an_engine_killed_while_it_replaces_finishes_the_replacement(lab: Lab) -> None:
    """The new half of an interrupted replacement takes its place; the old one is deleted by the next update."""
    runner = lab.runner()
    runner.up(STACK, Town())
    town = Town(path="/other/")
    lab.faults({"type": ROLE, "call": "create", "when": "after", "delay": 30})
    with running(lab, town) as update:
        until(lambda: len(lab.cloud.resources(type=ROLE)) == 2)
        kill_engine(lab)
        with pytest.raises(DriverError):
            update.result()
    lab.faults()
    runner.cancel(STACK)
    report = repair(runner, STACK, SimulatedFinder(lab.cloud))
    assert [urn.rpartition("::")[2] for urn in report.adopted] == ["role-nodes"]
    assert len(lab.cloud.resources(type=ROLE)) == 2, "a repair deletes nothing"
    assert_sound(lab, runner, town)
    assert len(lab.cloud.resources(type=ROLE)) == 1


def test_what_nobody_can_find_is_an_orphan_until_a_person_says_otherwise(lab: Lab) -> None:
    """Without a way to search, the creation is noted in the backend, also for later runs."""
    cut_off(lab, Town(), ROLE, call="create", when="after")
    runner = lab.runner()
    runner.cancel(STACK)

    class Blind(NoFinder):
        """Cannot look, and the role's id does not follow from its inputs in this cloud."""

    checkpoint = runner.export(STACK)
    raw = json.loads(json.dumps(checkpoint.raw))
    for entry in raw["deployment"]["pending_operations"]:
        entry["resource"]["inputs"].pop("name", None)
    report = repair(cast("Runner", _Altered(runner, raw)), STACK, Blind())
    (orphan,) = report.orphans
    assert (orphan.type, orphan.name) == (ROLE, "role-nodes")
    assert "role-nodes" in report.lines[-1]
    assert known_orphans(lab.runner(), STACK) == (orphan,)
    assert forget_orphans(runner, STACK, [orphan.urn]) == ()
    assert known_orphans(runner, STACK) == ()


class _Altered:
    """The runner, with another answer to the first export."""

    def __init__(self, runner: PulumiRunner, raw: dict[str, Any]) -> None:
        self._runner = runner
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    def export(self, stack: Any) -> Any:
        return type(self._runner.export(stack)).from_json(stack, self._raw)


def test_a_killed_driver_leaves_a_stack_that_is_whole(lab: Lab) -> None:
    """The engine loses its program, finishes what it had begun, writes the state and frees the lease by itself."""
    lab.faults({"type": ROLE, "call": "create", "when": "after", "delay": 2})
    settings = json.dumps([str(lab.cli), str(lab.project), lab.environment])
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, settings], cwd=ROOT)
    until(lambda: there(lab, ROLE))
    driver.kill()
    driver.wait()
    runner = lab.runner()
    until(lambda: runner.leases(STACK) == ())
    lab.faults()
    checkpoint = runner.export(STACK)
    assert checkpoint.pending == ()
    assert "role-nodes" in {resource.name for resource in checkpoint}
    assert_sound(lab, runner, Town())


def test_a_dead_cluster_is_left_out_and_owed(lab: Lab) -> None:
    """What is to be done goes on elsewhere, is counted for the dead cluster, and is done when it answers again."""
    runner = lab.runner()
    both = {"east": ("a", "b"), "west": ("a", "b")}
    runner.up(STACK, Town(replicas=both))
    lab.faults({"fail": "unreachable", "cluster": "west"})
    endpoints = {name: f"https://{name}.test:6443" for name in ("east", "west")}
    answers = SimulatedObserver(lab.cloud).reachable(endpoints)
    assert {name for name, answer in answers.items() if not answer.reachable} == {"west"}

    town = Town(replicas={"east": ("a", "c"), "west": ("a", "c")}, image="server:2")
    skipped = skip_unreachable(runner.preview(STACK, town), runner.export(STACK), {"west"})
    assert [str(owed) for owed in skipped.owed] == ["west SKIPPED unreachable, 1 creation, 1 change, 1 deletion owed"]
    preview = runner.preview(STACK, town, exclude=skipped.exclude)
    applied = runner.up(STACK, town, exclude=skipped.exclude)
    assert preview.ok
    assert applied.ok
    assert {step.name: step.op for step in applied.changed if step.custom} == {
        "ml/a/east/0-workload-main": Op.UPDATE,
        "ml/b/east/0-workload-main": Op.DELETE,
        "ml/c/east/0-workload-main": Op.CREATE,
    }
    replicas = {r.name: r.inputs["image"] for r in runner.export(STACK).of_type("berth:index:Replica")}
    assert replicas == {
        "ml/a/east/0": "server:2",
        "ml/c/east/0": "server:2",
        "ml/a/west/0": "server:1",
        "ml/b/west/0": "server:1",
    }, "the state still says what is on the dead cluster"
    assert runner.drift(STACK, exclude=skipped.exclude).ok
    assert runner.preview_destroy(STACK, exclude=skipped.exclude).ok

    lab.faults()
    assert_sound(lab, runner, town)


def test_leaving_out_what_others_need_is_refused(lab: Lab) -> None:
    """An excluded creation that something else depends on would break the state; the update does not begin."""
    runner = lab.runner()
    runner.up(STACK, Town())
    town = Town(replicas={"east": ("a",), "west": ("a", "c")}, front_door="west/c")
    checkpoint = runner.export(STACK)
    skipped = skip_unreachable(runner.preview(STACK, town), checkpoint, {"west"})
    with pytest.raises(DriverError, match="is needed elsewhere"):
        runner.up(STACK, town, exclude=skipped.exclude)
    assert runner.export(STACK).raw["deployment"]["resources"] == checkpoint.raw["deployment"]["resources"]


@pytest.mark.lives
def test_a_lost_cluster_is_forgotten_without_touching_it(lab: Lab) -> None:
    """The state without a cluster, its provider and its objects is one that the engine accepts."""
    runner = lab.runner()
    runner.up(STACK, Town())
    checkpoint = runner.export(STACK)
    (west,) = (r for r in checkpoint if r.name == "west")
    replicas = [r.urn for r in checkpoint.of_type("berth:index:Replica") if r.inputs["cluster"] == "west"]
    before = lab.cloud.dump()
    runner.import_state(checkpoint.without([west.urn, *replicas]))
    assert lab.cloud.dump() == before
    assert not [resource.name for resource in runner.export(STACK) if "west" in resource.name]
    assert runner.preview(STACK, Town(clusters=("east",))).changed == ()
