"""Measures how long a simulated provider takes from its start to its first answer; the target is 0.3 seconds.

Seconds of the clock depend on what else the machine does; processor seconds, printed beside them, hardly do.

Run by hand or by ``make bench``; prints one JSON object. The baseline of the same run is the bare interpreter with the
SDK imported, which is what the program would cost if it were written with the SDK.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from automation.rehearsal.install import install

TARGET = 0.3


def start(launcher: Path) -> float:
    """Start a provider, ask its version, end it; gives the seconds until the answer."""
    began = time.perf_counter()
    process = subprocess.Popen([launcher, "127.0.0.1:1"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(empty_pb2.Empty())
        took = time.perf_counter() - began
    process.terminate()
    process.communicate()
    return took


def import_sdk() -> float:
    """Start an interpreter that imports the SDK; gives the seconds."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import pulumi, grpc"], check=True)
    return time.perf_counter() - began


def processor_seconds() -> float:
    """Read what ended children have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def medians(measure: Callable[[], float], rounds: int) -> dict[str, float]:
    """Measure several times, after one round that warms the disk's cache."""
    measure()
    clock, processor = [], []
    for _ in range(rounds):
        before = processor_seconds()
        clock.append(measure())
        processor.append(processor_seconds() - before)
    return {"seconds": round(statistics.median(clock), 3), "processor": round(statistics.median(processor), 3)}


def main() -> None:
    """Print the medians, the ratio to the baseline, and whether the target holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        install(home, interpreter=Path(sys.executable), database=home / "cloud.db")
        launchers = {
            path.name.removeprefix("pulumi-resource-"): path for path in home.glob("plugins/*/pulumi-resource-*")
        }
        providers = {name: medians(partial(start, path), rounds) for name, path in sorted(launchers.items())}
    baseline = medians(import_sdk, rounds)
    slowest = max(providers.values(), key=lambda found: found["seconds"])
    print(  # noqa: T201 - the result of the program
        json.dumps(
            {
                "providers": providers,
                "sdk_import": baseline,
                "processor_ratio_to_sdk_import": round(slowest["processor"] / baseline["processor"], 2),
                "target_seconds": TARGET,
                "within_target": slowest["seconds"] <= TARGET,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
