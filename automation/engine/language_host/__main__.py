"""``python -m automation.engine.language_host ENGINE_ADDRESS``: what the launcher starts."""

import os
import signal
import sys

from automation.engine.language_host import children


def main() -> None:
    """Serve until the CLI sends an interrupt, or is gone."""
    # First of all, because an interrupt during the imports must end the process as quietly as a later one.
    signal.signal(signal.SIGINT, children.leave)
    signal.signal(signal.SIGTERM, children.leave)
    parent = os.getppid()
    from automation.engine.language_host.server import serve  # noqa: PLC0415 - after the handlers

    # Flags of the CLI (logging, tracing) may come before the address, which is always last.
    serve(engine_address=sys.argv[-1] if len(sys.argv) > 1 else "", parent=parent)


if __name__ == "__main__":
    main()
