"""Gets the official release of a tool, checks its SHA-256 and installs what Berth needs of it.

A host that does not answer is given up within five seconds in total, name look-up included, because the next source is
waiting. An interrupted download is kept as ``.part`` and continued. A tool's mirror variable names another address that
serves the same files.
"""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from automation.engine.toolchain import archive
from automation.engine.toolchain.disk import writing
from automation.engine.toolchain.layout import Layout
from automation.engine.toolchain.progress import Progress
from automation.engine.toolchain.tool import Files, Tool
from automation.engine.toolchain.toolchain import Unavailable
from automation.engine.toolchain.version import Platform

if TYPE_CHECKING:
    import httpx

_Answer = TypeVar("_Answer")

SECONDS_TO_ANSWER: Final = 5.0
"""How long a host may take for its first answer."""

_SECONDS_OF_SILENCE: Final = 30.0
_PARTS_SHOWN: Final = 10
_PARTIAL: Final = 206
_RANGE_NOT_SATISFIABLE: Final = 416


def download(
    tool: Tool,
    layout: Layout,
    *,
    address: str = "",
    progress: Progress,
    platform: Platform | None = None,
    seconds_to_answer: float = SECONDS_TO_ANSWER,
) -> None:
    """Install the official release in the tool's place; raises ``Unavailable`` when it cannot be had.

    ``address`` is that of a mirror; the official one when empty.
    """
    where = platform or Platform.current()
    if tool.release is None:
        raise Unavailable(f"there is no official release of {tool.phrase} with a checksum to hold it to")
    files = tool.release.on(where)
    if files is None:
        raise Unavailable(f"there is no official release for {where.system} on {where.machine}")
    with _client(address or tool.release.address_on(where)) as client:
        wanted = _checksum(client, files, seconds=seconds_to_answer)
        with writing(layout.berth):
            layout.downloads.mkdir(parents=True, exist_ok=True)
            # Some projects name their files alike in every version.
            file = layout.downloads / (files.name if tool.version in files.name else f"v{tool.version}-{files.name}")
            if not file.exists() or _sha256(file) != wanted:
                _fetch_checked(client, files.name, file, wanted, _Shown(tool, progress))
    with writing(layout.berth):
        archive.install(tool, file, layout, progress=progress)
        file.unlink()


def _client(address: str) -> "httpx.Client":
    import httpx  # noqa: PLC0415 - a tenth of a second that only a download should pay

    timeout = httpx.Timeout(_SECONDS_OF_SILENCE, connect=SECONDS_TO_ANSWER)
    try:
        return httpx.Client(base_url=address.rstrip("/") + "/", timeout=timeout, follow_redirects=True)
    except (httpx.InvalidURL, ValueError, OSError) as error:
        raise Unavailable(f"{address}: {error}") from error


def _checksum(client: "httpx.Client", files: Files, *, seconds: float) -> str:
    """Ask for the list of checksums, which is also the question whether the host can be reached at all."""
    text = _within(seconds, lambda: _get(client, files.checksums), what=str(client.base_url.host or client.base_url))
    for line in text.splitlines():
        digest, _, name = line.strip().partition(" ")
        # A list for one file alone need not name it.
        if name.strip().lstrip("*") == files.name or (not name and text.strip() == digest):
            return digest.lower()
    raise Unavailable(f"the checksums at {client.base_url} do not name {files.name}")


def _get(client: "httpx.Client", name: str) -> str:
    import httpx  # noqa: PLC0415 - as above

    try:
        answer = client.get(name)
        answer.raise_for_status()
    except httpx.HTTPStatusError as error:
        raise Unavailable(f"{client.base_url}{name} answered {error.response.status_code}") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(f"{client.base_url} cannot be reached: {error or type(error).__name__}") from error
    else:
        return answer.text


def _within(seconds: float, ask: Callable[[], _Answer], *, what: str) -> _Answer:
    """Run a question in a thread of its own and give it up after a while.

    No timeout of the HTTP library covers the look-up of a name, nor the sum over all addresses of a host.
    """
    future: Future[_Answer] = Future()

    def run() -> None:
        try:
            future.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            future.set_exception(error)

    # A thread of ours and not an executor's: the interpreter would wait at its end for one that hangs.
    threading.Thread(target=run, name="toolchain-download", daemon=True).start()
    try:
        return future.result(timeout=seconds)
    except TimeoutError:
        raise Unavailable(f"{what} did not answer within {seconds:g} s") from None


def _fetch_checked(client: "httpx.Client", name: str, file: Path, wanted: str, shown: "_Shown") -> None:
    part = file.with_name(file.name + ".part")
    resumed = part.exists()
    _fetch(client, name, part, shown)
    if _sha256(part) != wanted and resumed:
        shown.progress("the download that was continued is damaged; starting again")
        part.unlink()
        _fetch(client, name, part, shown)
    if _sha256(part) != wanted:
        part.unlink()
        raise Unavailable(f"{client.base_url}{name} does not have the published SHA-256")
    part.replace(file)


def _fetch(client: "httpx.Client", name: str, part: Path, shown: "_Shown") -> None:
    """Bring ``part`` to its full length, continuing where it ends."""
    import httpx  # noqa: PLC0415 - as above

    have = part.stat().st_size if part.exists() else 0
    # Identity: the checksum is of the file as it lies there, not of a transfer encoding.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with client.stream("GET", name, headers=headers) as answer:
            if have and answer.status_code == _RANGE_NOT_SATISFIABLE:
                # The part is as long as the file, or longer; the checksum decides which.
                return
            answer.raise_for_status()
            continued = answer.status_code == _PARTIAL
            shown.start(have if continued else 0, answer.headers.get("Content-Length"))
            with part.open("ab" if continued else "wb") as out:
                # As it comes: chunks of a fixed size would lose the last ones of a download that breaks off.
                for chunk in answer.iter_raw():
                    out.write(chunk)
                    shown.add(len(chunk))
    except httpx.HTTPStatusError as error:
        raise Unavailable(f"{client.base_url}{name} answered {error.response.status_code}") from error
    except httpx.HTTPError as error:
        with suppress(OSError):
            have = part.stat().st_size
        raise Unavailable(
            f"the download from {client.base_url} broke off after {_megabytes(have)} MB "
            f"({error or type(error).__name__}); the next run continues it"
        ) from error


class _Shown:
    """Says at most ten times how far a download is."""

    def __init__(self, tool: Tool, progress: Progress) -> None:
        self.progress = progress
        self._what = f"{tool.phrase} {tool.version}"
        self._have = self._total = self._last = 0

    def start(self, have: int, rest: str | None) -> None:
        """Begin with what is there and the length of the rest, as the server said it."""
        self._have = have
        self._total = have + int(rest) if rest and rest.isdigit() else 0
        self._last = self._parts
        again = f", continuing at {_megabytes(have)} MB" if have else ""
        self.progress(f"downloading {self._what}{again}")

    @property
    def _parts(self) -> int:
        return self._have * _PARTS_SHOWN // self._total if self._total else 0

    def add(self, count: int) -> None:
        """Count what has come."""
        self._have += count
        if self._parts > self._last:
            self._last = self._parts
            done = self._have * 100 // self._total
            self.progress(f"downloaded {_megabytes(self._have)} of {_megabytes(self._total)} MB ({done} %)")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.0f}"


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
