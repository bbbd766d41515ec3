"""Machines, and what nodes and drivers publish of them."""

import pytest

from automation.rehearsal.kubernetes.machines import GPUS, Machine, machine, machines
from automation.rehearsal.kubernetes.nodes import Object, device_classes, node, resource_slices
from components.cel.device import DeviceView
from components.cel.quantity import Quantity
from components.cel.selector import Outcome, compile_selector
from components.errors import UsageError

P4D = machine("aws", "p4d.24xlarge")
P5 = machine("aws", "p5.48xlarge")


def slices(of: Machine) -> dict[str, Object]:
    """Give the slices of a node of a machine by driver."""
    owner = {"metadata": {"name": "n1", "uid": "u1"}}
    return {each["spec"]["driver"]: each for each in resource_slices(owner, of)}


def devices(of: Machine, driver: str) -> list[DeviceView]:
    """Give a driver's devices as selectors see them."""
    return [DeviceView.from_slice_device(driver, each) for each in slices(of)[driver]["spec"]["devices"]]


@pytest.mark.parametrize("key", machines(), ids=" ".join)
def test_every_machine_makes_slices_that_an_api_server_takes(key: tuple[str, str, str]) -> None:
    """Its GPUs are known, its memory is a quantity, and its device names and PCI addresses are its own."""
    each = machines()[key]
    assert each.accelerator in GPUS
    assert Quantity.parse(each.memory) > Quantity.parse("10Gi")
    assert each.gpus > 0
    assert each.efa == 0 or (each.cloud, each.fabric) == ("aws", "EFA")
    for driver, published in slices(each).items():
        names = [device["name"] for device in published["spec"]["devices"]]
        assert len(set(names)) == len(names) <= 128
        assert not [view.problem for view in devices(each, driver) if view.problem]
    addresses = [
        (device["attributes"].get("resource.kubernetes.io/pciBusID") or device["attributes"]["pciAddress"])["string"]
        for made in slices(each).values()
        for device in made["spec"]["devices"]
    ]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("device.attributes['gpu.nvidia.com'].productName == 'NVIDIA H100 80GB HBM3'", Outcome.MATCH),
        ("device.attributes['gpu.nvidia.com'].architecture == 'Hopper'", Outcome.MATCH),
        (
            "device.attributes['gpu.nvidia.com'].cudaComputeCapability.compareTo(semver('9.0.0')) >= 0",
            Outcome.MATCH,
        ),
        ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('75Gi')) >= 0", Outcome.MATCH),
        ("device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0", Outcome.NO_MATCH),
        ("device.attributes['gpu.nvidia.com'].nosuch == 'x'", Outcome.ERROR),
    ],
)
def test_selectors_see_an_h100_as_its_driver_publishes_it(expression: str, want: Outcome) -> None:
    """Its memory is less than its name says."""
    answers = {compile_selector(expression).evaluate(view).outcome for view in devices(P5, "gpu.nvidia.com")}
    assert answers == {want}


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("gpu.nvidia.com", {"gpu.nvidia.com"}),
        ("mig.nvidia.com", set()),
        ("vfio.gpu.nvidia.com", set()),
        ("efa.networking.k8s.aws", {"dra.net"}),
    ],
)
def test_each_device_class_takes_the_devices_of_its_driver_and_no_others(name: str, takes: set[str]) -> None:
    """All classes of the charts are there, and are tried on every device of a node."""
    classes = {each["metadata"]["name"]: each for each in device_classes()}
    assert len(classes) == 4
    (selector,) = classes[name]["spec"]["selectors"]
    compiled = compile_selector(selector["cel"]["expression"])
    for driver in slices(P5):
        answers = {compiled.evaluate(view).outcome for view in devices(P5, driver)}
        assert answers == {Outcome.MATCH if driver in takes else Outcome.NO_MATCH}


def test_a_p4d_shares_its_pcie_roots_as_aws_says() -> None:
    """Four roots, each with two GPUs and one EFA interface: a claim may ask for a GPU and its own interface."""
    found = {
        driver: [each["attributes"]["resource.kubernetes.io/pcieRoot"]["string"] for each in made["spec"]["devices"]]
        for driver, made in slices(P4D).items()
    }
    assert found["gpu.nvidia.com"] == [f"pci0000:{root:02x}" for root in (1, 1, 2, 2, 3, 3, 4, 4)]
    assert found["dra.net"] == [f"pci0000:{root:02x}" for root in (1, 2, 3, 4)]


def test_no_other_machine_publishes_a_pcie_root() -> None:
    """Which devices share one is not known, and a claim that aligns devices by it must not bind on what was made up."""
    publishing = {
        each.name
        for each in machines().values()
        for made in slices(each).values()
        for device in made["spec"]["devices"]
        if "resource.kubernetes.io/pcieRoot" in device["attributes"]
    }
    assert publishing == {"p4d.24xlarge"}


def test_a_node_has_what_its_machine_has() -> None:
    """From the first moment, and with the taint that keeps other pods off; the slices go with it."""
    made = node("n1", P5, labels={"modelplane.ai/pool": "h100"})
    assert made["status"]["capacity"] == {"cpu": "192", "memory": "2048Gi", "pods": "110"}
    assert made["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert made["metadata"]["labels"]["modelplane.ai/pool"] == "h100"
    assert made["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
    assert node("n2", P5, tainted=False)["spec"] == {}
    for each in slices(P5).values():
        assert each["spec"]["pool"]["name"] == each["spec"]["nodeName"] == "n1"
        assert [owner["uid"] for owner in each["metadata"]["ownerReferences"]] == ["u1"]


def test_the_gpus_of_two_nodes_are_not_the_same() -> None:
    """And those of one node are the same in every run."""
    owners = [{"metadata": {"name": name, "uid": "u"}} for name in ("a", "b", "a")]
    first, other, again = (resource_slices(owner, P5)[0]["spec"]["devices"] for owner in owners)
    uuids = [each["attributes"]["uuid"]["string"] for each in (*first, *other)]
    assert len(set(uuids)) == 16
    assert first == again


def test_an_unknown_machine_names_those_of_its_cloud() -> None:
    """A preset is part of a machine's name at Nebius only."""
    with pytest.raises(UsageError, match=r"no machine type p9\.large of aws") as caught:
        machine("aws", "p9.large")
    assert "p5.48xlarge" in caught.value.help
    with pytest.raises(UsageError) as caught:
        machine("moon", "p5.48xlarge")
    assert caught.value.help == "take one of aws, azure, gcp, nebius or vultr"
