"""Inputs of objects as the real Kubernetes provider writes them when it checks them."""

import base64

import pytest

from automation.rehearsal.wire import Secret, lookup
from tests.support.normal_cases import CASES, DEPLOYMENT, POD, SECRET, Case, head, workload
from tests.support.simulated import Provider


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_means_the_same_is_written_the_same(case: Case, existing: Provider) -> None:
    """As pulumi-kubernetes 4.25.0 answers on a real API server."""
    checked, failures = existing.check(case.type, "x", case.inputs)
    assert failures == []
    assert lookup(checked, case.path) == case.want


def test_texts_of_a_secret_are_kept_as_its_data(existing: Provider) -> None:
    """Encoded, beside the data that is given, and all of it secret."""
    inputs = {**head(SECRET), "metadata": {"name": "s"}, "stringData": Secret({"a": "x"}), "data": {"b": "Yg=="}}
    checked, failures = existing.check(SECRET, "s", inputs)
    assert failures == []
    assert "stringData" not in checked
    assert checked["data"] == Secret({"a": base64.b64encode(b"x").decode(), "b": "Yg=="})


def test_a_diff_says_what_the_real_one_says(existing: Provider) -> None:
    """It compares with what is live, so that only what goes away is a difference of inputs; and by what is meant."""
    old = {**workload(args=["-x"], resources={"limits": {"cpu": "1000m"}}), "metadata": {"name": "w"}}
    new = {**workload(image="i:2", resources={"limits": {"cpu": "1"}}), "metadata": {"name": "w"}}
    change = existing.diff(DEPLOYMENT, "w", old, new)
    container = f"{POD}.containers[0]"
    assert change.kinds == {f"{container}.args": "DELETE", f"{container}.image": "ADD"}
    assert change.of_inputs == (f"{container}.args",)
