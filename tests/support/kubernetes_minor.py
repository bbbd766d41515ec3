"""Which minor of Kubernetes the tests on real control planes run on: ``BERTH_TEST_KUBERNETES_MINOR`` names another."""

import os
from typing import Final

from automation.engine.toolchain.kubernetes import DEFAULT_MINOR, Minor, minor_of

VARIABLE: Final = "BERTH_TEST_KUBERNETES_MINOR"

MINOR: Final[Minor] = minor_of(os.environ.get(VARIABLE) or DEFAULT_MINOR)
