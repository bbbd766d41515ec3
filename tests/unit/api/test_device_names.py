"""The names that selectors read, held against those that the devices of a fleet have."""

import pytest

from components.api.device_names import DeviceNames, names_read
from components.api.inference_class import Device
from tests.support.api_manifests import Edit, load, pointed

GPU = Device.model_validate(
    {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "attributes": {"architecture": {"string": "Hopper"}, "resource.kubernetes.io/pcieRoot": {"string": "pci"}},
        "capacity": {"memory": {"value": "80Gi"}},
    }
)
NAMES = DeviceNames.of([GPU])
ATTRIBUTES, CAPACITY = 'device.attributes["gpu.nvidia.com"]', 'device.capacity["gpu.nvidia.com"]'

OF_GPU = ("attributes", "gpu.nvidia.com")
READS = [
    (f"{ATTRIBUTES}.x == 1", [(*OF_GPU, "x")]),
    (f"{ATTRIBUTES}['x'] == 1", [(*OF_GPU, "x")]),
    (f"{ATTRIBUTES}.?x.orValue(1) == 1", [(*OF_GPU, "x")]),
    ("device.attributes[?'d.e'].x.orValue(1) == 1", [("attributes", "d.e", "x")]),
    (f"has({ATTRIBUTES}.x) && has({CAPACITY}.y)", [(*OF_GPU, "x"), ("capacity", "gpu.nvidia.com", "y")]),
    (f"'x' in {ATTRIBUTES}", [(*OF_GPU, "x")]),
    ("'gpu.nvidia.com' in device.attributes", []),
    ("'a' == device.driver", [("driver", "a", "")]),
    (f"cel.bind(d, {ATTRIBUTES}, d.x == 1)", [(*OF_GPU, "")]),
    ("device.attributes[device.driver].x == 1", []),
    ("nope", []),
]


@pytest.mark.parametrize(("expression", "reads"), READS, ids=[row[0] for row in READS])
def test_what_a_selector_reads(expression: str, reads: list[tuple[str, str, str]]) -> None:
    """Each name once, in every way of writing it."""
    assert [read[:3] for read in names_read(expression)] == reads


MEANT = [
    (f"{ATTRIBUTES}.archtecture == 'x'", "`architecture`"),
    (f"has({ATTRIBUTES}.Architecture)", "`architecture`"),
    (f"{ATTRIBUTES}.architecture == 'x' && {ATTRIBUTES}.archtecture == 'x'", "`architecture`"),
    ("device.attributes['gpu.nvida.com'].architecture == 'x'", "`gpu.nvidia.com`"),
    ("device.driver == 'gpu.nvidia.co'", "`gpu.nvidia.com`"),
    (f"{CAPACITY}.memroy.isInteger()", "`memory`"),
    (f"{ATTRIBUTES}.memory == 'x'", f"`{CAPACITY}.memory`"),
    ("device.attributes['resource.kubernetes.io'].pcieroot == 'x'", "`pcieRoot`"),
    (f"{ATTRIBUTES}.architecture == 'Hoper'", ""),
    (f"{ATTRIBUTES}.zebra == 'x'", ""),
    ("device.driver == 'fpga.example.org'", ""),
]


@pytest.mark.parametrize(("expression", "meant"), MEANT, ids=[row[0] for row in MEANT])
def test_the_near_name_that_a_device_has(expression: str, meant: str) -> None:
    """Of attributes, capacities, domains and drivers; none where nothing is like it."""
    assert NAMES.meant(expression) == (f"did you mean {meant}?" if meant else "")


CEL = 'cel: device.attributes["gpu.nvidia.com"].architecture == "Ada Lovelace"'


@pytest.mark.parametrize(
    ("expression", "at", "hint"),
    [
        ("device.attributes['gpu.nvidia.com'].archtecture == 'x'", ".archtecture", "did you mean `architecture`?"),
        ("has(device.attributes['gpu.nvidia.com'].archtecture)", '"has', "did you mean `architecture`?"),
        ("device.attributes['gpu.nvida.com'].architecture == 'x'", ".architecture", "did you mean `gpu.nvidia.com`?"),
    ],
)
def test_a_misspelt_name_is_told_the_near_one_and_no_guard(expression: str, at: str, hint: str) -> None:
    """A guard around it would only hide that it matches nothing."""
    (problem,) = load(Edit("qwen", CEL, f'cel: "{expression}"')).problems
    assert problem.help == hint
    assert "guard" not in problem.message
    assert pointed(problem).startswith(at)


def test_a_name_that_is_like_none_is_told_how_to_guard() -> None:
    """It may be right, and only some devices have it."""
    (problem,) = load(Edit("qwen", CEL, 'cel: device.attributes["gpu.nvidia.com"].zebra == "x"')).problems
    assert "guard with has(" in problem.message
    assert not problem.help
