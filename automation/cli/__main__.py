"""``python -m automation.cli``: the same as ``berth``."""

from automation.cli.main import main

main()
