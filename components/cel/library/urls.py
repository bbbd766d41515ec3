"""URLs, as the ``net/url`` of Go parses and prints them.

``isURL`` asks ``ParseRequestURI``, which knows no fragment and takes what begins with a slash for a path. ``url`` asks
that first and then ``Parse``, whose answer counts. Releases of Go differ in which hosts they take, and patches of one
minor are built by several: newer ones want an IPv6 address in brackets and a bracket nowhere else, and 1.26 one colon
at the most, that of the port (https://go.dev/issue/75223). A host on which they differ is unsupported.
"""

# ruff: noqa: PLR2004 - bytes, named by the text beside them

from __future__ import annotations

import re

from components.cel.library.network import is_six
from components.cel.problem import EvaluationError
from components.cel.values import CelMap, StringMap, Url, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_ESCAPE: Final = re.compile(rb"%([0-9a-fA-F]{2})")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_HOST_CHARS: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"]|[^\x00-\x7f]|%[0-9a-fA-F]{2})*")
_ZONE_CHARS: Final = re.compile(
    r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\" %]"
)  # what an escape in an IPv6 zone may stand for
_USER_CHARS: Final = re.compile(r"(?:[A-Za-z0-9\-._:~!$&'()*+,;=%@])*")
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_PATH_IN_ORDER: Final = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/\[\]]|%[0-9a-fA-F]{2})*")
_FRAGMENT_IN_ORDER: Final = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/?\[\]]|%[0-9a-fA-F]{2})*")
_PLAIN: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"
_PATH_SAFE: Final = frozenset(_PLAIN + b"$&+,/:;=@")
_FRAGMENT_SAFE: Final = frozenset(_PLAIN + b"$&+,/:;=?@!()*")
_USER_SAFE: Final = frozenset(_PLAIN + b"$&+,;=")
_HOST_SAFE: Final = frozenset(_PLAIN + b"!$&'()*+,;=:[]<>\"")


def is_url(text: str) -> bool:
    """Whether ``ParseRequestURI`` takes a text: an absolute URL, or an absolute path."""
    return bool(text) and _parse(text, request=True) is not None


def parse_url(text: str) -> Url | None:
    """Parse what ``ParseRequestURI`` takes once more by ``Parse``, which cuts a fragment off."""
    if not is_url(text):
        return None
    text, _, fragment = text.partition("#")
    found = _parse(text, request=False)
    if found is None or not fragment:
        return found
    if _BAD_ESCAPE.search(fragment):
        return None
    printed = _escaped(fragment, _FRAGMENT_IN_ORDER, _FRAGMENT_SAFE)
    return Url(f"{found.text}#{printed}", found.scheme, found.host, found.escaped_path, found.query)


def _parse(text: str, *, request: bool) -> Url | None:
    """Parse what has no fragment; ``request`` is Go's ``viaRequest``, the text of what is found Go's ``String``."""
    if _CONTROL.search(text):
        return None
    if text == "*":
        return Url(text, "", "", "*", "")
    found = _SCHEME.match(text)
    scheme, rest = (found[1].lower(), text[found.end() :]) if found else ("", text)
    rest, asks, query = rest.partition("?")
    printed, behind = (f"{scheme}:" if scheme else ""), f"{asks}{query}"
    if not rest.startswith("/"):
        # An opaque URL has neither host nor path.
        return Url(f"{printed}{rest}{behind}", scheme, "", "", query) if scheme else None
    host = ""
    if rest.startswith("//") and (scheme or not (request or rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        parsed = _authority(authority)
        if parsed is None:
            return None
        authority, host = parsed
        if authority or rest:
            printed += f"//{authority}"
    if _BAD_ESCAPE.search(rest):
        return None
    path = _escaped(rest, _PATH_IN_ORDER, _PATH_SAFE)
    return Url(f"{printed}{path}{behind}", scheme, host, path, query)


def _authority(text: str) -> tuple[str, str] | None:
    """Give user and host as they are printed, and the host alone."""
    user, at, host = text.rpartition("@")
    if at and (_USER_CHARS.fullmatch(user) is None or _BAD_ESCAPE.search(user)):
        return None
    if not _is_host(host):
        return None
    name, colon, password = user.partition(":")
    printed = f"{_escape(name, _USER_SAFE)}{colon}{_escape(password, _USER_SAFE)}{at}{_escape(host, _HOST_SAFE)}"
    return printed, _unescaped(host)


def _is_host(text: str) -> bool:
    """Whether a text is a host, perhaps with a port; raises where that depends on the release of Go."""
    plain, zone, port = text, "", ""
    if text.startswith("["):
        end = text.rfind("]") + 1
        if not end:
            return False
        port = text[end:]
        agreed = "[" not in text[1:] and is_six(_unescaped(text[1 : end - 1]))
        if "%25" in text:
            plain, zone = text[: text.index("%25")], text[text.index("%25") :]
    else:
        if ":" in text:
            port = text[text.rindex(":") :]
        agreed = "[" not in text and text.find(":") == text.rfind(":")
    if _PORT.fullmatch(port) is None or _HOST_CHARS.fullmatch(text) is None:
        return False
    if any(0x25 != code < 0x80 for code in _escapes(plain)):
        return False
    if any(code >= 0x80 or not _ZONE_CHARS.fullmatch(chr(code)) for code in _escapes(zone)):
        return False
    if not agreed:
        raise EvaluationError("unsupported", f"releases of Go differ in whether a URL has the host {text[:80]!r}")
    return True


def _escapes(text: str) -> list[int]:
    return [int(code, 16) for code in re.findall(r"%([0-9a-fA-F]{2})", text)]


def _bytes(text: str) -> bytes:
    return _ESCAPE.sub(lambda found: bytes((int(found[1], 16),)), text.encode("utf-8", "surrogatepass"))


def _unescaped(text: str) -> str:
    return _bytes(text).decode("utf-8", "replace")


def _escape(text: str, safe: frozenset[int]) -> str:
    """Escape all but what is safe, whatever was escaped before."""
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in _bytes(text))


def _escaped(text: str, in_order: re.Pattern[str], safe: frozenset[int]) -> str:
    """Keep a text whose escapes are in order, and escape it anew otherwise."""
    return text if in_order.fullmatch(text) else _escape(text, safe)


def _url(text: str) -> Url:
    found = parse_url(text)
    if found is None:
        raise EvaluationError("parse-url", f"URL parse error during conversion from string: {text[:80]!r}")
    return found


def _split(host: str) -> tuple[str, str]:
    """Cut the port off a host that has one."""
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and _PORT.fullmatch(colon + port) else (host, "")


def _hostname(url: Url) -> str:
    name, _ = _split(url.host)
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def _port(url: Url) -> str:
    return _split(url.host)[1]


def _query(url: Url) -> CelMap:
    grouped: dict[str, list[Value]] = {}
    for pair in url.query.split("&"):
        name, _, value = pair.partition("=")
        if not pair or ";" in pair or _BAD_ESCAPE.search(name) or _BAD_ESCAPE.search(value):
            continue
        grouped.setdefault(_unescaped(name.replace("+", " ")), []).append(_unescaped(value.replace("+", " ")))
    found = StringMap()
    for name, values in grouped.items():
        found.insert(name, values)
    return found


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_url": _url,
    "is_url_string": is_url,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": _hostname,
    "url_get_port": _port,
    "url_get_escaped_path": lambda url: url.escaped_path,
    "url_get_query": _query,
}
