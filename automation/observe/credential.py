"""Credential: who asks an API server; a credential plugin is run for it, and given no more time than there is.

A plugin that hangs (a login that waits for a browser, a cloud that is away) must not hold up the other clusters, so it
is ended with all that it started. Its output is a secret and is never quoted; what it says on stderr is for people.
"""

import json
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from automation.observe.access import Access, Plugin

_SAID: Final = 200


class LoginFailed(Exception):
    """Nobody can say who asks: a credential plugin is missing, failed or hung. Its text says it in words."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What proves who asks: a token, or a certificate with its key; neither for a server that asks for nobody."""

    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)


def credential_of(access: Access, *, seconds: float) -> Credential:
    """Return the credential of a kubeconfig's user; runs its plugin for at most ``seconds``. Raises LoginFailed."""
    if access.plugin is None:
        return Credential(access.token, access.certificate, access.key)
    output = _run(access.plugin, seconds)
    try:
        answer = json.loads(output)
        status = answer["status"]
        found = Credential(
            status.get("token") or "",
            status.get("clientCertificateData") or access.certificate,
            status.get("clientKeyData") or access.key,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LoginFailed(f"`{access.plugin.command}` did not print an ExecCredential with a status") from None
    if answer.get("apiVersion") != access.plugin.version:
        raise LoginFailed(f"`{access.plugin.command}` did not answer as {access.plugin.version}")
    return found


def _run(plugin: Plugin, seconds: float) -> str:
    info = {"apiVersion": plugin.version, "kind": "ExecCredential", "spec": {"interactive": False}}
    environment = {**os.environ, **plugin.environment, "KUBERNETES_EXEC_INFO": json.dumps(info)}
    try:
        # In a session of its own, so that what it starts ends with it.
        process = subprocess.Popen(  # noqa: S603 (the command that the user's kubeconfig names, as kubectl runs it)
            [plugin.command, *plugin.arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        hint = f"; {plugin.hint}" if plugin.hint else ""
        raise LoginFailed(f"`{plugin.command}` cannot be started: {error.strerror}{hint}") from error
    with process:
        try:
            output, said = process.communicate(timeout=seconds)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise LoginFailed(f"`{plugin.command}` gave no credential within {seconds:.0f} s") from error
            raise
    if process.returncode:
        last = next((text.strip() for text in reversed(said.splitlines()) if text.strip()), "it said nothing")
        raise LoginFailed(f"`{plugin.command}` ended with status {process.returncode}: {last[:_SAID]}")
    return output
