"""The pack as the engine speaks to it: the analyzer protocol, served on a loopback port.

The protocol is spoken directly and not through Pulumi's authoring library, for two reasons (decision 0003). A stack
rule there sees outputs only, and in the preview of a cluster that does not exist yet the objects on it have none, so
every rule would pass or fail on nothing; here the inputs, which the engine shows resource by resource before, are kept
for that. And there the whole stack is decoded anew for every rule; here it is decoded once, where a rule looks.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from policies.finding import Finding, judge
from policies.pack import NAME, RULES
from policies.resources import Resource, Stack
from policies.rule import Rule, Severity
from policies.wire import Bag

VERSION: Final = "0.1.0"
"""Shown where the file beside the pack says no version."""

_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # bytes; the engine's own limit
_LIMITS: Final = (
    ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
    ("grpc.max_send_message_length", _LARGEST_MESSAGE),
)
_PARENT_POLL: Final = 0.5  # seconds
_SEVERITIES: Final[dict[Severity, Any]] = {
    "low": analyzer_pb2.POLICY_SEVERITY_LOW,
    "medium": analyzer_pb2.POLICY_SEVERITY_MEDIUM,
    "high": analyzer_pb2.POLICY_SEVERITY_HIGH,
    "critical": analyzer_pb2.POLICY_SEVERITY_CRITICAL,
}


@dataclass(slots=True)
class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """Answers one engine. Every rule is mandatory unless the engine was given a configuration that says otherwise."""

    rules: tuple[Rule, ...] = RULES
    _inputs: dict[str, Bag] = field(default_factory=dict)
    _settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    _levels: dict[str, Any] = field(default_factory=dict)

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Meet the engine."""
        del request, context
        return analyzer_pb2.AnalyzerHandshakeResponse()

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """List the rules."""
        del request, context
        return analyzer_pb2.AnalyzerInfo(
            name=NAME,
            displayName="Berth",
            version=VERSION,
            supportsConfig=True,
            policies=[_info(rule) for rule in self.rules],
        )

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Say the version."""
        del request, context
        return plugin_pb2.PluginInfo(version=VERSION)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Take each rule's parameters and level."""
        del context
        for name, config in request.policyConfig.items():
            self._settings[name] = json_format.MessageToDict(config.properties)
            self._levels[name] = config.enforcementLevel
        return empty_pb2.Empty()

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Take what the engine says of the stack; no rule depends on it."""
        del request, context
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Keep a resource's inputs; no rule judges a resource by itself."""
        del context
        self._inputs[request.urn] = Bag(request.properties)
        return analyzer_pb2.AnalyzeResponse()

    def Remediate(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Change nothing: what is wrong is said, never repaired in silence."""
        del request, context
        return analyzer_pb2.RemediateResponse()

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Judge the whole stack by every rule that is not switched off."""
        del context
        rules = [rule for rule in self.rules if self._level(rule) != analyzer_pb2.DISABLED]
        findings = judge(Stack(self._resources(request)), rules, self._settings)
        return analyzer_pb2.AnalyzeResponse(diagnostics=[self._diagnostic(finding) for finding in findings])

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Go on: no call takes long, and the engine ends the process itself."""
        del request, context
        return empty_pb2.Empty()

    def _level(self, rule: Rule) -> Any:
        return self._levels.get(rule.name, analyzer_pb2.MANDATORY)

    def _resources(self, request: Any) -> Iterator[Resource]:
        for each in request.resources:
            yield Resource(
                type=each.type,
                name=each.name,
                urn=each.urn,
                props=Bag(each.properties),
                inputs=self._inputs.get(each.urn),
                parent=each.parent,
                provider=each.provider.urn if each.HasField("provider") else "",
            )

    def _diagnostic(self, finding: Finding) -> Any:
        rule, message, level = finding.rule, finding.text, self._level(finding.rule)
        if finding.deferred:
            # The words by which the engine's own packs say that a rule could not run.
            message = f"can't run policy '{rule.name}' from policy pack '{NAME}@v{VERSION}' during preview: {message}"
            level = analyzer_pb2.ADVISORY
        elif level == analyzer_pb2.REMEDIATE:
            level = analyzer_pb2.MANDATORY
        return analyzer_pb2.AnalyzeDiagnostic(
            policyName=rule.name,
            policyPackName=NAME,
            policyPackVersion=VERSION,
            description=rule.description,
            message=message,
            enforcementLevel=level,
            severity=_SEVERITIES[rule.severity],
            urn=finding.urn,
        )


def _info(rule: Rule) -> Any:
    info = analyzer_pb2.PolicyInfo(
        name=rule.name,
        description=rule.description,
        enforcementLevel=analyzer_pb2.MANDATORY,
        policy_type=analyzer_pb2.POLICY_TYPE_STACK,
        severity=_SEVERITIES[rule.severity],
        remediation_steps=rule.remediation,
    )
    if rule.config:
        info.configSchema.properties.update(dict(rule.config))
    return info


def serve() -> None:
    """Serve the pack until the engine ends it, or has ended itself.

    The engine ends a plugin by an interrupt, and waits five seconds for one that does not go. One from the keyboard
    does not come here: the engine gives every plugin a process group of its own.
    """
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=_LIMITS)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    parent = os.getppid()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not done.wait(_PARENT_POLL) and os.getppid() == parent:
        pass
    server.stop(grace=None)
    os._exit(0)  # nothing is left to write, and taking the interpreter down costs more than a rule
