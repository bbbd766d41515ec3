"""The language host with the real CLI: plain ``pulumi`` runs programs and policy packs, and everything ends quietly."""

import json
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source, Toolchain
from tests.support.plain_pulumi import PlainPulumi

pytestmark = pytest.mark.engine

needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for processes of others, as Linux can")

PROGRAM = """\
import pulumi

class Sample(pulumi.ComponentResource):
    def __init__(self, name, size):
        super().__init__("berth:index:Sample", name, {"size": size})
        self.register_outputs({"size": size})

size = pulumi.Config().get_int("size") or 2
Sample("one", size)
print("the program says", size)
pulumi.export("size", size)
"""

# Waits for the other end of a pipe that nobody opens, after it has said who it is.
WAITING = """\
import os, pathlib, pulumi
pulumi.ComponentResource("berth:index:Sample", "one", {})
pathlib.Path("../ready").write_text(str(os.getpid()))
open("../never", "rb").read()
"""

PACK = """\
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

def check(args, report):
    for resource in args.resources:
        if resource.resource_type == "berth:index:Sample" and resource.props["size"] > 2:
            report(f"size is {resource.props['size']:.0f}")

PolicyPack("sample", policies=[
    StackValidationPolicy("sample-size", "no sample is larger than 2", check, EnforcementLevel.MANDATORY),
])
"""


@pytest.fixture
def pulumi(pulumi_cli: Toolchain, tmp_path: Path) -> PlainPulumi:
    """Give plain pulumi with a stack in a project of its own."""
    plain = PlainPulumi(Layout(tmp_path / "repo"), pulumi_cli)
    plain.write(PROGRAM)
    plain("stack", "init", "dev")
    return plain


@pytest.fixture
def pack(tmp_path: Path) -> str:
    """Write a policy pack that is a folder."""
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.0.1\n")
    (folder / "__main__.py").write_text(PACK)
    return str(folder)


def test_plain_pulumi_runs_a_program(pulumi: PlainPulumi) -> None:
    """Up builds what the program says, a preview after it is empty, and what the program prints is seen."""
    out = pulumi("up", "--stack", "dev", "--yes")
    assert "the program says 2" in out
    assert "2 created" in out
    assert "2 unchanged" in pulumi("preview", "--stack", "dev", "--expect-no-changes")
    assert json.loads(pulumi("stack", "output", "--stack", "dev", "--json")) == {"size": 2}
    pulumi("destroy", "--stack", "dev", "--yes")


def test_config_and_secrets_reach_the_program(pulumi: PlainPulumi) -> None:
    """A secret stays one on its way through the host."""
    pulumi.write("import pulumi\npulumi.export('token', pulumi.Config().require_secret('token'))\n")
    pulumi("config", "set", "--stack", "dev", "--secret", "token", "sample-token-31")
    assert "sample-token-31" not in pulumi("up", "--stack", "dev", "--yes")
    out = pulumi("stack", "output", "--stack", "dev", "--json", "--show-secrets")
    assert json.loads(out) == {"token": "sample-token-31"}


def test_a_program_runs_in_its_own_folder_with_its_own_modules(pulumi: PlainPulumi) -> None:
    """As with the official host: relative paths and imports beside the program work."""
    (pulumi.program / "beside.py").write_text("WORD = 'found'\n")
    pulumi.write(
        "import pathlib, sys, beside, pulumi\n"
        "pulumi.export('word', beside.WORD)\n"
        "pulumi.export('here', str(pathlib.Path.cwd()))\n"
        "pulumi.export('root', pulumi.get_root_directory())\n"
    )
    pulumi("up", "--stack", "dev", "--yes")
    found = json.loads(pulumi("stack", "output", "--stack", "dev", "--json"))
    assert found == {"word": "found", "here": str(pulumi.program), "root": str(pulumi.layout.root)}


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        pytest.param(
            "def f():\n    raise ValueError('boom')\nf()\n", ["ValueError: boom", "line 2, in f"], id="raises"
        ),
        pytest.param("this is no Python\n", ["SyntaxError", "__main__.py"], id="does-not-compile"),
        pytest.param(
            "import pulumi\nraise pulumi.RunError('in plain words')\n", ["error: in plain words"], id="says-why"
        ),
        pytest.param("import sys\nsys.exit(3)\n", ["the program ended itself with 3"], id="exits"),
        pytest.param(
            "import pulumi\npulumi.Output.from_input(1).apply(lambda x: x.nope)\n",
            ["'int' object has no attribute 'nope'", "line 2, in <lambda>"],
            id="fails-later",
        ),
    ],
)
def test_a_program_that_fails_says_why_and_nothing_else(pulumi: PlainPulumi, source: str, shown: list[str]) -> None:
    """The traceback begins at the program; the host, the runtime and the event loop tell its author nothing."""
    pulumi.write(source)
    out = pulumi("preview", "--stack", "dev", fails=True)
    for text in shown:
        assert text in out
    for noise in ("language_host", "runpy", "asyncio", "unhandled error occurred"):
        assert noise not in out


def test_a_program_that_ends_itself_well_is_no_failure(pulumi: PlainPulumi) -> None:
    """``sys.exit()`` at the end of a script is common."""
    pulumi.write(f"{PROGRAM}\nimport sys\nsys.exit()\n")
    assert "2 to create" in pulumi("preview", "--stack", "dev")


def test_a_policy_pack_that_is_a_folder_runs(pulumi: PlainPulumi, pack: str) -> None:
    """A mandatory policy fails the preview, by what a component has registered."""
    assert "✅ sample@v0.0.1" in pulumi("preview", "--stack", "dev", "--policy-pack", pack)
    pulumi("config", "set", "--stack", "dev", "size", "4")
    out = pulumi("preview", "--stack", "dev", "--policy-pack", pack, fails=True)
    assert "sample-size" in out
    assert "size is 4" in out


def test_a_policy_pack_that_does_not_start_says_why(pulumi: PlainPulumi, pack: str) -> None:
    """What its process prints reaches the person, through the host."""
    (Path(pack) / "__main__.py").write_text("raise ValueError('no pack today')\n")
    out = pulumi("preview", "--stack", "dev", "--policy-pack", pack, fails=True)
    assert "no pack today" in out


@needs_pidfd
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_quietly(pulumi: PlainPulumi, pack: str, sent: signal.Signals) -> None:
    """The CLI says that it cancels; the host says nothing, is gone afterwards, and the lease is given back."""
    with waiting(pulumi, "--policy-pack", pack) as (process, host):
        process.send_signal(sent)
        out, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "cancel" in out
    for noise in ("Traceback", "KeyboardInterrupt", "exited prematurely"):
        assert noise not in out
    assert host.ends()
    assert pulumi.locks == []


@needs_pidfd
def test_a_killed_cli_takes_its_host_and_packs_along(pulumi: PlainPulumi, pack: str) -> None:
    """Nothing runs on after a crash; the lease stays, for the next run to find."""
    with waiting(pulumi, "--policy-pack", pack) as (process, host):
        children = [Process(pid) for pid in children_of(host.pid)]
        process.kill()
        process.communicate(timeout=60)
    assert children
    assert all(process.ends() for process in (host, *children))
    assert len(pulumi.locks) == 1


def test_a_cli_without_a_host_beside_it_finds_ours_in_the_plugin_cache(pulumi_cli: Toolchain, tmp_path: Path) -> None:
    """This is how it is with a CLI on PATH that somebody built; ambient plugins are switched off."""
    alone = tmp_path / "tools" / "pulumi"
    alone.parent.mkdir()
    shutil.copy2(pulumi_cli.pulumi, alone)
    toolchain = Toolchain(pulumi=alone, version=pulumi_cli.version, source=Source.PATH)
    plain = PlainPulumi(Layout(tmp_path / "repo"), toolchain)
    plain.write(PROGRAM)
    plain("stack", "init", "dev")
    assert "2 to create" in plain("preview", "--stack", "dev")


def test_a_simulated_shell_leaves_the_configuration_of_the_real_stack_alone(
    pulumi_cli: Toolchain, tmp_path: Path
) -> None:
    """In the checkout, whatever command is used: the stack's file of the simulation lies beside the copy."""
    plain = PlainPulumi(Layout(tmp_path / "repo"), pulumi_cli, sent=True)
    plain.write(PROGRAM)
    real = plain.layout.root / "Pulumi.dev.yaml"
    real.write_text("config:\n  sample:size: 100\n")
    plain("stack", "init", "dev")
    plain("config", "set", "--stack", "dev", "size", "5")
    assert "the program says 5" in plain("up", "--stack", "dev", "--yes")
    plain("preview", "--stack", "dev", "--expect-no-changes")
    assert real.read_text() == "config:\n  sample:size: 100\n"
    assert "sample:size" in (plain.layout.simulated_project / "Pulumi.dev.yaml").read_text()


def test_a_simulated_run_takes_no_plugin_from_path(pulumi: PlainPulumi, tmp_path: Path) -> None:
    """A provider that is not simulated is missing, and never fetched or found somewhere."""
    plugin = tmp_path / "path" / "pulumi-resource-aws"
    plugin.parent.mkdir()
    plugin.write_text("#!/bin/sh\ntouch started\nexit 1\n")
    plugin.chmod(0o755)
    pulumi.extra = {"PATH": f"{plugin.parent}{os.pathsep}{os.environ['PATH']}"}
    pulumi.write("import pulumi\npulumi.CustomResource('aws:s3/bucket:Bucket', 'one', {})\n")
    out = pulumi("preview", "--stack", "dev", fails=True)
    assert "no resource plugin 'pulumi-resource-aws' found" in out
    assert not list(tmp_path.rglob("started"))


def test_the_host_says_which_python_it_is(pulumi: PlainPulumi) -> None:
    """``pulumi about`` lists it with its packages."""
    out = pulumi("about", "--json")
    about = json.loads(out[out.index("{") :])
    assert about["runtime"]["language"] == "python"
    assert "berth" in {dependency["name"] for dependency in about["dependencies"] or []}


class Process:
    """Somebody else's process, held by a descriptor so that its end can be waited for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.descriptor = os.pidfd_open(pid)

    def ends(self) -> bool:
        """Wait for its end; false when it does not come."""
        readable, _, _ = select.select([self.descriptor], [], [], 30)
        os.close(self.descriptor)
        return bool(readable)


@contextmanager
def waiting(pulumi: PlainPulumi, *arguments: str) -> Generator[tuple[subprocess.Popen[str], Process]]:
    """Start an update whose program waits; give the CLI and the host as soon as the program runs."""
    pulumi.write(WAITING)
    for name in ("ready", "never"):
        os.mkfifo(pulumi.layout.root / name)
    # For reading and writing, so that opening it does not wait for the program.
    ready = os.open(pulumi.layout.root / "ready", os.O_RDWR)
    process = pulumi.start("up", "--stack", "dev", "--yes", "--skip-preview", *arguments)
    started = Process(process.pid)
    try:
        readable, _, _ = select.select([ready, started.descriptor], [], [], 60)
        assert ready in readable, process.communicate()[0]
        yield process, Process(int(os.read(ready, 100)))
    finally:
        os.close(ready)
        if process.poll() is None:
            process.kill()
            process.communicate()
        started.ends()


def children_of(pid: int) -> list[int]:
    """List the processes that a process has started."""
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
