"""What the real Kubernetes provider makes of objects, beside what the simulated one does and what repairs rely on."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from automation.engine.field_managers import with_makers
from automation.rehearsal.install import install
from automation.rehearsal.kubernetes.local import LocalCluster
from automation.rehearsal.wire import Secret, lookup, plain
from components.labels import TAKES_BACK
from tests.support.fleet_run import kept_rules
from tests.support.normal_cases import CASES, DEPLOYMENT, POD, SECRET, Case, head, workload
from tests.support.real_provider import real_provider
from tests.support.simulated import Provider, Refusal, kubeconfig, serving, settings_for
from tests.unit.engine.samples import checkpoint, entry, urn

pytestmark = pytest.mark.kubernetes

MAP = "kubernetes:core/v1:ConfigMap"


@pytest.fixture(scope="module")
def real(provider: Path, shared: LocalCluster) -> Iterator[Provider]:
    """Give the real provider on a cluster."""
    with real_provider(provider, shared) as found:
        yield found


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Give the simulated provider on a cluster that exists."""
    home = tmp_path_factory.mktemp("simulated")
    install(home, interpreter=Path(sys.executable), database=home / "clouds.sqlite", rules=kept_rules())
    with serving(settings_for(home, "kubernetes", database=home / "clouds.sqlite")) as found:
        yield found.configure(kubeconfig=kubeconfig("https://one.test"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_inputs_are_written_alike(case: Case, real: Provider, simulated: Provider) -> None:
    """What the table says of the real provider is so, and the simulated one gives the same, everywhere."""
    checked, failures = real.check(case.type, "x", case.inputs)
    assert failures == []
    assert lookup(checked, case.path) == case.want
    assert simulated.check(case.type, "x", case.inputs) == (checked, [])


def test_texts_of_a_secret_are_written_alike(real: Provider, simulated: Provider) -> None:
    """Neither has them in its inputs any more; both mark what they are now."""
    named = {**head(SECRET), "metadata": {"name": "s", "namespace": "default"}}
    inputs = {**named, "stringData": Secret({"a": "x"}), "data": {"b": "Yg=="}}
    checked, _ = real.check(SECRET, "s", inputs)
    assert simulated.check(SECRET, "s", inputs)[0] == checked
    assert isinstance(checked["data"], Secret)


EDITS: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "image": (workload(image="i:1"), workload(image="i:2")),
    "a list grows": (workload(args=["a"]), workload(args=["a", "b"])),
    "a list shrinks": (workload(args=["a", "b"]), workload(args=["a"])),
    "something comes": (workload(), workload(command=["x"])),
    "something goes": (workload(command=["x"]), workload()),
    "the same amount": (
        workload(resources={"limits": {"cpu": "1000m"}}),
        workload(resources={"limits": {"cpu": "1"}}),
    ),
}


@pytest.mark.parametrize(("old", "new"), EDITS.values(), ids=EDITS)
def test_differences_are_said_alike(
    old: dict[str, Any], new: dict[str, Any], real: Provider, simulated: Provider
) -> None:
    """The paths, what became of each, and whether it is one of inputs."""
    named = {**head(DEPLOYMENT), "metadata": {"name": "w", "namespace": "default"}}
    said = []
    for each in (real, simulated):
        before, _ = each.check(DEPLOYMENT, "w", {**named, **old})
        after, _ = each.check(DEPLOYMENT, "w", {**named, **new}, olds=before)
        said.append(each.diff(DEPLOYMENT, "w", before, after, outputs={"__inputs": before}))
    assert said[0] == said[1]
    assert said[0].paths == () or all(path.startswith(POD) for path in said[0].paths)


def test_an_adopted_object_takes_changes_of_its_maker_alone(real: Provider) -> None:
    """Read without a state it gets another manager, whom the server refuses; ``with_makers`` brings the first back."""
    where = {**head(MAP), "metadata": {"name": "adopted", "namespace": "default"}}
    inputs, _ = real.check(MAP, "m", {**where, "data": {"a": "1"}})
    identifier, made = real.create(MAP, "m", inputs)
    found = real.read(MAP, "m", identifier, inputs=inputs, outputs=inputs)
    assert found is not None
    assert found[1]["__fieldManager"] != made["__fieldManager"]
    edited, _ = real.check(MAP, "m", {**where, "data": {"a": "2"}}, olds=inputs)
    with pytest.raises(Refusal, match="field conflict"):
        real.update(MAP, "m", identifier, olds=found[1], news=edited)
    state = with_makers(checkpoint(entry(MAP, "m", outputs=plain(found[1]))), [urn(MAP, "m")])
    assert state is not None
    adopted = state.get(urn(MAP, "m"))
    assert adopted is not None
    assert adopted.outputs["__fieldManager"] == made["__fieldManager"]
    assert real.update(MAP, "m", identifier, olds=adopted.outputs, news=edited)["data"] == {"a": "2"}


@pytest.mark.parametrize("taken_back", [True, False])
def test_a_field_that_somebody_else_set_is_set_again_where_berth_says_so(
    real: Provider, shared: LocalCluster, *, taken_back: bool
) -> None:
    """The API server gives the field to whoever edits it, and refuses it to all others who do not insist."""
    name = f"edited-{taken_back}".lower()
    metadata = {"name": name, "namespace": "default", "annotations": dict(TAKES_BACK) if taken_back else {}}
    inputs, _ = real.check(MAP, "m", {**head(MAP), "metadata": metadata, "data": {"a": "1"}})
    identifier, _ = real.create(MAP, "m", inputs)
    shared.api.patch(f"/api/v1/namespaces/default/configmaps/{name}", {"data": {"a": "2"}})
    found = real.read(MAP, "m", identifier, inputs=inputs, outputs=inputs)
    assert found is not None
    assert found[1]["data"] == {"a": "2"}
    if taken_back:
        assert real.update(MAP, "m", identifier, olds=found[1], news=inputs)["data"] == {"a": "1"}
    else:
        with pytest.raises(Refusal, match="field conflict"):
            real.update(MAP, "m", identifier, olds=found[1], news=inputs)
