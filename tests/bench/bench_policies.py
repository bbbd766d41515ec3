"""Measures one judgement of a large stack by all policies, as a ratio to decoding that stack once in the same run.

The decoding is what any pack has to do at least, with the protocol's own JSON conversion. Two sizes show whether time
grows faster than the stack does. Run by hand or by ``make bench``; prints one JSON object.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2

from policies.analyzer import Analyzer
from policies.wire import UNKNOWN

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.policy_stack import fleet

UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def stack(count: int) -> analyzer_pb2.AnalyzeStackRequest:
    """Make a stack of about ``count`` resources: the sample fleet again and again, each cluster with its own names."""
    request = analyzer_pb2.AnalyzeStackRequest()
    template = json.dumps(fleet(), default=lambda value: UNKNOWN_TEXT if value is UNKNOWN else str(value))
    number = 0
    while len(request.resources) < count:
        for name, part in json.loads(template.replace("eks-a", f"eks-{number}")).items():
            made = request.resources.add(type=part["type"], name=name, urn=name, parent=part.get("parent", ""))
            made.properties.update(part["props"])
            if part["type"].startswith("kubernetes:"):
                made.provider.urn = f"eks-{number}-kubernetes"
                made.properties.update({"status": {"conditions": [{"type": "Ready", "message": "x" * 200}] * 8}})
        number += 1
    return request


def seconds(work: Callable[[], Any]) -> float:
    """Return the best of three."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def figures(count: int) -> dict[str, float]:
    """Measure one size."""
    request = stack(count)
    found = Analyzer().AnalyzeStack(request, None).diagnostics
    assert not found, found[0].message
    judging = seconds(lambda: Analyzer().AnalyzeStack(request, None))
    decoding = seconds(lambda: [json_format.MessageToDict(each.properties) for each in request.resources])
    return {
        "resources": len(request.resources),
        "judging ms": round(judging * 1000, 1),
        "decoding once ms": round(decoding * 1000, 1),
        "ratio": round(judging / decoding, 2),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, default=500)
    size = parser.parse_args().resources
    small, large = figures(size), figures(10 * size)
    growth = round(large["judging ms"] / small["judging ms"], 1)
    sys.stdout.write(json.dumps({"small": small, "large": large, "growth of ten times more": growth}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
