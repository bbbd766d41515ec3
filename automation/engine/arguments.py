"""Arguments of the engine's operations on its command line, and the settings that go with them."""

from collections.abc import Mapping, Sequence

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


def only_looks(args: Sequence[str]) -> bool:
    """Whether an operation changes nothing, not even the state."""
    return args[0] == "preview" or "--preview-only" in args


def operation_settings(args: Sequence[str]) -> Mapping[str, str]:
    """Return the variables of the environment of the operation ``args``.

    The engine makes the whole state anew at every step and checks it; in a preview, which throws it away, that is half
    of its work (3.274.1). So a preview makes it once, at its end. Where something is left out, others may refer to what
    is missing then: that is still found at the step in which it happens.
    """
    if only_looks(args) and not any(each.startswith("--exclude=") for each in args):
        return {"PULUMI_SKIP_CHECKPOINTS": "true"}
    return {}
