"""Arguments of the engine's operations on its command line."""

from collections.abc import Sequence

from automation.engine.runner import PolicyPackRef


def nothing() -> None:
    """Stand in where an operation runs no program; it keeps the engine from looking for a language host."""


def operation_options(
    *,
    policy_pack: PolicyPackRef | None = None,
    exclude: Sequence[str] = (),
    refresh: bool = False,
    go_on: bool = False,
) -> list[str]:
    """Return the options of an operation; ``go_on`` lets one failure not stop the others."""
    options: list[str] = []
    if policy_pack:
        options += ["--policy-pack", str(policy_pack.path)]
        if policy_pack.config:
            options += ["--policy-pack-config", str(policy_pack.config)]
    options += [f"--exclude={urn}" for urn in exclude]
    if refresh:
        # Each resource is read just before its own step. Reading all of them first makes the engine show what is to be
        # deleted to policies as if it stayed (3.274.1), and asks with the settings that providers used to have.
        options += ["--refresh", "--run-program"]
    if go_on:
        options.append("--continue-on-error")
    return options
