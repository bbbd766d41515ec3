"""The syntax of names, labels, images and the like, as Kubernetes and the clouds check it.

Every check takes the text and returns why it is wrong, in words that follow "must", or an empty string. The rules are
those of Kubernetes' own validation (RFC 1123 labels and subdomains, qualified names, label values) and of the
distribution project's image references.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from components.cel.quantity import Quantity, QuantityError
from components.cel.semver import Semver, SemverError

LABEL_PATTERN: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
SERVICE_PATTERN: Final = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
SUBDOMAIN_PATTERN: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
DURATION_PATTERN: Final = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"

LABEL_LIMIT: Final = 63
SUBDOMAIN_LIMIT: Final = 253

_LABEL = re.compile(LABEL_PATTERN[1:-1])
_SERVICE = re.compile(SERVICE_PATTERN[1:-1])
_SUBDOMAIN = re.compile(SUBDOMAIN_PATTERN[1:-1])
_KEY_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_IMAGE = re.compile(
    r"(?:(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])"
    r"(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_REPO_PAGE = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)(?:/.*)?")
_REVISION = re.compile(r"[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]*")
_DURATION = re.compile(DURATION_PATTERN[1:-1])
_SECRET = re.compile(f"(?:{LABEL_PATTERN[1:-1]})/(?:{SUBDOMAIN_PATTERN[1:-1]})")
_TAG_VALUE = re.compile(r"[\w .:/=+@-]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_PREFIX = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9.]*(?::[0-9]+)?(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")
_CLOUD_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9])?")  # Azure takes `East US` for `eastus`
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_NGC = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+){1,2}:[A-Za-z0-9._-]+")
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")
_HEADER = re.compile(r"[A-Za-z0-9][-A-Za-z0-9]{0,63}")
_DEVICE_KEY = re.compile(f"(?:(?=[^/]{{1,{LABEL_LIMIT}}}/){SUBDOMAIN_PATTERN[1:-1]}/)?" + "[A-Za-z_][A-Za-z0-9_]{0,31}")
_SECRET_KEY = re.compile(r"(?!\.\.)(?!\.$)[-._a-zA-Z0-9]+")
_DECIMAL_BYTES = re.compile(r"([0-9.]+) ?([KMGTPE])i?[bB]?", re.IGNORECASE)


def dns_label(text: str) -> str:
    """Check an RFC 1123 label."""
    if len(text) > LABEL_LIMIT:
        return f"have at most {LABEL_LIMIT} characters, and has {len(text)}"
    if _LABEL.fullmatch(text):
        return ""
    return "be lower-case letters, digits and `-`, and begin and end with a letter or digit" + _could_be(text)


def is_dns_label(text: str) -> bool:
    """Whether the text is an RFC 1123 label."""
    return not dns_label(text)


def service_label(text: str) -> str:
    """Check an RFC 1035 label, as Services have it: like ``dns_label``, and beginning with a letter."""
    if len(text) > LABEL_LIMIT or not _LABEL.fullmatch(text) or _SERVICE.fullmatch(text):
        return dns_label(text)
    return "begin with a letter, because Services in the cluster are named after it"


def dns_subdomain(text: str, *, limit: int = SUBDOMAIN_LIMIT) -> str:
    """Check an RFC 1123 subdomain: labels joined by dots."""
    if len(text) > limit:
        return f"have at most {limit} characters, and has {len(text)}"
    if _SUBDOMAIN.fullmatch(text):
        return ""
    return "be lower-case letters, digits, `-` and `.`, and begin and end with a letter or digit" + _could_be(text)


def short_subdomain(text: str) -> str:
    """Check a subdomain that also becomes a label's value, so it has at most 63 characters."""
    return dns_subdomain(text, limit=LABEL_LIMIT)


def label_key(text: str) -> str:
    """Check the key of a label or annotation: an optional DNS prefix and ``/``, then a name."""
    prefix, slash, name = text.rpartition("/")
    if slash and not prefix:
        return "not have an empty prefix before the `/`"
    if prefix and (len(prefix) > SUBDOMAIN_LIMIT or not _SUBDOMAIN.fullmatch(prefix)):
        return "have a lower-case DNS name of at most 253 characters before the `/`"
    if not _KEY_NAME.fullmatch(name):
        return "have 1 to 63 letters, digits, `-`, `_` or `.`, edged by letters or digits" + (
            " after the `/`" if slash else ""
        )
    return ""


def label_value(text: str) -> str:
    """Check the value of a label."""
    if len(text) > LABEL_LIMIT:
        return f"have at most {LABEL_LIMIT} characters, and has {len(text)}"
    if _LABEL_VALUE.fullmatch(text):
        return ""
    return "be empty, or letters, digits, `-`, `_` and `.`, edged by letters or digits"


def image(text: str) -> str:
    """Check an image reference: registry, path, tag and digest."""
    if any(character.isspace() for character in text):
        return "not hold a space"
    if _IMAGE.fullmatch(text):
        return ""
    if _IMAGE.fullmatch(text.lower()):
        return "have a path in lower case"
    return "be `[registry/]path[:tag][@digest]`"


def quantity(text: str) -> str:
    """Check a Kubernetes quantity."""
    try:
        Quantity.parse(text)
    except QuantityError:
        reason = "be a number and one of Ki Mi Gi Ti Pi Ei (powers of 1024) or k M G T P E (powers of 1000)"
        found = _DECIMAL_BYTES.fullmatch(text)
        return f"{reason}; `{found[1]}{found[2].upper()}i` perhaps" if found else reason
    return ""


def semantic_version(text: str) -> str:
    """Check a strict semantic version."""
    try:
        Semver.parse(text)
    except SemverError:
        reason = "be a semantic version: three numbers without leading zeros, `major.minor.patch`"
        try:
            repaired = Semver.parse(text, normalize=True)
        except SemverError:
            return reason
        return f"{reason}; `{repaired}` perhaps"
    return ""


def duration(text: str) -> str:
    """Check a duration such as ``1h30m``."""
    return "" if text and _DURATION.fullmatch(text) else "be hours, minutes and seconds, such as `1h30m` or `45s`"


def duration_seconds(text: str) -> int:
    """Return the seconds of a duration that ``duration`` accepts."""
    units = {"h": 3600, "m": 60, "s": 1}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"([0-9]+)([hms])", text))


def date(text: str) -> str:
    """Check a day of the calendar, as ISO 8601 writes it."""
    try:
        found = _DATE.fullmatch(text) and dt.date.fromisoformat(text)
    except ValueError:
        found = None
    return "" if found else "be a day such as `2027-03-31`"


def hostname(text: str) -> str:
    """Check a host's name as Gateway API takes it: labels joined by dots, the first of which may be `*`."""
    name = text.removeprefix("*.")
    if len(text) <= SUBDOMAIN_LIMIT and "." in name and _SUBDOMAIN.fullmatch(name) and not _DOTTED.fullmatch(name):
        return ""
    return "be a host such as `chat.example.com` or `*.example.com`"


def cloud_word(text: str) -> str:
    """Check the name of a region or of a kind of machine, as clouds give them."""
    return "" if _CLOUD_WORD.fullmatch(text) else "be letters, digits, `.`, `_` and `-`, as the cloud writes it"


def registry_prefix(text: str) -> str:
    """Check the beginning of image or chart references: a registry, and parts of a path; no tag, no scheme."""
    if "://" in text:
        return "have no scheme; write what follows the `://`"
    return "" if _PREFIX.fullmatch(text) else "be a registry such as `docker.io`, with a path if any: `ghcr.io/team`"


def file_pattern(text: str) -> str:
    """Check a pattern of files below a folder: it becomes an argument of a download command."""
    if _REVISION.fullmatch(text) and not text.startswith("/") and ".." not in text.split("/"):
        return ""
    return "be a pattern such as `*.safetensors`: no spaces, no `-` or `/` in front, no `..`"


def folder(text: str) -> str:
    """Check the path of a folder or an object below a root."""
    parts = text.split("/")
    odd = {"", ".", ".."} & set(parts[:-1]) or {".", ".."} & set(parts[-1:])
    if _REVISION.fullmatch(text) and not text.startswith("/") and not odd:
        return ""
    return "be a path such as `models/qwen`: no spaces, no `-` or `/` in front, no empty part and no `..`"


def bucket(text: str) -> str:
    """Check the name of a bucket."""
    return "" if _BUCKET.fullmatch(text) else "be 3 to 63 lower-case letters, digits, `-`, `_` and `.`"


def ngc_model(text: str) -> str:
    """Check a model of NVIDIA NGC."""
    return "" if _NGC.fullmatch(text) else "be `org[/team]/name:version`"


def checksum(text: str) -> str:
    """Check a digest."""
    return "" if _CHECKSUM.fullmatch(text) else "be `sha256:` and 64 hexadecimal digits in lower case"


def absolute_path(text: str) -> str:
    """Check where something is mounted in a container."""
    if text.startswith("/") and ":" not in text and ".." not in text.split("/") and len(text) > 1:
        return ""
    return "be an absolute path such as `/data`, without `:` and `..`"


def header(text: str) -> str:
    """Check the name of a header of HTTP."""
    return "" if _HEADER.fullmatch(text) else "be the name of a header, such as `Authorization`"


def device_key(text: str) -> str:
    """Check the name of an attribute or capacity of a device: a C identifier, in a domain or alone."""
    return (
        ""
        if _DEVICE_KEY.fullmatch(text)
        else ("be letters, digits and `_` as in `cudaComputeCapability`, at most 32, or `domain/name`")
    )


def secret_key(text: str) -> str:
    """Check a key of a Secret or ConfigMap."""
    return "" if _SECRET_KEY.fullmatch(text) else "be letters, digits, `-`, `_` and `.`, and not begin with `..`"


def cpu_or_memory(text: str) -> str:
    """Check a quantity that is asked of a node: not negative."""
    reason = quantity(text)
    return reason or ("" if Quantity.parse(text).sign >= 0 else "not be negative")


def repository(text: str) -> str:
    """Check a Hugging Face repository."""
    if _REPO.fullmatch(text):
        return ""
    page = _REPO_PAGE.fullmatch(text)
    return "be `owner/name`, of letters, digits, `-`, `_` and `.`" + (f"; `{page[1]}` perhaps" if page else "")


def revision(text: str) -> str:
    """Check a Git revision: it becomes an argument of a download command."""
    return "" if _REVISION.fullmatch(text) else "be a branch, tag or commit: no spaces, and no `-` in front"


def secret_name(text: str) -> str:
    """Check the name of a secret across namespaces."""
    return "" if _SECRET.fullmatch(text) else "be `namespace/name`"


def tag_value(text: str) -> str:
    """Check a value that becomes a tag in every cloud."""
    return "" if _TAG_VALUE.fullmatch(text) else "be letters, digits, spaces and `. : / = + @ _ -`"


def variable(text: str) -> str:
    """Check the name of an environment variable."""
    if text and "=" not in text and all(" " <= character <= "~" for character in text):
        return ""
    return "be printable characters without `=`"


def url(text: str) -> str:
    """Check a URL that traffic can be routed to: http or https, a host, a port if any."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "be a URL such as `https://api.example.com/v1`; its host or port cannot be read"
    return _url(parts, host, port)


def _url(parts: SplitResult, host: str, port: int | None) -> str:
    if parts.scheme not in ("http", "https"):
        return "begin with `http://` or `https://`"
    if not host or any(character.isspace() for character in parts.netloc):
        return "name a host after `//`"
    if port == 0:
        return "have a port from 1 to 65535"
    if parts.username or parts.password:
        return "not hold a user or password"
    if ":" not in host and not _SUBDOMAIN.fullmatch(host):
        return "name a host of letters, digits, `-` and `.`"
    return ""


def _could_be(text: str) -> str:
    """Suggest the nearest label, when there is one."""
    near = re.sub(r"[^a-z0-9-]+", "-", text.lower()).strip("-")[:LABEL_LIMIT].rstrip("-")
    return f"; `{near}` perhaps" if near and near != text else ""


# What each check is in JSON Schema. Where a check knows more than a pattern can say (which days a month has, which
# numbers are too large), the schema is the wider one.


def _whole(regex: re.Pattern[str]) -> str:
    return f"^(?:{regex.pattern})$"


_QUANTITY_END: Final = r"([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$"
_NUMBER: Final = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_ZERO: Final = r"(0+(\.0*)?|\.0+)"
_VERSION_NUMBER: Final = r"(0|[1-9][0-9]{0,19})"
_VERSION_PART: Final = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_NO_PARENT: Final = r"(?!(.*/)?\.\.(/|$))"
_INNER_LABEL: Final = LABEL_PATTERN[1:-1]
_INNER_SUBDOMAIN: Final = SUBDOMAIN_PATTERN[1:-1]

_SAID: Final[dict[Callable[[str], str], Mapping[str, Any]]] = {
    absolute_path: {"pattern": f"^/{_NO_PARENT}[^:]+$"},
    bucket: {"pattern": _whole(_BUCKET)},
    checksum: {"pattern": _whole(_CHECKSUM)},
    cloud_word: {"pattern": _whole(_CLOUD_WORD)},
    cpu_or_memory: {"pattern": rf"^(\+?{_NUMBER}|-{_ZERO}){_QUANTITY_END}"},
    date: {"format": "date", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"},
    device_key: {"pattern": _whole(_DEVICE_KEY)},
    dns_label: {"pattern": LABEL_PATTERN, "maxLength": LABEL_LIMIT},
    dns_subdomain: {"pattern": SUBDOMAIN_PATTERN, "maxLength": SUBDOMAIN_LIMIT},
    duration: {"pattern": DURATION_PATTERN, "minLength": 1},
    file_pattern: {"pattern": f"^(?!/){_NO_PARENT}{_REVISION.pattern}$"},
    folder: {"pattern": rf"^(?!/)(?!.*//)(?!(.*/)?\.\.?(/|$)){_REVISION.pattern}$"},
    header: {"pattern": _whole(_HEADER)},
    hostname: {
        "pattern": rf"^(?!(\*\.)?{_DOTTED.pattern}$)(\*\.)?{_INNER_LABEL}(\.{_INNER_LABEL})+$",
        "maxLength": SUBDOMAIN_LIMIT,
    },
    image: {"pattern": _whole(_IMAGE)},
    label_key: {"pattern": rf"^((?=[^/]{{1,{SUBDOMAIN_LIMIT}}}/){_INNER_SUBDOMAIN}/)?{_KEY_NAME.pattern}$"},
    label_value: {"pattern": _whole(_LABEL_VALUE), "maxLength": LABEL_LIMIT},
    ngc_model: {"pattern": _whole(_NGC)},
    quantity: {"pattern": f"^[-+]?{_NUMBER}{_QUANTITY_END}"},
    registry_prefix: {"pattern": _whole(_PREFIX)},
    repository: {"pattern": _whole(_REPO)},
    revision: {"pattern": _whole(_REVISION)},
    secret_key: {"pattern": _whole(_SECRET_KEY)},
    secret_name: {"pattern": _whole(_SECRET)},
    semantic_version: {
        "pattern": rf"^{_VERSION_NUMBER}\.{_VERSION_NUMBER}\.{_VERSION_NUMBER}(-{_VERSION_PART}(\.{_VERSION_PART})*)?"
        r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$"
    },
    service_label: {"pattern": SERVICE_PATTERN, "maxLength": LABEL_LIMIT},
    short_subdomain: {"pattern": SUBDOMAIN_PATTERN, "maxLength": LABEL_LIMIT},
    tag_value: {"pattern": r"""^[^\x00-\x1f!"#$%&'()*,;<>?\[\\\]^`{|}~\x7f]*$"""},
    url: {
        "pattern": r"^[hH][tT][tT][pP][sS]?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?)(:[0-9]*)?([/?#]|$)"
    },
    variable: {"pattern": "^[ -<>-~]+$"},
}


def said(check: Callable[[str], str]) -> Mapping[str, Any]:
    """Return what a check of this module is in JSON Schema; raises KeyError for one that has no such face."""
    return _SAID[check]
