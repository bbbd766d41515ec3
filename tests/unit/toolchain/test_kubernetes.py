"""The programs of a local control plane: how they are got, and what the doctor says of them."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from automation.engine.toolchain.doctor import diagnose
from automation.engine.toolchain.download import download
from automation.engine.toolchain.finding import Status
from automation.engine.toolchain.host import place_host
from automation.engine.toolchain.install import ensure_tool
from automation.engine.toolchain.kubernetes import ETCD, KWOK, MINORS, PROVIDER, kubernetes_tools, rehearsal_tools
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Source, Unavailable
from components.errors import ToolchainError
from tests.support.releases import PLATFORM, Releases, files_of, pack

Program = Callable[..., Path]

MINOR = MINORS["1.34"]
APISERVER = kubernetes_tools(MINOR)[1]
SCRIPT = "#!/bin/sh\necho Kubernetes v1.34.4\n"


def test_a_bare_program_is_installed_beside_no_other(layout: Layout, releases: Releases, said: list[str]) -> None:
    """Kubernetes publishes programs without an archive, and a checksum that does not name its file."""
    releases.files = {
        "kube-apiserver": SCRIPT.encode(),
        "kube-apiserver.sha256": hashlib.sha256(SCRIPT.encode()).hexdigest().encode(),
    }
    download(APISERVER, layout, address=releases.address, platform=PLATFORM, progress=said.append)
    place = APISERVER.place(layout)
    assert place.program == layout.berth / "tools" / "kube-apiserver-v1.34.4" / "kube-apiserver"
    assert place.program.read_text() == SCRIPT
    assert place.program.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in place.folder.iterdir()] == ["kube-apiserver"]
    assert said[0] == "downloading kube-apiserver 1.34.4"


def test_two_versions_of_a_bare_program_do_not_continue_each_other(layout: Layout, releases: Releases) -> None:
    """Their files have the same name at the source, so the part that is kept bears the version."""
    releases.files = {"kube-apiserver": b"x" * 100, "kube-apiserver.sha256": b"0" * 64}
    releases.cut_after = 10
    for minor in ("1.34", "1.35"):
        with pytest.raises(Unavailable, match="broke off"):
            download(
                kubernetes_tools(MINORS[minor])[1],
                layout,
                address=releases.address,
                platform=PLATFORM,
                progress=lambda _: None,
            )
    assert sorted(path.name for path in layout.downloads.iterdir()) == [
        "v1.34.4-kube-apiserver.part",
        "v1.35.4-kube-apiserver.part",
    ]


def test_only_etcd_is_taken_out_of_its_archive(layout: Layout, releases: Releases, said: list[str]) -> None:
    """Its tools are not needed."""
    files = files_of(ETCD)
    packed = pack({"etcdctl": "no", "etcd": "#!/bin/sh\necho etcd Version: 3.7.3\n", "README.md": "no"})
    digest = hashlib.sha256(packed).hexdigest()
    releases.files = {files.name: packed, files.checksums: f"{digest}  {files.name}\n".encode()}
    download(ETCD, layout, address=releases.address, platform=PLATFORM, progress=said.append)
    assert [path.name for path in ETCD.place(layout).folder.iterdir()] == ["etcd"]


def test_what_is_published_without_a_checksum_is_not_downloaded(layout: Layout, said: list[str]) -> None:
    """There would be nothing to hold the file to."""
    with pytest.raises(Unavailable, match="no official release of kwok with a checksum"):
        download(KWOK, layout, platform=PLATFORM, progress=said.append)


def test_a_mirror_is_asked_instead_of_the_official_address(layout: Layout, program: Program, said: list[str]) -> None:
    """And the error of a minor that cannot be built says so."""
    go = program("go", "exit 1")
    without = replace(MINORS["1.36"], module="")
    variables = {"PATH": f"{go.parent}:/bin", "BERTH_KUBERNETES_DOWNLOAD_URL": "http://127.0.0.1:1"}
    with pytest.raises(ToolchainError) as caught:
        ensure_tool(kubernetes_tools(without)[1], layout, progress=said.append, environ=variables)
    lines = caught.value.summary.splitlines()
    assert lines[0] == "no kube-apiserver 1.36.3 to be had"
    assert "http://127.0.0.1:1/ cannot be reached" in lines[2]
    assert "there is no pinned Go module for kube-apiserver 1.36.3" in lines[3]


def test_an_apiserver_of_another_minor_on_path_is_passed_over(
    layout: Layout, program: Program, said: list[str]
) -> None:
    """A cluster of 1.34 has a scheduler of 1.34 whatever else is installed here."""
    other = program("kube-apiserver", "echo Kubernetes v1.35.1")
    variables = {"PATH": f"{other.parent}:/bin", "BERTH_TOOLCHAIN_SOURCES": "path"}
    with pytest.raises(ToolchainError, match=r"is 1\.35\.1, wanted is 1\.34\.0 or newer, below 1\.35\.0"):
        ensure_tool(APISERVER, layout, progress=said.append, environ=variables)
    program("kube-apiserver", "echo Kubernetes v1.34.9")
    found = ensure_tool(APISERVER, layout, progress=said.append, environ=variables)
    assert (found.version, found.source) == ("1.34.9", Source.PATH)


PLUGIN = f"""#!{sys.executable}
import sys
from concurrent import futures
import grpc
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc

class Plugin(provider_pb2_grpc.ResourceProviderServicer):
    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="4.31.2")

assert sys.argv[1:] == []
server = grpc.server(futures.ThreadPoolExecutor())
provider_pb2_grpc.add_ResourceProviderServicer_to_server(Plugin(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
"""


def test_a_plugin_is_asked_for_its_version_as_the_engine_asks(
    layout: Layout, program: Program, said: list[str]
) -> None:
    """It prints none; and it is not left running."""
    plugin = program(PROVIDER.name, "")
    plugin.write_text(PLUGIN)
    variables = {"PATH": str(plugin.parent), "BERTH_TOOLCHAIN_SOURCES": "path"}
    found = ensure_tool(PROVIDER, layout, progress=said.append, environ=variables)
    assert (found.version, found.source, found.path) == ("4.31.2", Source.PATH, plugin)


@pytest.mark.parametrize("script", ["exit 1", "echo usage", "echo 1"], ids=["ends", "prints-no-port", "nobody-listens"])
def test_what_is_no_plugin_tells_no_version(layout: Layout, program: Program, said: list[str], script: str) -> None:
    """Whatever lies on PATH under its name."""
    plugin = program(PROVIDER.name, script)
    variables = {"PATH": f"{plugin.parent}:/bin", "BERTH_TOOLCHAIN_SOURCES": "path"}
    with pytest.raises(ToolchainError, match="does not say its version"):
        ensure_tool(PROVIDER, layout, progress=said.append, environ=variables)


def test_nobody_who_does_not_ask_hears_of_kubernetes(layout: Layout, program: Program) -> None:
    """A machine without it is a sound machine."""
    pulumi = program("pulumi", "echo v3.280.0")
    place_host(layout, pulumi, Source.PATH)
    environ = {"PATH": str(pulumi.parent)}
    found = diagnose(layout, simulated=True, environ=environ)
    assert found.status is Status.OK
    names = {"Kubernetes 1.34", *(tool.called for tool in rehearsal_tools(MINOR))}
    assert names.isdisjoint(check.name for check in found.checks)


def test_the_doctor_names_what_is_missing_and_how_to_get_it(layout: Layout, program: Program) -> None:
    """Whoever asks for a control plane needs all of it; Go is for what is missing."""
    program("etcd", "echo etcd Version: 3.7.9")
    pulumi = program("pulumi", "echo v3.280.0")
    place_host(layout, pulumi, Source.PATH)
    found = diagnose(layout, simulated=True, environ={"PATH": f"{pulumi.parent}:/bin"}, kubernetes=MINOR)
    by_name = {check.name: check for check in found.checks}
    assert found.status is Status.PROBLEM
    assert by_name["Kubernetes 1.34"].status is Status.OK
    assert by_name["etcd"].status is Status.OK
    assert by_name["etcd"].found.startswith("3.7.9, on PATH: ")
    for name in ("kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok", "lws-controller-manager"):
        assert (by_name[name].status, by_name[name].fix) == (
            Status.PROBLEM,
            "berth doctor --kubernetes 1.34 --install",
        )
    assert by_name["Go"].status is Status.WARNING
    assert by_name["Go"].want.endswith(
        "to build kube-apiserver, kube-scheduler, kube-controller-manager, kwok, lws-controller-manager"
    )
    provider = by_name["Pulumi Kubernetes provider"]
    assert (provider.status, provider.found) == (Status.WARNING, "no pulumi-resource-kubernetes on PATH")
    assert provider.fix.startswith("berth doctor --backed --kubernetes 1.34 --install, or berth backing")


def test_the_doctor_asks_for_the_provider_where_runs_are_backed(
    tmp_path: Path, layout: Layout, program: Program
) -> None:
    """There it is needed as much as the rest, and Go to build it."""
    pulumi = program("pulumi", "echo v3.280.0")
    place_host(layout, pulumi, Source.PATH)
    backed = replace(layout, backed=True)
    found = diagnose(backed, simulated=True, environ={"PATH": f"{pulumi.parent}:/bin"}, kubernetes=MINOR)
    by_name = {check.name: check for check in found.checks}
    provider = by_name["Pulumi Kubernetes provider"]
    assert (provider.status, provider.fix) == (Status.PROBLEM, "berth doctor --backed --kubernetes 1.34 --install")
    assert by_name["Go"].want.endswith("lws-controller-manager, the Pulumi Kubernetes provider")


def test_the_doctor_says_that_a_minor_is_not_proven(layout: Layout, tmp_path: Path) -> None:
    """Whoever tries it should know that nobody did before."""
    minor = replace(MINORS["1.36"], proven=False)
    found = diagnose(layout, simulated=True, environ={"PATH": str(tmp_path)}, kubernetes=minor)
    (check,) = [check for check in found.checks if check.name == "Kubernetes 1.36"]
    assert (check.status, check.found) == (Status.WARNING, "1.36.3, not proven: nothing was run with it yet")
