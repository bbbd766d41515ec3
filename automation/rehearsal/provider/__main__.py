"""Start a provider process by hand: ``python -m automation.rehearsal.provider SETTINGS``."""

import sys
from pathlib import Path

from automation.rehearsal.provider.program import serve

serve(Path(sys.argv[1]))
