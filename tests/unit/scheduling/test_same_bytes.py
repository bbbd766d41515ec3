"""The same snapshot gives the same bytes under every hash seed and in every thread."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from automation.document.read_snapshot import read_snapshot
from automation.document.write_snapshot import snapshot_document
from automation.render.schedule_view import schedule_view
from automation.scheduling.schedule import schedule
from automation.scheduling.snapshot import Snapshot
from tests.unit.scheduling.builder import cluster, deployment, engine, gang, gpu, live, member, pool

ROOT = Path(__file__).parents[3]
LARGE, SMALL = (f"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{size}Gi')) >= 0" for size in (80, 24))
PROGRAM = """\
import json, sys
from automation.document.read_snapshot import read_snapshot
from automation.render.schedule_view import schedule_view
from automation.scheduling.schedule import schedule
print(json.dumps(schedule_view(schedule(read_snapshot("-", sys.stdin.buffer.read()))).to_json()))
"""


def fleet() -> Snapshot:
    """Make a fleet with a bit of everything: kept, moved, edited, placed by moving others, and short of room."""
    h100, l4 = (gpu(name, 8, 0, capacity=(("memory", f"{size}Gi"),)) for name, size in (("h100", 80), ("l4", 24)))
    chat = deployment("chat", 5, engine("main", member(4, LARGE)), version="v2", labels={"b": "1", "a": "2"})
    rest = [
        deployment("embed", 9, engine("main", member(1, SMALL))),
        deployment("gang", 2, gang(8, 2, LARGE)),
        deployment("pair", 3, engine("one", member(8, SMALL)), engine("two", member(2, LARGE)), namespace="other"),
    ]
    clusters = [
        cluster("b", pool("h", h100, nodes=3, fabric="x"), pool("l", l4, nodes=2), region="east"),
        cluster("a", pool("l", l4), pool("h", h100, nodes=2), region="east", labels={"z": "1", "y": "2"}),
        cluster("c", pool("h", h100, nodes=4, fabric="x"), taints=["k=v:NoExecute"], region="west"),
    ]
    replicas = [live(chat, where, pools="h", version="v1") for where in "abc"]
    return Snapshot(tuple(clusters), (chat, *rest), tuple(replicas))


def answer(content: bytes) -> str:
    """Answer a snapshot document as ``berth schedule`` does."""
    return json.dumps(schedule_view(schedule(read_snapshot("-", content))).to_json())


def test_the_same_bytes_under_every_hash_seed_and_in_every_thread() -> None:
    """The whole answer, with every verdict, from other processes and from threads at once."""
    content = json.dumps(snapshot_document(fleet()).to_json()).encode()
    known = answer(content)
    assert {"placed", "moved", "edit-waits"} <= {each["reason"] for each in json.loads(known)["placements"]}
    assert json.loads(known)["shortfalls"]
    for seed in ("1", "2"):
        made = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=content,
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert made.stdout.decode().strip() == known
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(answer, [content] * 8)) == {known}
