"""The official download, from a server on this machine."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from automation.engine.toolchain.download import download
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.toolchain import Unavailable
from automation.engine.toolchain.version import Platform
from automation.engine.toolchain.versions import PULUMI
from components.errors import DriverError
from tests.support.releases import CHECKSUMS, PLATFORM, Releases, files_of

HOST = "#!/bin/sh\necho host\n"


def fetch(layout: Layout, releases: Releases, said: list[str], **options: Any) -> None:
    """Download for the test platform."""
    options = {"address": releases.address, "platform": PLATFORM, **options}
    download(PULUMI, layout, progress=said.append, **options)


def test_the_cli_and_its_python_host_are_installed_and_nothing_else(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """The hosts of other languages stay in the archive, and the archive goes when it was unpacked."""
    releases.publish(
        {
            "pulumi-language-nodejs": HOST,
            "pulumi": cli_script,
            "pulumi-language-python": HOST,
            "pulumi-language-python-exec": HOST,
            "pulumi-resource-pulumi-python": HOST,
        }
    )
    fetch(layout, releases, said)
    assert sorted(path.name for path in layout.bin.iterdir()) == [
        "pulumi",
        "pulumi-language-python",
        "pulumi-language-python-exec",
        "pulumi-resource-pulumi-python",
    ]
    assert layout.pulumi.stat().st_mode & 0o777 == 0o755
    assert list(layout.downloads.iterdir()) == []
    assert any("100 %" in line for line in said)


def test_a_download_that_broke_off_is_continued(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """The first run keeps what it got, the second asks for the rest only."""
    packed = releases.publish({"pulumi": cli_script})
    releases.cut_after = 100
    with pytest.raises(Unavailable, match=r"broke off after 0 MB .* the next run continues it"):
        fetch(layout, releases, said)
    assert (layout.downloads / f"{releases.archive}.part").read_bytes() == packed[:100]
    releases.cut_after = None
    fetch(layout, releases, said)
    assert releases.ranges == [None, "bytes=100-"]
    assert layout.pulumi.read_text() == cli_script


def test_a_server_without_ranges_sends_the_whole_file_again(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """The part that is there is replaced, not continued with a second beginning."""
    packed = releases.publish({"pulumi": cli_script})
    releases.takes_ranges = False
    layout.downloads.mkdir(parents=True)
    (layout.downloads / f"{releases.archive}.part").write_bytes(packed[:50])
    fetch(layout, releases, said)
    assert layout.pulumi.is_file()


@pytest.mark.parametrize(
    "part",
    [pytest.param(b"x" * 60, id="another-beginning"), pytest.param(b"x" * 10_000, id="longer-than-the-file")],
)
def test_a_damaged_part_is_thrown_away_and_fetched_afresh(
    layout: Layout, releases: Releases, said: list[str], cli_script: str, part: bytes
) -> None:
    """A wrong checksum of a continued download says nothing about the server."""
    releases.publish({"pulumi": cli_script})
    layout.downloads.mkdir(parents=True)
    (layout.downloads / f"{releases.archive}.part").write_bytes(part)
    fetch(layout, releases, said)
    assert layout.pulumi.is_file()
    assert "the download that was continued is damaged; starting again" in said


def test_a_whole_part_is_not_fetched_again(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """A run that was killed between the last byte and the renaming has nothing left to fetch."""
    packed = releases.publish({"pulumi": cli_script})
    layout.downloads.mkdir(parents=True)
    (layout.downloads / f"{releases.archive}.part").write_bytes(packed)
    fetch(layout, releases, said)
    assert releases.ranges == [f"bytes={len(packed)}-"]
    assert layout.pulumi.is_file()


def test_a_whole_archive_is_not_fetched_again(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """A run that was killed while unpacking asks for the checksums only."""
    packed = releases.publish({"pulumi": cli_script})
    layout.downloads.mkdir(parents=True)
    (layout.downloads / releases.archive).write_bytes(packed)
    fetch(layout, releases, said)
    assert releases.ranges == []
    assert layout.pulumi.is_file()


def test_an_archive_with_a_wrong_checksum_is_not_installed(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """What does not have the published SHA-256 is removed, so that it is not continued either."""
    releases.publish({"pulumi": cli_script}, checksum=hashlib.sha256(b"another").hexdigest())
    with pytest.raises(Unavailable, match="does not have the published SHA-256"):
        fetch(layout, releases, said)
    assert not layout.pulumi.exists()
    assert list(layout.downloads.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param({"pulumi-language-python": HOST}, "holds no pulumi", id="no-cli"),
        pytest.param({"pulumi": "#!/bin/sh\necho v3.1.0\n"}, "is not 3.274.1, or does not run", id="another-version"),
        pytest.param({"pulumi": "#!/nowhere/sh\n"}, "cannot be run", id="does-not-run"),
    ],
)
def test_an_archive_without_a_working_cli_is_not_installed(
    layout: Layout, releases: Releases, said: list[str], content: dict[str, str], reason: str
) -> None:
    """The CLI of the archive has to say that it is the pinned version before it is put in its place."""
    releases.publish(content)
    with pytest.raises(Unavailable, match=reason):
        fetch(layout, releases, said)
    assert list(layout.bin.iterdir()) == []


def test_an_archive_that_is_none_is_refused(layout: Layout, releases: Releases, said: list[str]) -> None:
    """A mirror may serve a page of its own under the right name, and a checksum for it."""
    page = b"<html>please log in</html>"
    releases.files = {
        releases.archive: page,
        CHECKSUMS: f"{hashlib.sha256(page).hexdigest()}  {releases.archive}\n".encode(),
    }
    with pytest.raises(Unavailable, match="cannot be unpacked"):
        fetch(layout, releases, said)


def test_members_that_climb_out_of_the_archive_stay_inside(
    layout: Layout, releases: Releases, said: list[str], cli_script: str, tmp_path: Path
) -> None:
    """Only the last part of a member's name counts."""
    releases.publish({"pulumi": cli_script, "../../../pulumi-evil-python": HOST})
    fetch(layout, releases, said)
    assert {path.name for path in layout.bin.iterdir()} == {"pulumi", "pulumi-evil-python"}
    assert not (tmp_path / "pulumi-evil-python").exists()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        pytest.param({}, "answered 404", id="no-checksums"),
        pytest.param({CHECKSUMS: b"0" * 64 + b"  another\n"}, "do not name", id="archive-not-listed"),
        pytest.param({CHECKSUMS: b"0" * 64 + f"  {files_of(PULUMI).name}\n".encode()}, "answered 404", id="no-archive"),
    ],
)
def test_what_the_server_does_not_have_is_said(
    layout: Layout, releases: Releases, said: list[str], files: dict[str, bytes], reason: str
) -> None:
    """The reason goes into the final error, next to those of the other sources."""
    releases.files = files
    with pytest.raises(Unavailable, match=reason):
        fetch(layout, releases, said)


def test_a_host_that_does_not_answer_is_given_up(layout: Layout, releases: Releases, said: list[str]) -> None:
    """The whole first answer has a limit; the thread that still waits does not keep the process alive."""
    releases.silent = True
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 did not answer within 0\.05 s"):
        fetch(layout, releases, said, seconds_to_answer=0.05)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        pytest.param("http://127.0.0.1:1", "cannot be reached", id="nobody-listens"),
        pytest.param("no address", "missing an .* protocol", id="no-address"),
        pytest.param("ftp://127.0.0.1/", "cannot be reached", id="another-protocol"),
        pytest.param("http://[broken", "broken", id="broken-address"),
    ],
)
def test_an_address_that_leads_nowhere_is_said(
    layout: Layout, releases: Releases, said: list[str], address: str, reason: str
) -> None:
    """``BERTH_PULUMI_DOWNLOAD_URL`` is typed by people."""
    with pytest.raises(Unavailable, match=reason):
        fetch(layout, releases, said, address=address)


def test_a_platform_without_an_archive_is_not_asked_for(layout: Layout, releases: Releases, said: list[str]) -> None:
    """There is no request for a name that cannot exist."""
    with pytest.raises(Unavailable, match="no official release for linux on riscv64"):
        fetch(layout, releases, said, platform=Platform(system="linux", machine="riscv64"))


def test_a_full_disk_is_an_error_of_its_own(
    layout: Layout, releases: Releases, said: list[str], cli_script: str
) -> None:
    """No other source could do better, so this is not one failed source among others."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    releases.publish({"pulumi": cli_script})
    layout.downloads.mkdir(parents=True)
    (layout.downloads / f"{releases.archive}.part").symlink_to("/dev/full")
    with pytest.raises(DriverError, match="no space left on the disk") as caught:
        fetch(layout, releases, said)
    assert str(layout.downloads) in caught.value.help
