"""The fake engine registers what the real program registers, so that what it proves of the driver is true."""

import json

import pytest

from automation.driver.programs import ShardProgram
from stacks.shard import Shard, shards
from tests.support.fake_runner_program import STACK_TYPE, UNKNOWN, Registered, register
from tests.support.fleet_run import small_fleet
from tests.support.mini_engine import Recorded, run_program
from tests.support.samples import (
    DEV_CACHES,
    DEV_PLACED,
    Placed,
    environment_files,
    fleet_of,
    lock_of,
)

SMALL = fleet_of({path: text.encode() for path, text in small_fleet().items()})
SPLIT = fleet_of({path: text.replace("Single", "PerCluster").encode() for path, text in small_fleet().items()})
SAMPLE = fleet_of(
    {path: text.replace(b"protect: false", b"protect: true") for path, text in environment_files().items()}
)
PLACED = (Placed("ml", "qwen", "a", "small"), Placed("search", "embed", "b", "small"))
CASES = {
    "a small fleet": (SMALL, lock_of(SMALL, PLACED), "dev"),
    "a stack of front doors": (SPLIT, lock_of(SPLIT, PLACED), "dev"),
    "a stack of one cluster": (SPLIT, lock_of(SPLIT, PLACED), "dev.b"),
    "protected clusters in a cloud, and a cache": (SAMPLE, lock_of(SAMPLE, DEV_PLACED, caches=DEV_CACHES), "dev"),
}
GATEWAYS = '{"b": "b-serving-gateway.lb.test"}'


@pytest.fixture(scope="module", params=CASES.values(), ids=list(CASES))
def both(request: pytest.FixtureRequest) -> tuple[Registered, Recorded]:
    """Return what the fake and the real program register."""
    fleet, lock, stack = request.param
    shard: Shard = next(each for each in shards(fleet) if str(each.stack) == stack)
    fake = register(fleet, lock, shard, simulated=True, gateways=json.loads(GATEWAYS))
    program = ShardProgram(fleet, lock, shard, simulated=True)
    real = run_program(program, stack=stack, dry_run=False, config={"berth:gateways": GATEWAYS})
    return fake, real


def test_the_fake_registers_what_the_program_does(both: tuple[Registered, Recorded]) -> None:
    """Every component with its description, and objects that are there in the real program, in the same places."""
    fake, real = both
    known = {each.urn: each for each in real.resources}
    mine = {each.urn: each for each in fake.resources}
    described = {urn: dict(each.inputs) for urn, each in mine.items() if not each.custom}
    assert described == {
        urn: dict(each.inputs) for urn, each in known.items() if not each.custom and each.type != STACK_TYPE
    }
    for urn, each in mine.items():
        assert urn in known, f"the program has no {urn}"
        theirs = known[urn]
        assert each.parent == theirs.parent, urn
        assert each.provider in {theirs.provider, ""}, urn
        assert each.protect == bool(theirs.options.protect), urn
        assert each.retain == bool(theirs.options.retain_on_delete), urn
        assert set(each.needs) <= real.requires(theirs), urn
        if not each.custom:
            assert sorted({**each.inputs, **each.derived}) == sorted(theirs.outputs or {}), urn


def test_the_fake_puts_out_what_the_driver_reads(both: tuple[Registered, Recorded]) -> None:
    """The outputs that tell whether a platform was applied, and whether it is simulated."""
    fake, real = both
    assert {key: real.outputs[key] for key in fake.outputs} == dict(fake.outputs)
    assert UNKNOWN not in str(fake.resources)
