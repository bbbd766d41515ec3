"""Measures `berth --help`: warm wall time as a ratio to a bare interpreter in the same run; the target is 150 ms.

Seconds of the clock depend on what else the machine does; the ratio and the processor seconds hardly do. It also says
how many modules are imported, and fails when a cloud SDK or the engine's protocol is among them.

Run by hand or by ``make bench``; prints one JSON object.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Final

TARGET: Final = 0.150  # seconds
FORBIDDEN: Final = ("pulumi", "pulumi_aws", "pulumi_kubernetes", "grpc", "httpx", "kubernetes", "pydantic", "yaml")
HELP: Final = ("-c", "from automation.cli.main import main; main()", "--help")
LOADED: Final = """\
import json, sys
from automation.cli.main import run
run(["--help"])
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def measured(arguments: Sequence[str], rounds: int) -> dict[str, float]:
    """Start the interpreter several times, after one that warms the disk's cache; gives medians in seconds."""
    clock, processor = [], []
    for number in range(rounds + 1):
        before, began = _processor(), time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        if number:
            clock.append(time.perf_counter() - began)
            processor.append(_processor() - before)
    return {"seconds": statistics.median(clock), "best": min(clock), "processor": statistics.median(processor)}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def loaded() -> list[str]:
    """Return the modules that are there after the help was printed."""
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    modules: list[str] = json.loads(done.stderr)
    return modules


def main() -> int:
    """Print the figures; fail when something is imported that must not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    bare = measured(("-c", "pass"), rounds)
    shown = measured(HELP, rounds)
    modules = loaded()
    forbidden = [name for name in FORBIDDEN if name in modules]
    figures = {
        "help": {name: round(value, 3) for name, value in shown.items()},
        "bare interpreter": {name: round(value, 3) for name, value in bare.items()},
        "ratio": round(shown["seconds"] / bare["seconds"], 1),
        "processor ratio": round(shown["processor"] / bare["processor"], 1),
        "target seconds": TARGET,
        "within target": shown["best"] <= TARGET,
        "modules": len(modules),
        "forbidden modules": forbidden,
    }
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    return 1 if forbidden else 0


if __name__ == "__main__":
    sys.exit(main())
