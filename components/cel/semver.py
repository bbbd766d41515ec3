"""Semantic versions exactly as Kubernetes reads them in device attributes and in selectors.

Parsing is strict (three numbers, no leading zeros, 64-bit bounds); ``normalize`` first repairs what version strings in
the wild look like (a leading ``v``, one or two numbers, leading zeros), which is ``semver(text, true)`` of the selector
language. Build metadata is kept and never compared.
"""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

from components.cel.record import Record, put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MAX: Final = 2**64 - 1
_MAX_TEXT: Final = 20  # digits of the largest number
_DIGITS: Final = frozenset("0123456789")
_WORD: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_PARTS: Final = 3


class SemverError(ValueError):
    """The text is no semantic version."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Semver(Record):
    """One version; equality and order ignore the build metadata."""

    __slots__ = ("build", "major", "minor", "patch", "pre")

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...]
    build: tuple[str, ...]

    def __init__(
        self, major: int, minor: int, patch: int, pre: tuple[int | str, ...] = (), build: tuple[str, ...] = ()
    ) -> None:
        put(self, "major", major)
        put(self, "minor", minor)
        put(self, "patch", patch)
        put(self, "pre", pre)
        put(self, "build", build)

    @classmethod
    def parse(cls, text: str, *, normalize: bool = False) -> Semver:
        """Parse strictly; with ``normalize`` repair a leading ``v``, missing numbers and leading zeros first."""
        return _strict(_repaired(text) if normalize else text)

    def compare(self, other: Semver) -> int:
        """Compare by precedence: -1, 0 or 1; a pre-release is lower than its release."""
        left, right = (self.major, self.minor, self.patch), (other.major, other.minor, other.patch)
        if left != right:
            return 1 if left > right else -1
        if not self.pre or not other.pre:
            return bool(other.pre) - bool(self.pre)
        for mine, theirs in zip(self.pre, other.pre, strict=False):
            if mine != theirs:
                return _compare_part(mine, theirs)
        return (len(self.pre) > len(other.pre)) - (len(self.pre) < len(other.pre))

    def __eq__(self, other: object) -> bool:
        return self.compare(other) == 0 if isinstance(other, Semver) else NotImplemented

    def __lt__(self, other: Semver) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Semver) -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: Semver) -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: Semver) -> bool:
        return self.compare(other) >= 0

    def __hash__(self) -> int:
        return hash((self.major, self.minor, self.patch, self.pre))

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.pre:
            text += "-" + ".".join(str(part) for part in self.pre)
        return text + ("+" + ".".join(self.build) if self.build else "")


def _compare_part(left: int | str, right: int | str) -> int:
    """Order two different parts: numbers by value and below words, words by their bytes."""
    if isinstance(left, int):
        return -1 if isinstance(right, str) or left < right else 1
    return 1 if isinstance(right, int) or left > right else -1


def _strict(text: str) -> Semver:
    if not text:
        raise SemverError("version string empty")
    parts = text.split(".", _PARTS - 1)
    if len(parts) != _PARTS:
        raise SemverError("no major.minor.patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    patch, dash, pre = rest.partition("-")
    return Semver(
        major,
        minor,
        _number(patch, "patch"),
        tuple(_pre(part) for part in pre.split(".")) if dash else (),
        tuple(_build(part) for part in build.split(".")) if plus else (),
    )


def _number(text: str, what: str) -> int:
    if not text or not all(char in _DIGITS for char in text):
        raise SemverError(f"the {what} number must be digits only, got {_short(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f"the {what} number must not have leading zeros, got {_short(text)}")
    value = int(text) if len(text) <= _MAX_TEXT else _MAX + 1
    if value > _MAX:
        raise SemverError(f"the {what} number is out of range: {_short(text)}")
    return value


def _pre(text: str) -> int | str:
    if not text:
        raise SemverError("a pre-release part is empty")
    if all(char in _DIGITS for char in text):
        return _number(text, "pre-release")
    if not all(char in _WORD for char in text):
        raise SemverError(f"invalid character in pre-release part {_short(text)}")
    return text


def _build(text: str) -> str:
    if not text:
        raise SemverError("a build part is empty")
    if not all(char in _WORD for char in text):
        raise SemverError(f"invalid character in build part {_short(text)}")
    return text


def _repaired(text: str) -> str:
    parts = text.removeprefix("v").split(".", _PARTS - 1)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped and stripped[0] in _DIGITS else "0" + stripped
    if len(parts) < _PARTS:
        if any(char in parts[-1] for char in "+-"):
            raise SemverError("a short version cannot contain pre-release or build metadata")
        parts += ["0"] * (_PARTS - len(parts))
    return ".".join(parts)


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else repr(text[:40]) + "..."
