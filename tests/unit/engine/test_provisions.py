"""What real clouds need is there before anything is previewed, or one error names all that cannot be had."""

from collections.abc import Callable
from pathlib import Path

import pytest

from automation.engine.interruption import Interruption
from automation.engine.language_host.packages import Plugin
from automation.engine.provisions import Provisions
from components.errors import Cancelled, ToolchainError

AWS, KUBERNETES = Plugin("aws", "7.51.1"), Plugin("kubernetes", "4.34.2")
THIRD = Plugin("vultr", "2.27.1", "https://plugins.example.test")
LOGS_IN = {"aws": "kubeconfigs run it"}
NO_HOST = """\
case "$*" in *aws*) ;; *) mkdir -p "$PULUMI_HOME/asked"; echo "$*" >> "$PULUMI_HOME/asked/log"; exit 0;; esac
echo 'warning: Error downloading plugin: Get "https://get.test/aws.tar.gz": dial tcp: no such host' >&2
echo 'error: [resource plugin aws-7.51.1] downloading from : failed all 5 attempts' >&2
exit 1"""


class Machine:
    """A machine with a plugin cache and a PATH of its own."""

    def __init__(self, root: Path) -> None:
        self.home, self.path = root / "home", root / "path"
        self.path.mkdir(parents=True)
        self.home.mkdir()
        self.said: list[str] = []
        self.interruption = Interruption()
        self.pulumi = self.program("pulumi", "exit 3")

    def program(self, name: str, script: str = "") -> Path:
        """Put a program on PATH."""
        file = self.path / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    def installed(self, plugin: Plugin) -> Path:
        """Install a plugin."""
        file = plugin.file_in(self.home)
        file.parent.mkdir(parents=True)
        file.touch()
        return file

    def provisions(self, *plugins: Plugin, **variables: str) -> Provisions:
        """Return what is under test; the SDKs ask for ``plugins``."""
        environment = {"PULUMI_HOME": str(self.home), "PATH": f"{self.path}:/usr/bin:/bin", **variables}
        return Provisions(
            self.pulumi,
            environment={"PULUMI_IGNORE_AMBIENT_PLUGINS": "true", **environment},
            interruption=self.interruption,
            progress=self.said.append,
            plugins=lambda: plugins,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Give a machine with nothing on it but a CLI that does nothing."""
    return Machine(tmp_path)


def refused(require: Callable[[], None]) -> ToolchainError:
    """Return the one error."""
    with pytest.raises(ToolchainError) as caught:
        require()
    assert caught.value.consequence.startswith("Nothing was changed.")
    return caught.value


def test_what_is_installed_needs_no_word(machine: Machine) -> None:
    """The CLI is not even started."""
    machine.installed(AWS)
    machine.installed(KUBERNETES)
    machine.program("aws")
    machine.provisions(AWS, KUBERNETES).require({"aws", "kubernetes"}, LOGS_IN)
    assert machine.said == []


def test_a_plugin_that_is_not_there_is_installed(machine: Machine) -> None:
    """From the server that its SDK names; others are left alone."""
    machine.program("pulumi", 'echo "$*" >> "$PULUMI_HOME/log"')
    machine.provisions(AWS, KUBERNETES, THIRD).require({"kubernetes", "vultr"}, {})
    assert (machine.home / "log").read_text().splitlines() == [
        "plugin install resource kubernetes 4.34.2 --non-interactive",
        "plugin install resource vultr 2.27.1 --server https://plugins.example.test --non-interactive",
    ]
    assert machine.said == ["installing plugin kubernetes 4.34.2", "installing plugin vultr 2.27.1"]


def test_all_that_cannot_be_had_is_named_at_once(machine: Machine) -> None:
    """Plugin, SDK and program, each with the way to get it; the address that was not reached is the reason."""
    machine.program("pulumi", NO_HOST)
    error = refused(lambda: machine.provisions(AWS, KUBERNETES).require({"aws", "kubernetes", "nebius"}, LOGS_IN))
    head, *lines = error.summary.splitlines()
    assert head == "what this environment's clouds need cannot be had"
    assert [line.split(":")[0].strip() for line in lines] == [
        "plugin aws 7.51.1",
        "SDK pulumi-nebius",
        "program aws",
    ]
    assert 'Get "https://get.test/aws.tar.gz": dial tcp: no such host' in lines[0]
    assert "pulumi plugin install resource aws 7.51.1" in lines[0]
    assert lines[2].endswith("not on PATH; kubeconfigs run it")
    assert (machine.home / "asked" / "log").read_text().startswith("plugin install resource kubernetes")
    assert "--simulated" in error.consequence, "it never becomes a simulated run by itself"


def test_downloads_that_are_switched_off_are_not_tried(machine: Machine) -> None:
    """An offline machine says so at once."""
    provisions = machine.provisions(AWS, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true")
    error = refused(lambda: provisions.require({"aws"}, {}))
    assert "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION is set" in error.summary
    assert machine.said == []


def test_a_plugin_that_was_only_half_unpacked_is_not_there(machine: Machine) -> None:
    """The engine would refuse it later."""
    file = machine.installed(AWS)
    file.parent.with_name(f"{file.parent.name}.partial").touch()
    error = refused(lambda: machine.provisions(AWS).require({"aws"}, {}))
    assert "ended with exit code 3" in error.summary


@pytest.mark.parametrize(("ignored", "found"), [("false", True), ("true", False)])
def test_a_plugin_on_path_counts_where_the_engine_takes_it(machine: Machine, ignored: str, *, found: bool) -> None:
    """By default it does not, because two machines should run the same."""
    machine.program("pulumi-resource-aws")
    provisions = machine.provisions(AWS, PULUMI_IGNORE_AMBIENT_PLUGINS=ignored)
    if found:
        provisions.require({"aws"}, {})
    else:
        refused(lambda: provisions.require({"aws"}, {}))


def test_a_person_may_stop_an_installation(machine: Machine) -> None:
    """It is no missing plugin then."""
    machine.interruption.request()
    with pytest.raises(Cancelled, match="while installing plugin aws"):
        machine.provisions(AWS).require({"aws"}, {})
