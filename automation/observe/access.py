"""Access: how an API server is reached and who asks, read from a kubeconfig.

Only what is safe and kept is taken: TLS that is verified, a token, a client certificate, or a credential plugin
(``exec``). What a kubeconfig may also say is refused in words: a server whose certificate nobody checks would get the
credential of whoever asks, and so would one without TLS; passwords and ``auth-provider`` are gone from Kubernetes
(1.19 and 1.26). No message quotes more than the names and the server's address.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from components.clusters.kubeconfig import Entry, kubeconfig_error, read_entry

_PLUGIN_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Plugin:
    """A program that prints an ExecCredential, as kubectl runs it."""

    version: str
    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    hint: str = ""
    """What the kubeconfig says of how to install it."""


@dataclass(frozen=True, slots=True)
class Access:
    """One API server and one user of it. Certificates and keys are PEM texts."""

    server: str
    authority: str = field(default="", repr=False)
    """Who vouches for the server; empty where the machine's own authorities do."""
    name: str = ""
    """The server's name in its certificate where that is not the host of its address."""
    proxy: str = ""
    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    plugin: Plugin | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        return urlsplit(self.server).hostname in _LOOPBACK


def read_access(text: str, *, where: str = "the kubeconfig", context: str = "", folder: Path | None = None) -> Access:
    """Read a kubeconfig's context, by default its current one.

    Files that it names are looked for in ``folder``, the kubeconfig's own; without one, as in a secret, it must carry
    all data itself. Raises KubeconfigError, whose message names ``where``.
    """
    entry = read_entry(text, where=where, context=context)
    reader = _Reader(entry, where, folder)
    access = Access(
        server=entry.server.rstrip("/"),
        authority=reader.pem(entry.cluster, "certificate-authority"),
        name=reader.text(entry.cluster, "tls-server-name"),
        proxy=reader.text(entry.cluster, "proxy-url"),
        token=reader.token(),
        certificate=reader.pem(entry.user, "client-certificate"),
        key=reader.pem(entry.user, "client-key"),
        plugin=reader.plugin(),
    )
    _refuse_unsafe(entry, access, where)
    return access


def _refuse_unsafe(entry: Entry, access: Access, where: str) -> None:
    if entry.cluster.get("insecure-skip-tls-verify"):
        raise kubeconfig_error(
            where,
            "insecure-skip-tls-verify would hand the credential to whoever answers; put certificate-authority-data in",
        )
    knows = bool(access.token or access.certificate or access.plugin)
    if urlsplit(access.server).scheme == "http" and knows and not access.is_loopback:
        raise kubeconfig_error(where, f"its server {access.server} speaks no TLS, so the credential would lie open")
    if bool(access.certificate) != bool(access.key):
        raise kubeconfig_error(where, "its user has one of client-certificate and client-key and not the other")
    given = sorted({"username", "password", "auth-provider"} & entry.user.keys())
    if not knows and given:
        raise kubeconfig_error(
            where, f"its user logs in by {given[0]}, which Kubernetes no longer has; use a token, certificate or exec"
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads single values of an entry, each with an error that names it."""

    entry: Entry
    where: str
    folder: Path | None

    def text(self, part: Mapping[str, Any], key: str) -> str:
        value = part.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise kubeconfig_error(self.where, f"{key} is no text")
        return value

    def token(self) -> str:
        if token := self.text(self.entry.user, "token"):
            return token
        return self._file(self.text(self.entry.user, "tokenFile"), "tokenFile").strip()

    def pem(self, part: Mapping[str, Any], key: str) -> str:
        """Return the text of ``key``'s data, or of the file that ``key`` names."""
        data = self.text(part, f"{key}-data")
        if not data:
            return self._file(self.text(part, key), key)
        try:
            return base64.b64decode(data, validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            # The cause would quote the secret.
            raise kubeconfig_error(self.where, f"{key}-data is not a PEM text in base64") from None

    def _file(self, name: str, key: str) -> str:
        if not name:
            return ""
        if self.folder is None:
            raise kubeconfig_error(self.where, f"{key} names a file, and only the secret is here; put its data in")
        try:
            return (self.folder / name).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not a text"
            raise kubeconfig_error(self.where, f"the file {name} that {key} names cannot be read: {why}") from error

    def plugin(self) -> Plugin | None:
        found = self.entry.user.get("exec")
        if found is None:
            return None
        if not isinstance(found, dict) or not isinstance(found.get("command"), str):
            raise kubeconfig_error(self.where, "the exec of its user names no command")
        version = found.get("apiVersion")
        if version not in _PLUGIN_VERSIONS:
            raise kubeconfig_error(
                self.where, f"its exec has apiVersion {version}, not {' or '.join(_PLUGIN_VERSIONS)}"
            )
        if found.get("interactiveMode") == "Always":
            raise kubeconfig_error(self.where, "its exec wants to ask a person; nobody is asked here")
        variables = found.get("env") or ()
        return Plugin(
            version=version,
            command=self._program(found["command"]),
            arguments=tuple(map(str, found.get("args") or ())),
            environment={str(each["name"]): str(each["value"]) for each in variables},
            hint=" ".join(self.text(found, "installHint").split()),
        )

    def _program(self, command: str) -> str:
        """Return a command; one with a slash in it is a path from the kubeconfig's folder, as for kubectl."""
        return str(self.folder / command) if self.folder is not None and "/" in command else command
