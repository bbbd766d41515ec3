"""What Pulumi runs in this project (``main: stacks``)."""

from stacks.entry import run

run()
