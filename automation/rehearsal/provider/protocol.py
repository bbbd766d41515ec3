"""The generated protocol modules of the Pulumi SDK, without the SDK.

``pulumi/__init__.py`` imports the whole SDK, and the engine starts one provider process per provider resource. So the
parent packages are put in place empty, and only their folder is told to Python: the generated modules below it then
import in a tenth of the time. Import this module before anything else of ``pulumi``, and never in a process that also
uses the SDK (there the stubs are left out, because the real packages are loaded already).
"""

import importlib.util
import sys
import types
from pathlib import Path


def _stub_parents() -> None:
    if "pulumi" in sys.modules:
        return
    spec = importlib.util.find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the Pulumi SDK is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    for name in ("pulumi", "pulumi.runtime", "pulumi.runtime.proto"):
        module = types.ModuleType(name)
        module.__path__ = [str(folder)]
        sys.modules[name] = module
        folder = folder / {"pulumi": "runtime", "pulumi.runtime": "proto"}.get(name, "")


_stub_parents()

from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2  # noqa: E402 - see above

__all__ = ["plugin_pb2", "provider_pb2", "provider_pb2_grpc", "status_pb2"]
