"""Reads both streams of a Go command line by line, and says when nothing has come for a while."""

import queue
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

_REMEMBERED = 40


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output. A package is a line that is a path: no blank, no colon."""

    text: str

    @property
    def is_package(self) -> bool:
        """Whether Go named a package, as ``go list`` does for each one and ``go build -v`` for each it compiles."""
        return bool(self.text) and not self.text.startswith("#") and " " not in self.text and ":" not in self.text

    @property
    def is_download(self) -> bool:
        """Whether Go says that it downloads a module."""
        return self.text.startswith("go: downloading ")


class OutputReader:
    """The lines of two streams in the order in which they come."""

    def __init__(self, *streams: IO[bytes] | None) -> None:
        self.downloaded = 0
        self._lines: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
        self._open = 0
        self._said: deque[str] = deque(maxlen=_REMEMBERED)
        for stream in streams:
            if stream is not None:
                self._open += 1
                threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def lines(self, *, every: float) -> Iterator[Line | None]:
        """Give the lines until both streams end, and ``None`` whenever none came for ``every`` seconds."""
        while self._open:
            try:
                line = self._lines.get(timeout=every)
            except queue.Empty:
                yield None
                continue
            if line is None:
                self._open -= 1
                continue
            if line.is_download:
                self.downloaded += 1
            elif not line.is_package:
                self._said.append(line.text)
            yield line

    def last(self, count: int) -> list[str]:
        """Give the last lines that are neither packages nor downloads: what Go has to say."""
        return [line for line in self._said if line.strip()][-count:]

    def _read(self, stream: IO[bytes]) -> None:
        # Closed here and by nobody else: closing a stream that another thread reads waits for that thread.
        with stream:
            for line in stream:
                self._lines.put(Line(line.decode(errors="replace").rstrip()))
        self._lines.put(None)
