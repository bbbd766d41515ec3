"""Answers the calls of the CLI to a language host; the work is in ``program``, ``plugin`` and ``packages``."""
# ruff: noqa: ARG002, N802 - the names and arguments are those of the generated base class

import platform
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from automation.engine.language_host.packages import installed_packages, required_plugins
from automation.engine.language_host.plugin import run_plugin
from automation.engine.language_host.program import run_program
from automation.engine.toolchain.versions import VERSION


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """The Python language host."""

    def __init__(self, *, engine_address: str) -> None:
        self._engine_address = engine_address

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Agree to be attached to, as ``PULUMI_DEBUG_LANGUAGES`` does; tells where the engine is."""
        self._engine_address = request.engine_address or self._engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Say the version of the CLI that the host goes with."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetRequiredPackages(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Name the provider plugins of the SDKs that are installed."""
        packages = [
            plugin_pb2.PackageDependency(
                name=plugin.name, kind="resource", version=plugin.version, server=plugin.server
            )
            for plugin in required_plugins()
        ]
        return language_pb2.GetRequiredPackagesResponse(packages=packages)

    def GetRequiredPlugins(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer the same in the words of older CLIs."""
        plugins = [
            plugin_pb2.PluginDependency(name=plugin.name, kind="resource", version=plugin.version, server=plugin.server)
            for plugin in required_plugins()
        ]
        return language_pb2.GetRequiredPluginsResponse(plugins=plugins)

    def Run(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Run a program to its end."""
        return run_program(request, engine_address=self._engine_address)

    def RunPlugin(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """Run a provider or a policy pack that is a folder; streams what it prints and its exit code."""
        return run_plugin(request, context)

    def InstallDependencies(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """Install nothing: programs run in Berth's own environment."""
        text = f"Nothing to install: Python programs run in the environment of {sys.executable}.\n"
        yield language_pb2.InstallDependenciesResponse(stdout=text.encode())

    def RuntimeOptionsPrompts(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Ask nothing: there is one environment."""
        return language_pb2.RuntimeOptionsResponse()

    def Template(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Leave a new project as its template is."""
        return language_pb2.TemplateResponse()

    def About(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Say which interpreter runs the programs."""
        return language_pb2.AboutResponse(
            executable=sys.executable, version=platform.python_version(), metadata={"host": "berth"}
        )

    def GetProgramDependencies(self, request: Any, context: grpc.ServicerContext) -> Any:
        """List the installed packages; without the ones that others pulled in, unless they are asked for."""
        packages = installed_packages(transitive=request.transitiveDependencies)
        dependencies = [language_pb2.DependencyInfo(name=name, version=version) for name, version in packages]
        return language_pb2.GetProgramDependenciesResponse(dependencies=dependencies)

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Acknowledge that the end is near; the interrupt that follows ends the process."""
        return empty_pb2.Empty()

    def GenerateProject(self, request: Any, context: grpc.ServicerContext) -> NoReturn:
        """Refuse: no code is generated here."""
        _refuse(context, "generate projects")

    def GenerateProgram(self, request: Any, context: grpc.ServicerContext) -> NoReturn:
        """Refuse: no code is generated here."""
        _refuse(context, "generate programs")

    def GeneratePackage(self, request: Any, context: grpc.ServicerContext) -> NoReturn:
        """Refuse: no code is generated here."""
        _refuse(context, "generate SDKs")

    def Pack(self, request: Any, context: grpc.ServicerContext) -> NoReturn:
        """Refuse: nothing is packaged here."""
        _refuse(context, "build packages")

    def Link(self, request: Any, context: grpc.ServicerContext) -> NoReturn:
        """Refuse: the environment is not changed here."""
        _refuse(context, "link packages")


def _refuse(context: grpc.ServicerContext, what: str) -> NoReturn:
    context.abort(
        grpc.StatusCode.UNIMPLEMENTED,
        f"Berth's Python language host cannot {what}; use the official Pulumi CLI for that",
    )
    raise AssertionError  # abort() has raised
