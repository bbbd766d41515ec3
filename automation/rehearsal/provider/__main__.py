"""Start a provider process by hand: ``python -m automation.rehearsal.provider SETTINGS``."""

import sys
from pathlib import Path

from components.protocol_only import leave_sdk_out

leave_sdk_out()

from automation.rehearsal.provider.program import serve  # noqa: E402 - only now does it import no SDK

serve(Path(sys.argv[1]))
