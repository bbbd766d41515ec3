"""Measures selectors: evaluation, compilation, memory and import, as ratios to baselines of the same run.

The baseline of evaluation is cel-python on the same expression without its capacity (cel-python knows no quantities),
so its share is smaller than ours; the baseline of compilation is cel-python's. A third ratio is to a bare Python
function that does the same comparisons by hand. Compilation is also told in sums of a thousand squares, which a slow
machine slows, too: rounds of both take turns, so that they meet the same load.

Run by hand or by ``make bench``; prints one JSON object; exits 1 when a target is missed by more than the margin.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import celpy

from components.cel.device import DeviceView
from components.cel.selector import compile_selector, compile_unlimited

DRIVER: Final = "gpu.nvidia.com"
PLAIN: Final = (
    f'device.attributes["{DRIVER}"].architecture == "Hopper" && device.attributes["{DRIVER}"].productName == "H100"'
)
EVERYDAY: Final = f'{PLAIN} && device.capacity["{DRIVER}"].memory.compareTo(quantity("80Gi")) >= 0'
ATTRIBUTES: Final = {"architecture": {"string": "Hopper"}, "productName": {"string": "H100"}, "mig": {"bool": False}}
IMPORT: Final = """\
import time
began = time.process_time()
import components.cel.selector, components.cel.device, components.cel.allocate
print((time.process_time() - began) * 1e3)
"""
COUNT: Final = 1000  # compiled selectors
TARGETS: Final = {
    "evaluate_us": 1.0,
    "compile_us": 300.0,
    "compile_sums": 5.0,
    "thousand_selectors_mb": 10.0,
    "import_ms": 30.0,
}


def best(work: Callable[[], Any], *, rounds: int, number: int) -> float:
    """Give the best mean time of one call in several rounds, in microseconds of the processor."""
    found = []
    gc.disable()
    try:
        for _ in range(rounds):
            began = time.process_time()
            for _ in range(number):
                work()
            found.append((time.process_time() - began) / number)
    finally:
        gc.enable()
    return min(found) * 1e6


def squares() -> int:
    """Sum a thousand squares: what the interpreter does alone."""
    return sum(number * number for number in range(1000))


def compiled_in_turns(rounds: int) -> tuple[float, float]:
    """Give the best times of a compile and of the sum, in short rounds that take turns, in microseconds."""
    compiles, sums = [], []
    for _ in range(rounds * 20):
        compiles.append(best(lambda: compile_unlimited(EVERYDAY), rounds=1, number=10))
        sums.append(best(squares, rounds=1, number=40))
    return min(compiles), min(sums)


def by_hand(attributes: dict[str, dict[str, str]], capacity: dict[str, dict[str, int]]) -> bool:
    """Do what the everyday selector does."""
    try:
        own = attributes[DRIVER]
        return (
            own["architecture"] == "Hopper"
            and own["productName"] == "H100"
            and capacity[DRIVER]["memory"] >= 80 * 2**30
        )
    except KeyError:
        return False


def imported() -> float:
    """Import the engine in new interpreters; gives the best, in milliseconds, of those after the byte code is there."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", IMPORT]
    found = [
        float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
        for _ in range(8)
    ]
    return min(found)


def held() -> float:
    """Give the memory that a thousand different compiled selectors take, in megabytes."""
    compile_unlimited(EVERYDAY)
    gc.collect()
    tracemalloc.start()
    kept = [compile_unlimited(EVERYDAY.replace("H100", f"H{number:04}")) for number in range(COUNT)]
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == COUNT
    return size / 1e6


def measured(rounds: int) -> dict[str, float]:
    """Take every figure."""
    view = DeviceView.from_class_device(driver=DRIVER, attributes=ATTRIBUTES, capacity={"memory": "80Gi"})
    selector, plain = compile_selector(EVERYDAY), compile_selector(PLAIN)
    assert str(selector.evaluate(view).outcome) == "match"
    environment = celpy.Environment()
    program = environment.program(environment.compile(PLAIN))
    own = {name: next(iter(value.values())) for name, value in ATTRIBUTES.items()}
    activation = {"device": celpy.json_to_cel({"driver": DRIVER, "attributes": {DRIVER: own}, "capacity": {}})}
    assert program.evaluate(activation)
    attributes, capacity = {DRIVER: {"architecture": "Hopper", "productName": "H100"}}, {DRIVER: {"memory": 80 * 2**30}}
    evaluate = best(lambda: selector.evaluate(view), rounds=rounds, number=20_000)
    evaluate_plain = best(lambda: plain.evaluate(view), rounds=rounds, number=20_000)
    theirs = best(lambda: program.evaluate(activation), rounds=rounds, number=100)
    hand = best(lambda: by_hand(attributes, capacity), rounds=rounds, number=20_000)
    compiled, summed = compiled_in_turns(rounds)
    their_compiled = best(lambda: environment.program(environment.compile(PLAIN)), rounds=rounds, number=20)
    return {
        "evaluate_us": evaluate,
        "evaluate_plain_us": evaluate_plain,
        "cel_python_evaluate_us": theirs,
        "faster_than_cel_python": theirs / evaluate,
        "faster_than_cel_python_on_the_same_text": theirs / evaluate_plain,
        "slower_than_by_hand": evaluate / hand,
        "compile_us": compiled,
        "sum_us": summed,
        "compile_sums": compiled / summed,
        "cel_python_compile_us": their_compiled,
        "compiles_faster_than_cel_python": their_compiled / compiled,
        "thousand_selectors_mb": held(),
        "import_ms": imported(),
    }


def main() -> int:
    """Print the figures; fail when a target is missed by more than the margin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--margin", type=float, default=2.0, help="how far a busy machine may miss a target")
    options = parser.parse_args()
    figures = measured(options.rounds)
    missed = [name for name, target in TARGETS.items() if figures[name] > target * options.margin]
    if figures["faster_than_cel_python"] < 100 / options.margin:
        missed.append("faster_than_cel_python")
    shown = {name: round(value, 3) for name, value in figures.items()}
    sys.stdout.write(json.dumps({"figures": shown, "targets": TARGETS, "missed": missed}, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
