"""ProgramConfig: everything the program is told beside manifests and lock, typed.

The program reads no state, no clock and no network; whatever it needs from outside comes in here: secrets, facts of
other stacks, whether clouds are simulated. ``from_pulumi`` is the one place that reads a stack's configuration.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final, Self

import pulumi

from components.errors import ConfigError, Problem
from components.models.namespace import SecretData
from components.naming import GATEWAYS_KEY, SECRETS_KEY, STAGED_KEY

SIMULATED_VARIABLE: Final = "BERTH_SIMULATED"
BACKED_VARIABLE: Final = "BERTH_BACKED"

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramConfig:
    """What the program is told."""

    berth_version: str
    secrets: Mapping[str, SecretData] = field(default_factory=lambda: _NOTHING, repr=False)
    """By ``namespace/name``, the values of a secret by key. Whatever takes one makes it a secret of the engine's."""
    gateway_addresses: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """Addresses of the gateways of clusters that other stacks hold."""
    staged: frozenset[str] = frozenset()
    """Caches (by logical name) whose weights are there already, so that their download tokens are not copied."""
    simulated: bool = False
    backed: bool = False
    """Whether the clusters of the simulated clouds are real control planes on this machine."""
    gated: bool = False
    """Whether the policy pack judges what the program registers, so that the program need not refuse it itself."""

    @classmethod
    def from_pulumi(cls, *, gated: bool = False, simulated: bool | None = None, backed: bool | None = None) -> Self:
        """Read the configuration of the stack that runs. Raises ConfigError without ever quoting a value.

        Whoever does not say whether the run is ``simulated`` or ``backed`` goes by the variables of the environment.
        """
        return cls(
            berth_version=version("berth"),
            secrets=_secrets(_value(SECRETS_KEY)),
            gateway_addresses=_gateways(_value(GATEWAYS_KEY)),
            staged=_staged(_value(STAGED_KEY)),
            simulated=_is_set(SIMULATED_VARIABLE) if simulated is None else simulated,
            backed=_is_set(BACKED_VARIABLE) if backed is None else backed,
            gated=gated,
        )

    def secret(self, namespace: str, name: str) -> SecretData | None:
        """Return a secret by its place; None when Berth does not hold it."""
        return self.secrets.get(f"{namespace}/{name}")


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "") in {"1", "true"}


def _value(key: str) -> Any:
    # Not pulumi.Config: that warns about every secret whose keys are looked at, and its values hide the keys.
    text = pulumi.runtime.get_config(key)
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise _refused(key, "is not JSON") from None  # the cause would quote the value


def _secrets(value: Any) -> Mapping[str, SecretData]:
    shape = "is not an object of secrets by NAMESPACE/NAME, each an object of texts by key"
    if value is None:
        return _NOTHING
    if not isinstance(value, dict):
        raise _refused(SECRETS_KEY, shape)
    for name, data in value.items():
        namespace, slash, rest = str(name).partition("/")
        texts = isinstance(data, dict) and all(isinstance(text, str) for text in data.values())
        if not namespace or not slash or not rest or "/" in rest or not texts:
            raise _refused(SECRETS_KEY, shape)
    if value and not pulumi.runtime.is_config_secret(SECRETS_KEY):
        raise _refused(SECRETS_KEY, "lies in clear text in the stack's configuration; set it again with --secret")
    return MappingProxyType(
        {name: MappingProxyType(dict(sorted(data.items()))) for name, data in sorted(value.items())}
    )


def _gateways(value: Any) -> Mapping[str, str]:
    if value is None:
        return _NOTHING
    if not isinstance(value, dict) or not all(isinstance(address, str) for address in value.values()):
        raise _refused(GATEWAYS_KEY, "is not an object of addresses by cluster")
    return MappingProxyType(dict(sorted(value.items())))


def _staged(value: Any) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _refused(STAGED_KEY, "is not a list of names of caches")
    return frozenset(value)


def _refused(key: str, what: str) -> ConfigError:
    secret = " --secret" if key == SECRETS_KEY else ""
    problem = Problem(
        "config-value", f"the configuration value {key} {what}", help=f"pulumi config set{secret} --path '{key}...'"
    )
    return ConfigError([problem])
