"""What the doctor finds on machines that lack something."""

import json
import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from automation.engine.language_host.packages import Plugin
from automation.engine.toolchain import checks
from automation.engine.toolchain.doctor import Diagnosis, diagnose
from automation.engine.toolchain.finding import Check, Status
from automation.engine.toolchain.host import place_host
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source
from automation.engine.toolchain.versions import PULUMI

Program = Callable[..., Path]


def by_name(found: Diagnosis) -> dict[str, Check]:
    """Index the findings; a name may stand there once."""
    names = [check.name for check in found.checks]
    assert len(names) == len(set(names))
    return {check.name: check for check in found.checks}


def test_a_machine_with_everything_has_no_problem(layout: Layout, program: Program) -> None:
    """A simulated run needs a CLI with a host, Python and the SDKs."""
    pulumi = program("pulumi", "echo v3.280.0")
    place_host(layout, pulumi, Source.PATH)
    found = diagnose(layout, simulated=True, environ={"PATH": str(pulumi.parent)})
    checks_by_name = by_name(found)
    assert found.status is Status.OK, found.to_rows()
    assert "3.280.0, on PATH" in checks_by_name["Pulumi CLI"].found
    assert "Berth's" in checks_by_name["language host"].found
    assert "simulated" in checks_by_name["mode"].found
    assert checks_by_name["Go"].status is Status.OK


def test_a_machine_without_a_cli_is_told_how_to_get_one(layout: Layout, tmp_path: Path) -> None:
    """Without Go either, the second finding says what Go would be for."""
    found = by_name(diagnose(layout, simulated=True, environ={"PATH": str(tmp_path)}))
    assert found["Pulumi CLI"].status is Status.PROBLEM
    assert found["Pulumi CLI"].fix == "berth doctor --install"
    assert found["Go"].status is Status.WARNING
    assert "official download" in found["Go"].fix
    assert "language host" not in found


def test_a_cli_without_a_language_host_is_a_problem(layout: Layout, program: Program) -> None:
    """Plain ``pulumi`` would not start the program."""
    pulumi = program("pulumi", "echo v3.280.0")
    found = by_name(diagnose(layout, simulated=False, environ={"PATH": str(pulumi.parent)}))
    assert found["language host"].status is Status.PROBLEM


def test_a_variable_with_an_unknown_source_is_a_finding(layout: Layout, tmp_path: Path) -> None:
    """The doctor does not fail where a run would."""
    variables = {"PATH": str(tmp_path), "BERTH_TOOLCHAIN_SOURCES": "brew"}
    found = by_name(diagnose(layout, simulated=True, environ=variables))["Pulumi CLI"]
    assert found.status is Status.PROBLEM
    assert "brew" in found.found


@pytest.mark.parametrize(
    ("answer", "needed", "want"),
    [
        pytest.param("echo go version go1.99.0 linux/amd64", True, Status.OK, id="new-enough"),
        pytest.param("echo go version go1.20.1 linux/amd64", True, Status.WARNING, id="too-old"),
        pytest.param("echo go version go1.20.1 linux/amd64", False, Status.OK, id="too-old-but-not-needed"),
        pytest.param("exit 1", True, Status.WARNING, id="does-not-answer"),
    ],
)
def test_go_matters_only_when_the_cli_has_to_be_built(
    program: Program, answer: str, *, needed: bool, want: Status
) -> None:
    """The wanted version is the one of the wrapper module."""
    go = program("go", answer)
    check = checks.go({"PATH": f"{go.parent}:/bin"}, missing=[PULUMI] if needed else [])
    assert check.status is want
    assert "1.26" in check.want


def test_a_missing_sdk_names_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers are extras; Pulumi itself is not."""
    real = metadata.version

    def version(name: str) -> str:
        if name in ("pulumi-aws", "pulumi"):
            raise metadata.PackageNotFoundError(name)
        return "0.0.1" if name == "pulumi-kubernetes" else real(name)

    monkeypatch.setattr(metadata, "version", version)
    found = {check.name: check for check in checks.sdks()}
    assert found["SDK pulumi"].status is Status.PROBLEM
    assert (found["SDK pulumi-aws"].status, found["SDK pulumi-aws"].fix) == (Status.WARNING, "install berth[eks]")
    assert found["SDK pulumi-kubernetes"].status is Status.PROBLEM
    assert found["SDK pulumi-kubernetes"].fix.startswith('install "pulumi-kubernetes==')


def test_plugins_are_looked_for_at_the_version_the_sdk_asks_for(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the plugin cache of this kind of run."""
    monkeypatch.setattr(checks, "required_plugins", lambda: (Plugin("aws", "7.51.1"), Plugin("kubernetes", "4.34.2")))
    there = layout.home / "plugins" / "resource-aws-v7.51.1" / "pulumi-resource-aws"
    there.parent.mkdir(parents=True)
    there.touch()
    real = {check.name: check for check in checks.plugins(layout, simulated=False)}
    assert real["plugin aws"].status is Status.OK
    assert real["plugin kubernetes"].status is Status.WARNING
    assert "pulumi plugin install resource kubernetes 4.34.2" in real["plugin kubernetes"].fix
    assert {check.status for check in checks.plugins(layout, simulated=True)} == {Status.OK}


def test_a_real_plugin_in_the_simulated_cache_is_a_problem(layout: Layout) -> None:
    """A simulated provider is a script; a program of machine code is somebody's mistake."""
    folder = layout.simulated_home / "plugins" / "resource-aws-v7.51.1"
    folder.mkdir(parents=True)
    plugin = folder / "pulumi-resource-aws"
    plugin.write_bytes(b"#!/usr/bin/env python3\n")
    assert all(check.status is Status.OK for check in checks.plugins(layout, simulated=True))
    plugin.write_bytes(b"\x7fELF")
    problems = [check for check in checks.plugins(layout, simulated=True) if check.status is Status.PROBLEM]
    assert [str(folder) in check.fix for check in problems] == [True]


@pytest.mark.parametrize(
    ("variables", "want"),
    [
        pytest.param({}, [Status.PROBLEM], id="none"),
        pytest.param({"PULUMI_BACKEND_URL": "s3://state"}, [Status.OK, Status.WARNING], id="no-passphrase"),
        pytest.param(
            {"PULUMI_BACKEND_URL": "s3://state", "PULUMI_CONFIG_PASSPHRASE": ""}, [Status.OK], id="empty-passphrase"
        ),
        pytest.param(
            {"PULUMI_BACKEND_URL": "s3://state", "PULUMI_CONFIG_PASSPHRASE_FILE": "/nowhere/x"},
            [Status.OK, Status.WARNING],
            id="no-file",
        ),
        pytest.param({"PULUMI_BACKEND_URL": "https://api.pulumi.com"}, [Status.OK], id="pulumi-cloud"),
        pytest.param({"PULUMI_ACCESS_TOKEN": "pul-sample"}, [Status.OK], id="a-token-alone"),
    ],
)
def test_a_real_run_needs_a_backend(layout: Layout, variables: dict[str, str], want: list[Status]) -> None:
    """A self-managed one usually needs a passphrase too."""
    assert [check.status for check in checks.backend(layout, variables, simulated=False)] == want


def test_a_backend_is_found_in_the_project_and_in_a_login(layout: Layout, tmp_path: Path) -> None:
    """In the order in which the CLI looks."""
    (tmp_path / ".pulumi").mkdir()
    (tmp_path / ".pulumi" / "credentials.json").write_text(json.dumps({"current": "https://api.pulumi.com"}))
    (logged_in,) = checks.backend(layout, {"HOME": str(tmp_path)}, simulated=False)
    assert logged_in.found == "https://api.pulumi.com"
    (layout.root / "Pulumi.yaml").write_text("name: x\nruntime: python\nbackend: {url: 'https://pulumi.example.com'}\n")
    (project,) = checks.backend(layout, {"HOME": str(tmp_path)}, simulated=False)
    assert project.found == "https://pulumi.example.com"


@pytest.mark.parametrize("content", ["[", "- x", "name: x", "backend: text"])
def test_a_project_file_without_a_backend_is_no_failure(layout: Layout, content: str) -> None:
    """Reading it properly is somebody else's work."""
    (layout.root / "Pulumi.yaml").write_text(content)
    (check,) = checks.backend(layout, {}, simulated=False)
    assert check.status is Status.PROBLEM


def test_a_password_in_a_backend_address_is_not_shown(layout: Layout) -> None:
    """The rows are pasted into tickets."""
    variables = {"PULUMI_BACKEND_URL": "postgres://me:sample-token-77@db:5432/state", "PULUMI_CONFIG_PASSPHRASE": "x"}
    (check,) = checks.backend(layout, variables, simulated=False)
    assert check.found == "postgres://me:[secret]@db:5432/state"


def test_the_policies_row_says_when_the_pack_runs() -> None:
    """Plain ``pulumi`` on a self-managed backend runs none."""
    assert "plain pulumi on a self-managed backend runs none" in checks.policies(simulated=True).found


def test_a_stand_in_for_the_selector_engine_would_be_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The row is found out from the source, not promised."""
    assert checks.selectors().found == "Berth's own engine"
    (tmp_path / "engine.py").write_text("import celpy\n")
    monkeypatch.setattr(checks, "files", lambda _package: tmp_path)
    assert checks.selectors().status is Status.WARNING


def test_rows_have_text_in_every_column(layout: Layout) -> None:
    """A renderer needs nothing but the rows."""
    found = diagnose(layout, simulated=False, environ=dict(os.environ))
    rows = found.to_rows()
    assert all(len(row) == len(Diagnosis.COLUMNS) and all(row) for row in rows)
    assert {row[1] for row in rows} <= {"ok", "warning", "problem"}


@pytest.mark.parametrize(
    ("statuses", "want"),
    [([], Status.OK), ([Status.OK, Status.WARNING], Status.WARNING), ([Status.PROBLEM, Status.OK], Status.PROBLEM)],
)
def test_the_status_is_the_worst_of_all(statuses: list[Status], want: Status) -> None:
    """The exit code of ``berth doctor`` follows it."""
    found = Diagnosis(checks=tuple(Check("x", status, "y") for status in statuses), simulated=False)
    assert found.status is want
