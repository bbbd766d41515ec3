"""The version of all machine output. Alone, because verbs that show one small document load nothing else for it."""

from typing import Final

API_VERSION: Final = "berth.dev/output/v1"
