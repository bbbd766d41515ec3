"""IP addresses and CIDR blocks, parsed as strictly as upstream does."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import re

from components.cel.problem import EvaluationError
from components.cel.values import Cidr, IpAddress

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


def _six(text: str) -> int | None:
    """Parse an IPv6 address without a zone."""
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
    return number


def parse_address(text: str) -> IpAddress | None:
    """Parse an address; zones and IPv4-mapped IPv6 addresses are refused."""
    if ":" not in text:
        number = _octets(text)
        return None if number is None else IpAddress(number, _V4)
    number = _six(text)
    return None if number is None or number >> 32 == _MAPPED else IpAddress(number, _V6)


def is_six(text: str) -> bool:
    """Whether a text is an IPv6 address, perhaps with a zone behind a percent sign."""
    address, percent, zone = text.partition("%")
    return _six(address) is not None and bool(zone or not percent)


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
}
