"""IP addresses, CIDR blocks and URLs, parsed as strictly as upstream does."""

# ruff: noqa: PLR0911 - one return per kind of value reads best
# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import re

from components.cel.problem import EvaluationError
from components.cel.values import CelMap, Cidr, IpAddress, StringMap, Url, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_V4: Final = 4
_V6: Final = 6
_OCTET: Final = 255
_GROUPS: Final = 8
_BITS: Final = {_V4: 32, _V6: 128}
_MAPPED: Final = 0xFFFF


def _octets(text: str) -> int | None:
    parts = text.split(".")
    if len(parts) != _V4:
        return None
    number = 0
    for part in parts:
        if not part or not part.isascii() or not part.isdigit() or len(part) > 3:
            return None
        if (len(part) > 1 and part[0] == "0") or int(part) > _OCTET:
            return None
        number = number * 256 + int(part)
    return number


def _groups(text: str) -> list[int] | None:
    """Read the groups of one side of an IPv6 address; the last may be an IPv4 address."""
    if not text:
        return []
    found: list[int] = []
    parts = text.split(":")
    for index, part in enumerate(parts):
        if "." in part and index == len(parts) - 1:
            tail = _octets(part)
            if tail is None:
                return None
            found += [tail >> 16, tail & 0xFFFF]
        elif re.fullmatch(r"[0-9a-fA-F]{1,4}", part, re.ASCII):
            found.append(int(part, 16))
        else:
            return None
    return found


def parse_address(text: str) -> IpAddress | None:
    """Parse an address; zones and IPv4-mapped IPv6 addresses are refused."""
    if ":" not in text:
        number = _octets(text)
        return None if number is None else IpAddress(number, _V4)
    head, gap, tail = text.partition("::")
    left, right = _groups(head), _groups(tail) if gap else []
    if left is None or right is None:
        return None
    missing = _GROUPS - len(left) - len(right)
    if missing < (1 if gap else 0) or (not gap and missing):
        return None
    groups = left + [0] * missing + right
    number = 0
    for group in groups:
        number = number << 16 | group
    return None if number >> 32 == _MAPPED else IpAddress(number, _V6)


def parse_block(text: str) -> Cidr | None:
    """Parse a block such as ``10.0.0.0/8``."""
    head, slash, bits = text.rpartition("/")
    address = parse_address(head) if slash else None
    if address is None or not re.fullmatch(r"0|[1-9][0-9]{0,2}", bits, re.ASCII):
        return None
    return Cidr(address, int(bits)) if int(bits) <= _BITS[address.family] else None


def address_text(address: IpAddress) -> str:
    """Print an address in its canonical form."""
    number = address.number
    if address.family == _V4:
        return ".".join(str(number >> shift & _OCTET) for shift in (24, 16, 8, 0))
    groups = [number >> shift & 0xFFFF for shift in range(112, -1, -16)]
    best, length = 0, 1
    for start in range(_GROUPS):
        end = start
        while end < _GROUPS and not groups[end]:
            end += 1
        if end - start > length:
            best, length = start, end - start
    if length < 2:
        return ":".join(f"{group:x}" for group in groups)
    before = ":".join(f"{group:x}" for group in groups[:best])
    return f"{before}::{':'.join(f'{group:x}' for group in groups[best + length :])}"


def block_text(block: Cidr) -> str:
    """Print a block."""
    return f"{address_text(block.address)}/{block.prefix}"


def _ip(text: str) -> IpAddress:
    found = parse_address(text)
    if found is None:
        raise EvaluationError("parse-ip", f"IP address {text[:80]!r} parse error during conversion from string")
    return found


def _cidr(text: str) -> Cidr:
    found = parse_block(text)
    if found is None:
        raise EvaluationError("parse-cidr", f"network address {text[:80]!r} parse error during conversion from string")
    return found


def _network(address: IpAddress, prefix: int) -> int:
    return address.number >> (_BITS[address.family] - prefix)


def _has(block: Cidr, address: IpAddress) -> bool:
    same = block.address.family == address.family
    return same and _network(block.address, block.prefix) == _network(address, block.prefix)


def _has_text(block: Cidr, text: str) -> bool:
    """Look for an address in text; upstream reports one that is none as a missing overload."""
    found = parse_address(text)
    if found is None:
        raise EvaluationError("no-such-overload", f"no such overload: containsIP of {text[:80]!r}, no IP address")
    return _has(block, found)


def _has_block(block: Cidr, other: Cidr) -> bool:
    return block.prefix <= other.prefix and _has(block, other.address)


def _masked(block: Cidr) -> Cidr:
    host = _BITS[block.address.family] - block.prefix
    return Cidr(IpAddress(block.address.number >> host << host, block.address.family), block.prefix)


def _in(address: IpAddress, four: str, six: str) -> bool:
    return _has(_cidr(four if address.family == _V4 else six), address)


def _unspecified(address: IpAddress) -> bool:
    return address.number == 0


def _multicast(address: IpAddress) -> bool:
    return _in(address, "224.0.0.0/4", "ff00::/8")


def _link_local_multicast(address: IpAddress) -> bool:
    if address.family == _V4:
        return _in(address, "224.0.0.0/24", "::/0")
    return address.number >> 112 & 0xFF0F == 0xFF02


def _global_unicast(address: IpAddress) -> bool:
    if address.family == _V4 and address.number in {0, 2**32 - 1}:
        return False
    return not (
        _unspecified(address)
        or _in(address, "127.0.0.0/8", "::1/128")
        or _multicast(address)
        or _in(address, "169.254.0.0/16", "fe80::/10")
    )


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_HOST_CHARS: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"]|[^\x00-\x7f]|%[0-9a-fA-F]{2})*")
_ZONE_CHARS: Final = re.compile(
    r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\" %]"
)  # what an escape in an IPv6 zone may stand for
_USER_CHARS: Final = re.compile(r"(?:[A-Za-z0-9\-._:~!$&'()*+,;=%@])*")
_PATH_SAFE: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@")


def parse_url(text: str) -> Url | None:
    """Parse an absolute URL or an absolute path, as Go's ``ParseRequestURI`` does."""
    if not text or _CONTROL.search(text):
        return None
    if text == "*":
        return Url(text, "", "", "*", "")
    found = _SCHEME.match(text)
    scheme, rest = (found[1].lower(), text[found.end() :]) if found else ("", text)
    if rest.endswith("?") and rest.count("?") == 1:
        rest, query = rest[:-1], ""
    else:
        rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if not scheme:
            return None
        return Url(text, scheme, "", "", query)  # an opaque URL has neither host nor path
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        parsed = _host_of(authority)
        if parsed is None:
            return None
        host = parsed
    if _BAD_ESCAPE.search(rest):
        return None
    return Url(text, scheme, host, _escaped(rest), query)


def _host_of(authority: str) -> str | None:
    user, at, host = authority.rpartition("@")
    if at and (_USER_CHARS.fullmatch(user) is None or _BAD_ESCAPE.search(user)):
        return None
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0 or not _port_ok(host[end + 1 :]):
            return None
    elif ":" in host and not _port_ok(host[host.rfind(":") :]):
        return None
    if _HOST_CHARS.fullmatch(host) is None:
        return None
    zone = host.find("%25") if host.startswith("[") else -1
    before, behind = (host, "") if zone < 0 else (host[:zone], host[zone:])
    if any(0x25 != code < 0x80 for code in _escaped_bytes(before)):
        return None
    if any(code >= 0x80 or not _ZONE_CHARS.fullmatch(chr(code)) for code in _escaped_bytes(behind)):
        return None
    return _unescaped(host)


def _escaped_bytes(text: str) -> list[int]:
    return [int(code, 16) for code in re.findall(r"%([0-9a-fA-F]{2})", text)]


def _port_ok(text: str) -> bool:
    return not text or re.fullmatch(r":[0-9]*", text, re.ASCII) is not None


def _unescaped(text: str) -> str:
    raw = re.sub(
        rb"%([0-9a-fA-F]{2})", lambda found: bytes((int(found[1], 16),)), text.encode("utf-8", "surrogatepass")
    )
    return raw.decode("utf-8", "replace")


def _escaped(path: str) -> str:
    """Keep a path whose escapes are in order, and escape it anew otherwise."""
    if re.fullmatch(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/\[\]]|%[0-9a-fA-F]{2})*", path):
        return path
    raw = re.sub(
        rb"%([0-9a-fA-F]{2})", lambda found: bytes((int(found[1], 16),)), path.encode("utf-8", "surrogatepass")
    )
    return "".join(chr(byte) if byte in _PATH_SAFE else f"%{byte:02X}" for byte in raw)


def _url(text: str) -> Url:
    found = parse_url(text)
    if found is None:
        raise EvaluationError("parse-url", f"URL parse error during conversion from string: {text[:80]!r}")
    return found


def _hostname(url: Url) -> str:
    host = url.host
    colon = host.rfind(":")
    if colon >= 0 and re.fullmatch(r":[0-9]*", host[colon:], re.ASCII):
        host = host[:colon]
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _port(url: Url) -> str:
    colon = url.host.rfind(":")
    found = re.fullmatch(r":([0-9]*)", url.host[colon:], re.ASCII) if colon >= 0 else None
    return found[1] if found else ""


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
    "string_to_ip": _ip,
    "is_ip": lambda text: parse_address(text) is not None,
    "ip_is_canonical": lambda text: address_text(_ip(text)) == text,
    "ip_family": lambda address: address.family,
    "ip_is_unspecified": _unspecified,
    "ip_is_loopback": lambda address: _in(address, "127.0.0.0/8", "::1/128"),
    "ip_is_link_local_multicast": _link_local_multicast,
    "ip_is_link_local_unicast": lambda address: _in(address, "169.254.0.0/16", "fe80::/10"),
    "ip_is_global_unicast": _global_unicast,
    "string_to_cidr": _cidr,
    "is_cidr": lambda text: parse_block(text) is not None,
    "cidr_ip": lambda block: block.address,
    "cidr_masked": _masked,
    "cidr_prefix_length": lambda block: block.prefix,
    "cidr_contains_ip_ip": _has,
    "cidr_contains_ip_string": _has_text,
    "cidr_contains_cidr": _has_block,
    "cidr_contains_cidr_string": lambda block, text: _has_block(block, _cidr(text)),
    "string_to_url": _url,
    "is_url_string": lambda text: parse_url(text) is not None,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": _hostname,
    "url_get_port": _port,
    "url_get_escaped_path": lambda url: url.escaped_path,
    "url_get_query": _query,
}
