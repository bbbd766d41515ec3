"""A small Pulumi engine in the test's own process: it answers the program and records everything that it registers.

The program runs in the SDK as it does behind the real CLI, so unknowns in previews, secrets, dependencies and options
are the SDK's own. Nothing is planned, checked or created: a resource's outputs are its inputs and what
``COMPUTED`` says its cloud adds (unknown in a preview). Whatever needs a diff, a provider's check or a state belongs to
the engine tests, which run the real binary.

The names here are what component tests use; the wire format stays inside this module.
"""

import asyncio
import contextvars
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from dataclasses import dataclass, field, replace
from typing import Any, Final

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime import reset_options, run_in_stack, set_all_config
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, resource_pb2, resource_pb2_grpc

from stacks.sdk import leave_debugging_out, leave_stack_traces_out, wait_once

STACK_TYPE: Final = "pulumi:pulumi:Stack"

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_PARALLEL = 16

_FEATURES = (
    resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
    resource_pb2.RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES,
    resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
    resource_pb2.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
)
_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


class Unknown:
    """A value that a preview does not know; there is one, ``UNKNOWN``."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the program marked as secret."""

    value: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class Options:
    """The options a resource was registered with. ``protect`` is None when the program did not say."""

    protect: bool | None = None
    delete_before_replace: bool | None = None
    retain_on_delete: bool | None = None
    deleted_with: str = ""
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    version: str = ""
    timeouts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Registered:
    """One resource as the program registered it.

    ``inputs`` and ``outputs`` are plain JSON with ``UNKNOWN`` and ``Secret`` in it, by wire name. ``provider`` is the
    URN of the explicit provider, empty when the engine would fall back to a default one. ``outputs`` is what a
    component registered, None when it registered nothing.
    """

    type: str
    name: str
    urn: str
    parent: str
    custom: bool
    inputs: Mapping[str, Any]
    provider: str
    providers: Mapping[str, str]
    dependencies: tuple[str, ...]
    property_dependencies: Mapping[str, tuple[str, ...]]
    options: Options
    outputs: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Everything one run of a program did; resources are sorted by URN, since registration runs in parallel."""

    resources: tuple[Registered, ...]
    outputs: Mapping[str, Any]
    invokes: tuple[str, ...]
    logs: tuple[str, ...]
    error: str = ""

    def of_type(self, token: str) -> tuple[Registered, ...]:
        """Return the resources of one type."""
        return tuple(resource for resource in self.resources if resource.type == token)

    def one(self, token: str, name: str = "") -> Registered:
        """Return the only resource of a type, or the one of that logical name."""
        found = [resource for resource in self.of_type(token) if not name or resource.name == name]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} resources {token} {name!r} among {self.names(token)}")
        return found[0]

    def named(self, name: str) -> Registered:
        """Return the only resource of a logical name, whatever its type."""
        found = [resource for resource in self.resources if resource.name == name]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} resources {name!r} among {self.names()}")
        return found[0]

    def by_urn(self, urn: str) -> Registered:
        """Return the resource of a URN."""
        return next(resource for resource in self.resources if resource.urn == urn)

    @property
    def root(self) -> Registered:
        """The stack itself."""
        return self.one(STACK_TYPE)

    def names(self, token: str = "") -> tuple[str, ...]:
        """Return sorted logical names, of one type or of all but the stack."""
        return tuple(sorted(r.name for r in self.resources if (r.type == token if token else r.type != STACK_TYPE)))

    def requires(self, resource: Registered) -> frozenset[str]:
        """Return the URNs of everything that must exist before ``resource``, by dependency, parent or provider."""
        seen: set[str] = set()
        waiting = [resource.urn]
        known = {other.urn: other for other in self.resources}
        while waiting:
            other = known.get(waiting.pop())
            if other is None:
                continue
            for urn in (*other.dependencies, other.parent, other.provider):
                if urn and urn not in seen:
                    seen.add(urn)
                    waiting.append(urn)
        return frozenset(seen)


class ProgramFailed(AssertionError):
    """The program raised; ``recorded`` holds what it had registered until then."""

    def __init__(self, recorded: Recorded) -> None:
        super().__init__(recorded.error)
        self.recorded = recorded


Computed = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""From a resource's name and inputs to what its cloud adds to them, merged in depth; its id under the key ``id``."""

COMPUTED: Final[Mapping[str, Computed]] = {
    "aws:eks/cluster:Cluster": lambda name, inputs: {
        "arn": f"arn:aws:eks:us-east-1:111122223333:cluster/{inputs.get('name', name)}",
        "endpoint": f"https://{inputs.get('name', name)}.eks.test",
        "certificateAuthority": {"data": "Y2VydGlmaWNhdGU="},
        "vpcConfig": {"clusterSecurityGroupId": f"sg-{name}"},
    },
    "aws:eks/nodeGroup:NodeGroup": lambda name, _: {"arn": f"arn:aws:eks:us-east-1:111122223333:nodegroup/{name}"},
    "aws:iam/role:Role": lambda name, _: {"arn": f"arn:aws:iam::111122223333:role/{name}"},
    "aws:iam/policy:Policy": lambda name, _: {"arn": f"arn:aws:iam::111122223333:policy/{name}"},
    "aws:ec2/launchTemplate:LaunchTemplate": lambda *_: {"latestVersion": 1},
    "kubernetes:gateway.networking.k8s.io/v1:Gateway": lambda name, _: {
        "status": {"addresses": [{"type": "Hostname", "value": f"{name.replace('/', '-')}.lb.test"}]}
    },
    "kubernetes:core/v1:Service": lambda name, _: {
        "status": {"loadBalancer": {"ingress": [{"hostname": f"{name.replace('/', '-')}.lb.test"}]}}
    },
}
"""What clouds add, by type: enough for programs to read, and plausible."""


def run_program(
    program: Callable[[], None],
    *,
    project: str = "berth",
    stack: str = "dev",
    config: Mapping[str, str] | None = None,
    secret_config: Mapping[str, str] | None = None,
    dry_run: bool = True,
    computed: Mapping[str, Computed] | None = None,
    check: bool = True,
) -> Recorded:
    """Run ``program`` as the engine would, previewing (``dry_run``) or applying, and return what it registered.

    ``config`` keys carry their namespace (``berth:secrets``). ``computed`` adds to ``COMPUTED`` or replaces in it.
    Raises ProgramFailed when the program raises, unless ``check`` is off.
    """
    config, secret_config = dict(config or {}), dict(secret_config or {})
    recorder = _Recorder(project=project, stack=stack, dry_run=dry_run, computed={**COMPUTED, **(computed or {})})
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=_PARALLEL))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(_Monitor(recorder), server)
    engine_pb2_grpc.add_EngineServicer_to_server(_Engine(recorder), server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        error = contextvars.copy_context().run(
            _run, program, recorder, address, {**config, **secret_config}, [*secret_config]
        )
    finally:
        server.stop(grace=5).wait()  # nothing is in flight, so it ends at once; without grace gRPC logs a broken call
    recorded = recorder.result(error)
    if check and recorded.error:
        raise ProgramFailed(recorded)
    return recorded


def _run(
    program: Callable[[], None], recorder: "_Recorder", address: str, config: dict[str, str], secret_keys: list[str]
) -> str:
    """Run the program in the SDK, in a loop of its own; return what it raised, as text.

    The SDK's own language server does the same, but lets go of its loop when a program fails in the middle of a
    registration; the loop is then closed by nobody, and whatever test runs next is blamed.
    """
    leave_debugging_out()
    leave_stack_traces_out()
    wait_once()
    reset_options(
        project=recorder.project,
        stack=recorder.stack,
        monitor_address=address,
        engine_address=address,
        parallel=_PARALLEL,
        preview=recorder.dry_run,
        organization="organization",
    )
    set_all_config(config, secret_keys)
    loop = asyncio.new_event_loop()
    loop.set_default_executor(futures.ThreadPoolExecutor(max_workers=_PARALLEL))
    loop.set_exception_handler(lambda *_: None)  # a failed program leaves Outputs that nobody will read
    try:
        with warnings.catch_warnings():
            # SDK modules announce deprecated classes when they are loaded; using one is logged, and tests see that.
            warnings.filterwarnings("ignore", r"\S+ has been deprecated in favor of", DeprecationWarning)
            loop.run_until_complete(run_in_stack(program))
    except Exception:  # noqa: BLE001 (whatever a program raises is the result of this run)
        return traceback.format_exc()
    finally:
        loop.run_until_complete(_settle(asyncio.all_tasks(loop)))
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    return ""


async def _settle(tasks: set[asyncio.Task[Any]]) -> None:
    """End what a failed program left behind, whatever it says to that."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Recorder:
    """What the two services share; the engine calls them from many threads."""

    def __init__(self, *, project: str, stack: str, dry_run: bool, computed: Mapping[str, Computed]) -> None:
        self.project, self.stack, self.dry_run, self.computed = project, stack, dry_run, computed
        self.lock = threading.Lock()
        self.resources: dict[str, Registered] = {}
        self.invokes: list[str] = []
        self.logs: list[str] = []
        self.errors: list[str] = []

    def urn(self, token: str, name: str, parent: str) -> str:
        """Return the URN as the engine forms it: the types of all parents but the stack, then the resource's own."""
        chain = parent.split("::")[2] + "$" if parent and STACK_TYPE not in parent.split("::")[2] else ""
        return f"urn:pulumi:{self.stack}::{self.project}::{chain}{token}::{name}"

    def register(self, resource: Registered) -> None:
        """Keep a resource; a second one with its URN is the program's error, as it is the engine's."""
        with self.lock:
            if resource.urn in self.resources:
                self.errors.append(f"duplicate resource URN {resource.urn}")
            self.resources[resource.urn] = resource

    def outputs_of(self, resource: Registered) -> dict[str, Any]:
        """Return what the cloud would answer."""
        rule = self.computed.get(resource.type, lambda *_: {})
        added = dict(rule(resource.name, resource.inputs))
        outputs = _merge(resource.inputs, _all_unknown(added) if self.dry_run else added)
        if resource.type.startswith("kubernetes:"):
            outputs.setdefault("metadata", {})  # every object has one, and it is None otherwise
        return outputs

    def result(self, error: str) -> Recorded:
        """Return the record of the run."""
        resources = tuple(self.resources[urn] for urn in sorted(self.resources))
        roots = [resource for resource in resources if resource.type == STACK_TYPE]
        outputs = roots[0].outputs if roots and roots[0].outputs else {}
        error = "\n".join(filter(None, (error, *self.errors)))
        return Recorded(resources, outputs, tuple(self.invokes), tuple(self.logs), error)


class _Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """The half of the engine that resources are registered with."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Claim what the real engine claims, but for transforms and hooks, which need a call back into the program."""
        recorder = self._recorder
        return resource_pb2.DeploymentInfo(
            project=recorder.project, stack=recorder.stack, dryRun=recorder.dry_run, supportedFeatures=_FEATURES
        )

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Record a resource and answer with its outputs."""
        recorder = self._recorder
        resource = _registered(request, recorder.urn(request.type, request.name, request.parent))
        recorder.register(resource)
        outputs = recorder.outputs_of(resource) if request.custom else dict(resource.inputs)
        known_id = outputs.pop("id", None) if request.custom else None
        identifier = "" if recorder.dry_run or not request.custom else str(known_id or f"{request.name}-id")
        return resource_pb2.RegisterResourceResponse(
            urn=resource.urn, id=identifier, object=json_format.ParseDict(_wire(outputs), struct_pb2.Struct())
        )

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Record what a component or the stack puts out."""
        with self._recorder.lock:
            resource = self._recorder.resources[request.urn]
            self._recorder.resources[request.urn] = replace(resource, outputs=_plain(_struct(request.outputs)))
        return empty_pb2.Empty()

    def ReadResource(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Refuse: a program of ours reads nothing that it does not own."""
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"the program reads {request.type} {request.id}")

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Record and refuse: the program is a pure function and asks no provider anything."""
        with self._recorder.lock:
            self._recorder.invokes.append(request.tok)
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"the program invokes {request.tok}")

    def RegisterPackage(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Answer with a reference to the package."""
        return resource_pb2.RegisterPackageResponse(ref=request.name)

    def SignalAndWaitForShutdown(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Let the program end."""
        return empty_pb2.Empty()


class _Engine(engine_pb2_grpc.EngineServicer):
    """The half of the engine that takes log lines."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder
        self._root = ""

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Keep a log line."""
        severity = engine_pb2.LogSeverity.Name(request.severity).lower()
        with self._recorder.lock:
            self._recorder.logs.append(f"{severity}: {request.message}")
        return empty_pb2.Empty()

    def SetRootResource(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Keep the stack's URN."""
        self._root = request.urn
        return engine_pb2.SetRootResourceResponse()

    def GetRootResource(self, request: Any, context: Any) -> Any:  # noqa: N802 (gRPC's name)
        """Return the stack's URN."""
        return engine_pb2.GetRootResourceResponse(urn=self._root)


def _registered(request: Any, urn: str) -> Registered:
    timeouts = request.customTimeouts
    options = Options(
        protect=request.protect if request.HasField("protect") else None,
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        deleted_with=request.deletedWith,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        additional_secret_outputs=tuple(request.additionalSecretOutputs),
        aliases=tuple(alias.urn or alias.spec.name for alias in request.aliases),
        version=request.version,
        timeouts={name: value for name in ("create", "update", "delete") if (value := getattr(timeouts, name))},
    )
    return Registered(
        type=request.type,
        name=request.name,
        urn=urn,
        parent=request.parent,
        custom=request.custom,
        inputs=_plain(_struct(request.object)),
        provider=request.provider.rpartition("::")[0],
        providers={name: reference.rpartition("::")[0] for name, reference in sorted(request.providers.items())},
        dependencies=tuple(sorted(request.dependencies)),
        property_dependencies={
            name: tuple(sorted(urns.urns)) for name, urns in sorted(request.propertyDependencies.items()) if urns.urns
        },
        options=options,
    )


def _struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    return dict(json_format.MessageToDict(struct))


def _plain(value: Any) -> Any:
    """Read the wire format: unknowns, secrets, references and whole numbers."""
    match value:
        case list():
            return [_plain(item) for item in value]
        case dict():
            return _special(value) if _SIGNATURE in value else {key: _plain(item) for key, item in value.items()}
        case float():
            return int(value) if value.is_integer() else value
        case _:
            return UNKNOWN if value == _UNKNOWN_TEXT else value


def _special(value: dict[str, Any]) -> Any:
    """Read a value that the wire format marks: a secret, a reference to a resource, or an output."""
    if value[_SIGNATURE] == _RESOURCE:
        return value["urn"]
    inner = _plain(value["value"]) if "value" in value else UNKNOWN
    secret = value[_SIGNATURE] == _SECRET or (value[_SIGNATURE] == _OUTPUT and value.get("secret"))
    return Secret(inner) if secret else inner


def _wire(value: Any) -> Any:
    """Write the wire format, the reverse of ``_plain``."""
    match value:
        case Unknown():
            return _UNKNOWN_TEXT
        case Secret(inner):
            return {_SIGNATURE: _SECRET, "value": _wire(inner)}
        case list() | tuple():
            return [_wire(item) for item in value]
        case Mapping():
            return {key: _wire(item) for key, item in value.items()}
        case _:
            return value


def _merge(base: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in added.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def _all_unknown(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _all_unknown(item) if isinstance(item, Mapping) else UNKNOWN for key, item in value.items()}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf of recorded inputs with its path (``spec.pools[0].name``); a Secret is a leaf."""
    match value:
        case Mapping():
            for key, item in value.items():
                yield from leaves(item, f"{path}.{key}" if path else str(key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from leaves(item, f"{path}[{index}]")
        case _:
            yield path, value
