"""Placing simulated providers, and the program as the engine starts it: a process that prints a port and serves."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from automation.rehearsal.cloud import SimulatedCloud
from automation.rehearsal.install import MARKER, Backing, install
from components.errors import DriverError, MixedState
from tests.support.simulated import VPC, connected

AWS = "plugins/resource-aws-v7.51.1/pulumi-resource-aws"
KUBERNETES = "plugins/resource-kubernetes-v4.34.2/pulumi-resource-kubernetes"
HERE = Path(sys.executable)


@pytest.fixture
def home(rules_folder: Path, tmp_path: Path) -> Path:
    """Install into a home of the test's own, with the rules that are derived already."""
    home = tmp_path / "home"
    install(home, interpreter=HERE, database=tmp_path / "cloud.db", rules=rules_folder)
    return home


@contextmanager
def started(launcher: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Start a provider as the engine does; gives the process and its address."""
    process = subprocess.Popen(
        [launcher, "127.0.0.1:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=launcher.parent
    )
    assert process.stdout is not None
    try:
        yield process, f"127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.communicate()


def test_launchers_stand_where_the_engine_looks(home: Path) -> None:
    """At the versions of the installed SDKs, executable, with a mark that says what they are."""
    for launcher in (home / AWS, home / KUBERNETES):
        assert launcher.stat().st_mode & 0o777 == 0o755
        marker = json.loads((launcher.parent / MARKER).read_text())
        assert marker["simulated"] is True
        assert launcher.parent.name == f"resource-{marker['package']}-v{marker['version']}"


def test_a_backed_home_has_the_front_of_the_real_kubernetes_provider(rules_folder: Path, tmp_path: Path) -> None:
    """Beside simulated clouds that know the keeper; the real program itself lies elsewhere."""
    real = tmp_path / "tools" / "pulumi-resource-kubernetes"
    backing = Backing(tmp_path / "backing.json", real, "4.25.0")
    home = tmp_path / "home"
    install(home, interpreter=HERE, database=tmp_path / "cloud.db", rules=rules_folder, backing=backing)
    front, aws = ((home / each).parent for each in (KUBERNETES, AWS))
    said = json.loads((front / MARKER).read_text())
    assert (said["provider"], said["backing"]) == (str(real), str(backing.record))
    assert said["version"] == f"{front.name.rpartition('-v')[2]}+backed.4.25.0"
    assert "automation.rehearsal.backing.provider" in (home / KUBERNETES).read_text()
    assert json.loads((aws / MARKER).read_text())["backing"] == str(backing.record)
    assert "automation.rehearsal.provider.program" in (home / AWS).read_text()
    install(home, interpreter=HERE, database=tmp_path / "cloud.db", rules=rules_folder, backing=backing)


def test_installing_again_changes_nothing(home: Path, rules_folder: Path, tmp_path: Path) -> None:
    """What is right already is left alone; another database is taken over."""

    def stamps() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in sorted(home.rglob("*")) if path.is_file()}

    before = stamps()
    install(home, interpreter=HERE, database=tmp_path / "cloud.db", rules=rules_folder)
    assert stamps() == before
    install(home, interpreter=HERE, database=tmp_path / "other.db", rules=rules_folder)
    assert "other.db" in (home / AWS).with_name(MARKER).read_text()


def test_the_program_serves_the_protocol(home: Path, tmp_path: Path) -> None:
    """It prints a port first, answers, writes the cloud's file, and ends quietly on a signal."""
    with started(home / AWS) as (process, address):
        with connected(address) as provider:
            assert provider.version() == "7.51.1+simulated"
            provider.configure(region="us-east-1").create(VPC, "net", {"cidrBlock": "10.0.0.0/16"})
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    assert len(SimulatedCloud(tmp_path / "cloud.db").resources()) == 1


def test_a_long_path_to_python_goes_through_the_shell(rules_folder: Path, tmp_path: Path) -> None:
    """A shebang line has a limit; beyond it the launcher is a shell script first."""
    deep = tmp_path / ("deep " + "d" * 120)
    deep.mkdir()
    interpreter = deep / "python's"
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    home = tmp_path / "home"
    install(home, interpreter=interpreter, database=tmp_path / "cloud.db", rules=rules_folder)
    assert (home / AWS).read_text().startswith("#!/bin/sh\n")
    with started(home / AWS) as (_, address), connected(address) as provider:
        assert provider.version() == "7.51.1+simulated"


def test_the_program_imports_no_sdk(home: Path) -> None:
    """Start-up stays short only as long as neither the SDK nor a cloud's classes are imported."""
    script = (
        "import sys\n"
        "from components.protocol_only import leave_sdk_out\n"
        "leave_sdk_out()\n"
        "import automation.rehearsal.provider.program\n"
        "heavy = ('pulumi_', 'pulumi.output', 'pulumi.resource', 'yaml', 'pydantic', 'components.')\n"
        "print([name for name in sys.modules if name.startswith(heavy) and name != 'components.protocol_only'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is no child, as Linux can")
def test_a_provider_ends_with_its_engine(home: Path) -> None:
    """When the engine is killed nobody says goodbye; the provider notices and leaves."""
    script = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([{str(home / AWS)!r}, 'x'], stdout=subprocess.PIPE, text=True)\n"
        "p.stdout.readline()\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    engine = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    provider = os.pidfd_open(int(engine.stdout.readline()))
    try:
        engine.kill()
        engine.communicate()
        ended, _, _ = select.select([provider], [], [], 60)
        assert ended
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(provider, signal.SIGKILL)
        os.close(provider)


def test_rules_that_cannot_be_derived_are_an_error(tmp_path: Path) -> None:
    """An interpreter without the SDK, for one, is named with what it said."""
    with pytest.raises(DriverError, match="rules of the simulated aws provider cannot be derived") as caught:
        install(tmp_path, interpreter=Path("/bin/false"), database=tmp_path / "cloud.db")
    assert caught.value.help == "berth doctor"


def test_a_home_with_a_real_provider_is_refused(tmp_path: Path) -> None:
    """What can reach a real cloud does not stand beside what pretends, and is not overwritten either."""
    real = tmp_path / "plugins" / "resource-kubernetes-v4.34.2"
    real.mkdir(parents=True)
    (real / "pulumi-resource-kubernetes").write_text("real")
    with pytest.raises(MixedState, match=r"resource-kubernetes-v4\.34\.2 is a real provider"):
        install(tmp_path, interpreter=HERE, database=tmp_path / "cloud.db")
    assert [path.name for path in (tmp_path / "plugins").iterdir()] == [real.name]


def test_clouds_without_an_sdk_are_left_out(tmp_path: Path) -> None:
    """A table alone places nothing: there is no version that anybody would ask for."""
    (tmp_path / "nowhere.json").write_text('{"style": "catalog", "types": {}}')
    install(tmp_path / "home", interpreter=HERE, database=tmp_path / "cloud.db", data=tmp_path)
    assert not (tmp_path / "home").exists()


def test_adding_a_cloud_is_a_matter_of_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table and an SDK are enough: names, uniqueness, replacement and outputs of a cloud nobody wrote code for."""
    site = tmp_path / "site"
    _write_sdk(site)
    tables = tmp_path / "tables"
    tables.mkdir()
    table = {
        "style": "catalog",
        "place": {"property": "zone", "missing": "no zone"},
        "types": {
            "demo:index/box:Box": {
                "id": "box-{hex:6}",
                "name": {
                    "property": "name",
                    "auto": True,
                    "max": 12,
                    "pattern": "[a-z0-9-]+",
                    "wants": "small letters",
                },
                "unique": "{name}",
                "taken": "box {name} is there already",
                "computed": {"address": "{name}.{region}.demo.test"},
                "immutable": {"zone": "the cloud's documentation"},
            }
        },
    }
    (tables / "demo.json").write_text(json.dumps(table))
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", f"{site}:{Path.cwd()}")
    home = tmp_path / "home"
    install(home, interpreter=HERE, database=tmp_path / "cloud.db", data=tables)
    with (
        started(home / "plugins/resource-demo-v0.3.0/pulumi-resource-demo") as (_, address),
        connected(address) as demo,
    ):
        demo.configure(zone="north")
        inputs, failures = demo.check("demo:index/box:Box", "b", {"size": 1})
        assert failures == []
        assert demo.check("demo:index/box:Box", "b", {"size": "1"})[1] == [
            ("size", "expected a whole number, got a string")
        ]
        id_, outputs = demo.create("demo:index/box:Box", "b", inputs)
        assert id_.startswith("sim-box-")
        assert outputs["address"] == f"{inputs['name']}.north.demo.test"
        assert demo.diff("demo:index/box:Box", "b", {"zone": "a"}, {"zone": "b"}).replaces == ("zone",)


def _write_sdk(site: Path) -> None:
    """Write a tiny SDK package in the form that Pulumi generates."""
    package = site / "pulumi_demo"
    package.mkdir(parents=True)
    (site / "pulumi_demo-0.3.0.dist-info").mkdir()
    (site / "pulumi_demo-0.3.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: pulumi-demo\nVersion: 0.3.0\n"
    )
    (package / "pulumi-plugin.json").write_text('{"resource": true, "name": "demo", "version": "0.3.0"}')
    modules = [{"pkg": "demo", "mod": "index/box", "fqn": "pulumi_demo", "classes": {"demo:index/box:Box": "Box"}}]
    (package / "__init__.py").write_text(
        f'from .box import *\nREGISTERED = dict(resource_modules="""{json.dumps(modules)}""")\n'
    )
    (package / "box.py").write_text(
        "from typing import Optional\n"
        "import pulumi\n"
        "@pulumi.input_type\n"
        "class BoxArgs:\n"
        "    def __init__(self, *, size: pulumi.Input[int], name: Optional[pulumi.Input[str]] = None,\n"
        "                 zone: Optional[pulumi.Input[str]] = None): ...\n"
        "    @property\n    @pulumi.getter\n    def size(self) -> pulumi.Input[int]: ...\n"
        "    @property\n    @pulumi.getter\n    def name(self) -> Optional[pulumi.Input[str]]: ...\n"
        "    @property\n    @pulumi.getter\n    def zone(self) -> Optional[pulumi.Input[str]]: ...\n"
        "class Box(pulumi.CustomResource):\n"
        "    @property\n    @pulumi.getter\n    def address(self) -> pulumi.Output[str]: ...\n"
        "    @property\n    @pulumi.getter\n    def name(self) -> pulumi.Output[str]: ...\n"
    )
