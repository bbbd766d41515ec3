"""Commands in messages act on the environment and the clouds of the run that printed them."""

import pytest

from automation.cli.advice import completed


@pytest.mark.parametrize(
    ("text", "arguments", "want"),
    [
        ("berth up -e dev --yes", ["up", "--simulated"], "berth up -e dev --yes --simulated"),
        ("berth up", ["plan", "-e", "prod", "--simulated"], "berth up -e prod --simulated"),
        ("berth plan -e dev", ["plan", "--environments", "envs"], "berth plan -e dev --environments envs"),
        ("berth plan -e dev", ["plan", "--environments=envs"], "berth plan -e dev --environments=envs"),
        ("berth unlock -e dev --simulated --force", ["up", "--simulated"], "berth unlock -e dev --simulated --force"),
        (
            "wait, or free it with `berth unlock -e dev`.",
            ["up", "--simulated"],
            "wait, or free it with `berth unlock -e dev --simulated`.",
        ),
        ("set it and run `berth up` first", ["up", "--env=b"], "set it and run `berth up --env=b` first"),
        ("berth init dev, or --environments DIR", ["plan", "--simulated"], "berth init dev, or --environments DIR"),
        ("berth doctor", ["plan", "--simulated"], "berth doctor"),
        ("berth up -e dev", ["up"], "berth up -e dev"),
    ],
)
def test_commands_carry_what_the_run_was_given(text: str, arguments: list[str], want: str) -> None:
    """Only what was given is added, once, and only to commands that take it."""
    assert completed(text, arguments) == want
