"""The policy pack as the engine starts it: an executable file in our own interpreter, and its configuration.

A pack given as a folder runs in whatever Python the language host picks; an executable file runs in ours, so that the
rules judge with the very models that the program was built from.
"""

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from automation.engine.runner import PolicyPackRef
from automation.engine.toolchain.disk import write_whole, writing
from automation.engine.toolchain.layout import Layout
from components.checks.footprint import RULE as FOOTPRINT_RULE
from components.checks.taints import CLUSTER_RULE
from components.naming import ReplicaId

_DESCRIPTION: Final = Path(__file__).resolve().parents[2] / "policies" / "PulumiPolicy.yaml"


def place_policy_pack(layout: Layout, *, existing: Iterable[ReplicaId]) -> PolicyPackRef:
    """Write the pack's launcher and a configuration that says which replicas exist; cheap when nothing changed.

    Unbuffered output matters: the engine waits for the line with the pack's port.
    """
    folder = layout.berth / "policies"
    pack = folder / "berth-policies"
    config = folder / "config.json"
    launcher = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -u -m policies "$@"\n'
    known = {"existing": sorted(str(replica) for replica in existing)}
    with writing(layout.berth):
        folder.mkdir(parents=True, exist_ok=True)
        _write(pack, launcher.encode(), mode=0o755)
        _write(folder / "PulumiPolicy.yaml", _DESCRIPTION.read_bytes(), mode=0o644)
        _write(config, (json.dumps({CLUSTER_RULE: known, FOOTPRINT_RULE: known}, indent=2) + "\n").encode(), mode=0o644)
    return PolicyPackRef(pack, config)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    if not path.is_file() or path.read_bytes() != content:
        write_whole(path, content, mode=mode)
