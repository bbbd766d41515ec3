"""Leaves the Pulumi SDK out of a process that only speaks its protocol: a policy pack, or a simulated provider.

``pulumi/__init__.py`` imports the whole SDK, and the engine starts one process per pack and provider resource, in every
operation. So what starts such a process calls ``leave_sdk_out`` before anything else: the parent packages are then in
place but empty, knowing only their folder, and the protocol modules below them import in a tenth of the time. Never
call it in a process that uses the SDK.
"""

import importlib.util
import sys
import types
from pathlib import Path


def leave_sdk_out() -> None:
    """Put empty packages in the place of the SDK's; without effect once the real ones are imported."""
    if "pulumi" in sys.modules:
        return
    spec = importlib.util.find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the Pulumi SDK is not installed")
    root = Path(next(iter(spec.submodule_search_locations)))
    for name, folder in (("pulumi", root), ("pulumi.runtime", root / "runtime"),
                         ("pulumi.runtime.proto", root / "runtime" / "proto")):  # fmt: skip
        module = types.ModuleType(name)
        module.__path__ = [str(folder)]
        sys.modules[name] = module
