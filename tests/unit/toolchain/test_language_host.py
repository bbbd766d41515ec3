"""The language host by itself: its answers over gRPC, what it reads, and how it ends."""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from automation.engine.language_host import plugin, program
from automation.engine.language_host.packages import Plugin, installed_packages, required_plugins
from automation.engine.toolchain.versions import VERSION

HOST = [sys.executable, "-P", "-u", "-m", "automation.engine.language_host"]


@contextmanager
def started(*arguments: str) -> Generator[tuple[subprocess.Popen[str], int]]:
    """Start the host as the CLI does: with a pipe as standard input, and the address after all flags."""
    with subprocess.Popen(
        [*HOST, *arguments, "127.0.0.1:1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@pytest.fixture(scope="module")
def host() -> Generator[language_pb2_grpc.LanguageRuntimeStub]:
    """Give a client of one running host."""
    with started("-v=3") as (_, port), grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield language_pb2_grpc.LanguageRuntimeStub(channel)


def test_the_host_has_the_version_of_the_cli(host: language_pb2_grpc.LanguageRuntimeStub) -> None:
    """The CLI compares and shows it."""
    assert host.GetPluginInfo(empty_pb2.Empty()).version == VERSION


def test_the_host_names_the_plugins_of_the_installed_sdks(host: language_pb2_grpc.LanguageRuntimeStub) -> None:
    """With the versions that the SDKs ask for; in the words of newer and of older CLIs."""
    found = host.GetRequiredPackages(language_pb2.GetRequiredPackagesRequest()).packages
    assert {(package.name, package.kind, package.version) for package in found} == {
        (plugin.name, "resource", plugin.version) for plugin in required_plugins()
    }
    older = host.GetRequiredPlugins(language_pb2.GetRequiredPluginsRequest()).plugins
    assert [(each.name, each.version) for each in older] == [(each.name, each.version) for each in found]


def test_the_host_says_which_interpreter_runs_the_programs(host: language_pb2_grpc.LanguageRuntimeStub) -> None:
    """``pulumi about`` shows it."""
    about = host.About(language_pb2.AboutRequest())
    assert about.executable == sys.executable
    assert about.version == ".".join(str(part) for part in sys.version_info[:3])


def test_installing_dependencies_installs_nothing_and_says_so(host: language_pb2_grpc.LanguageRuntimeStub) -> None:
    """Programs run in Berth's environment, which another tool manages."""
    lines = [answer.stdout.decode() for answer in host.InstallDependencies(language_pb2.InstallDependenciesRequest())]
    assert "Nothing to install" in "".join(lines)


@pytest.mark.parametrize("call", ["GenerateProgram", "GenerateProject", "GeneratePackage", "Pack", "Link"])
def test_what_the_host_does_not_do_is_refused_in_words(host: language_pb2_grpc.LanguageRuntimeStub, call: str) -> None:
    """With the way out, instead of a bare status."""
    request = getattr(language_pb2, f"{call}Request")()
    with pytest.raises(grpc.RpcError, match="use the official Pulumi CLI for that") as caught:
        getattr(host, call)(request)
    assert isinstance(caught.value, grpc.Call)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_the_host_answers_the_remaining_calls(host: language_pb2_grpc.LanguageRuntimeStub) -> None:
    """The CLI makes them around a run."""
    host.Handshake(language_pb2.LanguageHandshakeRequest(engine_address="127.0.0.1:2"))
    assert list(host.RuntimeOptionsPrompts(language_pb2.RuntimeOptionsRequest()).prompts) == []
    host.Template(language_pb2.TemplateRequest())
    host.Cancel(empty_pb2.Empty())
    listed = host.GetProgramDependencies(language_pb2.GetProgramDependenciesRequest(transitiveDependencies=True))
    assert "pulumi" in {dependency.name for dependency in listed.dependencies}


def test_a_plugin_that_is_a_folder_runs_with_its_output_and_exit_code(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    """Both streams are kept apart, and the exit code comes last."""
    folder = tmp_path / "provider"
    folder.mkdir()
    (folder / "__main__.py").write_text(
        "import os, sys\n"
        "print(sys.argv[1:], os.environ['WORD'], os.getcwd())\n"
        "print('aside', file=sys.stderr)\n"
        "sys.exit(7)\n"
    )
    request = language_pb2.RunPluginRequest(
        pwd=str(tmp_path),
        args=["127.0.0.1:3"],
        env=["WORD=a=b"],
        kind="resource",
        info=language_pb2.ProgramInfo(program_directory=str(folder)),
    )
    answers = list(host.RunPlugin(request))
    assert b"".join(answer.stdout for answer in answers) == f"['127.0.0.1:3'] a=b {tmp_path}\n".encode()
    assert b"".join(answer.stderr for answer in answers) == b"aside\n"
    assert answers[-1].exitcode == 7


def test_a_plugin_that_is_no_longer_wanted_is_ended(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    """The CLI cancels the call; the process does not stay behind."""
    folder, held = tmp_path / "provider", tmp_path / "held"
    folder.mkdir()
    os.mkfifo(held)
    (folder / "__main__.py").write_text(
        f"import signal\nheld = open({str(held)!r}, 'w')\nprint('here')\nsignal.pause()\n"
    )
    # The pipe ends when the process that has it open is gone.
    read = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    info = language_pb2.ProgramInfo(program_directory=str(folder))
    call = host.RunPlugin(language_pb2.RunPluginRequest(kind="resource", info=info, pwd=str(tmp_path)))
    # An unbuffered program writes a line and its end apart.
    assert next(call).stdout.startswith(b"here")
    call.cancel()
    readable, _, _ = select.select([read], [], [], 30)
    assert readable
    assert os.read(read, 1) == b""
    os.close(read)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_host_without_a_word(sent: signal.Signals) -> None:
    """What it printed would stand in the middle of the CLI's own output."""
    with started() as (process, _):
        process.send_signal(sent)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 0


def test_the_host_ends_with_the_cli() -> None:
    """The pipe that the CLI holds closes with it, even when it is killed."""
    with started() as (process, _):
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


def sdk(folder: Path, name: str, content: object) -> None:
    """Put an SDK with a plugin file into a folder of the import path."""
    (folder / name).mkdir(parents=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name / "pulumi-plugin.json").write_text(text)


def test_plugin_files_are_read_from_the_import_path(tmp_path: Path) -> None:
    """The name may be left out, and so may the ``v``; another server is kept."""
    sdk(tmp_path, "pulumi_aws", {"resource": True, "name": "aws", "version": "7.51.1"})
    sdk(tmp_path, "pulumi_azure_native", {"resource": True, "version": "v3.29.0"})
    sdk(tmp_path, "ediri_vultr", {"resource": True, "name": "vultr", "version": "2.27.1", "server": "github://x"})
    assert required_plugins([str(tmp_path)]) == (
        Plugin("aws", "7.51.1"),
        Plugin("azure-native", "3.29.0"),
        Plugin("vultr", "2.27.1", "github://x"),
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"resource": False, "name": "x", "version": "1.0.0"}, id="no-resource-plugin"),
        pytest.param("{", id="not-json"),
        pytest.param("[]", id="not-an-object"),
        pytest.param({"resource": True, "name": "x"}, id="no-version-anywhere"),
    ],
)
def test_a_plugin_file_that_says_nothing_is_passed_over(tmp_path: Path, content: object) -> None:
    """A broken package must not stop a program that does not use it."""
    sdk(tmp_path, "pulumi_x", content)
    assert required_plugins([str(tmp_path), "", str(tmp_path / "missing")]) == ()


def test_of_two_installed_sdks_the_one_that_is_imported_counts(tmp_path: Path) -> None:
    """That is the one of the first folder on the path."""
    for folder, version in (("first", "2.0.0"), ("second", "1.0.0")):
        sdk(tmp_path / folder, "pulumi_aws", {"resource": True, "name": "aws", "version": version})
    assert required_plugins([str(tmp_path / "first"), str(tmp_path / "second")]) == (Plugin("aws", "2.0.0"),)


def test_only_the_packages_that_nobody_else_requires_are_direct() -> None:
    """``pulumi about`` asks for the direct ones."""
    everything = dict(installed_packages(transitive=True))
    direct = dict(installed_packages(transitive=False))
    assert "grpcio" in everything
    assert "grpcio" not in direct
    assert "berth" in direct
    assert direct.items() <= everything.items()


def options(**values: str) -> Struct:
    """Make the options of a runtime."""
    made = Struct()
    made.update(values)
    return made


def test_a_policy_pack_is_started_by_the_launcher_of_the_sdk() -> None:
    """Everything else is a folder with a main; output is never buffered."""
    arguments = ["127.0.0.1:1"]
    line = plugin.command(kind="analyzer", folder="/pack", arguments=arguments, options=options())
    assert line == [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", "/pack"]
    line = plugin.command(kind="resource", folder="/provider", arguments=arguments, options=options())
    assert line == [sys.executable, "-u", "/provider", "127.0.0.1:1"]


def test_a_plugin_may_have_a_virtual_environment_of_its_own(tmp_path: Path) -> None:
    """One that does not exist gives way to ours."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    for name, want in (("venv", str(python)), ("missing", sys.executable)):
        line = plugin.command(kind="resource", folder=str(tmp_path), arguments=[], options=options(virtualenv=name))
        assert line[0] == want


def run_request(folder: Path, entry: str = ".") -> Any:
    """Make a request to run the program of a folder."""
    info = language_pb2.ProgramInfo(root_directory=str(folder), program_directory=str(folder), entry_point=entry)
    return language_pb2.RunRequest(pwd=str(folder), args=["--flag"], info=info)


def test_a_run_leaves_the_process_as_it_found_it(tmp_path: Path) -> None:
    """Folder, import path and arguments come back; modules of the program are imported anew by the next run."""
    (tmp_path / "beside_the_program.py").write_text("")
    (tmp_path / "main.py").write_text("")
    before = (Path.cwd(), list(sys.path), list(sys.argv))
    with program._place(run_request(tmp_path, "main.py")) as main:
        assert main == str(tmp_path / "main.py")
        assert Path.cwd() == tmp_path
        assert sys.argv == [main, "--flag"]
        importlib.import_module("beside_the_program")
    assert (Path.cwd(), list(sys.path), list(sys.argv)) == before
    assert "beside_the_program" not in sys.modules


def test_modules_of_others_stay_loaded_after_a_run(tmp_path: Path) -> None:
    """Importing an SDK twice costs seconds, and its compiled parts do not like it."""
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "somebody_elses_module.py").write_text("")
    with program._place(run_request(tmp_path)):
        sys.path.insert(0, str(installed))
        importlib.import_module("somebody_elses_module")
    assert sys.modules.pop("somebody_elses_module")


def test_a_story_ends_with_the_error_and_has_its_frames_if_there_are_any() -> None:
    """Also for an error that was never raised."""

    def fail() -> None:
        raise ValueError("boom")

    try:
        fail()
    except ValueError as error:
        told = program._story(error)
    assert told.startswith("Traceback")
    assert told.endswith("ValueError: boom")
    assert program._story(ValueError("no traceback at all")) == "ValueError: no traceback at all"
