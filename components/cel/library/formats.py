"""The named formats of Kubernetes: ``format.dns1123Label().validate(text)`` gives nothing when the text fits."""

# ruff: noqa: PLR2004 - bounds of the language, named by the text beside them

from __future__ import annotations

import re
from functools import partial

from components.cel.library.network import parse_url
from components.cel.library.times import parse_timestamp
from components.cel.problem import EvaluationError
from components.cel.values import NOTHING, NamedFormat, Opt, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?", re.ASCII)
_OLD_LABEL: Final = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?", re.ASCII)
_NAME: Final = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_BASE64: Final = re.compile(
    r"(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})", re.ASCII
)
_CLOCK: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_MAX_LABEL: Final = 63
_MAX_SUBDOMAIN: Final = 253


def _trimmed(text: str) -> str:
    """Forgive a trailing dash, as prefixes of generated names may have one."""
    return text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text


def _label(text: str, *, pattern: re.Pattern[str] = _LABEL) -> list[str]:
    found = []
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_LABEL:
        found.append(f"must be no more than {_MAX_LABEL} bytes")
    if not pattern.fullmatch(text):
        found.append("must consist of lower case alphanumeric characters or '-', and start and end with one")
    return found


def _subdomain(text: str) -> list[str]:
    found = []
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_SUBDOMAIN:
        found.append(f"must be no more than {_MAX_SUBDOMAIN} bytes")
    if not all(_LABEL.fullmatch(part) for part in text.split(".")):
        found.append("must consist of lower case alphanumeric characters, '-' or '.'")
    return found


def _name(text: str, what: str) -> list[str]:
    found = []
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_LABEL:
        found.append(f"{what} must be no more than {_MAX_LABEL} bytes")
    if not _NAME.fullmatch(text):
        found.append(f"{what} must consist of alphanumeric characters, '-', '_' or '.'")
    return found


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return ["a qualified name must be a name with an optional DNS subdomain prefix and '/'"]
    found = []
    if slash:
        found += [f"prefix part {problem}" for problem in (_subdomain(prefix) if prefix else ["must be non-empty"])]
    if not name:
        found.append("name part must be non-empty")
    return found + _name(name, "name part")


def _label_value(text: str) -> list[str]:
    return _name(text, "a valid label") if text else []


def _date(text: str) -> bool:
    return len(text) == 10 and parse_timestamp(text + "T00:00:00Z") is not None


def _datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(text) < 4 or len(parts) < 2 or not _safe_date(parts[0]):
        return False
    found = _CLOCK.fullmatch(parts[1])
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _safe_date(text: str) -> bool:
    try:
        return _date(text)
    except EvaluationError:  # the year 0 is a date for Go, and out of range for a timestamp
        return text.startswith("0000-")


def _when(test: Callable[[str], object], complaint: str) -> Callable[[str], list[str]]:
    return lambda text: [] if test(text) else [complaint]


_VALIDATORS: Final[dict[str, tuple[Callable[[str], list[str]], int]]] = {
    "dns1123Label": (_label, 30),
    "dns1123Subdomain": (_subdomain, 60),
    "dns1035Label": (lambda text: _label(text, pattern=_OLD_LABEL), 30),
    "qualifiedName": (_qualified_name, 60),
    "dns1123LabelPrefix": (lambda text: _label(_trimmed(text)), 30),
    "dns1123SubdomainPrefix": (lambda text: _subdomain(_trimmed(text)), 60),
    "dns1035LabelPrefix": (lambda text: _label(_trimmed(text), pattern=_OLD_LABEL), 30),
    "labelValue": (_label_value, 40),
    "uri": (_when(lambda text: parse_url(text) is not None, "is no URI"), 1103),
    "uuid": (_when(_UUID.fullmatch, "does not match the UUID format"), 70),
    "byte": (_when(_BASE64.fullmatch, "invalid base64"), 84),
    "date": (_when(_safe_date, "invalid date"), 71),
    "datetime": (_when(_datetime, "invalid datetime"), 71),
}


def regex_size(value: NamedFormat) -> int:
    """Give the size of the pattern that a validation is priced by."""
    return _VALIDATORS[value.name][1]


def _named(name: str) -> Value:
    return Opt(NamedFormat(name)) if name in _VALIDATORS else NOTHING


def _validate(value: NamedFormat, text: str) -> Value:
    problems = _VALIDATORS[value.name][0](text)
    return Opt([*problems]) if problems else NOTHING


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "format-named": _named,
    "format-validate": _validate,
    **{f"format.{name}": partial(NamedFormat, name) for name in _VALIDATORS},
}
