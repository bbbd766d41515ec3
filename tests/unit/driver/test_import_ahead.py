"""What programs need is loaded while the engine starts, in one thread after the other, and a program waits for it."""

import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from automation.driver import programs
from stacks import platform
from tests.support.fake_runner_session import FakeDriver


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the sources whose SDKs are loaded from now on, in a process that has imported nothing ahead."""
    sources: list[str] = []
    monkeypatch.setattr(platform, "load_sdk", sources.append)
    monkeypatch.setattr(programs, "_AHEAD", [])
    return sources


def wait() -> None:
    """Wait for what is imported ahead."""
    for thread in threading.enumerate():
        if thread.name == "import":
            thread.join()


def test_the_clouds_of_a_fleet_are_loaded_once(driver: FakeDriver, loaded: list[str]) -> None:
    """Every program of a run asks, and only the first brings its clouds."""
    programs.import_ahead()
    driver.edit("models/ml/qwen.yaml", "vllm:1", "vllm:2")
    assert driver.up().ok
    wait()
    assert loaded == sorted({cluster.source for cluster in driver.read().fleet.clusters.values()})


def test_whoever_imports_nothing_ahead_loads_nothing(driver: FakeDriver, loaded: list[str]) -> None:
    """A command that runs no program pays for no cloud."""
    assert driver.plan().empty
    wait()
    assert loaded == []


def test_two_threads_never_import_at_once(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> None:
    """The second waits for the first, and a program for both."""
    monkeypatch.setattr(programs, "_AHEAD", [])
    first, order = threading.Event(), list[str]()

    def note(what: str, *, after: Callable[[], object] = lambda: None) -> None:
        after()
        order.append(what)

    monkeypatch.setattr(platform, "load_sdk", note)
    programs._import_beside(lambda: note("program", after=lambda: first.wait(60)))
    situation = driver.read()
    programs.program_of(driver.session, situation, driver.plan().target, situation.shards[0])
    assert order == []
    first.set()
    wait()
    assert order[0] == "program"
    assert len(order) > 1


def test_the_parts_of_an_sdk_are_there_before_a_program_needs_them() -> None:
    """Each import that a program of an EKS cluster would make while the engine waits for it."""
    check = (
        "import sys, stacks.program; from stacks.platform import load_sdk; load_sdk('EKS');"
        "print([name for name in ('pulumi_aws.ec2.vpc', 'pulumi_aws.eks.cluster', 'pulumi_aws.iam.role',"
        " 'pulumi_aws.efs.file_system', 'pulumi_kubernetes.helm.v3.Release',"
        " 'pulumi_kubernetes.storage.v1.StorageClass')"
        " if name not in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
