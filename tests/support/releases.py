"""A server on this machine that has releases, and can misbehave as real ones do."""

import hashlib
import io
import tarfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from automation.engine.toolchain.tool import Files, Tool
from automation.engine.toolchain.version import Platform
from automation.engine.toolchain.versions import PULUMI

PLATFORM = Platform(system="linux", machine="amd64")


def files_of(tool: Tool) -> Files:
    """Name the files of a tool's official release for the test platform."""
    assert tool.release is not None
    files = tool.release.on(PLATFORM)
    assert files is not None
    return files


CHECKSUMS = files_of(PULUMI).checksums


@dataclass
class Releases:
    """A server on this machine that has the files of ``files``; what it does to a request can be changed."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: list[str | None] = field(default_factory=list)
    takes_ranges: bool = True
    cut_after: int | None = None
    silent: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def archive(self) -> str:
        """The name of the CLI's archive for the test platform."""
        return files_of(PULUMI).name

    def publish(self, content: dict[str, str], *, checksum: str | None = None) -> bytes:
        """Serve an archive with these files and the list of checksums for it."""
        packed = pack(content)
        digest = checksum or hashlib.sha256(packed).hexdigest()
        self.files[self.archive] = packed
        self.files[CHECKSUMS] = f"{'0' * 64}  another.tar.gz\n{digest}  {self.archive}\n".encode()
        return packed


def pack(content: dict[str, str]) -> bytes:
    """Make a release archive: every file lies in the folder ``pulumi``."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in content.items():
            member = tarfile.TarInfo(f"pulumi/{name}")
            member.size, member.mode = len(text.encode()), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


@contextmanager
def serving() -> Generator[Releases]:
    """Run a server until the block ends."""
    state = Releases()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if state.silent:
                state.stop.wait(30)
                return
            content = state.files.get(self.path.lstrip("/"))
            if content is None:
                self.send_error(404)
                return
            start = self._start(len(content))
            if start is None:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            end = len(content) if state.cut_after is None or self._is_checksums() else start + state.cut_after
            self.wfile.write(content[start:end])

        def _start(self, size: int) -> int | None:
            asked = self.headers.get("Range")
            if not self._is_checksums():
                state.ranges.append(asked)
            if asked is None or not state.takes_ranges:
                return 0
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            return start if start < size else None

        def _is_checksums(self) -> bool:
            return self.path.endswith((".txt", ".sha256", "SUMS"))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Keep the test output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        state.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
