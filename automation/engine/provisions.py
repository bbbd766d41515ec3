"""What a run on real clouds needs beside the engine: provider plugins, and programs that kubeconfigs run.

It is looked for before anything is previewed, and everything that is missing is named at once. A plugin that is not
there is installed, as the engine would do later, after a plan was shown that cannot be carried out. A simulated run
needs none of it, and is never what a run becomes for lack of it.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from automation.engine.event_json import plain
from automation.engine.interruption import Interruption
from automation.engine.language_host.packages import Plugin, required_plugins
from automation.engine.process import CommandResult, run_command
from automation.engine.toolchain.requirements import requirements
from components.errors import Cancelled, ToolchainError

_SWITCHED_OFF: Final = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
_AMBIENT: Final = "PULUMI_IGNORE_AMBIENT_PLUGINS"
_TRUE: Final = frozenset({"1", "t", "true"})
_CAUSE: Final = re.compile(r"(?:warning|error): (?:Error downloading plugin: )?(.*)")


class Provisions:
    """The plugin cache and the PATH of an engine's environment."""

    def __init__(
        self,
        pulumi: Path,
        *,
        environment: Mapping[str, str],
        interruption: Interruption,
        progress: Callable[[str], None],
        plugins: Callable[[], tuple[Plugin, ...]] = required_plugins,
    ) -> None:
        self._pulumi = pulumi
        self._environment = environment
        self._interruption = interruption
        self._progress = progress
        self._plugins = plugins
        self._home = Path(environment["PULUMI_HOME"])

    def require(self, packages: Collection[str], programs: Mapping[str, str]) -> None:
        """See that the plugins of these packages and these programs (with what each is for) are there.

        Raises ToolchainError with all that cannot be had, and how to get it.
        """
        missing = [*self._missing_plugins(packages), *self._missing_programs(programs)]
        if missing:
            raise ToolchainError(
                "\n  ".join(["what this environment's clouds need cannot be had", *missing]),
                consequence="Nothing was changed. A run is simulated only when --simulated asks for it.",
                help="berth doctor",
            )

    def _missing_plugins(self, packages: Collection[str]) -> Iterator[str]:
        known = {plugin.name: plugin for plugin in self._plugins()}
        for name in sorted(packages):
            plugin = known.get(name)
            if plugin is None:
                yield f"SDK pulumi-{name}: not installed; install {_extra(name)}"
            elif not self._has(plugin) and (reason := self._install(plugin)):
                yield (
                    f"plugin {name} {plugin.version}: {reason}; where it can be downloaded:"
                    f' eval "$(berth env)" && {_command(plugin)}; else fetch its archive and add --file ARCHIVE'
                )

    def _missing_programs(self, programs: Mapping[str, str]) -> Iterator[str]:
        for name, why in sorted(programs.items()):
            if shutil.which(name, path=self._environment.get("PATH", "")) is None:
                yield f"program {name}: not on PATH; {why}"

    def _has(self, plugin: Plugin) -> bool:
        if plugin.is_in(self._home):
            return True
        ambient = self._environment.get(_AMBIENT, "").lower() not in _TRUE
        return (
            ambient and shutil.which(f"pulumi-resource-{plugin.name}", path=self._environment.get("PATH")) is not None
        )

    def _install(self, plugin: Plugin) -> str:
        """Install a plugin; return why it cannot be had, empty when it is there."""
        if self._environment.get(_SWITCHED_OFF, "").lower() in _TRUE:
            return f"not in {self._home}, and {_SWITCHED_OFF} is set"
        self._progress(f"installing plugin {plugin.name} {plugin.version}")
        arguments = [*_arguments(plugin), "--non-interactive"]
        try:
            result = run_command(
                self._pulumi, arguments, cwd=Path.cwd(), env=self._environment, interruption=self._interruption
            )
        except OSError as error:
            return f"the Pulumi CLI cannot be started: {error.strerror or error}"
        if result.requests:
            raise Cancelled(f"stopped while installing plugin {plugin.name}", consequence="Nothing was changed.")
        return "" if result.code == 0 else _why(result)


def _arguments(plugin: Plugin) -> list[str]:
    server = ["--server", plugin.server] if plugin.server else []
    return ["plugin", "install", "resource", plugin.name, plugin.version, *server]


def _command(plugin: Plugin) -> str:
    return " ".join(["pulumi", *_arguments(plugin)])


def _extra(name: str) -> str:
    wanted = requirements("berth").get(f"pulumi-{name}")
    if wanted is None:
        return f"pulumi-{name}"
    return f"berth[{wanted.extra}]" if wanted.extra else str(wanted)


def _why(result: CommandResult) -> str:
    """Return the cause in a line: the last one that names an address, else the last that says anything."""
    causes = [match[1] for line in plain(result.stderr).splitlines() if (match := _CAUSE.match(line.strip()))]
    addressed = [cause for cause in causes if "://" in cause]
    return (addressed or causes or [f"installing it ended with exit code {result.code}"])[-1]
